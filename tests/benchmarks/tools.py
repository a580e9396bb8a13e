"""
Plans of other tools and of this planner, for the same clusters.

``PYTHONPATH=tests python -m benchmarks.tools [--write FILE]`` writes the table of
docs/comparison.md. No figure of it is a time, so that each run writes the same.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import cruise_control
from benchmarks.comparing import bands_missed
from benchmarks.run import write_between_markers
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, UNIT_ROW, Resource, broker_loads, weigh
from planner.generate.generate_request import GenerateRequest
from planner.generate.proposal import generate
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.their_goals import missed_goals

INSTANCES = ("S_a", "S_c", "S_d")
DATA = cruise_control.FOLDER.parent
RECORDED = {
    "topicmappr/{}.scale": "topicmappr scale",
    "topicmappr/{}.rebalance": "topicmappr rebalance",
    "topicmappr/{}.rebalance-0.01": "topicmappr rebalance, threshold 1 %",
    "topicmappr/{}.rebuild": "topicmappr rebuild, storage",
    "rebalancer/{}.local": "facebook/rebalancer, local search",
}
"""Plans recorded from tools that were run, and what these were asked for."""
SEEDS = range(1, 6)
SHOWN = (Resource.DISK, Resource.IN, Resource.OUT)
MARKERS = ("<!-- tools: start -->", "<!-- tools: end -->")
HEADER = (
    "| cluster | tool | copies | GB | fullest disk | in | out | brokers out of ±9 % "
    "| two replicas in a rack | of 16 goals missed |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """
    A plan of one tool.

    Parameters
    ----------
    tool
        Name of the tool and of what it was asked for.
    copies, copied_bytes
        Replicas that it copies, and their bytes.
    after
        The cluster after it.
    """

    tool: str
    copies: int
    copied_bytes: int
    after: ClusterState


def answers(name: str) -> Iterator[Answer]:
    """Yield the cluster as it is, and the plans of the tools for it."""
    before = cruise_control.read_cluster(name)
    theirs = cruise_control.read_plan(name)
    yield Answer("(before)", 0, 0, before)
    yield _from_scratch(before)
    yield _answer(before, "Cruise Control, default goals", theirs.after)
    yield from _recorded(before, name)
    yield _generated(before, "kafka-planner generate", is_from_scratch=False, seed=1)
    goal = "add-brokers" if name.endswith("_a") else "rebalance"
    wanted = PlanRequest(goal=goal, band=(str(cruise_control.BAND),))
    yield _planned(before, "kafka-planner plan, fewest bytes", wanted)
    priced = wanted.changed(
        band={},
        rules="cruise-control",
        prefer="moves",
        move_cost_bytes=theirs.price_per_move,
    )
    yield _planned(before, "kafka-planner plan, Cruise Control's goals", priced)


def recorded_plans(name: str) -> dict[str, Path]:
    """Return the files of the plans recorded for one cluster, by the tools' names."""
    files = {
        tool: DATA / f"{stem.format(name)}.plan.csv.gz"
        for stem, tool in RECORDED.items()
    }
    return {tool: path for tool, path in files.items() if path.exists()}


def _recorded(before: ClusterState, name: str) -> Iterator[Answer]:
    for tool, path in recorded_plans(name).items():
        lists = {key: new for key, (_, new) in cruise_control.read_lists(path)}
        yield _after(before, tool, lists)


def _from_scratch(before: ClusterState) -> Answer:
    """Return the proposal of Kafka's tool whose bytes are the median of the seeds."""
    tool = "Kafka's --generate"
    drawn = [
        _generated(before, tool, is_from_scratch=True, seed=seed) for seed in SEEDS
    ]
    return sorted(drawn, key=lambda each: each.copied_bytes)[len(drawn) // 2]


def _generated(
    before: ClusterState, tool: str, *, is_from_scratch: bool, seed: int
) -> Answer:
    request = GenerateRequest(
        topics=before.topics.names,
        broker_ids=tuple(before.brokers.ids.tolist()),
        is_rack_aware=True,
        is_from_scratch=is_from_scratch,
        seed=seed,
        file="topics.json",
    )
    proposed = generate(before, request).proposed
    lists = {
        (topic, number): replicas
        for topic, number, replicas in zip(
            proposed.topics, proposed.partitions, proposed.replicas, strict=True
        )
    }
    return _after(before, tool, lists)


def _after(
    before: ClusterState,
    tool: str,
    lists: dict[tuple[str, int], tuple[int, ...]],
) -> Answer:
    """Return the cluster after replica lists, whose first replicas then lead."""
    broker_idx = before.replicas.broker_idx.copy()
    for p in range(before.num_partitions):
        topic = before.topics.names[before.partitions.topic_idx[p]]
        new = lists.get((topic, int(before.partitions.partition[p])))
        if new is not None:
            rows = slice(*before.replicas.start[p : p + 2])
            broker_idx[rows] = before.brokers.rows_of(np.array(new))
    return _answer(before, tool, cruise_control.with_lists(before, broker_idx))


def _planned(before: ClusterState, tool: str, request: PlanRequest) -> Answer:
    made = make(before, request)
    assert not made.findings
    return _answer(before, tool, made.plan.placed.reassignment.after())


def _answer(before: ClusterState, tool: str, after: ClusterState) -> Answer:
    """Return a plan with its copies, counted from the lists before and after."""
    size = before.partitions.size_bytes.tolist()
    added = [
        len(set(after.brokers_of(p)) - set(before.brokers_of(p)))
        for p in range(before.num_partitions)
    ]
    copied = sum(count * each for count, each in zip(added, size, strict=True))
    return Answer(tool, sum(added), copied, after)


def row_text(name: str, answer: Answer) -> str:
    """Return a row of the table; loads and rules are counted from the lists alone."""
    after = answer.after
    load = broker_loads(after, weigh(after), after.partitions.leader_idx)
    fullest = [_fullest(after, load, resource) for resource in SHOWN]
    out, _ = bands_missed(name, after)
    cells = [
        name,
        answer.tool,
        f"{answer.copies:,}",
        f"{answer.copied_bytes / 1e9:,.1f}",
        *(f"{100 * use:.1f} %" for use in fullest),
        str(out),
        str(sharing_a_rack(after)),
        str(len(missed_goals(after))),
    ]
    return f"| {' | '.join(cells)} |"


def _fullest(after: ClusterState, load: np.ndarray, resource: Resource) -> float:
    capacity = {
        Resource.DISK: after.brokers.disk_bytes,
        Resource.IN: after.brokers.in_bytes_per_s,
        Resource.OUT: after.brokers.out_bytes_per_s,
    }[resource]
    at = RESOURCES.index(resource)
    return float((load[:, at] / UNIT_ROW[at] / capacity).max())


def sharing_a_rack(after: ClusterState) -> int:
    """Count the partitions of which two replicas are in one rack."""
    rack_of = after.brokers.rack_idx
    count = 0
    for p in range(after.num_partitions):
        rows = slice(*after.replicas.start[p : p + 2])
        racks = rack_of[after.replicas.broker_idx[rows]].tolist()
        count += len(set(racks)) < len(racks)
    return count


def table() -> str:
    """Return the table of all clusters and tools."""
    rows = [row_text(name, answer) for name in INSTANCES for answer in answers(name)]
    return "\n".join([HEADER, *rows])


def main() -> None:
    """Print the table, and write it into the page if one is named."""
    parser = argparse.ArgumentParser(description="Compare the plans of tools.")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    text = table()
    print(text)  # noqa: T201 - output
    write_between_markers(given.write, text, MARKERS)


if __name__ == "__main__":
    main()

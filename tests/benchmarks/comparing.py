"""
Plan Cruise Control's instances, and write the table that compares the plans.

``PYTHONPATH=tests python -m benchmarks.comparing [--write FILE]``
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import cruise_control
from benchmarks.placing_cases import Placing
from benchmarks.placing_measures import Placed, measure_plan, out_of_band, warm_up
from benchmarks.run import where_measured, write_between_markers
from placement.model.cluster import BrokerState, ClusterState
from placement.model.load import RESOURCES, broker_loads, heaviest_replicas, weigh
from placement.model.targets import Members, find_targets, share_out
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.their_goals import missed_goals

ITS_RULES = {"rules": "cruise-control"}
MOVES: dict[str, Any] = {"prefer": "moves"}
MARKERS = ("<!-- compared: start -->", "<!-- compared: end -->")
HEADER = (
    "| instance | plan | CPU, s | moves | GB | GB / bound | price, of theirs "
    "| out of band | of its goals missed |\n|---|---|---:|---:|---:|---:|---:|---|---:|"
)


def compare(name: str) -> list[Placed]:
    """Plan one of Cruise Control's instances for bytes, and at a price per move."""
    state, theirs = cruise_control.read_cluster(name), cruise_control.read_plan(name)
    warm_up(Placing("M" if name.startswith("M") else "XS", "a"))
    # Rounds of ruin are kernels of their own, which a price of moves calls for.
    make(cruise_control.read_cluster("S_c"), PlanRequest(goal="rebalance", **MOVES))
    goal = "add-brokers" if name.endswith("_a") else "rebalance"
    wanted = PlanRequest(goal=goal, band=(str(cruise_control.BAND),))
    requests = {
        "fewest bytes": wanted,
        "price per move": wanted.changed(
            **MOVES, move_cost_bytes=theirs.price_per_move
        ),
    }
    priced = requests["price per move"].changed(band={}, **ITS_RULES)
    for effort in ("normal", "thorough"):
        requests[f"its rules, {effort}"] = priced.changed(effort=effort)
    return [
        replace(
            measure_plan(f"{name} {what}", 1, state, request),
            goals_missed=len(missed_goals(_planned(state, request))),
        )
        for what, request in requests.items()
    ]


def _planned(state: ClusterState, request: PlanRequest) -> ClusterState:
    return make(state, request).plan.placed.reassignment.after()


def their_row(name: str) -> dict[str, Any]:
    """Weigh Cruise Control's own plan against the bands that ours keep to."""
    theirs = cruise_control.read_plan(name)
    out, furthest = bands_missed(name, theirs.after)
    return {
        "moves": theirs.moves,
        "copied_bytes": theirs.copied_bytes,
        "lower_bound": theirs.published["lb_gb"] * 1e9,
        "brokers_out": out,
        "furthest": furthest,
        "cpu_s": theirs.published["warm_cpu"],
        "goals_missed": len(missed_goals(theirs.after)),
    }


def bands_missed(name: str, after: ClusterState) -> tuple[int, float]:
    """Return how many brokers are out of our bands, and how far the furthest is."""
    bands = dict.fromkeys(RESOURCES, cruise_control.BAND)
    weights, leader = weigh(after), after.partitions.leader_idx
    load = broker_loads(after, weights, leader)
    members = Members(holds=after.brokers.is_live, leads=after.brokers.may_lead)
    shares = share_out(after, weights, members, bands)
    targets = find_targets(shares, load, heaviest_replicas(after, weights, leader))
    is_new = np.equal(after.brokers.state, BrokerState.NEW)
    return out_of_band(targets, load, ~is_new & name.endswith("_a"))


def compared_text(name: str, ours: Sequence[Placed], theirs: dict[str, Any]) -> str:
    """Return the rows of one instance: Cruise Control's plan, and ours."""
    price = theirs["copied_bytes"] / theirs["moves"]

    def line(who: str, of: dict[str, Any]) -> str:
        both = (of["copied_bytes"] + price * of["moves"]) / theirs["copied_bytes"] / 2
        out = of["brokers_out"]
        far = f" by {100 * of['furthest']:.2f} %" if out else ""
        return (
            f"| {name} | {who} | {of['cpu_s']:.2f} | {of['moves']:,} "
            f"| {of['copied_bytes'] / 1e9:,.1f} "
            f"| {of['copied_bytes'] / theirs['lower_bound']:.3f} | {both:.3f} "
            f"| {out}{far} | {of['goals_missed']} |"
        )

    rows = [line("Cruise Control", theirs)]
    rows += [line(one.name.partition(" ")[2], asdict(one)) for one in ours]
    return "\n".join(rows)


def _compare_apart(name: str) -> str:
    command = [sys.executable, "-m", "benchmarks.comparing", "--one", name]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def _compared_table() -> str:
    lines = [HEADER]
    for name in cruise_control.NAMES:
        lines.append(_compare_apart(name))
        print(lines[-1], file=sys.stderr, flush=True)  # noqa: T201 - progress
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plan Cruise Control's instances.")
    parser.add_argument("--one", help="only this instance, in this process")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    return parser.parse_args()


def main() -> None:
    """Plan, print, and write the page if one is named."""
    given = _arguments()
    if given.one:
        ours, theirs = compare(given.one), their_row(given.one)
        print(compared_text(given.one, ours, theirs))  # noqa: T201 - output
        return
    table = f"{where_measured('make bench')}\n\n{_compared_table()}"
    print(table)  # noqa: T201 - output
    write_between_markers(given.write, table, MARKERS)


if __name__ == "__main__":
    main()

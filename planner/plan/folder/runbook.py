"""
RUNBOOK.md: the commands of one plan, in order, to be run by hand.

The same plan gives the same bytes: no times, and no paths except those of the folder.
"""

from collections.abc import Iterator, Sequence

from placement.model.cluster import BrokerState
from planner.kafka_commands import ANY_SERVER, KafkaCommands
from planner.kafka_files.creation import Creation
from planner.plan.documents.note_document import KEYS_MOVE
from planner.plan.documents.plan_document import lists_not_in_rollback
from planner.plan.documents.scored_plan import Plan, elections, unknown_bytes
from planner.plan.documents.topic_patches import factor_patches, partition_patches
from planner.plan.folder.patch_steps import (
    grow_section,
    patch_section,
    pause_again,
    pause_section,
    undo_lines,
)
from planner.plan.folder.runbook_apply import apply_new_section, apply_section
from planner.plan.folder.runbook_steps import Files, Run, code, runs_of
from planner.text.format import bytes_text, plural

NAME = "RUNBOOK.md"
KAFKA = KafkaCommands()
OURS = f"kafka-planner verify . {ANY_SERVER}"


def runbook(plan: Plan, files: Files) -> str:
    """
    Return the runbook of a plan.

    Parameters
    ----------
    plan
        The plan.
    files
        Files with lists for Kafka's tool, by name without suffix and number: one file,
        or the numbered parts that the tool takes in turn.
    """
    if plan.creation is not None:
        patches = partition_patches(plan.creation, plan.resources)
        notes = [n.message for n in plan.placed.notes if n.what == KEYS_MOVE]
        return _creation_runbook(plan.creation, notes, has_resource=bool(patches))
    if plan.status == "nothing-to-do":
        lines = [*_title(plan), "", "There is nothing to do: no command is needed."]
        return "\n".join(lines) + "\n"
    runs = list(runs_of(plan, files))
    has_patches = bool(factor_patches(plan.placed.reassignment, plan.resources))
    sections = [
        [*_title(plan), "", *_summary(plan), "", *_conventions()],
        *([apply_section(has_patches=has_patches)] if runs else []),
        _before(),
        *([pause_section()] if has_patches else []),
        *([_dead_brokers(plan, runs)] if any(run.dead for run in runs) else []),
        *(_run(run, len(runs)) for run in runs),
        *([_elections()] if elections(plan).any() else []),
        _clean_up(runs),
        *([patch_section()] if has_patches else []),
        *([_way_back(plan, runs, files, has_patches=has_patches)] if runs else []),
        *([_lost_broker()] if runs else []),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _creation_runbook(
    creation: Creation, notes: Sequence[str], *, has_resource: bool
) -> str:
    topic, is_new = creation.topic, creation.is_new_topic
    create = KAFKA.create_partitions(topic, creation.count, is_new=is_new)
    back = (
        "The way back is to delete the topic, with all that was written to it."
        if is_new
        else "There is no way back: Kafka removes no partitions."
    )
    count = plural(len(creation.lists), "new partition")
    lines = [
        f"# Runbook: {'new topic' if is_new else 'more partitions'} {topic}",
        "",
        f"{count}; nothing that exists changes.",
        "",
        *(line for note in notes for line in (f"Note: {note}", "")),
        *_conventions(),
        "",
        *apply_new_section(),
        "",
        "## Before",
        "",
        *code(
            f"kafka-planner snapshot live {ANY_SERVER} -o now.json",
            "kafka-planner check . --snapshot now.json",
        ),
        "",
        "Go on if `check` ends with exit code 0.",
        "",
        "## Run",
        "",
        *code(create),
        "",
        "## Check",
        "",
        *code(OURS),
        "",
        "`completed` in the first line: the new partitions are where they should be.",
        "",
        *([*grow_section(), ""] if has_resource else []),
        "## The way back",
        "",
        back,
    ]
    return "\n".join(lines) + "\n"


def _title(plan: Plan) -> list[str]:
    cluster = plan.state.cluster_id
    return [f"# Runbook: {plan.goal}" + (f" on {cluster}" if cluster else "")]


def _summary(plan: Plan) -> Iterator[str]:
    moves = plan.moves
    size = "sizes unknown" if unknown_bytes(plan) else bytes_text(moves["bytes"])
    inside = (
        f", {plural(moves['log_dirs'], 'move')} between log dirs "
        f"({bytes_text(moves['log_dir_bytes'])})"
        if moves["log_dirs"]
        else ""
    )
    yield (
        f"{plural(moves['partitions'], 'partition')}: "
        f"{plural(moves['replicas'], 'replica')} copied between brokers "
        f"({size}){inside}, "
        f"{plural(moves['leaders'], 'new first replica')}."
    )
    if plan.waves is not None:
        yield f"To be run in {plural(len(plan.waves.steps), 'wave')}, one by one."
    if plan.status in {"partial", "infeasible"}:
        yield (
            f"The plan is {plan.status}: it breaks no rule further, and does not meet "
            "them all; `plan.json` says which under `shortfalls`."
        )


def _conventions() -> Iterator[str]:
    yield (
        "Run the commands in the folder of this plan. `HOST:PORT` stands for brokers "
        "of the cluster; a secured cluster takes `--command-config "
        "client.properties` besides, in every command."
    )


def _before() -> list[str]:
    return [
        "## Before",
        "",
        *code(
            f"kafka-planner snapshot live {ANY_SERVER} -o now.json",
            "kafka-planner check . --snapshot now.json",
            KAFKA.list_moves(),
        ),
        "",
        "Go on if `check` ends with exit code 0 (a finding `stale` asks for a new "
        "plan) and the list is empty: beside a reassignment that runs already, Kafka "
        "refuses another.",
    ]


def _dead_brokers(plan: Plan, runs: Sequence[Run]) -> list[str]:
    dead = sorted({broker for run in runs for broker in run.dead})
    states = plan.state.brokers
    state_of = dict(zip(states.ids.tolist(), states.state.tolist(), strict=True))
    words = ", ".join(
        f"{b} ({BrokerState(state_of[b]).name.lower().replace('_', '-')})" for b in dead
    )
    return [
        "## Throttles while a broker is not live",
        "",
        f"Lists that change name brokers that are not live: {words}. Kafka's "
        "`--throttle` sets a rate on every broker of these lists, waits 60 s for one "
        "that does not answer, fails with `Timed out waiting for a node assignment`, "
        "starts nothing, and leaves the throttles on the other brokers. So the "
        "commands below do without it: they set the rates as the default of all "
        "brokers, which no broker has to answer for, and throttle whole topics.",
    ]


def _run(run: Run, count: int) -> list[str]:
    title = f"## {run.title}" if count > 1 else "## Run"
    lines = [title, ""]
    if run.says:
        lines += [run.says, ""]
    lines += code(*run.set_up, run.execute)
    lines += [
        "",
        "Repeat until no line ends with `is still in progress.`; "
        + (
            "the last time it removes the throttles:"
            if run.is_throttled
            else "the last time it has nothing left to report:"
        ),
        "",
        *code(KAFKA.verify(run.file)),
    ]
    if run.tear_down:
        lines += ["", "Then remove the default rates:", "", *code(*run.tear_down)]
    lines += [
        "",
        "Meanwhile this names what cannot finish, and what it waits for; at the end "
        "its first line begins with `completed`:",
        "",
        *code(f"kafka-planner verify {run.file} {ANY_SERVER}"),
    ]
    if run.election is not None:
        lines += [
            "",
            "Let the first replicas lead:",
            "",
            *code(KAFKA.elect(run.election)),
        ]
    return lines


def _elections() -> list[str]:
    return [
        "## Leaders",
        "",
        "When all copies are done, let the first replicas lead:",
        "",
        *code(KAFKA.elect("preferred-election.json")),
    ]


def _clean_up(runs: Sequence[Run]) -> list[str]:
    lines = [
        "## Clean up",
        "",
        *code(OURS),
        "",
        "Exit code 0 and `Left       nothing`: done. Else it names what is left with "
        "its commands, throttles included.",
    ]
    if any(run.is_throttled for run in runs):
        lines += [
            "A broker that is down at that time keeps its throttle, and nothing shows "
            "it: run the two lines once more when it is back:",
            "",
            *code(KAFKA.verify("reassignment.json"), OURS),
        ]
    return lines


def _way_back(
    plan: Plan, runs: Sequence[Run], files: Files, *, has_patches: bool
) -> list[str]:
    lines = [
        "## The way back",
        "",
        *(pause_again() if has_patches else []),
        "Cancel first, also half-way: Kafka refuses a second reassignment beside one "
        "that runs, and with `--additional` a partition comes to add and remove the "
        "same brokers, and never ends. A cancel ends what still moves, brings back "
        "the replicas of before (some lists in another order), and removes the "
        "throttles of all brokers:",
        "",
        *code(KAFKA.cancel("reassignment.json")),
        "",
        "While a broker is down, add `--preserve-throttles`: the tool would wait for "
        "that broker, and fail.",
        "",
    ]
    if plan.waves is not None:
        lines += _roll_back_waves(runs)
    elif parts := files.get("rollback"):
        lines += _roll_back(runs, parts)
    left_out = len(lists_not_in_rollback(plan))
    if left_out:
        lines += [
            "",
            f"{plural(left_out, 'partition')} cannot be brought back: their old lists "
            "name brokers that are not live. `not_in_rollback` in `plan.json` has the "
            "lists.",
        ]
    if has_patches:
        lines += ["", *undo_lines()]
    return lines


def _roll_back(runs: Sequence[Run], files: Sequence[str]) -> Iterator[str]:
    throttle = max((run.throttle or 0 for run in runs), default=0) or None
    inside = max((run.log_dir_throttle or 0 for run in runs), default=0) or None
    yield "Then roll back; copies are made only of what had been moved:"
    for file in files:
        yield ""
        yield from code(*_back(file, throttle, inside))
    yield ""
    yield (
        "Repeat each second command until no line ends with `is still in progress.`; "
        "the last time it removes the throttles."
    )
    if len(files) > 1:
        yield "Run the files one after the other."
    yield from ("", "Then:", "")
    yield from code(f"kafka-planner verify . {ANY_SERVER}")
    yield from ("", "`not-started` in its first line: all is as before.")


def _back(file: str, throttle: int | None, inside: int | None) -> Iterator[str]:
    """Yield the commands that run a rollback file."""
    yield KAFKA.execute(
        file,
        throttle=None if throttle is None else str(throttle),
        log_dir_throttle=None if inside is None else str(inside),
    )
    yield KAFKA.verify(file)


def _roll_back_waves(runs: Sequence[Run]) -> Iterator[str]:
    yield (
        "Then roll back the waves that were begun, the last one first (`kafka-planner "
        "verify .` names them); run each second command until no line ends with `is "
        "still in progress.`, then go on with the next:"
    )
    for run in reversed(runs):
        for file in run.rollback:
            yield from ("", f"{run.title}:", "")
            yield from code(*_back(file, run.throttle, run.log_dir_throttle))


def _lost_broker() -> list[str]:
    return [
        "## If a broker is lost on the way",
        "",
        *code(OURS),
        "",
        "It names the partitions that wait for the broker. If the broker comes back "
        "they go on by themselves. If it does not, cancel (see the way back), take a "
        "new snapshot and plan anew. Run nothing with `--throttle` that names the lost "
        "broker: it fails after 60 s and leaves throttles on the others; "
        "`kafka-planner verify` names the commands that remove them.",
    ]

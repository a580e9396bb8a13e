"""`explain`: the reason of each move of a plan, and the cost of leaving it out."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    PlanArgument,
    Quiet,
    Verbose,
)
from planner.cli.common.output import print_json, print_words
from planner.errors import BadInputError
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from planner.plan.folder.moves_file import MoveRow

SHOWN = 30


class Order(StrEnum):
    """Order of the moves."""

    PLAN = "plan"
    BYTES = "bytes"
    REASON = "reason"
    FROM = "from"
    TO = "to"
    UNDONE = "undone"


SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot",
        metavar="SNAP",
        help="The cluster before the plan, for a file outside a plan folder.",
    ),
]
Topic = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="NAME",
        help="Only moves of this topic. Repeatable.",
    ),
]
Partition = Annotated[
    int | None,
    typer.Option(
        "--partition",
        metavar="N",
        help="Only moves of this partition.",
    ),
]
BrokerList = Annotated[
    str | None,
    typer.Option(
        "--broker-list",
        metavar="IDS",
        help="Only moves from or to these brokers: 1,2,5-9.",
    ),
]
ReasonOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reason",
        metavar="NAME",
        help="Only moves for this reason: rack, fills-new. Repeatable.",
    ),
]
Limit = Annotated[int, typer.Option("--limit", min=0, help="Most moves on the screen.")]
SortOption = Annotated[Order, typer.Option("--sort", help="Order of the moves.")]


def explain(
    plan: PlanArgument,
    *,
    snapshot: SnapshotOption = None,
    topic: Topic = None,
    partition: Partition = None,
    broker_list: BrokerList = None,
    reason: ReasonOption = None,
    sort: SortOption = Order.PLAN,
    limit: Limit = SHOWN,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Explain each move of a plan, and what would be worse without it.

    A plan folder contains the explanations. Any other reassignment file needs
    --snapshot, and is explained as a rebalance with the default bands.

    Example: kafka-planner explain plan --broker-list 4 --sort bytes
    """
    from planner.explain.choose_moves import Choice, Sort, choose
    from planner.explain.explain_document import explain_document
    from planner.explain.explain_screen import explain_screen

    inputs = Gatherer()
    brokers = inputs.read(lambda: _brokers(broker_list))
    reasons = inputs.read(lambda: _reasons(reason or []))
    read = inputs.read(lambda: _read(plan, snapshot))
    inside = inputs.read(lambda: _inside(plan)) or (0, 0)
    inputs.raise_problems()
    goal, rows = read or (None, [])
    choice = Choice(
        topics=frozenset(topic or ()),
        partition=partition,
        brokers=brokers or frozenset(),
        reasons=reasons or frozenset(),
    )
    chosen = choose(rows, choice, Sort(sort))
    if output_format is OutputFormat.JSON:
        print_json(explain_document(goal, rows, chosen, inside))
    else:
        typer.echo("\n".join(explain_screen(goal, rows, chosen, limit, inside)))
    if rows and not chosen and not quiet:
        print_words("the options select no move of this plan")


def _read(plan: Path, snapshot: Path | None) -> tuple[str | None, "list[MoveRow]"]:
    """Return the operation of the plan and its explained moves."""
    from planner.plan.folder.moves_file import MOVES_NAME, read_moves
    from planner.plan.input.plan_input import read_plan

    if plan.is_dir() and (plan / MOVES_NAME).exists():
        return read_plan(plan).goal, read_moves(plan / MOVES_NAME)
    if snapshot is None:
        rule = "a reassignment file has no reasons of its moves"
        remedy = "give the cluster before the plan: --snapshot SNAP"
        raise _refusal(str(plan), "", rule, remedy)
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.explain.explain_file import explain_file

    inputs = Gatherer()
    given = inputs.read(lambda: read_plan(plan))
    before = inputs.read(lambda: read_snapshot(snapshot).to_state())
    inputs.raise_problems()
    if given is None or before is None:  # pragma: no cover - raised just above
        return None, []
    return None, explain_file(plan, given.reassignment, before)


def _inside(plan: Path) -> tuple[int, int]:
    """Return number and bytes of replicas that change the log dir of their broker."""
    from planner.plan.documents.log_dir_document import read_moves_inside

    return read_moves_inside(plan) if plan.is_dir() else (0, 0)


def _brokers(text: str | None) -> frozenset[int]:
    from planner.options.declared.broker_lists import read_broker_ids

    try:
        return frozenset(read_broker_ids(text) if text is not None else ())
    except ValueError as error:
        option, remedy = "--broker-list", "write ids and ranges: 1,2,5-9"
        raise _refusal(option, str(text), str(error), remedy) from error


def _reasons(names: list[str]) -> frozenset[str]:
    from placement.explain import Reason

    unknown = [name for name in names if name not in set(Reason)]
    if unknown:
        remedy = f"write one of {', '.join(Reason)}"
        option, rule = "--reason", "must name a reason"
        raise _refusal(option, ",".join(unknown), rule, remedy)
    return frozenset(names)


def _refusal(place: str, value: str, rule: str, remedy: str) -> BadInputError:
    from planner.io.problems import refusal

    return refusal(
        "the moves cannot be explained",
        "command line",
        rule,
        remedy,
        place=place,
        value=value,
    )

"""`explain`: why each move of a plan is made, and what would be worse without it."""

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
from planner.cli.common.input_problems import Gatherer
from planner.cli.common.output import print_json, print_words
from planner.errors import BadInputError

if TYPE_CHECKING:
    from planner.plan.folder.moves_file import MoveRow

SHOWN = 30


class Order(StrEnum):
    """The order of moves."""

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
        help="The cluster before; for a reassignment file that is no plan folder.",
    ),
]
Topic = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="NAME", help="Of this topic. Repeatable."),
]
Partition = Annotated[
    int | None, typer.Option("--partition", metavar="N", help="Of this partition.")
]
BrokerList = Annotated[
    str | None,
    typer.Option("--broker-list", metavar="IDS", help="From or to these: 1,2,5-9."),
]
ReasonOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reason", metavar="NAME", help="For this reason: rack, fills-new. Repeatable."
    ),
]
Limit = Annotated[
    int, typer.Option("--limit", min=0, help="So many moves on the screen.")
]
SortOption = Annotated[Order, typer.Option("--sort", help="The order of the moves.")]


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
    Say why each move of a plan is made, and what would be worse without it.

    A plan folder holds what this takes. Any other reassignment file needs --snapshot,
    and is explained as a rebalance with the default bands would see it.

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
        print_words("no move of this plan is meant by these options")


def _read(plan: Path, snapshot: Path | None) -> tuple[str | None, "list[MoveRow]"]:
    """Return the goal of the plan and its moves, explained."""
    from planner.plan.folder.moves_file import MOVES_NAME, read_moves
    from planner.plan.input.plan_input import read_plan

    if plan.is_dir() and (plan / MOVES_NAME).exists():
        return read_plan(plan).goal, read_moves(plan / MOVES_NAME)
    if snapshot is None:
        rule = "a reassignment file alone does not say why"
        raise _refusal(str(plan), "", rule, "give the cluster before with --snapshot")
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
    """Return how many replicas go to another log dir of their broker, and bytes."""
    from planner.plan.documents.log_dir_document import read_moves_inside

    return read_moves_inside(plan) if plan.is_dir() else (0, 0)


def _brokers(text: str | None) -> frozenset[int]:
    from planner.options.option_reader import read_broker_ids

    try:
        return frozenset(read_broker_ids(text) if text is not None else ())
    except ValueError as error:
        option, remedy = "--broker-list", "write ids and ranges: 1,2,5-9"
        raise _refusal(option, str(text), str(error), remedy) from error


def _reasons(names: list[str]) -> frozenset[str]:
    from placement.explain import Reason

    unknown = [name for name in names if name not in set(Reason)]
    if unknown:
        option, rule = "--reason", "must name a reason"
        raise _refusal(option, ",".join(unknown), rule, f"one of {', '.join(Reason)}")
    return frozenset(names)


def _refusal(place: str, value: str, rule: str, remedy: str) -> BadInputError:
    from planner.io.problems import refusal

    return refusal(
        "cannot explain", "command line", rule, remedy, place=place, value=value
    )

"""Options that all plans share, and the commands that have them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from planner.cli.options import (
    CapacityThreshold,
    Format,
    OutputFormat,
    Quiet,
    Verbose,
)


class Prefer(StrEnum):
    """What counts when a plan is made."""

    BYTES = "bytes"
    MOVES = "moves"


class Effort(StrEnum):
    """How much work the search may do."""

    QUICK = "quick"
    NORMAL = "normal"
    THOROUGH = "thorough"


class CopyOrder(StrEnum):
    """Which copies go first."""

    SHORTEST = "shortest"
    UNDER_REPLICATED = "under-replicated"
    SMALL = "small"
    LARGE = "large"
    TOPIC = "topic"


Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="PLAN", help="Plan folder to write."),
]
BrokerList = Annotated[
    str | None,
    typer.Option("--broker-list", metavar="IDS", help="Broker ids: 1,2,5-9."),
]
Band = Annotated[
    list[str] | None,
    typer.Option(
        "--band",
        metavar="[RESOURCE=]FRACTION",
        help="How far from its share a broker may be: 0.10, disk=0.05. Repeatable.",
    ),
]
Resources = Annotated[
    str | None,
    typer.Option(
        "--resources",
        metavar="NAMES",
        help="Which to balance: disk,in,out,cpu,replicas,leaders. Default: all known.",
    ),
]
Topic = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="NAME", help="Only this topic. Repeatable."),
]
Topics = Annotated[
    str | None,
    typer.Option("--topics", metavar="REGEX", help="Only topics whose name matches."),
]
ExcludeTopics = Annotated[
    str | None,
    typer.Option("--exclude-topics", metavar="REGEX", help="Topics left as they are."),
]
Destinations = Annotated[
    str | None,
    typer.Option(
        "--destination-broker-list", metavar="IDS", help="Only these get replicas."
    ),
]
NoReplicas = Annotated[
    str | None,
    typer.Option(
        "--exclude-brokers-for-replicas", metavar="IDS", help="These get no replicas."
    ),
]
NoLeaders = Annotated[
    str | None,
    typer.Option(
        "--exclude-brokers-for-leaders", metavar="IDS", help="These get no leaders."
    ),
]
RebalanceToo = Annotated[
    bool,
    typer.Option("--rebalance", help="Also move what the operation need not."),
]
MaxMoves = Annotated[
    int | None,
    typer.Option("--max-moves", metavar="N", help="Copy at most so many replicas."),
]
MaxBytes = Annotated[
    str | None,
    typer.Option("--max-bytes", metavar="SIZE", help="Copy at most so much: 2TB."),
]
PreferOption = Annotated[
    Prefer,
    typer.Option("--prefer", help="Fewest bytes, or few moves as well."),
]
MoveCost = Annotated[
    str | None,
    typer.Option(
        "--move-cost-bytes",
        metavar="SIZE",
        help="Price of a move, on top of its bytes.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Of the search's random numbers.")]
Waves = Annotated[
    bool,
    typer.Option("--waves", help="Also cut the plan into waves that are safe each."),
]
MaxMovesIn = Annotated[
    int | None,
    typer.Option("--max-moves-in", min=1, help="Copies a broker gets in a wave: 5."),
]
MaxMovesOut = Annotated[
    int | None,
    typer.Option("--max-moves-out", min=1, help="Copies a broker sends in a wave: 5."),
]
MaxMovesPerBroker = Annotated[
    int | None,
    typer.Option(
        "--max-moves-per-broker", min=1, help="Copies in and out of a broker together."
    ),
]
Bandwidth = Annotated[
    str | None,
    typer.Option(
        "--bandwidth",
        metavar="RATE",
        help="What a broker may copy: 50MB/s, by default.",
    ),
]
WaveOrder = Annotated[
    CopyOrder | None,
    typer.Option("--order", help="Which copies go first, where caps allow a choice."),
]
EffortOption = Annotated[
    Effort, typer.Option("--effort", help="How much work the search may do.")
]


@dataclass(frozen=True, slots=True, eq=False)
class PlanOptions:
    """
    What was given for the options that all plans share.

    Parameters
    ----------
    output
        Plan folder to write, or `None`.
    output_format
        How the result is printed.
    quiet
        Whether nothing is said on stderr.
    given
        The others by their names, which are those of `PlanRequest`.
    """

    output: Path | None
    output_format: OutputFormat
    quiet: bool
    given: Mapping[str, Any]


def _common(
    *,
    output: Output = None,
    band: Band = None,
    resources: Resources = None,
    capacity_threshold: CapacityThreshold = None,
    topic: Topic = None,
    topics: Topics = None,
    exclude_topics: ExcludeTopics = None,
    destination_broker_list: Destinations = None,
    exclude_brokers_for_replicas: NoReplicas = None,
    exclude_brokers_for_leaders: NoLeaders = None,
    max_moves: MaxMoves = None,
    max_bytes: MaxBytes = None,
    prefer: PreferOption = Prefer.BYTES,
    move_cost_bytes: MoveCost = None,
    effort: EffortOption = Effort.NORMAL,
    seed: Seed = 1,
    waves: Waves = False,
    max_moves_in: MaxMovesIn = None,
    max_moves_out: MaxMovesOut = None,
    max_moves_per_broker: MaxMovesPerBroker = None,
    bandwidth: Bandwidth = None,
    order: WaveOrder = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> PlanOptions:
    """Gather the options that all plans share; its signature is their list."""
    given = dict(locals())
    for name in ("output", "output_format", "quiet", "verbose"):
        del given[name]
    return PlanOptions(output, output_format, quiet, given)


def with_plan_options(command: Callable[..., None]) -> Callable[..., None]:
    """
    Give a command the options that all plans share.

    Parameters
    ----------
    command
        Takes them as its last parameter, ``options``; what it declares before it
        stays its own.

    Returns
    -------
    What the command line calls, and reads the options from.
    """
    shared = inspect.signature(_common).parameters
    own = dict(inspect.signature(command).parameters)
    del own["options"]

    @wraps(command)
    def call(**given: Any) -> None:  # noqa: ANN401 - as the command line gives them
        common = {name: given.pop(name) for name in shared}
        command(**given, options=_common(**common))

    hints = get_type_hints(command, include_extras=True) | get_type_hints(
        _common, include_extras=True
    )
    call.__signature__ = inspect.Signature([*own.values(), *shared.values()])  # type: ignore[attr-defined] # read by Typer
    call.__annotations__ = {name: hints[name] for name in (*own, *shared)} | {
        "return": None
    }
    return call

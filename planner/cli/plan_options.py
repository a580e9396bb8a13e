"""Options that all plans share, and the commands that have them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.options import (
    CapacityThreshold,
    Format,
    OutputFormat,
    Quiet,
    Verbose,
)
from planner.cli.rule_options import rule_options, without_overruled
from planner.cli.shared_options import declare, parameters_of
from planner.errors import BadInputError, InputProblem

if TYPE_CHECKING:
    from planner.config.file import Config

CONFIG_KEY = "planner.config"


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


def _load_config(context: typer.Context, path: Path | None) -> Path | None:
    """Read the file, and let it give what neither line nor environment does."""
    if path is None or context.resilient_parsing:
        return path
    from planner.cli.config_options import plan_operations
    from planner.config.file import read_config

    config = read_config(path, plan_operations())
    context.meta[CONFIG_KEY] = config
    given = config.of(context.command.name)
    context.default_map = {name: setting.value for name, setting in given.items()}
    return path


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=_load_config,
        help="planner.toml: options that the line and the environment do not give.",
    ),
]
BrokerList = Annotated[
    str | None,
    typer.Option("--broker-list", metavar="IDS", help="Broker ids: 1,2,5-9."),
]
NewBrokers = Annotated[
    list[str] | None,
    typer.Option(
        "--new-broker",
        metavar="id=N,rack=R,like=M",
        help="A broker that does not exist yet. Repeatable.",
    ),
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
    typer.Option(
        "--rebalance/--no-rebalance", help="Also move what the operation need not."
    ),
]
MaxMoves = Annotated[
    int | None,
    typer.Option("--max-moves", metavar="N", help="Copy at most so many replicas."),
]
MaxBytes = Annotated[
    str | None,
    typer.Option("--max-bytes", metavar="SIZE", help="Copy at most so much: 2TB."),
]
MaxCrossRackBytes = Annotated[
    str | None,
    typer.Option(
        "--max-cross-rack-bytes",
        metavar="SIZE",
        help="Copy at most so much to another rack than the leader's: 500GB.",
    ),
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
TopicSlack = Annotated[
    int,
    typer.Option(
        "--topic-slack",
        metavar="N",
        min=0,
        help="Replicas of a topic above a broker's share of it that are no harm.",
    ),
]
TransientDisk = Annotated[
    bool,
    typer.Option(
        "--transient-disk/--no-transient-disk",
        help="Count what leaves a disk there too until all is copied.",
    ),
]
DeadlineOption = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        help="End the search by then; another run may find another plan.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Of the search's random numbers.")]
TradeOffOption = Annotated[
    bool,
    typer.Option(
        "--trade-off",
        help="Also say what fewer bytes would leave out of band; plans a dozen times.",
    ),
]
Waves = Annotated[
    bool,
    typer.Option(
        "--waves/--no-waves", help="Also cut the plan into waves that are safe each."
    ),
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
    shows_trade_off
        Whether the same plan within caps is shown too.
    sources
        Where each came from: ``COMMANDLINE``, ``ENVIRONMENT``, ``DEFAULT_MAP`` (the
        file) or ``DEFAULT``.
    operation
        Name of the command.
    config
        The file of ``--config``, where one was given.
    """

    output: Path | None
    output_format: OutputFormat
    quiet: bool
    given: Mapping[str, Any]
    shows_trade_off: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    operation: str | None = None
    config: "Config | None" = None

    def raise_problems(self) -> None:
        """
        Refuse the file if anything is wrong with it.

        Raises
        ------
        BadInputError
            With every problem of it.
        """
        if self.config is not None:
            self.config.raise_problems()

    @contextmanager
    def named_by_source(self) -> Iterator[None]:
        """Name in problems of options the file or the variable that gave them."""
        try:
            yield
        except BadInputError as error:
            problems = [self._named(problem) for problem in error.problems]
            raise BadInputError(error.message, problems) from error

    def _named(self, problem: InputProblem) -> InputProblem:
        name = problem.place.removeprefix("--").replace("-", "_")
        source = self.sources.get(name)
        if problem.file != "command line" or source is None:
            return problem
        if source == "ENVIRONMENT":
            variable = f"PLANNER_{name.upper()}"
            return replace(problem, file="environment", place=variable)
        if source == "DEFAULT_MAP" and self.config is not None:
            place = self.config.of(self.operation)[name].place
            return replace(problem, file=str(self.config.path), place=place)
        return problem


def _common(
    *,
    output: Output = None,
    config: ConfigFile = None,
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
    max_cross_rack_bytes: MaxCrossRackBytes = None,
    prefer: PreferOption = Prefer.BYTES,
    move_cost_bytes: MoveCost = None,
    effort: EffortOption = Effort.NORMAL,
    seed: Seed = 1,
    topic_slack: TopicSlack = 2,
    transient_disk: TransientDisk = False,
    deadline: DeadlineOption = None,
    trade_off: TradeOffOption = False,
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
    for name in ("output", "config", "output_format", "quiet", "verbose", "trade_off"):
        del given[name]
    return PlanOptions(output, output_format, quiet, given, shows_trade_off=trade_off)


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
    about_rules = parameters_of(rule_options)
    shared = parameters_of(_common, rule_options)

    @wraps(command)
    def call(context: typer.Context, **given: Any) -> None:  # noqa: ANN401 - as given
        common = {name: given.pop(name) for name in shared}
        rules = rule_options(**{name: common.pop(name) for name in about_rules})
        options, sources = _common(**common), _sources(context)
        options = replace(
            options,
            given={**options.given, **without_overruled(rules, sources)},
            sources=sources,
            operation=context.command.name,
            config=context.meta.get(CONFIG_KEY),
        )
        command(**given, options=options)

    return declare(call, command, _common, rule_options, instead_of="options")


def _sources(context: typer.Context) -> dict[str, str]:
    """Return where the value of each parameter came from."""
    found = {name: context.get_parameter_source(name) for name in context.params}
    return {name: source.name for name, source in found.items() if source is not None}

"""Options of all plans, and the commands that have them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    Verbose,
)
from planner.cli.common.plots import Plot
from planner.cli.common.shared_options import declare, gatherer_of, parameters_of
from planner.cli.plan.declared_options import (
    TRADE_OFF,
    own_names,
    rule_options,
    shared_options,
)
from planner.cli.report.report_option import Report, check_report
from planner.errors import BadInputError, InputProblem
from planner.options.declared.plan_options import OPTIONS

if TYPE_CHECKING:
    from placement.check import Finding
    from placement.failures.controller_majority import Voter
    from placement.model.cluster import ClusterState
    from planner.config.config_file import Config
    from planner.plan.folder.plan_folder import MoreFiles

CONFIG_KEY = "planner.config"


Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="PLAN", help="Plan folder to write."),
]


def _load_config(context: typer.Context, path: Path | None) -> Path | None:
    """Read the file as defaults of options that line and environment do not set."""
    if path is None or context.resilient_parsing:
        return path
    from planner.cli.plan.config_options import plan_operations
    from planner.config.config_file import read_config

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
        help="planner.toml: options not given on the line or in the environment.",
    ),
]
TradeOffOption = Annotated[bool, typer.Option("--trade-off", help=TRADE_OFF)]


@dataclass(frozen=True, slots=True, eq=False)
class CommandOptions:
    """
    Values of the options of a command.

    Parameters
    ----------
    output
        Plan folder to write, or `None`.
    output_format
        Format in which the result is printed.
    quiet
        Whether messages on stderr are off.
    given
        Values of the other options, by their declared names.
    shows_trade_off
        Whether the same plan within caps is shown too.
    shows_plot
        Whether the loads before and after are drawn on the screen.
    sources
        Source of each value: ``COMMANDLINE``, ``ENVIRONMENT``, ``DEFAULT_MAP`` (the
        file) or ``DEFAULT``.
    operation
        Name of the command.
    config
        The file of ``--config``, if given.
    writes_report
        Whether the plan folder gets a report.
    """

    output: Path | None
    output_format: OutputFormat
    quiet: bool
    given: Mapping[str, Any]
    shows_trade_off: bool = False
    shows_plot: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    operation: str | None = None
    config: "Config | None" = None
    writes_report: bool = False

    def raise_problems(self) -> None:
        """
        Raise the problems of the file, and of a report that cannot be written, if any.

        Raises
        ------
        BadInputError
            If the file has problems; has all of them.
        """
        if self.config is not None:
            self.config.raise_problems()
        check_report(self.output, is_wanted=self.writes_report, metavar="PLAN")

    def more_files(
        self,
        state: "ClusterState",
        voters: "Sequence[Voter]",
        findings: "Callable[[], Sequence[Finding]]",
    ) -> "MoreFiles | None":
        """Return the maker of the report of a plan with findings, if it is wanted."""
        if not self.writes_report or self.output is None:
            return None
        from planner.report.plan_report import PlannedCluster, report_maker

        return report_maker(self.output, PlannedCluster(state, voters, findings))

    @contextmanager
    def named_by_source(self) -> Iterator[None]:
        """Replace options in problems by the file or variable that set them."""
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


def _written(
    *, output: Output = None, report: Report = False, config: ConfigFile = None
) -> dict[str, Any]:
    """Return the options of the plan folder and of the options file."""
    return dict(locals())


def _shown(
    *,
    trade_off: TradeOffOption = False,
    plot: Plot = False,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> dict[str, Any]:
    """Return the options of the screen."""
    return dict(locals())


def with_plan_options(
    operation: str | None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    Add the options of a plan to a command.

    Parameters
    ----------
    operation
        Name of the operation, whose own options come first; `None`: none of its own.

    Returns
    -------
    Decorator of a command that takes them as its last parameter, ``options``.
    """
    own = gatherer_of(
        [OPTIONS[name] for name in own_names(operation)] if operation else []
    )
    gatherers = (own, _written, shared_options, _shown, rule_options)

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        of_each = [parameters_of(gatherer) for gatherer in gatherers]

        @wraps(command)
        def call(context: typer.Context, **given: Any) -> None:  # noqa: ANN401
            own, written, asked, shown, rules = (
                {name: given.pop(name) for name in names} for names in of_each
            )
            sources = sources_of(context)
            options = CommandOptions(
                written["output"],
                shown["output_format"],
                shown["quiet"],
                {**own, **asked, **without_overruled(rules, sources)},
                shows_trade_off=shown["trade_off"],
                shows_plot=shown["plot"],
                sources=sources,
                operation=context.command.name,
                config=context.meta.get(CONFIG_KEY),
                writes_report=written["report"],
            )
            command(**given, options=options)

        return declare(call, command, *gatherers, instead_of="options")

    return decorated


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RequestOptions:
    """
    Values of the options that every request of a plan has.

    Parameters
    ----------
    given
        Values by the names of `PlanRequest`.
    sources
        Source of each value, as in `PlanOptions`.
    """

    given: Mapping[str, Any]
    sources: Mapping[str, str]


def with_request_options(command: Callable[..., None]) -> Callable[..., None]:
    """
    Add the options of requests to a command, as its last parameter, ``asked``.

    Parameters
    ----------
    command
        Function with own options of its input and output.

    Returns
    -------
    Function with all options in its signature, which Typer calls.
    """
    gatherers = (gatherer_of([OPTIONS["with_log_dirs"]]), shared_options, rule_options)
    of_each = [parameters_of(gatherer) for gatherer in gatherers]

    @wraps(command)
    def call(context: typer.Context, **given: Any) -> None:  # noqa: ANN401 - as given
        own, asked, rules = (
            {name: given.pop(name) for name in names} for names in of_each
        )
        sources = sources_of(context)
        options = {**own, **asked, **without_overruled(rules, sources)}
        command(**given, asked=RequestOptions(given=options, sources=sources))

    return declare(call, command, *gatherers, instead_of="asked")


def sources_of(context: typer.Context) -> dict[str, str]:
    """Return the source of the value of each parameter."""
    found = {name: context.get_parameter_source(name) for name in context.params}
    return {name: source.name for name, source in found.items() if source is not None}


def without_overruled(
    given: dict[str, Any], sources: Mapping[str, str]
) -> dict[str, Any]:
    """
    Return options in which no rule is both soft and hard by different sources.

    Parameters
    ----------
    given
        Options of rules by name.
    sources
        Source of each option. The line goes before the environment, which goes before
        the file; what is named as both by one of them stays for the reader to refuse.
    """
    rank = {"COMMANDLINE": 2, "ENVIRONMENT": 1}
    soft, hard = (rank.get(sources.get(name, ""), 0) for name in ("soft", "hard"))
    if soft == hard or not given["soft"] or not given["hard"]:
        return given
    from placement.rules.registry import HARD, SOFT

    weak, strong = ("soft", "hard") if hard > soft else ("hard", "soft")
    members = {**SOFT, **HARD}
    taken = {one for name in given[strong] for one in members.get(name, (name,))}
    kept = []
    for name in given[weak]:
        rest = [one for one in members.get(name, (name,)) if one not in taken]
        kept += [name] if len(rest) == len(members.get(name, (name,))) else rest
    return {**given, weak: kept}

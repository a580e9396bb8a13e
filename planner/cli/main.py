"""
The `kafka-planner` command.

Exit codes: 0 done and fine; 2 bad input or usage; 3 done, with findings; 4 the hard
rules are not all met; 5 cluster unreachable, unauthorised or timed out before any
change; 6 a change was requested, but its outcome is unknown; 75 a machine that Spark
runs on failed, run the command again; 130 interrupted; 1 is a crash, never deliberate.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperOption

from planner.cli import commands
from planner.cli.common.common_options import Quiet, Verbose
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.help_screen import use_help_screen
from planner.cli.common.metrics_output import MetricsFormat
from planner.cli.common.output import (
    is_flag_given,
    is_json_wanted,
    print_failure,
    print_note,
    print_words,
)
from planner.cli.common.progress_line import progress_line
from planner.errors import (
    AnswerUnknownError,
    BadInputError,
    ClusterUnavailableError,
    InputProblem,
    PlannerError,
)
from planner.process import (
    discard,
    is_unwritable,
    leave,
    open_closed_streams,
    set_up_process,
)
from planner.progress import listening

# Typer contains a copy of Click, or uses the installed one, depending on its version;
# the base of its public `BadParameter` is the usage error of either.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from planner.version import version_text

        typer.echo(version_text())
        raise typer.Exit


def _root(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version, and the commit it was built from.",
        ),
    ] = False,
) -> None:
    """
    Plan the placement of the replicas of a Kafka cluster, with a proof.

    Every option but --yes can also be set in the environment: PLANNER_MAX_BYTES=2TB
    for --max-bytes 2TB.

    \b
    Exit codes:
      0    done and fine
      1    a crash
      2    bad input or usage
      3    done, with findings
      4    the hard rules are not all met
      5    cluster unreachable, unauthorised, or timed out; nothing was changed
      6    a change was requested, its outcome is unknown: look, then retry
      75   a machine that Spark runs on failed: run the command again
      130  interrupted

    Example: kafka-planner demo
    """  # noqa: D301 - the first is Click's mark to leave these lines as they are


_PREFIX = "PLANNER_"
_LISTS = frozenset(("IDS", "REGEX"))
"""Placeholders of the values of options that are lists, or choose several topics."""
_NOT_READ = frozenset(("PLANNER_YES",))
# Options of consent and of the program itself.
_NOT_IN_ENVIRONMENT = frozenset(
    ("--yes", "--help", "--version", "--install-completion", "--show-completion")
)


def _common(*, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Declare the options that every command takes."""


def _add_common_options(command: Any) -> None:  # noqa: ANN401 - a Click command
    """Add the options that every command takes to each command that lacks them."""
    children = getattr(command, "commands", None)
    if children is not None:
        for child in children.values():
            _add_common_options(child)
        return
    common = typer.Typer(add_completion=False)
    common.command()(_common)
    known = {name for parameter in command.params for name in parameter.opts}
    for parameter in typer.main.get_command(common).params:
        if known.isdisjoint(parameter.opts):
            parameter.expose_value = False
            command.params.append(parameter)


def _name_environment_variables(command: Any) -> None:  # noqa: ANN401 - a Click command
    """Read every option but ``--yes`` from the variable ``PLANNER_<OPTION>`` too."""
    for parameter in command.params:
        if not isinstance(parameter, TyperOption) or parameter.envvar:
            continue
        names = [name for name in parameter.opts if name.startswith("--")]
        if names and names[0] not in _NOT_IN_ENVIRONMENT:
            parameter.envvar = _PREFIX + names[0][2:].replace("-", "_").upper()
            # The help names the rule once instead of the variable of each option.
            parameter.show_envvar = False
    for child in getattr(command, "commands", {}).values():
        _name_environment_variables(child)


def _given(option: Any, arguments: list[str]) -> list[str]:  # noqa: ANN401 - Click
    """Return the values that the arguments give an option."""
    values = []
    for at, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in option.opts:
            values.append(value if equals else "".join(arguments[at + 1 : at + 2]))
    return values


def _look_for_hidden(arguments: list[str], order: list[Any]) -> None:
    """
    Look for options with one value that are given several, of which the last holds.

    Several lists of brokers or of topics read as one longer list, and are refused; a
    note names any other value that is not taken.
    """
    for option in dict.fromkeys(order):
        is_single = isinstance(option, TyperOption) and not option.multiple
        if not is_single or option.is_flag or option.count:
            continue
        values = [*dict.fromkeys(_given(option, arguments))]
        if order.count(option) < 2 or len(values) < 2:
            continue
        name = max(option.opts, key=len)
        if option.metavar in _LISTS:
            msg = f"{name} takes one value, and {' and '.join(values)} are given"
            raise UsageError(msg)
        if not is_flag_given("quiet", arguments, os.environ):
            *hidden, last = _given(option, arguments)
            print_note(f"{name} is {last}: {', '.join(hidden)} before it is not taken")


def _parse_strictly(command: Any) -> None:  # noqa: ANN401 - a Click command
    """Make each command look for a value that a later one would hide."""
    make_parser = command.make_parser

    def make_strict_parser(context: Any) -> Any:  # noqa: ANN401 - of Click
        parser = make_parser(context)
        parse = parser.parse_args

        def parse_strictly(args: list[str]) -> Any:  # noqa: ANN401 - of Click
            given = list(args)
            try:
                values, rest, order = parse(args=args)
                _look_for_hidden(given, order)
            except UsageError as error:
                # Click's parser does not say which command it belongs to.
                error.ctx = context  # type: ignore[attr-defined]
                raise
            return values, rest, order

        parser.parse_args = parse_strictly
        return parser

    command.make_parser = make_strict_parser
    for child in getattr(command, "commands", {}).values():
        _parse_strictly(child)


@cache
def build_command(only: str | None = None) -> Any:  # noqa: ANN401 - a Click command
    """Return the tree of all commands, or of the only one or group that is run."""
    app = typer.Typer(
        name="kafka-planner",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    commands.register(app, only)
    command = typer.main.get_command(app)
    _add_common_options(command)
    _name_environment_variables(command)
    _parse_strictly(command)
    use_help_screen(command)
    return command


# The message of this usage error of Click is the whole help.
_NO_COMMAND = "NoArgsIsHelpError"


def _variable_of(error: Any, arguments: list[str]) -> str | None:  # noqa: ANN401 - of Click
    """Return the environment variable that has the wrong value; `None`: none has."""
    option = getattr(error, "param", None)
    variable = getattr(option, "envvar", None)
    if option is None or not isinstance(variable, str) or _given(option, arguments):
        return None
    return variable if os.environ.get(variable) else None


def _usage_problem(
    error: Any,  # noqa: ANN401 - a Click exception
    arguments: list[str],
) -> InputProblem:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "kafka-planner"
    is_bare = type(error).__name__ == _NO_COMMAND
    rule = "a command must be named" if is_bare else error.format_message()
    remedy = f"see '{path} --help'"
    if f"'{MetricsFormat.OPENMETRICS}' is not one of" in rule:
        remedy = f"'score' and 'fleet overview' have metrics; {remedy}"
    variable = _variable_of(error, arguments)
    if variable is not None:
        return InputProblem(
            file="environment",
            place=variable,
            value=os.environ[variable],
            rule=rule,
            remedy=remedy,
        )
    return InputProblem.of_option(path, "", rule, remedy)


def _variables(command: Any) -> Iterator[str]:  # noqa: ANN401 - a Click command
    """Yield the environment variables of a command and of those below it."""
    for parameter in command.params:
        if isinstance(parameter.envvar, str):
            yield parameter.envvar
    for child in getattr(command, "commands", {}).values():
        yield from _variables(child)


def _note_unknown_variables() -> None:
    """Print a note on each variable that looks like an option and is none."""
    given = [name for name in os.environ if name.startswith(_PREFIX)]
    known = {*_variables(build_command())} if given else set()
    for name in given:
        close = get_close_matches(name, sorted(known), n=1, cutoff=0.9)
        if name in _NOT_READ:
            option = name.removeprefix(_PREFIX).lower().replace("_", "-")
            print_note(f"{name} is not read: give --{option} on the command line")
        elif name not in known and close:
            print_note(f"{name} is no option: did you mean {close[0]}?")


@contextmanager
def _shown(arguments: list[str], *, as_json: bool) -> Iterator[None]:
    """Show progress: a line on a terminal, and every stage with ``--verbose``."""
    is_quiet = is_flag_given("quiet", arguments, os.environ)
    is_verbose = is_flag_given("verbose", arguments, os.environ)
    with ExitStack() as stack:
        stack.enter_context(progress_line(as_json=as_json, is_quiet=is_quiet))
        if is_verbose and not (is_quiet or as_json):
            stack.enter_context(listening(lambda stage: print_words(str(stage))))
        yield


def _exit_code(error: PlannerError) -> ExitCode:
    """Return the exit code of an error that a user can correct."""
    if isinstance(error, AnswerUnknownError):
        return ExitCode.ANSWER_UNKNOWN
    if isinstance(error, ClusterUnavailableError):
        return ExitCode.CLUSTER_UNAVAILABLE
    return ExitCode.BAD_INPUT


def _machine_failure(error: Exception) -> str | None:
    """Return the message about a failed machine of Spark; none for other errors."""
    if "pyspark" not in sys.modules:
        return None
    from planner.spark.common.machine_failures import machine_failure

    return machine_failure(error)


def _named(arguments: list[str]) -> str | None:
    """Return the command or group that the arguments begin with, if there is one."""
    return arguments[0] if arguments and arguments[0] in commands.NAMES else None


def _run_once(arguments: list[str], *, as_json: bool) -> int:
    if not (as_json or is_flag_given("quiet", arguments, os.environ)):
        _note_unknown_variables()
    try:
        with _shown(arguments, as_json=as_json):
            outcome = build_command(_named(arguments)).main(
                args=arguments, prog_name="kafka-planner", standalone_mode=False
            )
    except UsageError as error:
        if type(error).__name__ == _NO_COMMAND and not as_json:
            print_words(str(error))
            return ExitCode.BAD_INPUT
        print_failure("usage", [_usage_problem(error, arguments)], as_json=as_json)
        return ExitCode.BAD_INPUT
    except (BadInputError, ClusterUnavailableError, AnswerUnknownError) as error:
        print_failure(error.message, error.problems, as_json=as_json)
        return _exit_code(error)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit as error:
        # Click turns a closed pipe into exit code 1, which is reserved for crashes.
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None
        raise
    return int(outcome) if isinstance(outcome, int) else ExitCode.OK


def _run(arguments: list[str], *, as_json: bool) -> int:
    """Run the command line; report a failed machine of Spark in one line."""
    try:
        return _run_once(arguments, as_json=as_json)
    except Exception as error:
        failure = _machine_failure(error)
        if failure is None:
            raise
        print_failure(failure, [], as_json=as_json)
        return ExitCode.RUN_AGAIN


def _output_lost(error: OSError, arguments: list[str]) -> ExitCode:
    """Report that the result cannot be written; return the exit code."""
    discard(sys.stdout)
    print_words(
        f"error: the output cannot be written: {error.strerror}; free space, or send "
        "it elsewhere"
    )
    # With consent a cluster may have been changed before the answer was lost.
    return ExitCode.ANSWER_UNKNOWN if "--yes" in arguments else ExitCode.BAD_INPUT


def run() -> NoReturn:
    """Run the command line; errors of input become a message and an exit code."""
    open_closed_streams()
    set_up_process()
    arguments = sys.argv[1:]
    as_json = is_json_wanted(arguments, dict(os.environ))
    try:
        code = _run(arguments, as_json=as_json)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`| head`): Python must not flush into it at exit.
        discard(sys.stdout, sys.stderr)
        code = ExitCode.OK
    except OSError as error:
        if not is_unwritable(error):
            raise
        code = _output_lost(error, arguments)
    leave(code)

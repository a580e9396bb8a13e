"""
The `kafka-planner` command.

Exit codes: 0 done and fine; 2 bad input or usage; 3 done, with findings; 4 the hard
rules are not all met; 5 cluster unreachable, unauthorised or timed out before anything
was asked; 6 a change was asked for, but the answer is unknown; 75 machines that Spark
runs on failed, run it again; 130 interrupted; 1 is a crash, never deliberate.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperOption

from planner.cli.common.common_options import Quiet, Verbose
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import (
    is_json_wanted,
    is_wished,
    print_failure,
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
from planner.process import collect_seldom, leave
from planner.progress import listening

# Typer carries a Click of its own, or uses the installed one, by its version; the base
# of its public `BadParameter` is the usage error of whichever it is.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="kafka-planner",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from planner.version import told

        typer.echo(told())
        raise typer.Exit


@app.callback()
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
    Plan where every replica of a Kafka cluster lives, with a proof.

    Every option but --yes may also stand in the environment: PLANNER_MAX_BYTES=2TB
    for --max-bytes 2TB.

    \b
    Exit codes:
      0    done and fine
      1    a crash
      2    bad input or usage
      3    done, with findings
      4    the hard rules are not all met
      5    cluster unreachable, unauthorised, or timed out; nothing was asked
      6    a change was asked for, the answer is unknown: look, then retry
      75   machines that Spark runs on failed: run it again
      130  interrupted

    Example: kafka-planner demo
    """  # noqa: D301 - the first is Click's mark to leave these lines as they are


# Options that are not of a command: how it is asked for, or what it is.
_NOT_IN_ENVIRONMENT = frozenset(
    ("--yes", "--help", "--version", "--install-completion", "--show-completion")
)


def _common(*, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Have the options that every command takes."""


def _add_common_options(command: Any) -> None:  # noqa: ANN401 - a Click command
    """Let every command take the options that all have, also where it needs none."""
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
    """Let every option but ``--yes`` also be given as ``PLANNER_<OPTION>``."""
    for parameter in command.params:
        if not isinstance(parameter, TyperOption) or parameter.envvar:
            continue
        names = [name for name in parameter.opts if name.startswith("--")]
        if names and names[0] not in _NOT_IN_ENVIRONMENT:
            parameter.envvar = "PLANNER_" + names[0][2:].replace("-", "_").upper()
    for child in getattr(command, "commands", {}).values():
        _name_environment_variables(child)


@cache
def build_command() -> Any:  # noqa: ANN401 - a Click command
    """Return the whole command tree; made once, since Typer registers for good."""
    from planner.cli import commands

    commands.register(app)
    command = typer.main.get_command(app)
    _add_common_options(command)
    _name_environment_variables(command)
    return command


# The message of this usage error of Click is the whole help.
_NO_COMMAND = "NoArgsIsHelpError"


def _usage_problem(error: Any) -> InputProblem:  # noqa: ANN401 - a Click exception
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "kafka-planner"
    is_bare = type(error).__name__ == _NO_COMMAND
    return InputProblem(
        file="command line",
        place=path,
        value="",
        rule="a command must be named" if is_bare else error.format_message(),
        remedy=f"see '{path} --help'",
    )


@contextmanager
def _shown(arguments: list[str], *, as_json: bool) -> Iterator[None]:
    """Show what is being done: a line on a terminal, and all of it if asked for."""
    is_quiet = is_wished("quiet", arguments, os.environ)
    says_all = is_wished("verbose", arguments, os.environ) and not (is_quiet or as_json)
    with ExitStack() as stack:
        stack.enter_context(progress_line(as_json=as_json, is_quiet=is_quiet))
        if says_all:
            stack.enter_context(listening(lambda stage: print_words(str(stage))))
        yield


def _exit_code(error: PlannerError) -> ExitCode:
    """Return the exit code of an error that the user can do something about."""
    if isinstance(error, AnswerUnknownError):
        return ExitCode.ANSWER_UNKNOWN
    if isinstance(error, ClusterUnavailableError):
        return ExitCode.CLUSTER_UNAVAILABLE
    return ExitCode.BAD_INPUT


def _machine_failure(error: Exception) -> str | None:
    """Return which machine that Spark runs on failed, if it was one."""
    if "pyspark" not in sys.modules:
        return None
    from planner.spark.common.machine_failures import machine_failure

    return machine_failure(error)


def _run_once(arguments: list[str], *, as_json: bool) -> int:
    try:
        with _shown(arguments, as_json=as_json):
            outcome = build_command().main(
                args=arguments, prog_name="kafka-planner", standalone_mode=False
            )
    except UsageError as error:
        if type(error).__name__ == _NO_COMMAND and not as_json:
            print_words(str(error))
            return ExitCode.BAD_INPUT
        print_failure("usage", [_usage_problem(error)], as_json=as_json)
        return ExitCode.BAD_INPUT
    except (BadInputError, ClusterUnavailableError, AnswerUnknownError) as error:
        print_failure(error.message, error.problems, as_json=as_json)
        return _exit_code(error)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit as error:
        # Click would make a crash of a reader that went away.
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None
        raise
    return int(outcome) if isinstance(outcome, int) else ExitCode.OK


def _run(arguments: list[str], *, as_json: bool) -> int:
    """Run the command line; a machine of Spark's that fails is one line, no trace."""
    try:
        return _run_once(arguments, as_json=as_json)
    except Exception as error:
        failure = _machine_failure(error)
        if failure is None:
            raise
        print_failure(failure, [], as_json=as_json)
        return ExitCode.RUN_AGAIN


def run() -> NoReturn:
    """Run the command line; mendable errors become one message and an exit code."""
    collect_seldom()
    # Arrow's own pool keeps what numpy then has to ask the system for again.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    arguments = sys.argv[1:]
    as_json = is_json_wanted(arguments, dict(os.environ))
    try:
        code = _run(arguments, as_json=as_json)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is left to say, nor to say it to.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        code = ExitCode.OK
    leave(code)

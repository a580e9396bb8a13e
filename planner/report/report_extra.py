"""Check that the libraries of reports are installed."""

from importlib.util import find_spec

from planner.errors import BadInputError, InputProblem

LIBRARIES = {"altair": "Altair", "vl_convert": "vl-convert", "jinja2": "Jinja2"}
"""Names of the libraries of the extra, by module."""


def require_report() -> None:
    """
    Check that the extra ``[report]`` is installed.

    Raises
    ------
    BadInputError
        If a library is missing; with the command that installs it.
    """
    if missing := _missing():
        raise _refusal(missing)


def is_installed() -> bool:
    """Return whether the extra ``[report]`` is installed."""
    return not _missing()


def _missing() -> list[str]:
    return [name for module, name in LIBRARIES.items() if find_spec(module) is None]


def _refusal(missing: list[str]) -> BadInputError:
    verb = "is" if len(missing) == 1 else "are"
    rule = f"{', '.join(missing)} {verb} not installed"
    remedy = "install the extra: python -m pip install 'kafka-planner[report]'"
    message = f"reports cannot be made: {rule}; {remedy}"
    problem = InputProblem(
        file="this Python", place="", value="", rule=rule, remedy=remedy
    )
    return BadInputError(message, [problem])

"""Check that the libraries of an extra are installed."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from planner.errors import BadInputError, InputProblem


@dataclass(frozen=True, slots=True)
class Extra:
    """
    Libraries that one command needs beyond the base install.

    Parameters
    ----------
    name
        Name of the extra: ``report``.
    failure
        Message where a library is missing: ``reports cannot be made``.
    libraries
        Names of the libraries of the extra, by module.
    """

    name: str
    failure: str
    libraries: Mapping[str, str]

    @property
    def is_installed(self) -> bool:
        """Whether every library of the extra is installed."""
        return not self._missing()

    def require(self) -> None:
        """
        Check that the extra is installed.

        Raises
        ------
        BadInputError
            If a library is missing; with the command that installs it.
        """
        if missing := self._missing():
            raise self._refusal(missing)

    def _missing(self) -> list[str]:
        found = self.libraries.items()
        return [name for module, name in found if find_spec(module) is None]

    def _refusal(self, missing: list[str]) -> BadInputError:
        verb = "is" if len(missing) == 1 else "are"
        rule = f"{', '.join(missing)} {verb} not installed"
        command = f"python -m pip install 'kafka-planner[{self.name}]'"
        remedy = f"install the extra: {command}"
        problem = InputProblem(
            file="this Python", place="", value="", rule=rule, remedy=remedy
        )
        return BadInputError(f"{self.failure}: {rule}; {remedy}", [problem])


REPORT = Extra(
    "report",
    "reports cannot be made",
    {"altair": "Altair", "vl_convert": "vl-convert", "jinja2": "Jinja2"},
)
UI = Extra(
    "ui",
    "the page cannot be served",
    {"starlette": "Starlette", "uvicorn": "Uvicorn", "jinja2": "Jinja2"},
)

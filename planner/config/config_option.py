"""Values of an option in `planner.toml`, and their form on the command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

FOR_ALL = "all"
"""Key for all other resources in a table of values by resource."""


class Kind(StrEnum):
    """Kind of the values of an option."""

    FLAG = "true or false"
    COUNT = "a whole number"
    CHOICE = "one of its words"
    PATTERN = "a regular expression, or an array of them"
    LIST = "a value, an array of values, or a table of them by name"
    TEXT = "a text or a number, or an array of them"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOption:
    """
    An option of `planner.toml`.

    Parameters
    ----------
    name
        Key in the file: ``max_bytes``.
    option
        Flag on the command line: ``--max-bytes``.
    kind
        Kind of its values.
    help
        One sentence that describes the option.
    default
        Value where the option is not given.
    choices
        Allowed words of an option of kind `CHOICE`.
    """

    name: str
    option: str
    kind: Kind
    help: str
    default: Any
    choices: tuple[str, ...] = ()

    def read(self, value: Any) -> Any:  # noqa: ANN401 - any value of TOML
        """
        Convert a value of TOML to the form of the command line.

        Raises
        ------
        ValueError
            If the value is not of the option's kind; the message is the rule.

        Examples
        --------
        >>> band = ConfigOption(
        ...     name="band", option="--band", kind=Kind.LIST, help="", default=None
        ... )
        >>> band.read({"all": 0.1, "disk": 0.05})
        ['0.1', 'disk=0.05']
        """
        readers = {
            Kind.FLAG: _flag,
            Kind.COUNT: _count,
            Kind.PATTERN: _pattern,
            Kind.LIST: _texts,
            Kind.TEXT: _joined,
        }
        if self.kind is Kind.CHOICE:
            return self._choice(value)
        return readers[self.kind](value)

    def _choice(self, value: object) -> str:
        if value not in self.choices:
            msg = f"must be one of {', '.join(self.choices)}"
            raise ValueError(msg)
        return str(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _refusal(Kind.FLAG)
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refusal(Kind.COUNT)
    return value


def _pattern(value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _refusal(Kind.PATTERN)
    return "|".join(f"(?:{one})" for one in value)


def _texts(value: object) -> list[str]:
    if isinstance(value, Mapping):
        pairs = [(name, _text(one, Kind.LIST)) for name, one in value.items()]
        return [one if name == FOR_ALL else f"{name}={one}" for name, one in pairs]
    if isinstance(value, list):
        return [_text(one, Kind.LIST) for one in value]
    return [_text(value, Kind.LIST)]


def _joined(value: object) -> str:
    if isinstance(value, list):
        return ",".join(_text(one, Kind.TEXT) for one in value)
    return _text(value, Kind.TEXT)


def _text(value: object, kind: Kind) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _refusal(kind)
    return value if isinstance(value, str) else repr(value)


def _refusal(kind: Kind) -> ValueError:
    return ValueError(f"must be {kind}")

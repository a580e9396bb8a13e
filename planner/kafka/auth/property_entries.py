"""Entries of a client's properties file, consumed one by one with their problems."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from planner.errors import InputProblem, raise_problems
from planner.kafka.auth.java_properties import Property

_SECRET_WORDS = ("password", "jaas", "secret", "token", "keystore.key", "credential")


def is_secret(key: str) -> bool:
    """Return whether the value of a key must never be shown."""
    return any(word in key.lower() for word in _SECRET_WORDS)


class Entries:
    """
    Unconsumed entries, and the problems of those consumed so far.

    Parameters
    ----------
    file
        Name of the file in messages.
    found
        Entries of the file by key.
    """

    def __init__(self, file: str, found: Mapping[str, Property]) -> None:
        self.file = file
        self.notes: list[str] = []
        self._found = dict(found)
        self._left = dict(found)
        self._problems: list[InputProblem] = []

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def __repr__(self) -> str:
        return f"Entries({self.file!r}, {len(self._found)} keys)"

    @property
    def left(self) -> list[str]:
        """Unconsumed keys, in the order of the file."""
        return sorted(self._left, key=lambda key: self._left[key].line)

    def text(self, key: str, default: str | None = None) -> str | None:
        """Consume a value, trimmed as Kafka does."""
        self._left.pop(key, None)
        entry = self._found.get(key)
        return default if entry is None else entry.value.strip()

    def secret(self, key: str) -> str | None:
        """Consume a password, with the blanks at its end."""
        self._left.pop(key, None)
        entry = self._found.get(key)
        return None if entry is None else entry.value

    def choice(self, key: str, default: str, allowed: Iterable[str]) -> str:
        """Consume one of several words; any other word is a problem."""
        value = self.text(key, default) or default
        options = list(allowed)
        if value not in options:
            rule = f"must be one of {', '.join(map(repr, options))}"
            self.refuse(key, rule, "choose one of these")
            return default
        return value

    def positive(self, key: str) -> int | None:
        """Consume a whole number above zero and below 2^31."""
        value = self.text(key)
        if value is None:
            return None
        if not value.isascii() or not value.isdigit() or not 0 < int(value) < 2**31:
            self.refuse(key, "must be a whole number above 0", "correct the number")
            return None
        return int(value)

    def read_file(self, key: str) -> bytes | None:
        """Consume the path of a file and return the content of the file."""
        path = self.text(key)
        if not path:
            return None
        try:
            return Path(path).read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            rule = f"must name a readable file: {reason}"
            self.refuse(key, rule, "check the path and its rights")
            return None

    def ignore(self, keys: Iterable[str], reason: str) -> None:
        """Consume keys without effect here, and add a note on them."""
        ignored = [key for key in keys if self._left.pop(key, None) is not None]
        if ignored:
            self.notes.append(f"{self.file}: ignored, {reason}: {', '.join(ignored)}")

    def refuse(self, key: str, rule: str, remedy: str) -> None:
        """Add a problem, with the value unless it may be a secret."""
        entry = self._found.get(key)
        self._left.pop(key, None)
        value = "" if entry is None or is_secret(key) else repr(entry.value)[:80]
        place = f"line {entry.line}: {key}" if entry else key
        problem = InputProblem(
            file=self.file, place=place, value=value, rule=rule, remedy=remedy
        )
        self._problems.append(problem)

    def raise_problems(self) -> None:
        """
        Raise all problems, if any.

        Raises
        ------
        BadInputError
            With every problem.
        """
        raise_problems(
            f"{self.file}: client properties that the planner cannot use",
            self._problems,
        )

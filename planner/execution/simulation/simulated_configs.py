"""Dynamic configs of one broker or topic, changed as KRaft's controller does."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from planner.kafka.actions.config_changes import ConfigAction, ConfigChanges
from planner.throttles import BROKER_THROTTLES, TOPIC_THROTTLES

_LISTS = frozenset({*TOPIC_THROTTLES, "cleanup.policy"})
_REPLICA = re.compile(r"[0-9]+:[0-9]+")
_INVALID_CONFIG = "[Error 40] InvalidConfigurationError: "
_INVALID_REQUEST = "[Error 42] InvalidRequestError: "
ALL = "*"
"""Value of a list of throttled replicas that stands for all of them."""


class _Values:
    """Values of a list in their order; some may occur more than once."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.ordered = list(values)
        self.counts = Counter(self.ordered)

    def append(self, value: str) -> bool:
        """Append a value that lacks; return whether it did."""
        is_new = value not in self.counts
        if is_new:
            self.ordered.append(value)
            self.counts[value] = 1
        return is_new

    def remove(self, value: str) -> bool:
        """Remove the first occurrence of a value; return whether there was one."""
        was_there = value in self.counts
        if was_there:
            self.ordered.remove(value)
            self.counts -= Counter((value,))
        return was_there


class Changed(NamedTuple):
    """
    Outcome of a change.

    Parameters
    ----------
    refusal
        Reason if nothing was changed.
    values
        List values that were added or removed, by config key.
    """

    refusal: str | None
    values: Mapping[str, frozenset[str]]


class Configs:
    """
    Configs that are set on one broker or topic itself.

    Parameters
    ----------
    values
        Configs at first.

    References
    ----------
    Kafka's ``ConfigurationControlManager``.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._texts = {k: v for k, v in values.items() if k not in _LISTS}
        self._lists = {k: _Values(_split(v)) for k, v in values.items() if k in _LISTS}

    def get(self, key: str, default: str) -> str:
        """Return the value of a config that is no list."""
        return self._texts.get(key, default)

    def values(self, keys: Iterable[str] | None = None) -> dict[str, str]:
        """Return the configs that are set, or some of them."""
        wanted = {*self._texts, *self._lists} if keys is None else set(keys)
        found = {k: v for k, v in self._texts.items() if k in wanted}
        joined = {k: ",".join(v.ordered) for k, v in self._lists.items() if k in wanted}
        return found | joined

    def has(self, key: str, value: str) -> bool:
        """Return whether a list contains a value, or stands for all of them."""
        found = self._lists.get(key)
        return found is not None and (value in found.counts or ALL in found.counts)

    def change(self, changes: ConfigChanges) -> Changed:
        """Make all changes, or none if one is refused."""
        for key, (action, value) in changes.items():
            if refusal := self._refusal(key, action, value):
                return Changed(refusal, {})
        found = {key: self._change(key, *one) for key, one in changes.items()}
        return Changed(None, found)

    def _refusal(self, key: str, action: ConfigAction, value: str) -> str | None:
        if action in {"APPEND", "SUBTRACT"} and key not in _LISTS:
            text = f"Can't {action} to key {key} because its type is not LIST."
            return _INVALID_CONFIG + text
        if action in {"DELETE", "SUBTRACT"} or self._is_valid(key, action, value):
            return None
        # Rates are checked by their broker, lists of replicas by the controller.
        code = _INVALID_REQUEST if key in BROKER_THROTTLES else _INVALID_CONFIG
        return f"{code}Invalid value {value} for configuration {key}"

    def _is_valid(self, key: str, action: ConfigAction, value: str) -> bool:
        if key in BROKER_THROTTLES:
            return value.isdecimal()
        if key not in TOPIC_THROTTLES:
            return True
        before = self._lists.get(key) if action == "APPEND" else None
        after = {*_split(value), *(before.ordered if before else ())}
        return after == {ALL} or all(_REPLICA.fullmatch(one) for one in after)

    def _change(self, key: str, action: ConfigAction, value: str) -> frozenset[str]:
        """Change one config; return the list values that were added or removed."""
        if key not in _LISTS:
            self._texts.pop(key, None)
            if action == "SET":
                self._texts[key] = value
            return frozenset()
        if action in {"APPEND", "SUBTRACT"}:
            return self._change_list(key, action, value)
        before = self._lists.pop(key, _Values())
        after = _Values(_split(value) if action == "SET" else ())
        if action == "SET":
            self._lists[key] = after
        return frozenset(before.counts.keys() ^ after.counts.keys())

    def _change_list(
        self, key: str, action: ConfigAction, value: str
    ) -> frozenset[str]:
        # A list that was not set becomes one without values.
        held = self._lists.setdefault(key, _Values())
        change = held.append if action == "APPEND" else held.remove
        return frozenset(one for one in _split(value) if change(one))


def _split(value: str) -> list[str]:
    return [one for part in value.split(",") if (one := part.strip())]

"""Topic configs of a new topic, as ``KEY=VALUE``."""

import re
from collections.abc import Iterator, Mapping, Sequence

MIN_ISR = "min.insync.replicas"
_LEGAL_KEY = re.compile(r"[A-Za-z0-9._-]+")
OPTION = "--topic-config"


def parse_topic_configs(values: Sequence[str]) -> dict[str, str]:
    """
    Return topic configs by name; texts other than ``KEY=VALUE`` are left out.

    Examples
    --------
    >>> parse_topic_configs(["cleanup.policy=compact,delete", "min.insync.replicas=2"])
    {'cleanup.policy': 'compact,delete', 'min.insync.replicas': '2'}
    """
    pairs = (value.partition("=") for value in values)
    return {key.strip(): text.strip() for key, sign, text in pairs if sign}


def topic_config_problems(values: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the value, the violated rule and the remedy of each invalid config."""
    seen: set[str] = set()
    for value in values:
        key, sign, text = (part.strip() for part in value.partition("="))
        if not sign or not _LEGAL_KEY.fullmatch(key):
            yield value, "must be KEY=VALUE", f"write {OPTION} {MIN_ISR}=2"
        elif key in seen:
            yield value, "must give each topic config once", "leave one out"
        elif key == MIN_ISR and min_isr_of({key: text}) is None:
            yield value, "must be a whole number of at least 1", f"write {MIN_ISR}=2"
        seen.add(key)


def min_isr_of(configs: Mapping[str, str]) -> int | None:
    """Return ``min.insync.replicas``; `None` if it is absent or invalid."""
    text = configs.get(MIN_ISR, "")
    is_number = text.isascii() and text.isdigit() and 1 <= int(text) < 2**31
    return int(text) if is_number else None

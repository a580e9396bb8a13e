"""Conversions of options to JSON; each result has the type of its key in plan.json."""

from collections.abc import Iterable

from planner.options.declared.types import BrokerId, RackRule


def sorted_ids(ids: Iterable[int] | None) -> list[BrokerId] | None:
    """Return the ids of a broker list in ascending order."""
    return None if ids is None else sorted(ids)


def sorted_texts(texts: Iterable[str]) -> list[str]:
    """Return texts in ascending order."""
    return sorted(texts)


def texts_if_any(texts: Iterable[str]) -> list[str] | None:
    """Return texts as they are; `None` if there is none."""
    return list(texts) or None


def sorted_if_any(texts: Iterable[str]) -> list[str] | None:
    """Return texts in ascending order; `None` if there is none."""
    return sorted(texts) or None


def amount_if_any(amount: int | None) -> int | None:
    """Return an amount; `None` if it is 0."""
    return amount or None


def gap_text(gap: tuple[int, int]) -> str:
    """Return a least and a largest gap as ``LEAST-MOST``."""
    return "-".join(map(str, gap))


def pair_texts(pairs: Iterable[tuple[str, int]]) -> list[str]:
    """Return ``REGEX=N`` texts."""
    return [f"{name}={number}" for name, number in pairs]


def dir_texts(dirs: Iterable[tuple[int, str]]) -> list[str] | None:
    """Return ``BROKER:PATH`` texts in ascending order; `None` if there is none."""
    return sorted(f"{broker}:{path}" for broker, path in dirs) or None


def by_factor(
    factors: Iterable[tuple[int, str]] | None,
) -> dict[str, list[str]] | None:
    """Return regular expressions by replication factor; `None` if there is none."""
    found: dict[str, list[str]] = {}
    for number, pattern in factors or ():
        found.setdefault(str(number), []).append(pattern)
    return found or None


def rule_or_default(rule: RackRule | None) -> RackRule:
    """Return the rack rule that holds."""
    return rule or "distribution"

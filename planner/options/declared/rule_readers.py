"""Readers of the options of rules, from texts or typed values."""

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from planner.options.declared.option import Problems
from planner.options.declared.value_readers import read_pattern
from planner.text.units import parse_fraction

SETS_OFF = "off"
"""Value that disables broker sets; it excludes all patterns."""
SIDES = "="
"""Separator of groups of topics, which no topic has in its name."""
CPU_WEIGHTS = ("leader_in", "leader_out", "follower_in")
MOST_LEADERS = 1_000_000
MOST_BAND = 1000.0
_GAP = re.compile(r"([0-9]{1,6})-([0-9]{1,6})")


def read_rack_map(
    value: Mapping[str, str] | Iterable[str], problems: Problems
) -> dict[str, str]:
    """Return the mapping of racks, from pairs and from files of pairs."""
    if isinstance(value, Mapping):
        return dict(sorted(value.items()))
    found: dict[str, str] = {}
    for text in value:
        for pair in _lines_of(text, problems):
            old, has_both, new = (part.strip() for part in pair.partition("="))
            if not (has_both and old and new):
                rule = "must be FROM=TO, or a file of such lines"
                problems.refuse(pair, rule, "write us-east-1a=a")
            elif found.setdefault(old, new) != new:
                rule = f"rack {old} stands for {found[old]} already"
                problems.refuse(pair, rule, "map it once")
    return dict(sorted(found.items()))


def _lines_of(text: str, problems: Problems) -> list[str]:
    if "=" in text:
        return [text]
    try:
        lines = Path(text).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        # A ValueError is of text that is not UTF-8, or of a name with a null byte.
        rule = f"the file cannot be read: {error}"
        problems.refuse(text, rule, "write FROM=TO, or name a file")
        return []
    kept = [line.partition("#")[0].strip() for line in lines]
    return [line for line in kept if line]


def read_sets(
    value: Mapping[str, str] | str | Sequence[str], problems: Problems
) -> dict[str, str] | None:
    """
    Return the broker set by the regular expression of its topics.

    Empty: broker sets are off. `None`: nothing is given.
    """
    if isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        texts = (value,) if isinstance(value, str) else tuple(value)
        if texts == (SETS_OFF,):
            return {}
        pairs = list(_set_pairs(texts, problems))
    found: dict[str, str] = {}
    for regex, name in pairs:
        if read_pattern(regex, problems) is not None:
            found.setdefault(regex, name)
    return found or None


def _set_pairs(texts: Sequence[str], problems: Problems) -> Iterator[tuple[str, str]]:
    """Yield the pattern and the set of each ``REGEX=SET`` text."""
    if SETS_OFF in texts:
        rule = f"{SETS_OFF} goes with no other --broker-set"
        problems.refuse(SETS_OFF, rule, f"leave {SETS_OFF} out, or the others")
    for text in texts:
        regex, has_both, name = text.rpartition("=")
        if regex and has_both:
            yield regex, name
        elif text != SETS_OFF:
            rule = f"must be REGEX=SET, or {SETS_OFF}"
            problems.refuse(text, rule, "write orders.*=gold")


def read_apart(value: Iterable[str], problems: Problems) -> tuple[str, ...]:
    """Return the valid ``REGEX=REGEX`` texts of topics that share no broker."""
    return tuple(text for text in value if _are_sides(text, problems))


def _are_sides(text: str, problems: Problems) -> bool:
    sides = text.split(SIDES)
    if len(sides) < 2 or not all(sides):
        rule = "must be REGEX=REGEX, of topics that share no broker"
        problems.refuse(text, rule, "write 'orders.*=payments.*'")
        return False
    return None not in [read_pattern(side, problems) for side in sides]


def read_spread_band(value: str | float, problems: Problems) -> float:
    """Return the allowed difference from the mean, as a fraction of the mean."""
    try:
        number = parse_fraction(value) if isinstance(value, str) else float(value)
    except ValueError:
        number = math.nan
    if not 0 < number <= MOST_BAND:
        rule = f"must be a fraction of the mean above 0, {MOST_BAND:g} at most"
        problems.refuse(value, rule, "write 0.5 for ± 50 %")
    return number


def gap_of(text: str) -> tuple[int, int] | None:
    """
    Return the least and the largest gap of a text; `None` if it is no ``LEAST-MOST``.

    Examples
    --------
    >>> gap_of("2-40"), gap_of("9-3"), gap_of("2")
    ((2, 40), None, None)
    """
    found = _GAP.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        return None
    return int(found[1]), int(found[2])


def read_gap(value: str | Sequence[int], problems: Problems) -> tuple[int, int]:
    """Return the least and the largest gap; zeros if it is invalid."""
    text = value if isinstance(value, str) else "-".join(map(str, value))
    gap = gap_of(text)
    if gap is None:
        rule = "must be LEAST-MOST, two whole numbers, the smaller one first"
        problems.refuse(text, rule, "write 2-40")
    return gap or (0, 0)


def read_topic_leaders(
    value: Mapping[str, int] | Iterable[str | tuple[str, int]], problems: Problems
) -> tuple[tuple[str, int], ...]:
    """Return patterns of topics, and the least number of leaders of each per broker."""
    found = []
    for one in value.items() if isinstance(value, Mapping) else value:
        text = one if isinstance(one, str) else f"{one[0]}={one[1]}"
        regex, _, number = text.rpartition("=")
        if not regex or not number.isdecimal() or not 0 < int(number) < MOST_LEADERS:
            rule = f"must be REGEX=N, N from 1 to {MOST_LEADERS - 1}"
            problems.refuse(text, rule, "write orders=1")
        elif read_pattern(regex, problems) is not None:
            found.append((regex, int(number)))
    return tuple(found)


def read_soft(value: Iterable[str], problems: Problems) -> tuple[str, ...]:
    """Return the names of soft rules, in order; goals are soft by default."""
    from placement.rules.registry import ALWAYS_HARD, HARD, SOFT

    found = tuple(dict.fromkeys(value))
    remedy = f"one of {', '.join(SOFT)}"
    for name in found:
        if name in ALWAYS_HARD:
            rule = f"{name} {ALWAYS_HARD[name]}: it is always hard"
            problems.refuse(name, rule, remedy)
        elif name not in SOFT and name not in HARD:
            problems.refuse(name, "must name a rule that may be soft", remedy)
    return found


def read_cpu_weights(
    value: Mapping[str, float] | Iterable[str], problems: Problems
) -> dict[str, float]:
    """Return cores for each MB/s by name."""
    found: dict[str, float] = {}
    for text, name, cores in _weights(value):
        if name in CPU_WEIGHTS and cores is not None:
            found[name] = cores
            continue
        near = difflib.get_close_matches(name, CPU_WEIGHTS, n=1)
        remedy = f"did you mean {near[0]}?" if near and name not in CPU_WEIGHTS else ""
        rule = f"must be NAME=CORES per MB/s, of {', '.join(CPU_WEIGHTS)}"
        problems.refuse(text, rule, remedy or "write leader_in=0.02")
    return dict(sorted(found.items()))


def _weights(
    value: Mapping[str, float] | Iterable[str],
) -> Iterator[tuple[str, str, float | None]]:
    """Yield the text, the name and the cores of each weight; `None`: no cores."""
    if isinstance(value, Mapping):
        for name, cores in value.items():
            yield f"{name}={cores}", _underlined(name), _cores(cores)
        return
    for text in value:
        name, _, number = text.partition("=")
        yield text, _underlined(name), _cores(number)


def _underlined(name: str) -> str:
    return name.strip().replace("-", "_")


def _cores(value: str | float) -> float | None:
    try:
        cores = float(value)
    except (TypeError, ValueError):
        return None
    return cores if math.isfinite(cores) and cores >= 0 else None

"""
Sentences on the moves of a plan and on what is proven of them.

They are worded from the numbers of plan.json, for the screen and for reports alike.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from placement.core.model.solution import CLOSED, Bounded
from planner.text.format import bytes_text, duration_text, percent_text, plural

WEAK_GAP = 1.0
"""Gaps above this, as a fraction of the bound, are not shown as a number."""


def bands_text(bands: Sequence[float]) -> str:
    """
    Return ascending band widths, as fractions, as text.

    Examples
    --------
    >>> bands_text([0.1]), bands_text([0.05, 0.1]), bands_text([])
    ('band 10 %', 'band 5 % to 10 %', 'no bands')
    """
    width = " to ".join(map(percent_text, dict.fromkeys([*bands[:1], *bands[-1:]])))
    return f"band {width}" if bands else "no bands"


def copies_text(
    moves: Mapping[str, Any],
    cost: Bounded,
    least_moves: float,
    *,
    shows_crossing: bool,
) -> str:
    """
    Return the copies of a plan, and what is proven of every plan.

    Parameters
    ----------
    moves
        The field `moves` of plan.json.
    cost
        Copied bytes and their bounds.
    least_moves
        Lower bound on the number of copies.
    shows_crossing
        Whether the bytes between racks are given too.
    """
    if not moves["replicas"]:
        return "none"
    done, least = [plural(moves["replicas"], "replica")], []
    if moves["bytes"]:
        crossing = ""
        if shows_crossing:
            crossing = f" ({bytes_text(moves['cross_rack_bytes'], 4)} between racks)"
        done.append(bytes_text(moves["bytes"], 5, is_padded=True) + crossing)
        if cost.gap is not None:
            bound = bytes_text(cost.lower_bound, 5, is_padded=True)
            least.append(f"under {bound} ({gap_text(cost.gap)})")
    if least_moves > 0:
        least.append(f"under {plural(int(least_moves), 'replica')}")
    claim = f"; proven: no plan can move {', nor '.join(least)}" if least else ""
    return f"{', '.join(done)}{claim}{_said(cost)}"


def gap_text(gap: float) -> str:
    """Return the gap between a value and its bound, a fraction of the bound."""
    # A weaker bound is of little use, and its gap would look like a fault.
    if gap > WEAK_GAP:
        return "a weak bound"
    if 0 < gap <= CLOSED:
        return f"gap under {percent_text(CLOSED)}"
    return f"gap {percent_text(gap)}"


def _said(cost: Bounded) -> str:
    """Return the bound of a solver that goes beyond the checked bound."""
    if cost.solver_bound is None or cost.solver is None:
        return ""
    name, _, version = cost.solver.rpartition(" ")
    solver = f"{name} {'.'.join(version.split('.')[:2])}"
    spread = ", topics kept spread" if cost.is_spread else ""
    if cost.is_least:
        return f"; the least there is{spread}, proven by {solver}"
    bound = bytes_text(cost.solver_bound, 5, is_padded=True)
    return f"; not under {bound}{spread} by {solver}"


def leaders_text(moves: Mapping[str, Any], elected: int, least: float) -> str:
    """
    Return the changes of leaders.

    Parameters
    ----------
    moves
        The field `moves` of plan.json.
    elected
        Number of partitions in preferred-election.json.
    least
        Lower bound on the changes; 0 where nothing is proven.
    """
    when = ", after all copies" if moves["replicas"] else ""
    text = f"{moves['leaders']} change{when}" if moves["leaders"] else "none change"
    if least > 0:
        text += f"; proven: {plural(int(least), 'change')} at least"
    return f"{text}; {elected} by preferred-election.json" if elected else text


def waves_text(
    copy_waves: int,
    least: int,
    kinds: Mapping[str, int],
    seconds: float,
    at_once: float,
) -> str:
    """
    Return the waves of a plan.

    Parameters
    ----------
    copy_waves
        Number of waves that copy.
    least
        Lower bound on them; 0 where nothing is proven.
    kinds
        Number of waves by kind.
    seconds
        Time of all waves, one after the other.
    at_once
        Time of all copies, if they do not wait for each other.
    """
    claim = f"; proven: not under {least}" if least else ""
    text = f"{plural(copy_waves, 'wave')} of copies{claim}"
    if kinds.get("drops"):
        text += f", {kinds['drops']} that only drop replicas"
    if kinds.get("leaders"):
        text += f", then {kinds['leaders']} of leaders"
    if seconds:
        text += (
            f"; {duration_text(seconds)} wave by wave, "
            f"{duration_text(at_once)} if copies do not wait for each other"
        )
    return text


def left_text(counts: Mapping[str, int], furthest: Bounded) -> str:
    """Return brokers out of their bands by resource, and the largest distance."""
    listed = ", ".join(f"{resource} {count}" for resource, count in counts.items())
    worst = percent_text(furthest.value)
    text = f"brokers out of band: {listed}; at most {worst} of a share"
    if furthest.lower_bound > 0:
        text += f", proven: not under {percent_text(furthest.lower_bound)}"
    return text

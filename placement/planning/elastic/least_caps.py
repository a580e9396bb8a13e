"""
Soft caps that a plan exceeds as little as its necessary copies require.

A plan that moves only what rules and hard goals require, without the relaxed caps,
copies the fewest bytes that the search finds, or makes the fewest copies if the cap on
copies was relaxed last. It does not minimise the bytes that cross racks: their excess
over the cap is reduced by bisection.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

from placement.draft.draft import Note, Settings
from placement.draft.soft_rules import Eased
from placement.model.cross_rack import crossing_copies
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.soft_caps import CAPS, CROSSING, cap_note, given_up

Planner = Callable[[Settings], PlannedPlacement]
MOST_HALVINGS = 8
"""Maximum number of bisection steps: to less than 1/250 of the initial excess."""


class Search(Protocol):
    """Search for plans with relaxed rules."""

    planned: Planner

    def is_met(self, found: PlannedPlacement) -> bool:
        """Return whether a plan keeps the rules and goals that it must keep."""
        ...

    def relaxed(self, settings: Settings, eased: Eased) -> Settings:
        """Return settings of a plan without soft goals, with the caps of `settings`."""
        ...


def used_of(found: PlannedPlacement) -> dict[str, int]:
    """Return the copies and bytes of a plan, by the name of their cap."""
    change, weights = found.reassignment, found.draft.weights
    copied = change.is_copied
    size = weights.copy_bytes[change.partition_idx[copied]]
    return {
        "max-moves": int(copied.sum()),
        "max-bytes": int(size.sum()),
        CROSSING: int(crossing_copies(change, weights).sum()),
    }


def raised(settings: Settings, eased: Eased, found: PlannedPlacement) -> Settings:
    """Return settings with relaxed caps raised to the copies of a plan."""
    used = used_of(found)
    most: dict[str, Any] = {
        field: max(getattr(settings, field), used[name])
        for name, field in CAPS.items()
        if name in eased.rules and getattr(settings, field) is not None
    }
    return replace(settings, **most)


def least_caps(
    search: Search,
    settings: Settings,
    tried: tuple[PlannedPlacement, Eased],
) -> tuple[PlannedPlacement, Settings]:
    """
    Return a plan that exceeds its caps by little, and settings that allow it.

    Parameters
    ----------
    search
        Search that makes plans and judges them.
    settings
        Settings with the original caps.
    tried
        A plan without the relaxed caps, and the relaxations.
    """
    best, eased = tried
    capped = raised(settings, eased, best)
    low, field = settings.max_cross_rack_bytes, CAPS[CROSSING]
    if CROSSING not in eased.rules or low is None or not search.is_met(best):
        return best, capped
    high = used_of(best)[CROSSING]
    # The cap itself is tried first: another cap may be the only one to relax.
    aims = low
    for _ in range(MOST_HALVINGS):
        if high <= low:
            break
        aimed: dict[str, Any] = {field: aims}
        found = search.planned(search.relaxed(replace(capped, **aimed), eased))
        if search.is_met(found):
            best, high = found, used_of(found)[CROSSING]
        else:
            low = aims + 1
        aims = (low + high) // 2
    return best, raised(settings, eased, best)


def cap_notes(found: PlannedPlacement, settings: Settings) -> Iterator[Note]:
    """
    Yield a note for each relaxed cap that a plan exceeds.

    Parameters
    ----------
    found
        The plan.
    settings
        Settings with the original caps.
    """
    used = used_of(found)
    for name in given_up(found.draft.settings):
        most = getattr(settings, CAPS[name])
        if most is not None and used[name] > most:
            yield cap_note(name, used[name], most)

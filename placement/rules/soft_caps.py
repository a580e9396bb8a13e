"""
Soft caps on a whole plan: exceeded as little as the necessary copies require.

A plan that moves only what rules and hard goals require, without the relaxed caps,
copies the fewest bytes that the search finds, or makes the fewest copies if the cap on
copies was relaxed last. It does not minimise the bytes that cross racks: their excess
over the cap is reduced by bisection.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from placement.draft.draft import Draft, Note, Settings
from placement.draft.soft_rules import CAPS, Eased
from placement.model.cross_rack import crossing_copies

if TYPE_CHECKING:
    from placement.planning.result import PlannedPlacement

Planner = Callable[[Settings], "PlannedPlacement"]


class Search(Protocol):
    """Search for plans with relaxed rules."""

    planned: Planner

    def is_met(self, found: "PlannedPlacement") -> bool:
        """Return whether a plan keeps the rules and goals that it must keep."""
        ...

    def wished(self, settings: Settings, eased: Eased) -> Settings:
        """Return settings of a plan without soft goals, with the caps of `settings`."""
        ...


MOST_HALVINGS = 8
"""Maximum number of bisection steps: to less than 1/250 of the initial excess."""
MOST_COST = 2**62
"""Upper limit of the cost of all copies together, their price included."""
CROSSING = "max-cross-rack-bytes"
UNITS: Mapping[str, str] = {
    "max-moves": "copies",
    "max-bytes": "bytes copied",
    CROSSING: "bytes copied between racks",
}


def given_up(settings: Settings) -> list[str]:
    """Return the caps that are relaxed in a plan."""
    return [name for name in CAPS if settings.gives_way(name)]


def without_caps(settings: Settings, price_bytes: int = 0) -> Settings:
    """
    Return settings without the relaxed caps.

    Parameters
    ----------
    settings
        Settings of the plan, with the relaxed rules.
    price_bytes
        Price of a copy in bytes, applied if the cap on copies was relaxed last.
    """
    names = given_up(settings)
    nothing: dict[str, Any] = {CAPS[name]: None for name in names}
    lifted = replace(settings, **nothing)
    counted = [name for name in settings.soft if name in names and name != CROSSING]
    if price_bytes and counted[-1:] == ["max-moves"]:
        return replace(lifted, price_per_move_bytes=price_bytes)
    return lifted


def dear_price(draft: Draft) -> int:
    """Return a price per copy at which fewer copies are cheaper, as far as possible."""
    every, count = int(draft.weights.copy_bytes.sum()), len(draft.state.replicas)
    return min(every, MOST_COST // (count + 1)) + 1


def with_caps_of(settings: Settings, other: Settings) -> Settings:
    """Return `settings` with the caps of `other`."""
    return replace(
        settings, **{field: getattr(other, field) for field in CAPS.values()}
    )


def used_of(found: "PlannedPlacement") -> dict[str, int]:
    """Return the copies and bytes of a plan, by the name of their cap."""
    change, weights = found.reassignment, found.draft.weights
    copied = change.is_copied
    size = weights.copy_bytes[change.partition_idx[copied]]
    return {
        "max-moves": int(copied.sum()),
        "max-bytes": int(size.sum()),
        CROSSING: int(crossing_copies(change, weights).sum()),
    }


def raised(settings: Settings, eased: Eased, found: "PlannedPlacement") -> Settings:
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
    tried: tuple["PlannedPlacement", Eased],
) -> tuple["PlannedPlacement", Settings]:
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
        found = search.planned(search.wished(replace(capped, **aimed), eased))
        if search.is_met(found):
            best, high = found, used_of(found)[CROSSING]
        else:
            low = aims + 1
        aims = (low + high) // 2
    return best, raised(settings, eased, best)


def cap_notes(found: "PlannedPlacement", settings: Settings) -> Iterator[Note]:
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


def cap_note(name: str, used: int, most: int) -> Note:
    """Return a note on an exceeded cap."""
    text = f"{used:,} {UNITS[name]}, {most:,} are the most"
    return soft_note(name, text, {}, (float(used), float(most)))


def soft_note(
    rule: str, text: str, where: dict[str, str | int], amounts: tuple[float, float]
) -> Note:
    """Return a note on a relaxed soft rule, with the amounts."""
    have, need = amounts
    return Note(
        what="soft-rule",
        message=f"{text}: {rule} is soft, and gives way",
        where=where,
        have=have,
        need=need,
    )

"""
Caps on a plan as a whole that are soft: exceeded as far as what must be copied takes.

A plan that moves only what rules and hard goals ask for, without the caps that give
way, copies the fewest bytes that the search finds, or makes the fewest copies where the
cap on these gave way last. Which copies cross racks it does not mind: how few bytes of
them do is found by halving what the cap is exceeded by.
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
    """Looks for plans in which rules give way."""

    planned: Planner

    def is_met(self, found: "PlannedPlacement") -> bool:
        """Return whether a plan keeps what it must."""
        ...

    def wished(self, settings: Settings, eased: Eased) -> Settings:
        """Return wishes for a plan without soft goals, with the caps of settings."""
        ...


MOST_HALVINGS = 8
"""How often what a cap is exceeded by is halved: to less than a 250th of it."""
MOST_COST = 2**62
"""Of all copies together, their price included."""
CROSSING = "max-cross-rack-bytes"
UNITS: Mapping[str, str] = {
    "max-moves": "copies",
    "max-bytes": "bytes copied",
    CROSSING: "bytes copied between racks",
}


def given_up(settings: Settings) -> list[str]:
    """Return the caps that give way in a plan."""
    return [name for name in CAPS if settings.gives_way(name)]


def without_caps(settings: Settings, price_bytes: int = 0) -> Settings:
    """
    Return settings without the caps that give way.

    Parameters
    ----------
    settings
        What is wished for, with the rules that give way.
    price_bytes
        What a copy costs where copies are to be few: their cap gave way last.
    """
    names = given_up(settings)
    nothing: dict[str, Any] = {CAPS[name]: None for name in names}
    lifted = replace(settings, **nothing)
    counted = [name for name in settings.soft if name in names and name != CROSSING]
    if price_bytes and counted[-1:] == ["max-moves"]:
        return replace(lifted, price_per_move_bytes=price_bytes)
    return lifted


def dear_price(draft: Draft) -> int:
    """Return what a copy must cost so that fewer of them are cheaper, if it can be."""
    every, count = int(draft.weights.copy_bytes.sum()), len(draft.state.replicas)
    return min(every, MOST_COST // (count + 1)) + 1


def with_caps_of(settings: Settings, other: Settings) -> Settings:
    """Return settings with the caps of others."""
    return replace(
        settings, **{field: getattr(other, field) for field in CAPS.values()}
    )


def used_of(found: "PlannedPlacement") -> dict[str, int]:
    """Return what a plan copies, by the name of the cap on it."""
    change, weights = found.reassignment, found.draft.weights
    copied = change.is_copied
    size = weights.copy_bytes[change.partition_idx[copied]]
    return {
        "max-moves": int(copied.sum()),
        "max-bytes": int(size.sum()),
        CROSSING: int(crossing_copies(change, weights).sum()),
    }


def raised(settings: Settings, eased: Eased, found: "PlannedPlacement") -> Settings:
    """Return settings whose caps that give way leave room for what a plan copies."""
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
    Return a plan that exceeds its caps by little, and settings with room for it.

    Parameters
    ----------
    search
        Makes plans and judges them.
    settings
        What is wished for.
    tried
        A plan without the caps that give way, and which rules do.
    """
    best, eased = tried
    capped = raised(settings, eased, best)
    low, field = settings.max_cross_rack_bytes, CAPS[CROSSING]
    if CROSSING not in eased.rules or low is None or not search.is_met(best):
        return best, capped
    high = used_of(best)[CROSSING]
    # The cap itself first: another one may be all that had to give way.
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
    Yield by how much a plan exceeds caps that give way.

    Parameters
    ----------
    found
        The plan.
    settings
        What was wished for.
    """
    used = used_of(found)
    for name in given_up(found.draft.settings):
        most = getattr(settings, CAPS[name])
        if most is not None and used[name] > most:
            yield cap_note(name, used[name], most)


def cap_note(name: str, used: int, most: int) -> Note:
    """Return a note that a cap is exceeded."""
    text = f"{used:,} {UNITS[name]}, {most:,} are the most"
    return soft_note(name, text, {}, (float(used), float(most)))


def soft_note(
    rule: str, text: str, where: dict[str, str | int], amounts: tuple[float, float]
) -> Note:
    """Return a note that a soft rule gives way, by how much."""
    have, need = amounts
    return Note(
        what="soft-rule",
        message=f"{text}: {rule} is soft, and gives way",
        where=where,
        have=have,
        need=need,
    )

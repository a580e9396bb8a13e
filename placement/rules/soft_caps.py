"""Soft caps on a whole plan: settings without relaxed caps, and notes on them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from placement.draft.draft import Draft, Note, Settings
from placement.draft.soft_rules import CAPS

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

"""Soft caps on a whole plan: settings without relaxed caps, and notes on them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from placement.draft.draft import Draft, Note, Settings
from placement.rules.descriptor import RuleDescriptor

MOST_COST = 2**62
"""Upper limit of the cost of all copies together, their price included."""
CROSSING = "max-cross-rack-bytes"
CAPS: Mapping[str, str] = {
    "max-moves": "max_moves",
    "max-bytes": "max_bytes",
    CROSSING: "max_cross_rack_bytes",
}
"""Caps on the plan as a whole, with their fields in the settings."""
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


def used_text(have: int, need: int, threshold: float) -> str:
    """Return the used fraction of a capacity of which `need` is usable, as text."""
    return f"{threshold * have / need:.1%}" if need > 0 else "more than all"


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


def _cap_rule(name: str, text: str) -> RuleDescriptor:
    return RuleDescriptor(
        name=name,
        text=text,
        remedy=f"raise --{name}",
        may_be_soft=True,
        rank=60,
        setting=CAPS[name],
        is_of_brokers=name == CROSSING,
    )


RULES = (
    _cap_rule("max-moves", "at most {settings.max_moves:replicas} copied"),
    _cap_rule("max-bytes", "at most {settings.max_bytes:bytes} copied"),
    _cap_rule(
        CROSSING, "at most {settings.max_cross_rack_bytes:bytes} copied between racks"
    ),
)

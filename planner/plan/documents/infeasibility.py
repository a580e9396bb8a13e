"""Reasons why no plan keeps every hard rule, in plan.json and as text."""

from string import Formatter
from typing import Any

import numpy as np

from placement.core.bounds.overfull_sets import BIN, OPEN
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft, Settings
from placement.log_dirs.dir_problem import LOG_DIR
from placement.model.cluster import sum_rows
from placement.model.load import RESOURCES, UNITS, Resource
from placement.planning.infeasibility.infeasible_rules import InfeasibleSet
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.registry import RULES
from planner.plan.documents.log_dir_document import log_dir_text
from planner.plan.documents.remedy_text import (
    away_brokers,
    away_remedy,
    remedy_document,
    with_suggestions,
)
from planner.text.format import BYTE_UNITS, brokers_text, bytes_text, ids_text, plural

HOST = "host"
NOTHING_HELPS = "no option helps: what lacks must be added, or waited for"
CAPS = {
    "moves": ("--max-moves", ""),
    "cost": ("--max-bytes", ""),
    "crossing": ("--max-cross-rack-bytes", " between racks"),
}
"""Caps on all copies of a plan: the option, and a restriction on the copies counted."""


def reason_document(
    placed: PlannedPlacement, infeasible_set: InfeasibleSet
) -> dict[str, Any]:
    """
    Return the `reason` of plan.json.

    Parameters
    ----------
    placed
        The best plan found.
    infeasible_set
        The infeasible subsystem: rules that no plan keeps together.
    """
    return {
        "rules": [
            {
                "rule": rule,
                "message": _rule_text(rule, placed.draft),
                "remedy": _remedy(rule, placed.draft.settings),
                "helps": helps,
            }
            for rule, helps in zip(
                infeasible_set.rules, infeasible_set.helps, strict=True
            )
        ],
        "is_proven": infeasible_set.is_proven,
        "is_irreducible": infeasible_set.is_irreducible,
        "message": reason_text(placed, infeasible_set),
        "suggestions": [remedy_document(one) for one in infeasible_set.remedies],
    }


def reason_text(placed: PlannedPlacement, infeasible_set: InfeasibleSet) -> str:
    """Return the reason as one sentence or two."""
    parts = [_rule_text(rule, placed.draft) for rule in infeasible_set.rules]
    if not parts:
        return _reason_without_rules(placed)
    rest = f"; for the rest {NOTHING_HELPS}" if infeasible_set.is_of_rest else ""
    if not infeasible_set.is_proven and not any(infeasible_set.helps):
        text = "not found, and not proven; what stands in the way may be any hard rule"
        return text + rest
    verb = (
        "cannot" if infeasible_set.is_proven else "could not, as far as was searched,"
    )
    them = "be kept" if len(parts) == 1 else "be kept together"
    return f"{verb} {them}: {'; '.join(parts)}{rest}"


def _reason_without_rules(placed: PlannedPlacement) -> str:
    """Return the reason of what lacks although no rule forbids it."""
    state = placed.draft.state
    is_away = away_brokers(state) & ~placed.draft.leaves
    if not is_away.any():
        return NOTHING_HELPS
    held = sum_rows(is_away[state.replicas.broker_idx], state.replicas.start)
    waits = (held > 0) & state.has_source
    groups = [one.group for one in placed.solution.shortfalls]
    if not any(group >= 0 and waits[group] for group in groups):
        return NOTHING_HELPS
    ids = brokers_text(state.brokers.ids[is_away].tolist())
    text = f"partitions with replicas on {ids} are left alone: {away_remedy(state)}"
    if all(group >= 0 and waits[group] for group in groups):
        return text
    return f"{text}; for the rest {NOTHING_HELPS}"


def _rule_text(rule: str, draft: Draft) -> str:
    """Return the text of a hard rule with the limits of this plan."""
    text = RULES[rule].text
    if callable(text):
        return text(draft)
    return _Phrase().format(text, settings=draft.settings)


class _Phrase(Formatter):
    """Formatter of amounts and broker ids in phrases of rules; absent ones are 0."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - any field
        if format_spec == "bytes":
            return bytes_text(value or 0, 4)
        if format_spec == "ids":
            return ids_text(sorted(value or ()))
        return plural(value or 0, "replica")


def _remedy(rule: str, settings: Settings) -> str:
    """Return the remedy for a rule that no plan keeps."""
    remedy = RULES[rule].remedy or RULES[rule].omission
    return remedy(settings) if callable(remedy) else remedy


def amount_text(resource: str, value: float, digits: int = 4) -> str:
    """
    Return an amount of a resource, given in units of the core, as text.

    Examples
    --------
    >>> amount_text("in", 2_500_000_000), amount_text("replicas", 3)
    ('2.5 MB/s', '3')
    """
    readable = value / UNITS[Resource(resource)]
    if resource == Resource.DISK:
        return bytes_text(readable, digits)
    if resource in {Resource.IN, Resource.OUT}:
        return f"{bytes_text(readable, digits)}/s"
    if resource == Resource.CPU:
        return f"{readable:.{digits}g} cores"
    return f"{readable:,.0f}"


MOST_NAMED = 12
"""Largest number of brokers of a set that are listed by id."""
MOST_DIGITS = 15
"""Decimal digits that a float represents exactly."""


def amounts_text(resource: str, have: int, need: int) -> tuple[str, str]:
    """
    Return two amounts with as many digits as distinguish them.

    Examples
    --------
    >>> amounts_text("disk", 800_000_000_000, 800_000_950_000)
    ('800 GB', '800.001 GB')
    """
    digits = 4
    while True:
        texts = amount_text(resource, have, digits), amount_text(resource, need, digits)
        if texts[0] != texts[1] or digits == MOST_DIGITS:
            return texts
        digits += 1


def like_amounts_text(resource: str, have: int, need: int) -> tuple[str, str]:
    """
    Return two amounts in one unit, with as many decimals as distinguish them.

    Examples
    --------
    >>> like_amounts_text("disk", 800_000_000_800, 1_799_960_000_000)
    ('0.80 TB', '1.80 TB')
    """
    resources = {Resource.DISK: "", Resource.IN: "/s", Resource.OUT: "/s"}
    if Resource(resource) not in resources or need < 1000 * UNITS[Resource(resource)]:
        return amounts_text(resource, have, need)
    values = [one / UNITS[Resource(resource)] for one in (have, need)]
    unit = bytes_text(values[1]).split()[1]
    scale = 1000 ** BYTE_UNITS.index(unit)
    digits, rate = 2, resources[Resource(resource)]
    while True:
        first, second = (f"{one / scale:.{digits}f} {unit}{rate}" for one in values)
        if first != second or digits == MOST_DIGITS:
            return first, second
        digits += 1


def shortfall_text(placed: PlannedPlacement, shortfall: Shortfall) -> str:
    """Return a shortfall as one sentence."""
    if shortfall.level == LOG_DIR:
        return log_dir_text(placed.draft.state, shortfall)
    if shortfall.what in CAPS:
        return _cap_text(shortfall)
    if shortfall.resource:
        return _amount_text(placed, shortfall)
    return _place_text(placed, shortfall)


def _place_text(placed: PlannedPlacement, shortfall: Shortfall) -> str:
    """Return a shortfall of places for replicas as text."""
    have, need = shortfall.have, shortfall.need
    if shortfall.what == "packing":
        return (
            f"{plural(need, 'replica')} may move, and no arrangement of them keeps "
            "every hard rule: an exact search of all of them found none"
        )
    name = placed.draft.state.name_of(shortfall.group)
    if shortfall.what == "roles":
        return f"{name} would have no leader: no broker that it may lie on may lead"
    places = "places on brokers" if shortfall.what == "bins" else "places in racks"
    if shortfall.is_proven:
        return f"{name} needs {need} {places}, {have} can be had"
    return f"{name} found no place that keeps every rule"


def with_remedies(
    placed: PlannedPlacement, infeasible_set: InfeasibleSet | None
) -> PlannedPlacement:
    """Return a plan whose first shortfall with remedies includes them."""
    if infeasible_set is None or not placed.solution.shortfalls:
        return placed
    found, row = placed.solution.shortfalls, 0
    if infeasible_set.is_of_rest:
        inherent = placed.draft.shortfalls
        row = next((n for n, one in enumerate(found) if one not in inherent), 0)
    text = found[row].message or shortfall_text(placed, found[row])
    return with_suggestions(placed, infeasible_set, text, row)


def _cap_text(shortfall: Shortfall) -> str:
    """Return a shortfall of a cap on all copies as text."""
    have, need = shortfall.have, shortfall.need
    option, how = CAPS[shortfall.what]
    if shortfall.what == "moves":
        return f"{need:,} replicas must be copied, and {option} allows {have:,}"
    least, most = bytes_text(need, 4), bytes_text(have, 4)
    return f"{least} must be copied{how}, and {option} allows {most}"


def _amount_text(placed: PlannedPlacement, shortfall: Shortfall) -> str:
    state, resource = placed.draft.state, shortfall.resource
    have, need = amounts_text(resource, shortfall.have, shortfall.need)
    if shortfall.what == "pieces":
        return _pieces_text(placed, shortfall)
    if shortfall.what == "room":
        return _room_text(placed, shortfall)
    if shortfall.bin >= 0 and shortfall.group >= 0:
        name, broker = state.name_of(shortfall.group), state.brokers.ids[shortfall.bin]
        return (
            f"{name}: broker {broker} would carry {need} of {resource} and may carry "
            f"{have}"
        )
    if shortfall.bin >= 0:
        broker = state.brokers.ids[shortfall.bin]
        return f"broker {broker} carries {need} of {resource} and may carry {have}"
    if shortfall.node >= 0 and shortfall.level == HOST:
        host = _host_name(placed, shortfall.node)
        return f"{host} must carry {need} of {resource} and may carry {have}"
    have, need = like_amounts_text(resource, shortfall.have, shortfall.need)
    who, verb = _subject_of(placed, shortfall)
    return f"{who} would have to {verb} {need} of {resource} and may {verb} {have}"


def _subject_of(placed: PlannedPlacement, shortfall: Shortfall) -> tuple[str, str]:
    """Return the brokers of a shortfall as a subject, and the verb for their load."""
    draft, brokers = placed.draft, placed.draft.state.brokers
    rates = {str(Resource.IN), str(Resource.OUT), str(Resource.CPU)}
    verb = "carry" if shortfall.resource in rates else "hold"
    if shortfall.level == BIN:
        return f"Broker {int(brokers.ids[shortfall.node])}", verb
    if shortfall.level != "rack" or shortfall.node < 0:
        ids = _named_brokers(placed, shortfall)
        few = f" ({ids_text(ids)})" if 0 < len(ids) <= MOST_NAMED else ""
        if shortfall.level == OPEN:
            return f"The brokers that may get replicas{few}", verb
        return f"All brokers together{few}", verb
    inside = np.equal(brokers.rack_idx, shortfall.node)
    ids = brokers.ids[inside & draft.holds].tolist()
    rack = brokers.racks[shortfall.node]
    where = f"rack {rack}" if rack else "a rack of its own"
    if not ids:
        return f"The brokers of {where}", verb
    if len(ids) > 1:
        return f"Brokers {ids_text(ids)} of {where}", verb
    others = (inside & ~draft.holds).any()
    alone = f"alone remains in {where}" if others else f"is alone in {where}"
    return f"Broker {ids[0]} {alone}: it", verb


def _named_brokers(placed: PlannedPlacement, shortfall: Shortfall) -> list[int]:
    """Return the ids of the brokers in the witness of a proof."""
    if shortfall.proof is None or "bins" not in shortfall.proof.witness:
        return []
    ids, holds = placed.draft.state.brokers.ids, placed.draft.holds
    return [int(ids[b]) for b in shortfall.proof.witness["bins"] if holds[b]]


def _pieces_text(placed: PlannedPlacement, shortfall: Shortfall) -> str:
    """Return the shortfall of large replicas that fit into too few brokers as text."""
    draft, resource = placed.draft, shortfall.resource
    r = RESOURCES.index(Resource(resource))
    weight = int(draft.weights.replica[shortfall.group, r])
    ids = _named_brokers(placed, shortfall)
    return (
        f"{shortfall.need} replicas of {amount_text(resource, weight)} of {resource} "
        f"or more need places, and {brokers_text(ids)} "
        f"can take {shortfall.have} of them, by what fits together"
    )


def _room_text(placed: PlannedPlacement, shortfall: Shortfall) -> str:
    """Return the shortfall of a replica larger than the room of its brokers as text."""
    state, resource = placed.draft.state, shortfall.resource
    have, need = amounts_text(resource, shortfall.have, shortfall.need)
    name, broker = state.name_of(shortfall.group), state.brokers.ids[shortfall.bin]
    return (
        f"{name} takes {need} of {resource} per replica; of the brokers that are too "
        f"full for it broker {broker} has most room, {have}, and the others are too few"
    )


def _host_name(placed: PlannedPlacement, node: int) -> str:
    """Return the name of a host, or of its broker if it has none."""
    brokers = placed.draft.state.brokers
    rows = np.nonzero(np.equal(brokers.host_idx, node))[0]
    return f"host {brokers.hosts[node] or f'of broker {int(brokers.ids[rows[0]])}'}"

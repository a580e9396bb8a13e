"""Why no plan keeps every hard rule, in plan.json and in words."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from placement.core.overfull import OPEN
from placement.core.problem import NO_LIMIT
from placement.core.solution import Shortfall
from placement.dir_tables import LOG_DIR
from placement.impossible import Because
from placement.load import UNITS, Resource
from placement.planned import PlannedPlacement
from placement.rules.apart import TopicsApart
from placement.rules.draft import Draft, Settings
from placement.rules.easing import HARD
from planner.plan.log_dirs import log_dir_text
from planner.plan.words import bytes_text, ids_text, plural

HOST = "host"
CAPS = {
    "moves": ("--max-moves", ""),
    "cost": ("--max-bytes", ""),
    "crossing": ("--max-cross-rack-bytes", " between racks"),
}
"""What a plan may copy in all: the option, and what of the copies it counts."""


def reason_document(placed: PlannedPlacement, because: Because) -> dict[str, Any]:
    """
    Return the `reason` of plan.json.

    Parameters
    ----------
    placed
        The best plan found.
    because
        The rules that cannot be kept together.
    """
    return {
        "rules": [
            {
                "rule": rule,
                "message": _rule_text(rule, placed.draft),
                "remedy": _remedy(rule, placed.draft.settings),
                "helps": helps,
            }
            for rule, helps in zip(because.rules, because.helps, strict=True)
        ],
        "is_proven": because.is_proven,
        "is_irreducible": because.is_irreducible,
        "message": reason_text(placed, because),
    }


def reason_text(placed: PlannedPlacement, because: Because) -> str:
    """Return the reason as one sentence or two."""
    told = [_rule_text(rule, placed.draft) for rule in because.rules]
    if not told:
        return "no option helps: what lacks must be added, or waited for"
    if not because.is_proven and not any(because.helps):
        return "not found, and not proven; what stands in the way may be any hard rule"
    verb = "cannot" if because.is_proven else "could not, as far as was searched,"
    them = "be kept" if len(told) == 1 else "be kept together"
    text = f"{verb} {them}: {'; '.join(told)}"
    helping = [
        _remedy(rule, placed.draft.settings)
        for rule, helps in zip(because.rules, because.helps, strict=True)
        if helps
    ]
    return f"{text}. It helps to {', or to '.join(helping)}" if helping else text


def _rule_text(rule: str, draft: Draft) -> str:
    """Return what a hard rule says here."""
    settings, is_inside = draft.settings, draft.is_emptied_dir is not None
    if rule.startswith("capacity-"):
        resource = Resource(rule.removeprefix("capacity-"))
        most = settings.capacity_thresholds.get(resource, 1.0)
        if is_inside:
            return f"no log dir over {most:.0%} of its file system"
        return f"no broker over {most:.0%} of its {resource}"
    if rule in HARD:
        return f"{rule} met in full, which is hard"
    if rule.startswith("host-"):
        resource = Resource(rule.removeprefix("host-"))
        most = settings.host_thresholds.get(resource, 1.0)
        return f"no host over {most:.0%} of its brokers' {resource}"
    allowed = _ids(settings.destination_brokers)
    excluded = _ids(settings.excluded_for_replicas)
    no_leaders = _ids(settings.excluded_for_leaders)
    most_bytes = bytes_text(settings.max_bytes or 0, 4)
    most_crossing = bytes_text(settings.max_cross_rack_bytes or 0, 4)
    return {
        "transient-disk": "what leaves a disk counts there until all is copied",
        "max-replicas": "no broker over its max_replicas",
        "locality-scoped": "replicas stay in their racks",
        "broker-set": "each topic on the brokers of its own set",
        "topics-apart": f"no broker shared by {_apart(settings)}",
        "topics-together": "topics that belong together on the same brokers",
        "keep-topics": "replicas of kept topics stay",
        "keep-leaders": "leaders of kept topics stay",
        "only-over-threshold": "only brokers over a threshold give replicas away",
        "only-trades": "no broker holds more replicas than it did",
        "rack": "no two replicas in a rack"
        if settings.is_rack_strict
        else "replicas spread over racks as evenly as they allow",
        "log-dirs": "nothing new in log dirs that are offline or cordoned"
        if is_inside
        else "nothing new on brokers whose log dirs are offline or cordoned",
        "only-what-must": "nothing moves but what the operation is about",
        "exclude-topics": "excluded topics stay as they are",
        "exclude-brokers-for-replicas": f"no replicas for broker {excluded}",
        "exclude-brokers-for-leaders": f"no leaders for broker {no_leaders}",
        "destination-broker-list": f"replicas for broker {allowed} only",
        "max-moves": f"at most {plural(settings.max_moves or 0, 'replica')} copied",
        "max-bytes": f"at most {most_bytes} copied",
        "max-cross-rack-bytes": f"at most {most_crossing} copied between racks",
    }[rule]


def _apart(settings: Settings) -> str:
    """Return the sides of all topics that are kept apart."""
    rules = (one for one in settings.rules if isinstance(one, TopicsApart))
    return ", nor by ".join(" and ".join(rule.names) for rule in rules)


def _ids(ids: frozenset[int] | None) -> str:
    return ids_text(sorted(ids or ()))


def _remedy(rule: str, settings: Settings) -> str:
    """Return what a person may do about a rule."""
    if rule.startswith("capacity-"):
        resource = Resource(rule.removeprefix("capacity-"))
        return f"raise --capacity-threshold {resource}=… or add {resource}"
    if rule in HARD:
        return f"leave out --hard {rule}"
    if rule.startswith("host-"):
        shared = rule.removeprefix("host-")
        return f"raise --host-capacity-threshold {shared}=… or add hosts"
    remedies: Mapping[str, str] = {
        "transient-disk": "leave out --transient-disk, and copy in waves",
        "max-replicas": "raise max_replicas in the snapshot, or add brokers",
        "locality-scoped": "leave out --locality-scoped",
        "broker-set": "add brokers to the set, or give --broker-set",
        "topics-apart": "add brokers, or leave out --topics-apart",
        "topics-together": "leave out --topics-together",
        "keep-topics": "let the kept topics move",
        "keep-leaders": "let the kept leaders change",
        "only-over-threshold": "leave out --only-over-threshold",
        "only-trades": "leave out --only-trades",
        "rack": "add racks, or leave out --rack-rule strict"
        if settings.is_rack_strict
        else "add brokers in racks that have too few",
        "log-dirs": "mend or uncordon the log dirs",
        "only-what-must": "give --rebalance",
        "exclude-topics": "let the excluded topics move",
        "exclude-brokers-for-replicas": "shorten --exclude-brokers-for-replicas",
        "exclude-brokers-for-leaders": "shorten --exclude-brokers-for-leaders",
        "destination-broker-list": "widen --destination-broker-list",
        "max-moves": "raise --max-moves",
        "max-bytes": "raise --max-bytes",
        "max-cross-rack-bytes": "raise --max-cross-rack-bytes",
    }
    return remedies[rule]


def amount_text(resource: str, value: float, digits: int = 4) -> str:
    """
    Return an amount of a resource, in units of the core, as people read it.

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


MOST_DIGITS = 15
"""Digits that a float holds for certain."""


def amounts_text(resource: str, have: int, need: int) -> tuple[str, str]:
    """
    Return two amounts that differ with as many digits as tell them apart.

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


def shortfall_text(placed: PlannedPlacement, shortfall: Shortfall) -> str:
    """Return what is missing, as one sentence."""
    state = placed.draft.state
    have, need = shortfall.have, shortfall.need
    if shortfall.level == LOG_DIR:
        return log_dir_text(state, shortfall)
    if shortfall.what in CAPS:
        return _cap_text(shortfall)
    if shortfall.resource:
        return _amount_text(placed, shortfall)
    name = state.name_of(shortfall.group)
    if shortfall.what == "roles":
        return f"{name} would have no leader: no broker that it may lie on may lead"
    places = "places on brokers" if shortfall.what == "bins" else "places in racks"
    if shortfall.is_proven:
        return f"{name} needs {need} {places}, {have} can be had"
    return f"{name} found no place that keeps every rule"


def _cap_text(shortfall: Shortfall) -> str:
    """Say which cap on all copies is too low."""
    have, need = shortfall.have, shortfall.need
    option, how = CAPS[shortfall.what]
    if shortfall.what == "moves":
        return f"{need:,} replicas must be copied, and {option} allows {have:,}"
    least, most = bytes_text(need, 4), bytes_text(have, 4)
    return f"{least} must be copied{how}, and {option} allows {most}"


def _amount_text(placed: PlannedPlacement, shortfall: Shortfall) -> str:
    state, resource = placed.draft.state, shortfall.resource
    have, need = amounts_text(resource, shortfall.have, shortfall.need)
    if shortfall.what == "room":
        name, broker = state.name_of(shortfall.group), state.brokers.ids[shortfall.bin]
        return (
            f"{name} takes {need} of {resource}; no broker that it may go to has room "
            f"for more than {have} (broker {broker})"
        )
    if shortfall.bin >= 0 and shortfall.group >= 0:
        name, broker = state.name_of(shortfall.group), state.brokers.ids[shortfall.bin]
        return (
            f"{name}: broker {broker} would carry {need} of {resource} and may carry "
            f"{have}"
        )
    if shortfall.bin >= 0:
        broker = state.brokers.ids[shortfall.bin]
        return f"broker {broker} carries {need} of {resource} and may carry {have}"
    whose, where = "all brokers together", ""
    if shortfall.level == OPEN:
        whose = "the brokers that may get it"
    if shortfall.node >= 0 and shortfall.level == HOST:
        host = _host_name(placed, shortfall.node)
        return f"{host} must carry {need} of {resource} and may carry {have}"
    if shortfall.node >= 0:
        rack = state.brokers.racks[shortfall.node]
        whose = f"rack {rack}" if rack else "a broker without a rack"
        where = f" in rack {rack}" if rack else ""
    more = amount_text(resource, _missing(placed, shortfall))
    return (
        f"{whose} must carry {need} of {resource} and may carry {have}; one more "
        f"broker{where} with {more} would help"
    )


def _host_name(placed: PlannedPlacement, node: int) -> str:
    """Return a host by its name; one without a name by its broker."""
    brokers = placed.draft.state.brokers
    rows = np.nonzero(np.equal(brokers.host_idx, node))[0]
    return f"host {brokers.hosts[node] or f'of broker {int(brokers.ids[rows[0]])}'}"


def _missing(placed: PlannedPlacement, shortfall: Shortfall) -> int:
    """Return the capacity that is missing, of which only a part may be used."""
    short = shortfall.need - shortfall.have
    thresholds = placed.draft.settings.capacity_thresholds
    usable = thresholds.get(Resource(shortfall.resource), 1.0)
    return int(min(np.ceil(short / usable), NO_LIMIT))

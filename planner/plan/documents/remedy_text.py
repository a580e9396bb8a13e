"""Changes that make a plan feasible, in plan.json and as text."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import BrokerState, ClusterState
from placement.model.load import Resource
from placement.planning.infeasibility.infeasible_rules import InfeasibleSet
from placement.planning.infeasibility.remedy import Remedy
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.registry import RULES
from planner.text.format import brokers_text, bytes_text, ids_text


def remedy_document(remedy: Remedy) -> dict[str, Any]:
    """Return a change for plan.json: kind, place, amount and text."""
    named = {
        "racks": list(remedy.racks),
        "capacities": {str(r): value for r, value in remedy.capacities.items()},
        "brokers": list(remedy.brokers),
        "rule": remedy.rule,
        "value": remedy.value,
    }
    given = {name: value for name, value in named.items() if value}
    return {"what": remedy.what, **given, "message": remedy_text(remedy)}


def remedy_text(remedy: Remedy) -> str:
    """
    Return a change as an instruction.

    Examples
    --------
    >>> remedy_text(Remedy(what="keep-brokers", brokers=(4, 7)))
    'keep brokers 4 and 7'
    >>> remedy_text(
    ...     Remedy(
    ...         what="add-brokers", racks=("a",), capacities={Resource.DISK: 1.25e12}
    ...     )
    ... )
    'add a broker with 1.25 TB of disk to rack a'
    """
    texts = {
        "add-brokers": _added,
        "keep-brokers": lambda one: f"keep {_brokers(one)}",
        "start-brokers": lambda one: f"start {_brokers(one)}",
        "raise": _raised,
        "soft": _softened,
        "leave-out": _left_out,
    }
    return texts[remedy.what](remedy)


def _brokers(remedy: Remedy) -> str:
    ids = sorted(remedy.brokers)
    if len(ids) == 2:
        return f"brokers {ids[0]} and {ids[1]}"
    return brokers_text(ids)


def _added(remedy: Remedy) -> str:
    count, racks = len(remedy.racks), [rack for rack in remedy.racks if rack]
    named = ", ".join(f"rack {rack}" for rack in dict.fromkeys(racks))
    parts = [_capacity(r, value) for r, value in remedy.capacities.items()]
    having = f" with {' and '.join(parts)}" if parts else ""
    if count > 1 and len(dict.fromkeys(racks)) == count:
        return f"add a broker{having} to each of {named}"
    each = " each" if count > 1 and parts else ""
    where = f" to {named}" if named else ""
    return f"add {_count(count)}{having}{each}{where}"


def _count(count: int) -> str:
    return "a broker" if count == 1 else f"{count} brokers"


def _capacity(resource: Resource, value: float) -> str:
    if resource is Resource.DISK:
        return f"{bytes_text(value, 4)} of disk"
    if resource is Resource.CPU:
        return f"{value:.4g} cores"
    return f"{bytes_text(value, 4)}/s {resource}"


def _raised(remedy: Remedy) -> str:
    rule, value = remedy.rule, remedy.value
    if rule.startswith("host-"):
        resource = rule.removeprefix("host-")
        return f"raise --host-capacity-threshold {resource}={value:g}"
    if rule.startswith("capacity-"):
        resource = rule.removeprefix("capacity-")
        return f"raise --capacity-threshold {resource}={value:g}"
    if rule == "max-moves":
        return f"raise --max-moves to {int(value)}"
    return f"raise --{rule} to {bytes_text(value, 4).replace(' ', '')}"


def _softened(remedy: Remedy) -> str:
    words = "the rack rule" if remedy.rule == "rack" else f"the rule {remedy.rule}"
    return f"relax {words} with --soft {remedy.rule}"


def _left_out(remedy: Remedy) -> str:
    return RULES[remedy.rule].omission


def joined(texts: Iterable[str]) -> str:
    """
    Return alternatives as one sentence.

    Examples
    --------
    >>> joined(["add disk", "keep broker 7", "wait"])
    'Add disk, keep broker 7, or wait.'
    """
    *others, last = texts
    text = last
    if others:
        comma = "," if len(others) > 1 else ""
        text = f"{', '.join(others)}{comma} or {last}"
    return f"{text[:1].upper()}{text[1:]}."


def with_suggestions(
    placed: PlannedPlacement,
    infeasible_set: InfeasibleSet | None,
    message: str,
    row: int = 0,
) -> PlannedPlacement:
    """
    Return a plan one of whose shortfalls includes the remedies.

    Parameters
    ----------
    placed, infeasible_set
        The plan, and the infeasible subsystem of its hard rules.
    message
        Message of that shortfall.
    row
        Row of that shortfall.
    """
    shortfalls = placed.solution.shortfalls
    if infeasible_set is None or not infeasible_set.remedies or not shortfalls:
        return placed
    texts = map(remedy_text, infeasible_set.remedies)
    # The message of a missing source already names the broker to start.
    helps = [text for text in texts if text.lower() not in message.lower()]
    if not helps:
        return placed
    helped = replace(shortfalls[row], message=f"{message}. {joined(helps)}")
    rows = (*shortfalls[:row], helped, *shortfalls[row + 1 :])
    solution = replace(placed.solution, shortfalls=rows)
    return replace(placed, solution=solution)


def away_brokers(state: ClusterState) -> BoolArray:
    """Return ``(B,)`` true for brokers that hold replicas, are not live, nor dead."""
    brokers = state.brokers
    is_away = ~brokers.is_live & np.not_equal(brokers.state, BrokerState.DEAD)
    held = np.bincount(state.replicas.broker_idx, minlength=len(brokers))
    return is_away & (held > 0)


def away_remedy(state: ClusterState) -> str:
    """Return the remedy for brokers that may come back; they share partitions."""
    ids = ids_text(state.brokers.ids[away_brokers(state)].tolist())
    start = "start broker" if ids.isdigit() else "start brokers"
    return f"{start} {ids}; or, if gone for good, plan fix --lost {ids}"

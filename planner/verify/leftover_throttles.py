"""Throttles that no running copy needs."""

from collections.abc import Collection, Iterable

import numpy as np

from placement.check import Where
from placement.model.cluster import ABSENT, ClusterState
from planner.plan.documents.check_records import VerifyFindingRecord, WhereRecord
from planner.text.format import ids_text
from planner.throttles import LOG_DIR_RATE, Throttle
from planner.verify.verify_findings import MAX_EXAMPLES

RULE = "throttle-left"


def throttles_left(
    state: ClusterState, topics: Collection[str], throttles: Iterable[Throttle]
) -> list[Throttle]:
    """
    Return the throttles that no running copy needs.

    Rates of brokers and of the cluster default are unneeded while no reassignment runs
    (the rate of log dirs: while no broker copies between log dirs); replica lists of
    the plan's topics are unneeded while no partition of these topics is reassigned.

    Parameters
    ----------
    state
        The cluster now.
    topics
        Topics of the plan; throttles of other topics are ignored.
    throttles
        Every throttle in force.
    """
    busy = state.partitions.topic_idx[state.is_reassigning]
    names = state.topics.names
    is_busy = any(names[t] in topics for t in np.unique(busy).tolist())
    inside = bool(np.not_equal(state.replicas.future_log_dir_idx, ABSENT).any())

    def is_left(one: Throttle) -> bool:
        if one.scope == "topic":
            return one.name in topics and not is_busy
        return not (inside if one.key == LOG_DIR_RATE else len(busy))

    return [one for one in map(Throttle._make, throttles) if is_left(one)]


def leftover_findings(left: Iterable[Throttle]) -> list[VerifyFindingRecord]:
    """Return one finding for all leftover throttles; none without any."""
    throttles = list(left)
    if not throttles:
        return []
    places = {(one.scope, one.name) for one in throttles}
    where = _where(throttles[0]) if len(places) == 1 else Where()
    return [
        VerifyFindingRecord(
            rule=RULE,
            where=WhereRecord.model_validate(where),
            message=_message(throttles),
            count=len(throttles),
        )
    ]


def _where(one: Throttle) -> Where:
    if one.scope == "topic":
        return Where(topic=one.name)
    return Where(broker=int(one.name) if one.name.isdecimal() else None)


def _message(throttles: list[Throttle]) -> str:
    if len(throttles) == 1:
        [one] = throttles
        return f"{one.place}: {one.key} is still set, to {_cut(one.value)}"
    scopes = ("broker", "cluster", "topic")
    places = [text for scope in scopes if (text := _places(scope, throttles))]
    return f"{len(throttles)} throttles serve no copy any more: {'; '.join(places)}"


def _places(scope: str, throttles: list[Throttle]) -> str:
    """Return the places of one scope and the keys set there, as text."""
    found = [one for one in throttles if one.scope == scope]
    if not found:
        return ""
    keys = ", ".join(dict.fromkeys(one.key for one in found))
    if scope == "cluster":
        return f"{keys} of the default of all brokers"
    names = list(dict.fromkeys(one.name for one in found))
    if scope == "broker":
        return f"{keys} of brokers {ids_text(sorted(map(int, names)))}"
    more = f" and {len(names) - MAX_EXAMPLES} more" if len(names) > MAX_EXAMPLES else ""
    return f"{keys} of topics {', '.join(names[:MAX_EXAMPLES])}{more}"


def _cut(value: str) -> str:
    return value if len(value) <= 60 else f"{value[:57]}…"

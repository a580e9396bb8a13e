"""Topics that are restricted to the brokers of one set."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray
from placement.core.model.problem import NO_LIMIT, Movability
from placement.draft.draft import Draft, Note
from placement.draft.rule import Rule
from placement.draft.rule_tables import Eligibility, SoftColumn
from placement.draft.soft_rules import Eased
from placement.model.cluster import ClusterState
from placement.rules.descriptor import (
    RuleDescriptor,
    RuleOption,
    RuleRequest,
)
from placement.rules.frozen_partitions import Say

NO_SET = ""
"""Name of the set of brokers without a set."""


@dataclass(frozen=True, slots=True, eq=False)
class BrokerSets:
    """
    All replicas of a topic are on brokers of one set; fair shares are per set.

    Brokers without a set form a set of their own. Replicas outside their set must move
    if the operation may move them at all; no replica enters a broker of another set.

    Parameters
    ----------
    set_of_topic
        ``(T,)`` row of ``brokers.broker_sets``; the number of sets for topics of
        brokers without one.
    """

    set_of_topic: npt.NDArray[np.int64]
    name: str = "broker-set"

    def names_of(self, state: ClusterState) -> dict[str, str]:
        """Return the name of the set of each topic; empty for brokers without one."""
        names = [*state.brokers.broker_sets, NO_SET]
        rows = self.set_of_topic.tolist()
        return {
            topic: names[row]
            for topic, row in zip(state.topics.names, rows, strict=True)
        }

    def fill(self, draft: Draft) -> None:
        """Restrict each topic to its set; replicas outside it must move."""
        state = draft.state
        own = set_of_broker(state)
        wanted = self.set_of_topic[state.partitions.topic_idx]
        count = len(state.brokers.broker_sets) + 1
        allowed = np.equal(own[None, :], np.arange(count)[:, None])
        draft.pool_of_broker, draft.pool_of_partition = own, wanted
        _say_unused(draft, ~np.isin(own, wanted))
        eased = draft.settings.eased
        if eased is not None and self.name in eased.rules:
            draft.columns += _stray_columns(wanted, allowed, eased)
            return
        draft.eligibility.append(Eligibility(wanted, allowed))
        replicas = state.replicas
        strays = np.not_equal(own[replicas.broker_idx], wanted[replicas.partition_idx])
        may = np.equal(draft.movability, Movability.MAY)
        draft.movability[strays & may] = Movability.MUST


def _say_unused(draft: Draft, is_unused: BoolArray) -> None:
    """Add a note on brokers to fill whose set has no topic."""
    brokers = draft.state.brokers
    for b in np.nonzero(draft.is_new & draft.may_receive & is_unused)[0].tolist():
        row, broker_id = int(brokers.broker_set_idx[b]), int(brokers.ids[b])
        name = brokers.broker_sets[row] if row >= 0 else "(none)"
        remedy = (
            "give it a broker_set in the snapshot"
            if row < 0
            else "--broker-set moves one there"
        )
        message = f"broker {broker_id} gets no replicas: no topic belongs to its set "
        draft.note(
            Note(
                what="set-without-topics",
                message=f"{message}{name}; {remedy}",
                where={"broker": broker_id},
            )
        )


def _stray_columns(
    wanted: npt.NDArray[np.int64], allowed: npt.NDArray[np.bool_], eased: Eased
) -> Iterator[SoftColumn]:
    """Yield columns that count the replicas of each set's topics outside the set."""
    for row, inside in enumerate(allowed):
        weight = np.equal(wanted, row).astype(np.int64)
        if not weight.any():
            continue
        most = 0 if eased.strays is None else eased.strays[:, row]
        limit = np.where(inside, NO_LIMIT, most)
        is_goal = ~inside & eased.is_measured
        yield SoftColumn(
            name=f"broker-set:{row}",
            weight=weight,
            role_weight=np.zeros_like(weight),
            lower=np.zeros_like(limit),
            upper=np.where(is_goal, 0, NO_LIMIT),
            unit=is_goal.astype(np.float64),
            capacity=None if eased.is_measured else limit,
        )


def strays_of(
    state: ClusterState, set_of_topic: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return ``(B, sets)`` number of replicas of each set's topics outside the set."""
    own, replicas = set_of_broker(state), state.replicas
    wanted = set_of_topic[state.partitions.topic_idx][replicas.partition_idx]
    found = np.zeros((len(own), len(state.brokers.broker_sets) + 1), dtype=np.int64)
    is_stray = own[replicas.broker_idx] != wanted
    np.add.at(found, (replicas.broker_idx[is_stray], wanted[is_stray]), 1)
    return found


def set_of_broker(state: ClusterState) -> npt.NDArray[np.int64]:
    """Return ``(B,)`` the set of each broker; the last for brokers without one."""
    own = state.brokers.broker_set_idx.astype(np.int64)
    return np.where(own >= 0, own, len(state.brokers.broker_sets))


def home_sets(state: ClusterState) -> npt.NDArray[np.int64]:
    """Return ``(T,)`` the set with most replicas of each topic, the first of equals."""
    own = set_of_broker(state)
    count = len(state.brokers.broker_sets) + 1
    topic = state.partitions.topic_idx[state.replicas.partition_idx].astype(np.int64)
    keys = topic * count + own[state.replicas.broker_idx]
    held = np.bincount(keys, minlength=len(state.topics.names) * count)
    chosen: npt.NDArray[np.int64] = held.reshape(-1, count).argmax(axis=1)
    return chosen


def _are_kept(request: RuleRequest) -> bool:
    """
    Return whether topics are confined to broker sets.

    They are if the option assigns sets. Without it they are if the snapshot has brokers
    of several sets, where brokers without a set count as one set.
    """
    if request.value is not None:
        return bool(request.value)
    own = set_of_broker(request.state)
    return bool((own != own[:1]).any())


def _requested(request: RuleRequest) -> Iterator[Rule[Draft]]:
    """Yield the rule, with the set of the first matching pattern for each topic."""
    if not _are_kept(request):
        return
    state, sets = request.state, request.value or {}
    known = state.brokers.broker_sets
    unknown = [name for name in sets.values() if name not in (*known, NO_SET)]
    for name in unknown:
        remedy = f"it has {', '.join(known) or 'none'}"
        request.refuse(name, "sets must be in the snapshot", remedy)
    if unknown:
        return
    chosen, names = home_sets(state), [*known, NO_SET]
    for topic, name in enumerate(state.topics.names):
        for pattern, wanted in sets.items():
            if re.fullmatch(pattern, name):
                chosen[topic] = names.index(wanted)
                break
    yield BrokerSets(chosen)
    if not sets:
        message = (
            f"brokers stand in sets ({', '.join(known)}): each topic stays on the set "
            "that holds most of its replicas; --broker-set says otherwise, off that "
            "sets do not count"
        )
        yield Say("broker-sets", message)


RULES = (
    RuleDescriptor(
        name="broker-set",
        text="each topic on the brokers of its own set",
        remedy="add brokers to the set, or give --broker-set",
        may_be_soft=True,
        rank=40,
        option=RuleOption(
            "topic sets",
            "Set of brokers for topics that match; others stay on the set "
            "with most of their replicas; off: ignore sets. Repeatable.",
            example='["orders.*=gold", ".*=silver"]',
            saved_as="broker_sets",
        ),
        make=_requested,
        is_always_made=True,
        fill_rank=10,
    ),
)

"""Goals on loads besides the six resources, as soft columns of the problem."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from placement.array_types import FloatArray, IntArray
from placement.core.model.problem import NO_LIMIT
from placement.draft.draft import Draft
from placement.draft.rule_tables import SoftColumn
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, UNITS, Resource
from placement.model.targets import MARGIN
from placement.rules.descriptor import RuleOption, RuleRequest, goal

MOST_TOPICS = 32
"""Largest number of topics with a goal: each adds a column to the problem."""
IN, OUT = RESOURCES.index(Resource.IN), RESOURCES.index(Resource.OUT)


@dataclass(frozen=True, slots=True)
class PotentialOut:
    """
    Keep brokers under their threshold of `out` even if they led all their replicas.

    Soft: the plan comes as near as possible. Brokers with an unknown capacity have no
    such limit.
    """

    name: str = "potential-out"

    def fill(self, draft: Draft) -> None:
        """Weigh every replica with its load as leader."""
        capacity = draft.state.brokers.out_bytes_per_s
        fraction = draft.settings.capacity_thresholds.get(Resource.OUT, 1.0)
        known = draft.holds & np.isfinite(capacity) & (capacity > 0)
        most = np.where(known, capacity, 0.0) * UNITS[Resource.OUT] * fraction
        weight = draft.weights.leader[:, OUT]
        draft.columns.append(
            SoftColumn(
                name=self.name,
                weight=weight,
                role_weight=np.zeros_like(weight),
                lower=np.zeros(len(most), dtype=np.int64),
                upper=np.where(known, np.floor(most), NO_LIMIT).astype(np.int64),
                unit=np.where(known, most, 0.0),
            )
        )


@dataclass(frozen=True, slots=True)
class LeaderIn:
    """
    Limit the bytes/s that producers write to the leaders of a broker.

    Soft. There is an upper end only, independent of capacities: the mean plus the width
    of the band of `in`.

    Parameters
    ----------
    margin
        Band of `in` as a fraction of a threshold, in (0, 1]. Cruise Control's bands are
        0.9 of its thresholds, but its ``LeaderBytesInDistributionGoal`` uses the whole
        threshold.
    """

    margin: float = 1.0
    name: str = "leader-in"

    def fill(self, draft: Draft) -> None:
        """Weigh every leader with the bytes/s that producers write to it."""
        weight = draft.weights.replica[:, IN]
        leads = draft.leads & draft.holds
        mean = float(weight.sum()) / max(int(leads.sum()), 1)
        most = mean * (1 + draft.settings.band(Resource.IN) / self.margin)
        draft.columns.append(
            SoftColumn(
                name=self.name,
                weight=np.zeros_like(weight),
                role_weight=weight,
                lower=np.zeros(len(leads), dtype=np.int64),
                upper=np.where(leads, np.ceil(most), NO_LIMIT).astype(np.int64),
                unit=np.where(leads, mean, 0.0),
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class SpreadTopics:
    """
    Spread replicas, or leaders, of some topics evenly over all brokers.

    Soft, and by count alone: the mean per broker ± `gap` of it, at least `least_gap`
    and at most `most_gap` of them. The defaults are those of Cruise Control's
    ``TopicReplicaDistributionGoal``: a threshold of 3 less its margin of 0.9.

    Parameters
    ----------
    topics
        Rows of the topics; a column of the problem each.
    gap
        Fraction of the mean; above 0.
    least_gap, most_gap
        Number of replicas, or leaders.
    counts_leaders
        Whether leaders are counted, on brokers that may lead, instead of replicas.
    name
        Name of the goal.
    """

    topics: tuple[int, ...]
    gap: float = 1.8
    least_gap: int = 2
    most_gap: int = 40
    counts_leaders: bool = False
    name: str = "spread-topics"

    def fill(self, draft: Draft) -> None:
        """Add a column that counts the replicas, or the leaders, of each topic."""
        state, none = draft.state, np.zeros(draft.state.num_partitions, dtype=np.int64)
        member = draft.holds & draft.leads if self.counts_leaders else draft.holds
        counted = none + 1 if self.counts_leaders else state.num_replicas
        for topic in self.topics:
            weight = np.equal(state.partitions.topic_idx, topic).astype(np.int64)
            mean = float((weight * counted).sum()) / max(int(member.sum()), 1)
            lower, upper = self.ends(np.array(mean))
            draft.columns.append(
                SoftColumn(
                    name=f"{self.name}:{state.topics.names[topic]}",
                    weight=none if self.counts_leaders else weight,
                    role_weight=weight if self.counts_leaders else none,
                    lower=np.where(member, lower, 0).astype(np.int64),
                    upper=np.where(member, upper, NO_LIMIT).astype(np.int64),
                    unit=np.where(member, max(mean, 1.0), 0.0),
                )
            )

    def ends(self, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the fewest and the most replicas of topics, by means per broker."""
        # The order of operations is Cruise Control's: at integers the last bits decide.
        floor, ceil = np.floor(mean), np.ceil(mean)
        lower = np.floor(mean * max(0.0, 1 - self.gap))
        lower = np.clip(lower, floor - self.most_gap, floor - self.least_gap)
        upper = np.ceil(mean * (1 + self.gap))
        upper = np.clip(upper, ceil + self.least_gap, ceil + self.most_gap)
        return np.maximum(lower, 0), upper


def uneven_topics(state: ClusterState) -> IntArray:
    """Return the topics whose replicas miss `SpreadTopics`, the largest miss first."""
    live = np.nonzero(state.brokers.is_live)[0]
    topics, width = len(state.topics.names), state.num_brokers
    of = state.partitions.topic_idx[state.replicas.partition_idx].astype(np.int64)
    pairs, held = np.unique(of * width + state.replicas.broker_idx, return_counts=True)
    is_live = state.brokers.is_live[pairs % width]
    topic, counts = pairs[is_live] // width, held[is_live]
    mean = np.bincount(of, minlength=topics) / max(len(live), 1)
    lower, upper = SpreadTopics(()).ends(mean)
    off = np.zeros(topics)
    np.maximum.at(off, topic, np.maximum(counts - upper[topic], lower[topic] - counts))
    is_everywhere = np.bincount(topic, minlength=topics) == len(live)
    off = np.where(is_everywhere, off, np.maximum(off, lower))
    order = np.argsort(-off, kind="stable")
    return order[off[order] > 0]


@dataclass(frozen=True, slots=True, eq=False)
class MinTopicLeaders:
    """
    Every broker that may lead leads a minimum number of partitions of some topics.

    Soft. If a topic has too few partitions, the minimum is the number that each broker
    can have.

    Parameters
    ----------
    least
        Pairs of topic row and leaders per broker; a column of the problem each.
    """

    least: tuple[tuple[int, int], ...]
    name: str = "min-topic-leaders"

    def fill(self, draft: Draft) -> None:
        """Add a column that counts the leaders of each topic."""
        state = draft.state
        leads = draft.leads & draft.holds
        count = max(int(leads.sum()), 1)
        for topic, wanted in self.least:
            weight = np.equal(state.partitions.topic_idx, topic).astype(np.int64)
            least = min(wanted, int(weight.sum()) // count)
            draft.columns.append(
                SoftColumn(
                    name=f"{self.name}:{state.topics.names[topic]}",
                    weight=np.zeros_like(weight),
                    role_weight=weight,
                    lower=np.where(leads, least, 0).astype(np.int64),
                    upper=np.full(len(leads), NO_LIMIT),
                    unit=np.where(leads, max(float(least), 1.0), 0.0),
                )
            )


@dataclass(frozen=True, slots=True)
class CruiseControlLimits:
    """
    Bands and caps as those of Cruise Control's goals.

    * Bands have a lower end also for the old brokers when brokers are added: its goals
      hold for all brokers alike.
    * Replicas and leaders are counted against the plain mean, independent of the
      brokers' capacities, and the ends of their bands are rounded outwards.
    * A broker may hold as many replicas of a topic as `SpreadTopics` allows, and may
      lead any number of them.
    """

    name: str = "cruise-control"

    def fill(self, draft: Draft) -> None:
        """Set the limits that are not goals of their own."""
        draft.old_may_be_low = False
        draft.has_plain_counts = True
        state = draft.state
        held = state.partitions.topic_idx[state.replicas.partition_idx]
        counts = np.bincount(held, minlength=len(state.topics.names))
        _, upper = SpreadTopics(()).ends(counts / max(int(draft.holds.sum()), 1))
        draft.most_of_topic = upper.astype(np.int64)


def _spread(request: RuleRequest, name: str) -> Iterator[SpreadTopics]:
    rows = request.topics(request.value)
    if are_few(request, len(rows)):
        least, most = request.options["spread_gap"]
        yield SpreadTopics(
            topics=tuple(rows),
            gap=request.options["spread_band"],
            least_gap=least,
            most_gap=most,
            counts_leaders=name == "spread-topic-leaders",
            name=name,
        )


def _min_leaders(request: RuleRequest) -> Iterator[MinTopicLeaders]:
    wanted = {
        row: number
        for pattern, number in reversed(request.value)
        for row in request.topics(pattern)
    }
    if wanted and are_few(request, len(wanted)):
        yield MinTopicLeaders(tuple(sorted(wanted.items())))


def are_few(request: RuleRequest, count: int) -> bool:
    """Return whether a request limits few topics; refuse it otherwise."""
    if count <= MOST_TOPICS:
        return True
    rule = f"may match {MOST_TOPICS} topics: each is a load to be balanced"
    request.refuse(f"{count} topics", rule, "choose those that matter most")
    return False


def _leader_in(request: RuleRequest) -> Iterator[LeaderIn]:
    is_preset = request.options["rules"] == "cruise-control"
    yield LeaderIn(MARGIN if is_preset else 1.0)


RULES = (
    goal(
        "potential-out",
        rank=80,
        option=RuleOption(
            "switch",
            "Keep out under its threshold even if a broker leads all its "
            "replicas; soft.",
        ),
        make=lambda _: [PotentialOut()],
    ),
    goal(
        "leader-in",
        rank=81,
        option=RuleOption(
            "switch", "Keep the rate of producers to leaders near its mean; soft."
        ),
        make=_leader_in,
    ),
    *(
        goal(
            name,
            rank=82,
            make=lambda request, name=name: _spread(request, name),
            fill_rank=30,
        )
        for name in ("spread-topics", "spread-topic-leaders")
    ),
    goal("min-topic-leaders", rank=84, make=_min_leaders, fill_rank=31),
)

"""Rules of plans from Python, with the names of the command's options."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from planner.options.declared.types import Preset, RackRule


class RuleOptions(TypedDict, total=False):
    """
    Rules of every plan, all of which may be left out.

    Parameters
    ----------
    rules
        The default goals of another tool, with its limits.
    rack_rule
        As even as racks allow, one replica per rack, or none.
    rack_map
        Which rack stands for which.
    broker_set
        Name of a set by the regular expression of the topics that live there alone;
        ``"off"``: sets of brokers do not count.
    topics_apart
        Regular expressions of topics that share no broker, such as
        ``["orders.*=payments.*"]``.
    topics_together
        Regular expressions of topics that share brokers: partition n of all that match
        one has the same list.
    keep_topics, keep_leaders
        Regular expression of topics whose replicas, or whose leaders, stay.
    locality_scoped
        Whether replicas stay in their racks.
    only_over_threshold
        Whether nothing moves but what relieves brokers over a threshold.
    only_trades
        Whether brokers keep as many replicas as they hold.
    host_capacity_threshold
        Fraction by resource that the brokers of a host may use together.
    low_utilization
        Fraction by resource; one of which less is used is not balanced.
    max_replicas_per_broker
        Most replicas of any broker.
    potential_out, leader_in
        Whether these goals count.
    even_positions
        Whether brokers stand at each position of the lists equally often.
    spread_topics, spread_topic_leaders
        Regular expression of topics whose replicas, or leaders, are spread by count.
    spread_band, spread_gap
        How far from their mean: part of it, and ``LEAST-MOST``.
    min_topic_leaders
        Leaders of each topic on every broker, by the topics' regular expression.
    soft
        Rules that give way where a plan cannot keep all, the first one first:
        ``rack``, ``capacity``, ``topics-apart``, ``locality-scoped``, ``max-bytes``, ….
    hard
        Goals without which there is no plan: ``bands``, ``band-disk``, ``leader-in``.
    cpu_weight
        Cores per MB/s of ``leader_in``, ``leader_out``, ``follower_in``: cpu where
        nobody measured it.
    """

    rules: Preset
    rack_rule: RackRule
    rack_map: Mapping[str, str]
    broker_set: Mapping[str, str] | Literal["off"]
    topics_apart: Sequence[str]
    topics_together: Sequence[str]
    keep_topics: str
    keep_leaders: str
    locality_scoped: bool
    only_over_threshold: bool
    only_trades: bool
    host_capacity_threshold: Mapping[str, float]
    low_utilization: Mapping[str, float]
    max_replicas_per_broker: int
    potential_out: bool
    leader_in: bool
    even_positions: bool
    spread_topics: str
    spread_topic_leaders: str
    spread_band: float
    spread_gap: str
    min_topic_leaders: Mapping[str, int]
    soft: Sequence[str]
    hard: Sequence[str]
    cpu_weight: Mapping[str, float]

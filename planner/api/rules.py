"""Rules of plans from Python, with the names of the options of the command."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from planner.options.broker_sets import OFF
from planner.options.rule_options import RULE_NAMES, RuleRequest


class RuleOptions(TypedDict, total=False):
    """
    Rules of plans, all optional.

    Parameters
    ----------
    rules
        Preset with the default goals and limits of another tool.
    rack_rule
        ``distribution``: as even as racks allow; ``strict``: one replica per rack.
    rack_map
        Rack that replaces a rack, by its name.
    broker_set
        Name of a set of brokers, by the regular expression of topics confined to it;
        ``"off"``: ignore sets of brokers.
    topics_apart
        Regular expressions of topics that share no broker, such as
        ``["orders.*=payments.*"]``.
    topics_together
        Regular expressions of topics with the same brokers: partition n of all topics
        that match one expression has the same replica list.
    keep_topics, keep_leaders
        Regular expression of topics whose replicas, or whose leaders, stay.
    locality_scoped
        Whether replicas stay in their racks.
    only_over_threshold
        Whether moves only relieve brokers over a threshold.
    only_trades
        Whether each broker keeps its number of replicas.
    host_capacity_threshold
        Fraction by resource that the brokers of a host may use together.
    low_utilization
        Fraction by resource; a resource with lower use is not balanced.
    max_replicas_per_broker
        Maximum number of replicas of any broker.
    potential_out, leader_in
        Whether these goals are enabled.
    even_positions
        Whether brokers are at each position of replica lists equally often.
    spread_topics, spread_topic_leaders
        Regular expression of topics whose replicas, or leaders, are spread by count.
    spread_band, spread_gap
        Distance from the mean: a fraction of it, and ``LEAST-MOST`` as counts.
    min_topic_leaders
        Minimum number of leaders of each topic on every broker, by the regular
        expression of the topics.
    soft
        Rules to relax where a plan cannot keep all, in order of relaxation: ``rack``,
        ``capacity``, ``topics-apart``, ``locality-scoped``, ``max-bytes``, ….
    hard
        Goals to enforce as hard rules: ``bands``, ``band-disk``, ``leader-in``.
    cpu_weight
        Cores per MB/s of ``leader_in``, ``leader_out``, ``follower_in``, to estimate
        cpu that was not measured.
    """

    rules: Literal["cruise-control"]
    rack_rule: Literal["distribution", "strict", "off"]
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


def rules_of(options: Mapping[str, Any]) -> RuleRequest:
    """Return the rules among options, as the command reads them."""
    given: dict[str, Any] = {
        name: _texts(value) if isinstance(value, Mapping) else value
        for name, value in options.items()
        if name in RULE_NAMES
    }
    if given.get("broker_set") == OFF:
        given["broker_set"] = (OFF,)
    return RuleRequest(**given)


def _texts(pairs: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in pairs.items())

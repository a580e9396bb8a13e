"""Option that assigns topics to broker sets."""

import re
from collections.abc import Mapping
from typing import Any

from placement.model.cluster import ClusterState
from placement.rules.broker_sets import BrokerSets, home_sets, set_of_broker
from placement.rules.frozen_partitions import Say
from planner.options.declared.rule_readers import SETS_OFF
from planner.options.option_reader import OptionReader

NO_SET = ""
"""Name of the set of brokers without a set."""


def look_up_sets(reader: OptionReader, sets: Mapping[str, str]) -> None:
    """Record a problem for each broker set that the snapshot does not have."""
    if reader.state is None:
        return
    known = reader.state.brokers.broker_sets
    for name in sets.values():
        if name != NO_SET and name not in known:
            rule = "sets must be in the snapshot"
            remedy = f"it has {', '.join(known) or 'none'}"
            reader.refuse("--broker-set", name, rule, remedy)


def are_sets_kept(state: ClusterState, sets: Mapping[str, str] | None) -> bool:
    """
    Return whether topics are confined to broker sets.

    They are if an option assigns sets. Without the option they are if the snapshot has
    brokers of several sets, where brokers without a set count as one set.
    """
    if sets is not None:
        return bool(sets)
    return bool((set_of_broker(state) != set_of_broker(state)[:1]).any())


def kept_as_they_are(state: ClusterState) -> Say:
    """Return the note that topics keep to broker sets without an option for it."""
    names = ", ".join(state.brokers.broker_sets)
    message = (
        f"brokers stand in sets ({names}): each topic stays on the set that holds most "
        f"of its replicas; --broker-set says otherwise, {SETS_OFF} that sets do "
        "not count"
    )
    return Say("broker-sets", message)


def sets_of_topics(state: ClusterState, sets: Mapping[str, str]) -> Any:  # noqa: ANN401 - (T,) rows
    """Return ``(T,)`` the set of the first matching pattern, else of most replicas."""
    names = [*state.brokers.broker_sets, NO_SET]
    chosen = home_sets(state)
    for topic, name in enumerate(state.topics.names):
        for pattern, wanted in sets.items():
            if re.fullmatch(pattern, name):
                chosen[topic] = names.index(wanted)
                break
    return chosen


def named_sets(state: ClusterState, rule: BrokerSets) -> dict[str, str]:
    """Return the name of the set of each topic."""
    names = [*state.brokers.broker_sets, NO_SET]
    rows = rule.set_of_topic.tolist()
    return {
        topic: names[row] for topic, row in zip(state.topics.names, rows, strict=True)
    }

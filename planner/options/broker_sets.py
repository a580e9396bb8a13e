"""Option that assigns topics to broker sets."""

import re
from collections.abc import Sequence
from typing import Any

from placement.model.cluster import ClusterState
from placement.rules.broker_sets import BrokerSets, home_sets, set_of_broker
from placement.rules.frozen_partitions import Say
from planner.options.option_reader import OptionReader

NO_SET = ""
"""Name of the set of brokers without a set."""
OFF = "off"
"""Value that disables broker sets; it excludes all patterns."""


def read_sets(
    reader: OptionReader, texts: Sequence[str]
) -> list[tuple[re.Pattern[str], str]]:
    """Parse ``REGEX=SET`` texts, or ``off`` alone; the reader keeps the problems."""
    found = []
    if OFF in texts and len(texts) > 1:
        rule = f"{OFF} goes with no other --broker-set"
        reader.refuse("--broker-set", OFF, rule, f"leave {OFF} out, or the others")
    for text in texts:
        if text == OFF:
            continue
        regex, has_both, name = text.rpartition("=")
        if not has_both or not regex:
            rule = f"must be REGEX=SET, or {OFF}"
            reader.refuse("--broker-set", text, rule, "write orders.*=gold")
            continue
        pattern = reader.pattern("--broker-set", regex)
        is_known = reader.state is None or name in reader.state.brokers.broker_sets
        if name != NO_SET and not is_known:
            known = reader.state.brokers.broker_sets if reader.state else ()
            rule = "sets must be in the snapshot"
            remedy = f"it has {', '.join(known) or 'none'}"
            reader.refuse("--broker-set", name, rule, remedy)
        if pattern is not None:
            found.append((pattern, name))
    return found


def are_sets_kept(state: ClusterState, texts: Sequence[str]) -> bool:
    """
    Return whether topics are confined to broker sets.

    They are if an option assigns sets. Without the option they are if the snapshot has
    brokers of several sets, where brokers without a set count as one set.
    """
    if texts:
        return OFF not in texts
    return bool((set_of_broker(state) != set_of_broker(state)[:1]).any())


def kept_as_they_are(state: ClusterState) -> Say:
    """Return the note that topics keep to broker sets without an option for it."""
    names = ", ".join(state.brokers.broker_sets)
    message = (
        f"brokers stand in sets ({names}): each topic stays on the set that holds most "
        f"of its replicas; --broker-set says otherwise, {OFF} that sets do not count"
    )
    return Say("broker-sets", message)


def sets_of_topics(
    reader: OptionReader,
    state: ClusterState,
    sets: Sequence[tuple[re.Pattern[str], str]],
) -> Any:  # noqa: ANN401 - (T,) rows
    """Return ``(T,)`` the set of the first matching pattern, else of most replicas."""
    names = [*state.brokers.broker_sets, NO_SET]
    chosen = home_sets(state)
    for topic, name in enumerate(state.topics.names):
        for pattern, wanted in sets:
            if pattern.fullmatch(name):
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

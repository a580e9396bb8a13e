"""Functions that apply the changes of a scenario, by type of record."""

from placement.cluster_changes.variant import Variant
from planner.what_if.changes import scenario_records as r
from planner.what_if.changes.broker_changes import BROKER_CHANGES
from planner.what_if.changes.change_context import Changer
from planner.what_if.changes.key_changes import KEY_CHANGES
from planner.what_if.changes.topic_changes import TOPIC_CHANGES

_CHANGES = {**BROKER_CHANGES, **TOPIC_CHANGES, **KEY_CHANGES}


def make_change(
    changer: Changer, variant: Variant, change: r.AnyChange, place: str
) -> Variant:
    """Return the cluster after a change; unchanged where the change has a problem."""
    before = len(changer.names.problems)
    changed = _CHANGES[type(change)](changer, variant, change, place)
    return variant if len(changer.names.problems) > before else changed

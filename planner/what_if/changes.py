"""What each change of a scenario does."""

from placement.scenarios.changes.variant import Variant
from planner.what_if import records as r
from planner.what_if.broker_changes import BROKER_CHANGES
from planner.what_if.changer import Changer
from planner.what_if.topic_changes import TOPIC_CHANGES

_CHANGES = {**BROKER_CHANGES, **TOPIC_CHANGES}


def make_change(
    changer: Changer, variant: Variant, change: r.AnyChange, place: str
) -> Variant:
    """Return the cluster after a change; as it was where the change is wrong."""
    before = len(changer.names.problems)
    changed = _CHANGES[type(change)](changer, variant, change, place)
    return variant if len(changer.names.problems) > before else changed

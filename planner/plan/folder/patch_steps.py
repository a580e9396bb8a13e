"""Steps of runbooks that keep KafkaTopic resources equal to a plan."""

from planner.plan.documents.topic_patches import PATCH, PAUSE, UNDO
from planner.plan.folder.runbook_steps import code


def pause_section() -> list[str]:
    """Return the section that pauses the reconciliation of resources."""
    return [
        "## Pause Strimzi",
        "",
        "Strimzi's Topic Operator would change the replication factors back while the "
        "copies run. This pauses the reconciliation of their KafkaTopic resources:",
        "",
        *code(f"sh {PAUSE}"),
    ]


def patch_section() -> list[str]:
    """Return the section that patches resources and ends the pause."""
    return [
        "## Patch the KafkaTopic resources",
        "",
        "Not before all is done: this gives the resources the new replication factors, "
        "and ends the pause:",
        "",
        *code(f"sh {PATCH}"),
    ]


def pause_again() -> list[str]:
    """Return the lines that pause the reconciliation before the way back."""
    return [
        f"If {PATCH} has run, pause Strimzi once more, or it acts against the way "
        "back:",
        "",
        *code(f"sh {PAUSE}"),
        "",
    ]


def undo_lines() -> list[str]:
    """Return the lines that patch resources at the end of the way back."""
    return [
        "At the end of the way back, give the KafkaTopic resources the old replication "
        "factors, and end the pause:",
        "",
        *code(f"sh {UNDO}"),
    ]


def grow_section() -> list[str]:
    """Return the section that patches the resource of a topic that grew."""
    return [
        "## Patch the KafkaTopic resource",
        "",
        "Not earlier, or Strimzi's Topic Operator places the partitions itself:",
        "",
        *code(f"sh {PATCH}"),
    ]

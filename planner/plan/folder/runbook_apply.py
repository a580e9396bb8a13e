"""First section of RUNBOOK.md: the plan carried out by `kafka-planner apply`."""

from planner.kafka_commands import ANY_SERVER
from planner.plan.folder.runbook_steps import code

TITLE = "## With kafka-planner"
BY_HAND = "The sections below do the same by hand, with Kafka's own tools."


def _ours(command: str, options: str = ANY_SERVER) -> str:
    return f"kafka-planner {command} . {options}"


def apply_section(*, has_patches: bool) -> list[str]:
    """
    Return the section that carries a plan out, watches it, and takes it back.

    Parameters
    ----------
    has_patches
        Whether KafkaTopic resources are paused before, and patched after the plan.
    """
    lines = [TITLE, ""]
    if has_patches:
        lines += [
            "Pause the KafkaTopic resources first, and patch them at the end: both "
            "have a section below.",
            "",
        ]
    return [
        *lines,
        "What it does to the cluster as it is now, how long it takes, and what stops "
        "it; nothing is changed:",
        "",
        *code(_ours("apply")),
        "",
        "Then for real: throttled, with a journal in this folder, and verified at the "
        "end. After any interruption the same command goes on:",
        "",
        *code(_ours("apply", f"{ANY_SERVER} --yes")),
        "",
        "Meanwhile, from another terminal (`pause`, `resume`, or another throttle; and "
        "how far it is):",
        "",
        *code(_ours("apply", "--set pause"), _ours("verify", f"{ANY_SERVER} --wait")),
        "",
        "To stop it: what is under way is taken back, and the throttles come off. What "
        "has been moved stays:",
        "",
        *code(_ours("cancel", f"{ANY_SERVER} --yes")),
        "",
        "To bring everything back, from any state that it was left in (without `--yes` "
        "a preview):",
        "",
        *code(_ours("rollback", f"{ANY_SERVER} --yes")),
        "",
        BY_HAND,
    ]


def apply_new_section() -> list[str]:
    """Return the section that creates the partitions of a plan."""
    return [
        TITLE,
        "",
        "What it creates, and what stops it; nothing is changed:",
        "",
        *code(_ours("apply")),
        "",
        "Then for real, with a journal in this folder, and verified at the end. After "
        "any interruption the same command goes on, and creates nothing twice:",
        "",
        *code(_ours("apply", f"{ANY_SERVER} --yes")),
        "",
        BY_HAND,
    ]

"""Figures side by side: today, after the changes, and after the plan, as texts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planner.text.format import bytes_text, duration_text, percent_text, use_text
from planner.what_if.what_if_screen import crossing_text, full_text, loss_text

Row = Mapping[str, Any]
YES, NO, UNKNOWN = "yes", "no", "unknown"
NOTHING = "-"
USES = {"disk": "Disk", "in": "In", "out": "Out", "cpu": "CPU"}


def comparison(rows: Sequence[Row | None]) -> list[tuple[str, list[str]]]:
    """
    Return a label and a text per column for each figure.

    Parameters
    ----------
    rows
        Figures of each column, as the document of `what-if` has them; `None` for a
        plan that is not there.
    """
    return [
        (label, ["" if row is None else text(row) for row in rows])
        for label, text in FIGURES.items()
    ]


def _holds(row: Row) -> str:
    return YES if row["holds"] else NO


def _use(resource: str) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        use = row["resources"][resource]
        if use is None:
            return UNKNOWN
        over = f", {use['over_threshold']} over" if use["over_threshold"] else ""
        return f"{percent_text(use['max_use'])} (broker {use['broker']}){over}"

    return text


def _binding(row: Row) -> str:
    found = row["binding"]
    if found is None:
        return UNKNOWN
    use = use_text(found["use"], found["threshold"])
    return f"{found['resource']} of broker {found['broker']}: {use}"


def _balance(row: Row) -> str:
    found = row["balance"]
    return f"{percent_text(found['max_deviation'])} ({found['resource']})"


def _survives(kind: str) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        found = row["survives"][kind]
        if found["survives"] is not False:
            return UNKNOWN if found["survives"] is None else YES
        return f"{NO}: {loss_text(kind, found)}"

    return text


def _full(row: Row) -> str:
    full = row["full"]
    if full is None:
        return "unknown: no growth given"
    if full["days"] is None:
        return "not within ten years"
    where = crossing_text(full["resource"], full["broker"], full["log_dir"])
    return f"{full_text(full)}: {where}"


def _count(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row['violations'][name]:,}"


def _between_racks(row: Row) -> str:
    rate = row["cross_rack_bytes_per_s"]
    return UNKNOWN if rate is None else f"{bytes_text(rate)}/s"


def _copies(row: Row) -> str:
    return f"{row['copies']['replicas']:,}" if row["copies"]["replicas"] else NOTHING


def _bytes(name: str) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        copies = row["copies"]
        if not copies["replicas"]:
            return NOTHING
        return UNKNOWN if copies[name] is None else bytes_text(copies[name], 4)

    return text


def _time(row: Row) -> str:
    copies = row["copies"]
    if not copies["replicas"]:
        return NOTHING
    if copies["seconds"] is None:
        return UNKNOWN
    return f"{duration_text(copies['seconds'])} (broker {copies['busiest_broker']})"


def _checked(row: Row) -> str:
    return {True: "ok", False: "not ok", None: NOTHING}[row["is_checked"]]


FIGURES: Mapping[str, Callable[[Row], str]] = {
    "Holds": _holds,
    "Plan": lambda row: "none" if row["status"] == "as-is" else row["status"],
    "Brokers": lambda row: f"{row['brokers']:,}",
    "Replicas": lambda row: f"{row['replicas']:,}",
    **{f"{label}, fullest broker": _use(name) for name, label in USES.items()},
    "Nearest to a threshold": _binding,
    "Brokers over a threshold": lambda row: f"{row['brokers_over_threshold']:,}",
    "Furthest from its share": _balance,
    "Any one broker may be lost": _survives("broker"),
    "Any one rack may be lost": _survives("rack"),
    "First over a threshold in": _full,
    "Partitions offline": _count("offline"),
    "Partitions under min ISR": _count("under_min_isr"),
    "Partitions that break the rack rule": _count("rack"),
    "Replication between racks": _between_racks,
    "Replicas copied": _copies,
    "Bytes copied": _bytes("bytes"),
    "No plan copies less than": _bytes("least_bytes"),
    "Time of the copies, busiest broker": _time,
    "Checked by separate code": _checked,
}
"""Text of each figure by its label."""

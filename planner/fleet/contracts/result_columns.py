"""Meaning, unit and nulls of the columns of results."""

from collections.abc import Mapping

from planner.fleet.contracts.overview_columns import OVERVIEW_COLUMNS
from planner.fleet.contracts.result_schemas import FIGURES
from planner.fleet.contracts.snapshot_columns import KEY, Meaning

_LEVEL = "of another level"
_UNKNOWN = "the load is not known"
_CAPACITY = "no capacity is known"
_PLACE: Mapping[str, Meaning] = {
    "level": ("cluster, rack, broker, log_dir or topic.", "", ""),
    "rack": ("Rack of the row.", "", f"{_LEVEL}, or no rack"),
    "broker": ("Broker of the row.", "", _LEVEL),
    "log_dir": ("Path of the log dir.", "", _LEVEL),
    "topic": ("Name of the topic.", "", _LEVEL),
    "resource": ("disk, in, out, cpu, replicas or leaders.", "", ""),
}
_OF_RESOURCE = "of the resource"
_FIGURES: Mapping[str, Meaning] = {
    "max_use": ("Highest use.", "fraction", _CAPACITY),
    "max_deviation": ("Largest |load / target - 1|.", "fraction", _UNKNOWN),
    "max_over_mean": ("Highest use by mean use.", "ratio", _UNKNOWN),
    "cv": ("Standard deviation by mean.", "ratio", _UNKNOWN),
    "gini": ("Gini coefficient; 0 is even.", "ratio", f"{_UNKNOWN}, or of topics"),
    "jain": ("Jain's index; 1 is even.", "ratio", _UNKNOWN),
}
_PLAN: Mapping[str, Meaning] = {
    **KEY,
    "request": ("Name of the request or the scenario.", "", ""),
    "request_hash": ("Hash of its options.", "", ""),
    "goal": ("Operation.", "", ""),
    "status": ("Status of the plan; refused or failed: there is none.", "", ""),
    "reason": ("Reason why it is not as asked.", "", "it is"),
    "num_findings": ("Findings of the independent checker.", "findings", "no plan"),
    "moved_replicas": ("Replicas that are copied.", "replicas", "no plan"),
    "moved_bytes": ("Bytes that are copied.", "bytes", "no plan, or sizes unknown"),
    "moved_leaders": ("Partitions with another leader.", "partitions", "no plan"),
    "moved_partitions": ("Partitions that change.", "partitions", "no plan"),
    **{
        f"{name}_{figure}": (f"{meaning} of {what}.", unit, "no plan, or not known")
        for name, (what, unit) in {
            "bytes": ("the bytes copied", "bytes"),
            "replicas": ("the replicas copied", "replicas"),
            "deviation": ("the largest deviation", "fraction"),
        }.items()
        for figure, meaning in {
            "value": "Value",
            "lower_bound": "Proven lower bound",
            "gap": "Gap between value and bound",
        }.items()
    },
    "solve_s": ("Time of the search.", "s", "no plan"),
    "bound_s": ("Time of the bounds.", "s", "no plan"),
    "total_s": ("Time of the whole plan.", "s", ""),
    "fingerprint": ("Fingerprint of the snapshot that was planned.", "", "no plan"),
    "certificate": ("Certificate of the plan, JSON.", "", "no plan"),
    "plan": ("plan.json.", "", "no plan"),
    "files": ("The other files of the plan, by name.", "", "no plan"),
}
_COUNTS: Mapping[str, Meaning] = {
    "copies": ("Replicas on brokers that had none of the partition.", "replicas", ""),
    "bytes": ("Bytes of these copies.", "bytes", ""),
    "dropped_replicas": ("Replicas that were dropped.", "replicas", ""),
    "changed_partitions": ("Partitions that changed.", "partitions", "a topic's row"),
    "leader_changes": ("Partitions with another leader.", "partitions", ""),
    "first_replica_changes": (
        "Partitions with another preferred leader.",
        "partitions",
        "",
    ),
    "log_dir_moves": ("Replicas in another log dir of their broker.", "replicas", ""),
    "log_dir_bytes": ("Bytes of these replicas.", "bytes", ""),
    "new_partitions": ("Partitions that are new.", "partitions", "a topic's row"),
    "gone_partitions": ("Partitions that are gone.", "partitions", "a topic's row"),
    "new_brokers": ("Brokers that are new.", "brokers", "a topic's row"),
    "gone_brokers": ("Brokers that are gone.", "brokers", "a topic's row"),
}
_WHOLE = "the row of the whole"
_READ = "a snapshot could not be read"
_GROWS = "nothing grows, or no capacity is known"
_SHORT = "fewer than four points, or no growth"


def _days(what: str) -> dict[str, Meaning]:
    return {
        "": (f"Days until {what}.", "days", _GROWS),
        "_low": (f"Fewest days until {what}, at 95 %.", "days", _SHORT),
        "_high": (f"Most days until {what}, at 95 %.", "days", _SHORT),
    }


RESULT_COLUMNS: Mapping[str, Mapping[str, Meaning]] = {
    "scores": {
        **KEY,
        **_PLACE,
        "brokers": ("Brokers of the cluster or the rack.", "brokers", _LEVEL),
        "partitions": ("Partitions of the cluster or the topic.", "partitions", _LEVEL),
        "replicas": ("Replicas of the cluster or the topic.", "replicas", _LEVEL),
        "load": ("Load of the place.", _OF_RESOURCE, f"{_LEVEL}, or {_UNKNOWN}"),
        "capacity": ("Capacity of the place.", _OF_RESOURCE, _CAPACITY),
        "use": ("Load by capacity.", "fraction", _CAPACITY),
        "target": ("Fair share of the place.", _OF_RESOURCE, _UNKNOWN),
        "deviation": ("Load by target, less 1.", "fraction", _UNKNOWN),
        "is_out_of_band": ("Whether a broker is outside its band.", "", _LEVEL),
        "is_over_threshold": (
            "Whether a broker is over its threshold, or a log dir over that of disks.",
            "",
            f"{_LEVEL}, or of a log dir and no disk",
        ),
        "total": ("Load of all that the level consists of.", _OF_RESOURCE, _UNKNOWN),
        "mean_use": ("Mean use.", "fraction", _CAPACITY),
        "min_use": ("Lowest use.", "fraction", _CAPACITY),
        **_FIGURES,
        "brokers_out_of_band": ("Brokers outside their band.", "brokers", _LEVEL),
        "brokers_over_threshold": ("Brokers over a threshold.", "brokers", _LEVEL),
        "known_fraction": ("Partitions of known load.", "fraction", _LEVEL),
        "violations": ("Partitions that break a rule, by rule.", "partitions", _LEVEL),
        "complete": ("Whether no partition is known to be missing.", "", ""),
    },
    "problems": {
        "cluster_id": ("Cluster of the snapshot.", "", "the row has none"),
        "taken_at": ("Time of the snapshot, UTC.", "", "no time can be read"),
        "table": ("Table that the problem is in.", "", ""),
        "place": ("Row and column.", "", ""),
        "value": ("Value found there.", "", ""),
        "rule": ("Rule that is broken.", "", ""),
        "severity": ("error: no scores; warning: may be loaded in part.", "", ""),
    },
    "done": {
        **KEY,
        "content": (
            "Hash of the content that was scored.",
            "",
            "a job writes the scores",
        ),
    },
    "trends": {
        **KEY,
        **_PLACE,
        "taken_at": ("Time of the last snapshot, UTC.", "", ""),
        "since": ("Time of the first snapshot, UTC.", "", ""),
        "points": ("Snapshots of the series.", "snapshots", ""),
        "value": ("Load at the last snapshot.", _OF_RESOURCE, ""),
        "growth_per_day": ("Theil-Sen slope.", "per day", "fewer than two points"),
        "growth_low": ("Lower end of its interval of 95 %.", "per day", _SHORT),
        "growth_high": ("Upper end of its interval of 95 %.", "per day", _SHORT),
        "capacity": ("Capacity of the place.", _OF_RESOURCE, _CAPACITY),
        **{
            f"days_until_{name}{end}": meaning
            for name, what in {
                "threshold": "the capacity threshold is reached",
                "full": "the place is full",
            }.items()
            for end, meaning in _days(what).items()
        },
    },
    "balance": {
        **KEY,
        "resource": _PLACE["resource"],
        "before": ("Time of the snapshot before, UTC.", "", ""),
        **{name: _FIGURES[name] for name in FIGURES},
        **{
            f"{name}_before": (f"{name} of the snapshot before.", *_FIGURES[name][1:])
            for name in FIGURES
        },
        **{
            f"{name}_change": (f"{name} less that before.", *_FIGURES[name][1:])
            for name in FIGURES
        },
    },
    "changes": {
        **KEY,
        "before": ("Time of the snapshot before, UTC.", "", ""),
        "topic": ("Topic of the partition.", "", _WHOLE),
        "partition": ("Number of the partition.", "", _WHOLE),
        "from_brokers": ("Brokers that lost a replica.", "", _WHOLE),
        "to_brokers": ("Brokers that got a replica.", "", _WHOLE),
        **{
            name: (text, unit, f"{null}, or {_READ}" if null else _READ)
            for name, (text, unit, null) in _COUNTS.items()
        },
        "reason": ("Reason why the pair could not be compared.", "", "it was"),
    },
    "drift": {
        **KEY,
        "planned_at": ("Time of the snapshot that was planned, UTC.", "", ""),
        "request": ("Name of the request.", "", ""),
        "request_hash": ("Hash of its options.", "", "written by an older release"),
        "status": ("Status of the plan by now, as of verify.", "", ""),
        **{
            name: (text, "partitions", "status is unknown")
            for name, text in {
                "completed": "Partitions that are as planned.",
                "in_progress": "Partitions on their way.",
                "not_started": "Partitions as they were before.",
                "superseded": "Partitions that another plan moved since.",
                "differs": "Partitions that are neither.",
            }.items()
        },
        "num_findings": ("Findings of verify.", "findings", "status is unknown"),
        "loads": ("Loads predicted and measured, JSON.", "", "status is unknown"),
        "plan_fingerprint": ("Fingerprint of the planned snapshot.", "", ""),
        "reason": ("Reason why nothing is known.", "", "something is"),
    },
    "overview": OVERVIEW_COLUMNS,
    "plans": _PLAN,
    "scenarios": {
        **_PLAN,
        "sweep": ("Point of the sweep.", "", "no sweep"),
        "then": ("Operation after the scenario.", "", ""),
        "holds": ("Whether the cluster holds.", "", "refused or failed"),
        "answer": ("Answer of what-if, JSON.", "", "refused or failed"),
    },
}
"""Meaning, unit and nulls by table and column."""

"""
Fleets and keys on Spark; needs the extra `spark` and Java 17 or newer.

Names of this package are loaded when they are first used. The package can therefore be
imported without PySpark, and `start_session` reports that PySpark is missing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from planner.spark.versions import require_new_pyspark

if TYPE_CHECKING:
    from planner.spark.ingest.dump_ingest import ingest_dumps
    from planner.spark.io.fleet_opening import open_fleet
    from planner.spark.io.fleet_tables import Fleet
    from planner.spark.io.snapshot_selection import select_snapshots
    from planner.spark.keys.key_skew import skew_on_spark
    from planner.spark.reports.fleet_plans import plan_fleet, play_fleet
    from planner.spark.scoring.fleet_scores import FleetScores, score_fleet, scores
    from planner.spark.scoring.reduce_side.balance_scores import ScoreSettings
    from planner.spark.session import start_session

__all__ = [
    "Fleet",
    "FleetScores",
    "ScoreSettings",
    "ingest_dumps",
    "open_fleet",
    "plan_fleet",
    "play_fleet",
    "score_fleet",
    "scores",
    "select_snapshots",
    "skew_on_spark",
    "start_session",
]
_HOMES = {
    "Fleet": "io.fleet_tables",
    "FleetScores": "scoring.fleet_scores",
    "ScoreSettings": "scoring.reduce_side.balance_scores",
    "ingest_dumps": "ingest.dump_ingest",
    "open_fleet": "io.fleet_opening",
    "plan_fleet": "reports.fleet_plans",
    "play_fleet": "reports.fleet_plans",
    "score_fleet": "scoring.fleet_scores",
    "scores": "scoring.fleet_scores",
    "select_snapshots": "io.snapshot_selection",
    "skew_on_spark": "keys.key_skew",
    "start_session": "session",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Load a name from its module."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    require_new_pyspark()
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

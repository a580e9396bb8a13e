"""
Fleets on Spark: dumps, scores, plans; needs the extra `spark` and Java 17 or newer.

What is named here is loaded when it is asked for, so that whoever has no PySpark is
told so, instead of meeting an ImportError.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from planner.spark.versions import require_new_pyspark

if TYPE_CHECKING:
    from planner.spark.balance import ScoreSettings
    from planner.spark.fleet import Fleet
    from planner.spark.ingest import ingest_dumps
    from planner.spark.opening import open_fleet
    from planner.spark.plans import plan_fleet, play_fleet
    from planner.spark.scoring import FleetScores, score_fleet, scores
    from planner.spark.selecting import select_snapshots
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
    "start_session",
]
_HOMES = {
    "Fleet": "fleet",
    "FleetScores": "scoring",
    "ScoreSettings": "balance",
    "ingest_dumps": "ingest",
    "open_fleet": "opening",
    "plan_fleet": "plans",
    "play_fleet": "plans",
    "score_fleet": "scoring",
    "scores": "scoring",
    "select_snapshots": "selecting",
    "start_session": "session",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Load a name from its module."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    require_new_pyspark()
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

"""
Scores of clusters: computed, printed, compared with conditions, written as tables.

Imports `planner.plan`, `planner.options`, `planner.status` and `placement.score`.
"""

from planner.score.make_score import Scored, ScoreRequest, score_snapshot
from planner.score.score_document import score_document

__all__ = ["ScoreRequest", "Scored", "score_document", "score_snapshot"]

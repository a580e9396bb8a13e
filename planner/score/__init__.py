"""Scores of clusters: made, printed, judged, and written as tables."""

from planner.score.document import score_document
from planner.score.make import Scored, ScoreRequest, score_snapshot

__all__ = ["ScoreRequest", "Scored", "score_document", "score_snapshot"]

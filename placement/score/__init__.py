"""
Balance of a placement, and the rules that it breaks.

`score_placement` computes the figures of a placement, as every plan states them.
`score_cluster` adds racks, log dirs, topics, hot spots and a lower bound on the bytes
to move. Formulas: `placement.score.balance_statistics`. Imports `model`, `draft` and
`rules`.
"""

from placement.model.rack_violations import rack_broken
from placement.score.balance_statistics import ResourceScore
from placement.score.cluster_score import ClusterScore, score_cluster
from placement.score.placement_score import Score, score_placement
from placement.score.rule_violations import VIOLATIONS

__all__ = [
    "VIOLATIONS",
    "ClusterScore",
    "ResourceScore",
    "Score",
    "rack_broken",
    "score_cluster",
    "score_placement",
]

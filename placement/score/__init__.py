"""
How balanced a placement is, and which rules it breaks.

`score_placement` says what a placement decides, and stands in every plan.
`score_cluster` adds what an operator asks of a cluster: racks, log dirs, topics, what
is hot and why, and the least that must move. Formulas:
`placement.score.balance_statistics`.
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

"""
How balanced a placement is, and which rules it breaks.

`score_placement` says what a placement decides, and stands in every plan.
`score_cluster` adds what an operator asks of a cluster: racks, log dirs, topics, what
is hot and why, and the least that must move. Formulas: `placement.score.statistics`.
"""

from placement.racks import rack_broken
from placement.score.cluster import ClusterScore, score_cluster
from placement.score.placed import Score, score_placement
from placement.score.statistics import ResourceScore
from placement.score.violations import VIOLATIONS

__all__ = [
    "VIOLATIONS",
    "ClusterScore",
    "ResourceScore",
    "Score",
    "rack_broken",
    "score_cluster",
    "score_placement",
]

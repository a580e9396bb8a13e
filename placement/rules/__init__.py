"""
Rules: each a small class that fills the tables of a draft or of the core's problem.

`hard_levels` has the hard rules of placement, and `frozen_partitions` the partitions
that no plan changes; these rules always hold, the others on request. A module describes
its rules in `RULES`, and `registry` collects them. Imports `model`, `draft` and the
core.
"""

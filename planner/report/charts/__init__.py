"""
Pictures of loads, copies and waves, and the charts that are drawn from them.

Imports only `planner.text`. Altair and vl-convert are imported where a chart is drawn.
"""

"""
The local page of `ui`: what-if on one cluster, in a browser.

Imports `planner.what_if` for every figure, `planner.plan` and `planner.report` for
plans and their words; Starlette, uvicorn and Jinja2 inside functions only.
"""

"""
Colours of charts and pages, one meaning each.

The blues are those of Okabe and Ito [1]_. The others are chosen so that the colours of
one chart stay apart for every common deficiency of colour vision, and from the paper:
`tests/report/test_colours.py` has the limits. Charts are drawn in the colours of
`LIGHT`. In a page the style sheet replaces each by a variable, whose value in dark mode
is that of `DARK`. No meaning is shown by colour alone: bars, ticks, shades and dashes
differ in form.

References
----------
.. [1] Okabe, M. and Ito, K. (2008). Color Universal Design.
       https://jfly.uni-koeln.de/color/
"""

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "muted": "#59636e",
    "grid": "#d1d9e0",
    "now": "#0072b2",
    "before": "#a16600",
    "band": "#c8d1da",
    "target": "#30363c",
    "limit": "#7f1d12",
    "leaders": "#6b7300",
    "drops": "#7a0f4a",
}
DARK = {
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "muted": "#9da7b3",
    "grid": "#30363d",
    "now": "#56b4e9",
    "before": "#f0c419",
    "band": "#39424c",
    "target": "#c9d1d9",
    "limit": "#ff5c7a",
    "leaders": "#d8d84a",
    "drops": "#cc6699",
}
KINDS = {"copies": "now", "drops": "drops", "leaders": "leaders"}
"""Colour of each kind of wave."""
LEAST_CELL, MOST_CELL = 0.12, 0.55
"""Opacity of the lightest and the darkest cell of a matrix, below its text."""

"""
Colours of charts and pages, one meaning each, by the palette of Okabe and Ito.

Charts are drawn in the colours of `LIGHT`. In a page the style sheet replaces each by a
variable, whose value in dark mode is that of `DARK`. No meaning is shown by colour
alone: bars, ticks, shades and dashes differ in form.

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
    "before": "#8a4b00",
    "band": "#c8d1da",
    "target": "#30363c",
    "limit": "#c0392b",
    "leaders": "#007a5a",
    "drops": "#aa4499",
}
DARK = {
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "muted": "#9da7b3",
    "grid": "#30363d",
    "now": "#56b4e9",
    "before": "#e69f00",
    "band": "#39424c",
    "target": "#c9d1d9",
    "limit": "#ff8a7a",
    "leaders": "#3fcf9f",
    "drops": "#e08fd0",
}
KINDS = {"copies": "now", "drops": "drops", "leaders": "leaders"}
"""Colour of each kind of wave."""

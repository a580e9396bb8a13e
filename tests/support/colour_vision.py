"""
Colours as they are seen: contrast, and the distance between two under a deficiency.

References
----------
.. [1] Machado, G. M., Oliveira, M. M. and Fernandes, L. A. F. (2009). A
       Physiologically-based Model for Simulation of Color Vision Deficiency. *IEEE
       Transactions on Visualization and Computer Graphics* 15(6): 1291-1298. The
       matrices of severity 1.0 in their supplement, for linear RGB.
       https://doi.org/10.1109/TVCG.2009.113
.. [2] World Wide Web Consortium (2018). Web Content Accessibility Guidelines 2.1,
       success criteria 1.4.3 and 1.4.11. https://www.w3.org/TR/WCAG21/
.. [3] Sharma, G., Wu, W. and Dalal, E. N. (2005). The CIEDE2000 Color-Difference
       Formula. *Color Research and Application* 30(1): 21-30.
       https://doi.org/10.1002/col.20070
"""

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

import numpy as np

DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
"""Matrix of each deficiency at full severity, for linear RGB [1]_."""
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = TO_XYZ.sum(axis=1)


def linear(color):
    """Return a colour such as ``#0072b2`` as linear RGB, each from 0 to 1."""
    values = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )


def contrast(one, other):
    """Return the contrast of two colours, 1 to 21 [2]_."""
    low, high = sorted(float(LUMINANCE @ linear(each)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def mixed(color, other, part):
    """Return a colour mixed into another one, as CSS does in sRGB."""
    pairs = zip(_bytes(color), _bytes(other), strict=True)
    return "#" + "".join(f"{round(part * a + (1 - part) * b):02x}" for a, b in pairs)


def _bytes(color):
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]


def lab(color, deficiency="none"):
    """Return CIELAB of a colour as it is seen with a deficiency."""
    seen = np.clip(DEFICIENCIES[deficiency] @ linear(color), 0, 1)
    ratio = TO_XYZ @ seen / WHITE
    x, y, z = np.where(
        ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29
    )
    return float(116 * y - 16), float(500 * (x - y)), float(200 * (y - z))


def distance(one, other, deficiency="none"):
    """Return the CIEDE2000 distance of two colours as they are seen [3]_."""
    return ciede2000(lab(one, deficiency), lab(other, deficiency))


def ciede2000(one, other):
    """Return the CIEDE2000 distance of two colours in CIELAB [3]_."""
    mean = (hypot(*one[1:]) + hypot(*other[1:])) / 2
    stretch = 1 + 0.5 * (1 - sqrt(mean**7 / (mean**7 + 25**7)))
    (c1, h1), (c2, h2) = (_polar(a * stretch, b) for _, a, b in (one, other))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = h1 + turn / 2 if c1 * c2 else h1 + h2
    light, chroma = (one[0] + other[0]) / 2, (c1 + c2) / 2
    t = 1 - 0.17 * cos(radians(hue - 30)) + 0.24 * cos(radians(2 * hue))
    t += 0.32 * cos(radians(3 * hue + 6)) - 0.20 * cos(radians(4 * hue - 63))
    of_light = 1 + 0.015 * (light - 50) ** 2 / sqrt(20 + (light - 50) ** 2)
    d_light = (other[0] - one[0]) / of_light
    d_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    d_hue = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / (1 + 0.015 * chroma * t)
    cold = 60 * exp(-((((hue % 360) - 275) / 25) ** 2))
    twist = -2 * sqrt(chroma**7 / (chroma**7 + 25**7)) * sin(radians(cold))
    return sqrt(d_light**2 + d_chroma**2 + d_hue**2 + twist * d_chroma * d_hue)


def _polar(a, b):
    """Return chroma and hue in degrees."""
    return hypot(a, b), degrees(atan2(b, a)) % 360

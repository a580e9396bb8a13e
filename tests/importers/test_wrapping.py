"""Prefixes before every line of a pasted text, and the work that finding them takes."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.pasted_text import wrapping
from planner.pasted_text.wrapping import unwrapped
from support.noise import NOISE

DATA = re.compile(r"\t?Topic: \w+")
PREFIXES = ("> ", ">", "kafka-0 | ", "12:", "3\t", "  4 ", "\t", "  ", "a/b.txt:")
LAYERS = 3
"""Nested prefixes; to search every order takes twelve times as long for one more."""
MOST_LOOKS = 10
"""Looks at a line, however many kinds of prefixes the lines have."""


def is_data(line):
    return DATA.match(line) is not None


def test_a_text_without_data_is_looked_through_once():
    lines = [line for noise in NOISE.values() for line in noise.split("\n")] * 3
    looks = 0

    def counted(line):
        nonlocal looks
        looks += 1
        return is_data(line)

    assert unwrapped(lines, counted) == lines
    assert looks <= MOST_LOOKS * len(lines)


@st.composite
def texts(draw):
    """Lines, data and noise, of which many have some prefixes in any order."""
    shared = draw(st.lists(st.sampled_from(PREFIXES), max_size=3))
    bodies = st.sampled_from(("Topic: a", "\tTopic: b", "noise", "x: y", "7", ""))
    lines = draw(st.lists(bodies, min_size=1, max_size=6))
    own = st.lists(st.sampled_from(PREFIXES), max_size=1)
    return ["".join([*shared, *draw(own), line]) for line in lines]


@settings(max_examples=300)
@given(texts())
def test_prefixes_are_those_that_a_search_of_every_order_finds(lines):
    start = wrapping._dedented(lines)

    found = wrapping._without_layers(start, is_data, LAYERS)

    assert found == of_every_order(start, LAYERS)


def of_every_order(lines, most):
    """The search without a look ahead."""
    if not most:
        return None
    found = [
        one
        for one in (
            wrapping._without(lines, kind, is_data) for kind in wrapping._WRAPPINGS
        )
        if one is not None
    ]
    for _, rest in sorted(found, key=lambda one: one[0], reverse=True):
        dedented = wrapping._dedented(rest)
        inner = of_every_order(dedented, most - 1)
        if inner is not None or any(map(is_data, dedented)):
            return dedented if inner is None else inner
    return None

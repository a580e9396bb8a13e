"""Conditions of ``--fail-on``: read, refused, judged."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.score.fail_on import (
    COMPARISONS,
    MOST_DEPTH,
    NAMES,
    UNITS,
    evaluate,
    parse_conditions,
)

DOCUMENT = {
    "brokers": 3,
    "partitions": 10,
    "replicas": 30,
    "data_age_s": 120.0,
    "min_bytes_to_balance": 5 * 10**9,
    "num_hot_spots": 2,
    "resources": {
        "disk": {"max_use": 0.9, "cv": 0.25, "known_fraction": 1.0},
        "cpu": {"max_use": 0.0, "cv": 0.0, "known_fraction": 0.0},
    },
    "violations": {"rack": 1, "offline_partitions": 0},
}


def holds(text, document=DOCUMENT):
    (answer,) = evaluate(parse_conditions([text]), document, file="s.json")
    return answer["holds"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("disk.max_use>0.85", True),
        ("disk.max_use > 90%", False),
        ("disk.max_use >= 90%", True),
        ("rack > 0", True),
        ("violations.rack == 1", True),
        ("violations.offline_partitions != 0", False),
        ("min_bytes_to_balance > 4.5GB", True),
        ("min_bytes_to_balance > 5GiB", False),
        ("data_age_s > 1min", True),
        ("data_age_s >= 1h", False),
        ("brokers<3 or rack>0", True),
        ("brokers<3 and rack>0", False),
        ("not brokers<3 and rack>0", True),
        ("not (brokers<3 or rack>0)", False),
        ("brokers==3 or rack>0 and rack>5", True),
        ("(brokers==3 or rack>0) and rack>5", False),
        ("  ( ( rack>0 ) )  ", True),
        ("partitions == 1e1", True),
        ("cpu.known_fraction < 0.95 or cpu.cv > 1", True),
        ("cpu.known_fraction > 0.95 and cpu.cv > 1", False),
        ("num_hot_spots > 1", True),
    ],
)
def test_conditions(text, expected):
    assert holds(text) is expected


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("disk.maxuse > 1", 1, "disk.max_use"),
        ("rack>0 and dsk.cv > 1", 12, "disk.cv"),
        ("disk > 1", 1, "figure"),
        ("offline_partition > 0", 1, "offline_partitions"),
        ("disk.max_use", 13, "compare"),
        ("disk.max_use >", 15, "number"),
        ("disk.max_use > rack", 16, "number"),
        ("disk.max_use > 5 5", 18, "end here"),
        ("rack > 0 and", 13, "figure"),
        ("(rack > 0", 10, "parenthesis"),
        ("rack > 0)", 9, "end here"),
        ("rack > 5XB", 8, "unit"),
        ("rack = 5", 6, "names, numbers"),
        ("rack > -5", 8, "names, numbers"),
        ("__import__('os')", 12, "names, numbers"),
        ("", 1, "figure"),
        ("not " * (MOST_DEPTH + 1) + "rack > 0", 201, "nest"),
        ("(" * 5000 + "rack > 0" + ")" * 5000, 51, "nest"),
    ],
)
def test_what_is_no_condition_is_refused(text, place, said):
    with pytest.raises(BadInputError) as refused:
        parse_conditions([text])

    (problem, *_) = refused.value.problems
    assert problem.place == f"--fail-on, character {place}"
    assert said in f"{problem.rule} {problem.remedy}"


def test_every_problem_of_every_condition_is_said():
    with pytest.raises(BadInputError) as refused:
        parse_conditions(["dsk.cv > 1 or rak > 2", "rack >", "brokers > 1"])

    assert [problem.value for problem in refused.value.problems] == [
        "dsk.cv",
        "rak",
        "the end",
    ]


@pytest.mark.parametrize("text", ["cpu.cv > 1", "rack > 0 and cpu.max_use < 1"])
def test_unmeasured_loads_are_not_judged(text):
    with pytest.raises(BadInputError) as refused:
        holds(text)

    (problem,) = refused.value.problems
    assert "cpu.known_fraction" in problem.remedy


def test_an_age_that_is_not_known_is_not_judged():
    with pytest.raises(BadInputError, match=r"cannot be evaluated on s\.json"):
        holds("data_age_s > 1d", DOCUMENT | {"data_age_s": None})


def test_a_use_without_a_capacity_is_not_judged():
    figures = {"disk": {"known_fraction": 1.0, "max_use": None}}

    with pytest.raises(BadInputError, match=r"cannot be evaluated on s\.json"):
        holds("disk.max_use > 85%", DOCUMENT | {"resources": figures})


def numbers():
    return st.integers(0, 10**6).map(float)


@given(
    st.sampled_from(["rack", "brokers", "num_hot_spots"]),
    st.sampled_from(sorted(COMPARISONS)),
    numbers(),
    numbers(),
)
def test_comparisons_are_those_of_numbers(name, sign, have, number):
    document = DOCUMENT | {name: have, "violations": {"rack": have}}
    names = {">": "gt", ">=": "ge", "<": "lt", "<=": "le", "==": "eq", "!=": "ne"}

    found = holds(f"{name}{sign}{number}", document)

    assert found == getattr(operator, names[sign])(have, number)


@st.composite
def expressions(draw, depth=3):
    """Draw a condition and what it is worth."""
    kind = draw(st.sampled_from(["leaf", "and", "or", "not"] if depth else ["leaf"]))
    if kind == "leaf":
        is_true = draw(st.booleans())
        return ("rack>0" if is_true else "rack>1"), is_true
    text, value = draw(expressions(depth - 1))
    if kind == "not":
        return f"not ({text})", not value
    other, second = draw(expressions(depth - 1))
    value = (value and second) if kind == "and" else (value or second)
    return f"({text}) {kind} ({other})", value


@given(expressions())
def test_words_join_as_in_python(expression):
    text, value = expression

    assert holds(text) is value


@given(st.text(max_size=60) | st.text("()<>=!andortk.0 ", max_size=60))
def test_any_text_is_read_or_refused(text):
    problems = []
    try:
        found = parse_conditions([text])
    except BadInputError as error:
        found, problems = {}, error.problems

    assert bool(found) != bool(problems)


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_is_read(unit):
    assert holds(f"partitions < 11{unit}") == (11 * UNITS[unit] > 10)


def test_names_are_distinct():
    assert len(set(NAMES)) == len(NAMES)

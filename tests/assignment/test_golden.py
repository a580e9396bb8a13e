"""Kafka's assignors, result for result, on what Kafka's own classes answered."""

import pytest

from assignment.assignors import (
    CooperativeSticky,
    Range,
    RoundRobin,
    ServerRange,
    ServerUniform,
    Sticky,
)
from assignment.errors import AssignorError
from support.golden import golden_lines
from support.groups import client_group, named, server_group

FILES = [
    ("client_range", Range(), client_group),
    ("client_roundrobin", RoundRobin(), client_group),
    ("client_sticky", Sticky(), client_group),
    ("client_cooperative_sticky", CooperativeSticky(), client_group),
    ("server_range", ServerRange(), server_group),
    ("server_uniform", ServerUniform(), server_group),
]


def answered(assignor, group):
    try:
        return named(group, assignor.assign(group))
    except AssignorError as error:
        return str(error)


def expected(line):
    if "error" in line:
        return line["error"]["message"]
    assignment = line["output"]["assignment"]
    return {m["id"]: assignment.get(m["id"], {}) for m in line["input"]["members"]}


@pytest.mark.not_quick
@pytest.mark.parametrize(
    ("file", "assignor", "make"), [pytest.param(*f, id=f[0]) for f in FILES]
)
def test_answers_as_kafka_does(file, assignor, make):
    lines = golden_lines(file)

    wrong = [
        line["case"]
        for line in lines
        if answered(assignor, make(line["input"])) != expected(line)
    ]

    assert len(lines) > 100
    assert not wrong

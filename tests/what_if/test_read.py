"""Scenario files: every problem at once, with what was likely meant."""

import re
from pathlib import Path
from typing import Any

import pytest

from planner.errors import BadInputError
from planner.snapshot import Snapshot
from planner.what_if.scenarios_file import read_scenarios, validate_scenarios
from planner.what_if.topic_growth import parse_growth
from support.plans import skewed_document
from support.scenarios import scenario


def refused(*scenarios: Any, **more: Any) -> list[tuple[str, str, str]]:
    snapshot = Snapshot.from_document(skewed_document())
    document = {"scenarios": list(scenarios)} | more
    with pytest.raises(BadInputError) as caught:
        validate_scenarios(document, snapshot, snapshot.to_state())
    assert all(each.rule and each.remedy for each in caught.value.problems)
    return [(p.place, p.value, p.remedy) for p in caught.value.problems]


def test_every_problem_is_listed_at_once_with_the_likely_meaning():
    found = refused(
        scenario("one", {"change": "lose", "racks": ["A"], "brokers": "1-2"}),
        scenario("two", {"change": "traffic", "factor": 2, "topic": "aa"}),
        scenario("three", {"change": "remove-brokers", "brokers": [11, 3, 4]}),
        scenario("three", {"change": "grow", "per_month": 0.1}),
    )

    places = {place for place, _, _ in found}
    assert places == {
        "scenarios[0].changes[0].racks",
        "scenarios[1].changes[0].topic",
        "scenarios[2].changes[0].brokers",
        "scenarios[3].changes[0]",
        "scenarios",
    }
    remedies = {place: remedy for place, _, remedy in found}
    assert remedies["scenarios[1].changes[0].topic"] == "did you mean a?"
    assert remedies["scenarios[2].changes[0].brokers"] == "did you mean 1?"


@pytest.mark.parametrize(
    ("change", "place", "remedy"),
    [
        pytest.param(
            {"change": "add-broker"}, "change", "did you mean add-brokers?", id="kind"
        ),
        pytest.param(
            {"change": "lose", "rack": "a"}, "rack", "did you mean racks?", id="key"
        ),
        pytest.param({"factor": 2}, "change", "name a change", id="no-kind"),
        pytest.param({"change": "traffic"}, "factor", "add it", id="missing"),
        pytest.param(
            {"change": "add-log-dirs", "path": "/d", "size": "2 parsecs"},
            "size",
            "correct it",
            id="unit",
        ),
        pytest.param(
            {"change": "retention", "keep": "2 weeks"},
            "keep",
            "correct it",
            id="duration",
        ),
    ],
)
def test_the_shape_of_a_change(change: dict[str, Any], place: str, remedy: str):
    ((found, _, told),) = refused(scenario("s", change))

    assert found == f"scenarios[0].changes[0].{place}"
    assert told == remedy


@pytest.mark.parametrize(
    ("scenarios", "more", "place", "remedy"),
    [
        pytest.param(
            [scenario("one"), scenario("two") | {"after": "oen"}],
            {},
            "scenarios[1].after",
            "did you mean one?",
            id="after-nobody",
        ),
        pytest.param(
            [scenario("two") | {"after": "one"}, scenario("one")],
            {},
            "scenarios[0].after",
            "there are: none",
            id="after-one-below",
        ),
        pytest.param(
            [scenario("s")],
            {"sweeps": [{"name": "w", "traffic": [1.0, 2.0], "after": "z"}]},
            "sweeps[0].after",
            "there are: s",
            id="sweep-after-nobody",
        ),
        pytest.param(
            [scenario("s", {"change": "add-brokers", "count": 1, "type": "larg"})],
            {"types": [{"name": "large", "price": 2.0, "brokers": "1-6"}]},
            "scenarios[0].changes[0].type",
            "did you mean large?",
            id="type",
        ),
        pytest.param(
            [scenario("s")],
            {"types": [{"name": "large", "price": 2.0, "brokers": "1-6,66"}]},
            "types[0].brokers",
            "did you mean 6?",
            id="broker-of-a-type",
        ),
        pytest.param(
            [scenario("s")],
            {
                "types": [
                    {"name": "a", "price": 2.0, "brokers": "1-4"},
                    {"name": "b", "price": 2.0, "brokers": "4-6"},
                ]
            },
            "types[1].brokers",
            "name each broker once",
            id="two-types",
        ),
        pytest.param(
            [scenario("s")],
            {"prices": {"broker": 1.0, "cross_rack_bg": 1.0}},
            "prices.cross_rack_bg",
            "did you mean cross_rack_gb?",
            id="price",
        ),
    ],
)
def test_what_scenarios_refer_to(scenarios: Any, more: Any, place: str, remedy: str):
    ((found, _, told),) = refused(*scenarios, **more)

    assert (found, told) == (place, remedy)


def test_what_has_no_shape_hides_no_other_problem():
    found = refused(
        scenario("one", {"change": "lose", "rack": "a"}),
        scenario("two", {"change": "add-brokers", "count": 1, "rack": "new"}, {}),
        scenario("three", {"change": "lose", "racks": ["new"]}) | {"after": "two"},
        scenario("four", {"change": "lose", "racks": ["A"]}),
        scenario("five") | {"after": "fuor"},
        sweeps=[{"name": "w", "trafic": [1.0]}, {"name": "v", "days": [1.0]}],
    )

    # Nothing is said of the third: it goes on from one that nobody understands.
    assert [place for place, _, _ in found] == [
        "scenarios[0].changes[0].rack",
        "scenarios[1].changes[1].change",
        "sweeps[0].trafic",
        "scenarios[4].after",
        "scenarios[3].changes[0].racks",
        "sweeps[1].days",
    ]


def test_broken_growth_hides_no_other_problem():
    found = refused(
        scenario("one", {"change": "grow", "months": 3}),
        scenario("two", {"change": "lose", "racks": ["A"]}),
        growth=[{"per_moth": 0.1}, {"topics": "zz", "per_day": 0.1}],
    )

    assert [place for place, _, _ in found] == [
        "growth[0].per_moth",
        "growth[1].topics",
        "scenarios[1].changes[0].racks",
    ]


@pytest.mark.parametrize(
    ("broken", "place", "remedy"),
    [
        pytest.param(
            {"then": "rebalanced"}, "then", "did you mean rebalance?", id="then"
        ),
        pytest.param(
            {"changes": [{"change": "grow", "factor": 2, "of": ["disks"]}]},
            "changes[0].of[0]",
            "did you mean disk?",
            id="resource",
        ),
    ],
)
def test_words_of_which_there_are_few(broken: dict[str, Any], place: str, remedy: str):
    ((found, _, told),) = refused(scenario("s") | broken)

    assert (found, told) == (f"scenarios[0].{place}", remedy)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"growth": "5%/month"}, id="growth"),
        pytest.param({"scenarios": "none"}, id="scenarios"),
        pytest.param({"prices": {"per": "week"}}, id="prices"),
    ],
)
def test_a_problem_that_causes_the_rest_is_listed_alone(more: dict[str, Any]):
    lost = scenario("s", {"change": "lose", "racks": ["A"]})

    parts = [re.split(r"[.\[]", place)[0] for place, _, _ in refused(lost, **more)]
    assert parts == [*more]


@pytest.mark.parametrize(
    "brokers", ["5-6,8", "5..6,8", [5, 6, 8]], ids=["ranges", "dots", "list"]
)
def test_sweeps_count_brokers_and_step_through_traffic(brokers: Any):
    snapshot = Snapshot.from_document(skewed_document())
    steps = {"from": 1.0, "to": 1.5, "step": 0.25}
    sweep = {"name": "far", "brokers": brokers, "traffic": steps}

    found = validate_scenarios(
        {"sweeps": [sweep]}, snapshot, snapshot.to_state()
    ).scenarios

    points = [each.point for each in found]
    assert [(p.brokers, p.traffic) for p in points if p is not None] == [
        (count, traffic) for count in (5, 6, 8) for traffic in (1.0, 1.25, 1.5)
    ]


def test_every_broker_needs_a_price_and_every_type_a_name():
    types = [{"name": "a", "price": 2.0, "brokers": "1-4"}, {"name": "a", "price": 3.0}]

    found = {place: value for place, value, _ in refused(scenario("s"), types=types)}

    assert found == {"types[1].name": '"a"', "types": "[5, 6]"}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"change": "add-brokers"}, id="how-many"),
        pytest.param({"change": "add-brokers", "ids": "3"}, id="taken-id"),
        pytest.param({"change": "add-brokers", "count": 1, "like": 99}, id="like"),
        pytest.param({"change": "add-brokers", "ids": "x"}, id="no-id"),
        pytest.param(
            {"change": "add-brokers", "count": 1, "rack": "a", "racks": ["b"]},
            id="both",
        ),
        pytest.param({"change": "remove-brokers"}, id="none-named"),
        pytest.param({"change": "remove-brokers", "brokers": "1-6"}, id="all-gone"),
        pytest.param({"change": "lose", "racks": ["a", "b", "c"]}, id="all-lost"),
        pytest.param({"change": "resize-brokers"}, id="nothing-resized"),
        pytest.param(
            {"change": "replace-brokers", "brokers": "1-2", "with": "9"}, id="too-few"
        ),
        pytest.param(
            {"change": "add-log-dirs", "path": "/d1", "size": 1}, id="dir-is-there"
        ),
        pytest.param(
            {"change": "remove-log-dirs", "log_dirs": ["1:/d1", "1:/d2"]}, id="last-dir"
        ),
        pytest.param(
            {"change": "resize-log-dirs", "log_dirs": ["1:/dx"], "size": 1}, id="dir"
        ),
        pytest.param({"change": "grow", "factor": 2, "days": 1}, id="factor-and-days"),
        pytest.param({"change": "grow", "per_day": 0.1}, id="for-how-long"),
        pytest.param({"change": "grow", "days": 9}, id="nobody-says-how-it-grows"),
        pytest.param({"change": "replace-brokers"}, id="none-replaced"),
        pytest.param(
            {"change": "replace-log-dirs", "log_dirs": ["1:/dx"]}, id="no-dir-replaced"
        ),
        pytest.param({"change": "retention"}, id="no-retention"),
        pytest.param(
            {"change": "retention", "keep": "1d", "factor": 2}, id="two-retentions"
        ),
        pytest.param({"change": "replication-factor", "factor": 7}, id="too-many"),
        pytest.param({"change": "partitions", "count": 1}, id="fewer-partitions"),
        pytest.param(
            {"change": "new-topic", "name": "a", "partitions": 1}, id="topic-is-there"
        ),
        pytest.param(
            {
                "change": "new-topic",
                "name": "n",
                "partitions": 1,
                "size": 1,
                "keep": "1d",
            },
            id="size-and-keep",
        ),
        pytest.param({"change": "remove-topics"}, id="no-topics"),
        pytest.param({"change": "remove-topics", "topics": "c+"}, id="no-match"),
        pytest.param({"change": "remove-topics", "topics": "("}, id="no-pattern"),
        pytest.param({"change": "consumers"}, id="no-consumers"),
    ],
)
def test_changes_that_cannot_be(change: dict[str, Any]):
    found = refused(scenario("s", change))

    assert found
    assert all(place.startswith("scenarios[0].changes[0]") for place, _, _ in found)


def test_removed_brokers_are_emptied():
    remove = {"change": "remove-brokers", "brokers": "1"}

    ((place, _, _),) = refused(scenario("s", remove, then="nothing"))

    assert place == "scenarios[0].then"


@pytest.mark.parametrize(
    ("sweep", "place"),
    [
        pytest.param({}, "sweeps[0]", id="nothing-swept"),
        pytest.param({"brokers": "x"}, "sweeps[0].brokers", id="no-range"),
        pytest.param(
            {"traffic": {"from": 2.0, "to": 1.0}}, "sweeps[0].traffic", id="backwards"
        ),
        pytest.param(
            {"traffic": {"from": 1.0, "to": 1e6}}, "sweeps[0].traffic", id="endless"
        ),
        pytest.param({"days": [30.0]}, "sweeps[0].days", id="days-need-growth"),
        pytest.param(
            {"brokers": [5], "then": "nothing"}, "sweeps[0].then", id="nothing-moves"
        ),
    ],
)
def test_sweeps_that_cannot_be(sweep: dict[str, Any], place: str):
    assert place in {found for found, _, _ in refused(sweeps=[{"name": "s", **sweep}])}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param({"change": "lose", "brokers": [1.5]}, "ranges", id="ids"),
        pytest.param(
            {"change": "traffic", "factor": 1, "topic": [3]}, "a name", id="topic"
        ),
    ],
)
def test_what_may_be_said_in_two_ways_is_refused_once(change: Any, rule: str):
    snapshot = Snapshot.from_document(skewed_document())
    with pytest.raises(BadInputError) as caught:
        validate_scenarios(
            {"scenarios": [scenario("s", change)]}, snapshot, snapshot.to_state()
        )

    (only,) = caught.value.problems
    assert rule in only.rule


def test_an_empty_file_tells_nothing():
    assert len(refused()) == 1


def test_growth_needs_one_rate():
    ((place, _, _),) = refused(
        scenario("s"), growth=[{"per_day": 0.1, "per_month": 0.1}]
    )

    assert place == "growth[0]"


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        pytest.param(b"= 1", "must be TOML", id="toml"),
        pytest.param(b"\xff", "must be UTF-8", id="bytes"),
        pytest.param(None, "must be readable", id="missing"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes | None, rule: str):
    path = tmp_path / "s.toml"
    if content is not None:
        path.write_bytes(content)
    snapshot = Snapshot.from_document(skewed_document())

    with pytest.raises(BadInputError) as caught:
        read_scenarios(path, snapshot, snapshot.to_state())

    assert caught.value.problems[0].rule.startswith(rule)


@pytest.mark.parametrize("text", ["5", "5%", "5%/week", "-100%/day", "x/day"])
def test_growth_that_is_none(text: str):
    with pytest.raises(ValueError, match="such as 5%/month"):
        parse_growth(text)

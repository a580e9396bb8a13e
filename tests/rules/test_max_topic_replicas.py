"""At most N replicas of a topic on a broker: in small cases, and in any cluster."""

import itertools
import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner
from fuzz.drawn import GOALS, drawn
from fuzz.judging import judge
from placement.check import CheckSettings, Target, check
from placement.check.rules.chosen_rules import topic_cap
from placement.core.model.solution import MET, Status
from placement.draft.draft import Settings
from placement.operations.rebalance import Rebalance
from placement.planning.plan import plan
from placement.rules.topic_limits import MaxTopicReplicas
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.run.make_plan import make
from support.clusters import make_state
from support.commands import run
from support.naive import lists_of
from support.plans import skewed_document, write_document
from support.profile import IS_THOROUGH

OVER = make_state({"t": [[0], [0], [0], [1]], "u": [[1], [1]]}, racks="abc")
IMPOSSIBLE = [
    pytest.param(
        make_state({"t": [[0], [0], [1]], "u": [[0]]}, racks="ab"),
        Rebalance(), Settings(rules=(MaxTopicReplicas(((0, 1),)),)),
        {"max-topic-replicas"}, id="replicas-of-a-topic",
    ),
]  # fmt: skip
"""Cases of `tests/placement/test_impossible.py`."""


def made_of(state, goal="rebalance", **options):
    return make(state, PlanRequest(goal, effort="quick", **options))


def most_held(lists, topic):
    """Return the largest number of replicas of a topic on a broker."""
    held = Counter(b for (name, _), row in lists.items() if name == topic for b in row)
    return max(held.values(), default=0)


@pytest.mark.parametrize(
    ("goal", "options", "most"),
    [
        pytest.param("rebalance", {"resources": "disk"}, 2, id="rebalance"),
        pytest.param(
            "remove-brokers", {"broker_list": "1"}, 3,
            id="what-need-not-move-stays",
        ),
    ],
)  # fmt: skip
def test_a_plan_brings_no_broker_over_the_cap(goal, options, most):
    state = make_state(
        {"t": [[0], [0], [0], [1]], "u": [[1], [1]]}, ids=[0, 1, 2, 3], racks="abca"
    )

    made = made_of(state, goal, max_topic_replicas=["t=2"], **options)

    after = lists_of(made.plan.placed.reassignment.after())
    assert made.is_ok
    assert most_held(after, "t") == most


def test_a_broker_that_takes_the_place_of_one_over_the_cap_is_named():
    made = made_of(
        OVER, "replace-broker", broker=[0], with_broker="2", max_topic_replicas=["t=2"]
    )

    [first, *_] = to_document(made.plan)["shortfalls"]
    assert made.plan.status == "partial"
    assert not made.is_ok
    assert first["where"] == {"broker": 2}
    assert first["message"].startswith(
        "broker 2 would hold 3 replicas of topic t and may hold 2."
    )


@pytest.mark.parametrize(
    ("caps", "most"),
    [
        pytest.param(["t=1", ".*=3"], {"t": 1}, id="the-first-match-counts"),
        pytest.param(["t|u=2"], {"t": 2, "u": 2}, id="each-topic-by-itself"),
        pytest.param({"t": 2}, {"t": 2}, id="typed"),
        pytest.param(["t=4"], {}, id="as-many-as-partitions"),
    ],
)
def test_patterns_name_topics(caps, most):
    state = make_state(
        {"t": [[0], [0], [0], [0]], "u": [[1], [1], [1]]},
        ids=[0, 1, 2, 3],
        racks="abcd",
    )

    made = made_of(state, max_topic_replicas=caps, resources="leaders")

    after = lists_of(made.plan.placed.reassignment.after())
    rules = {
        state.topics.names[row]: number
        for rule in made.plan.placed.draft.settings.rules
        for row, number in rule.most
    }
    assert rules == most
    assert made.plan.status in {"optimal", "feasible", "nothing-to-do"}
    assert all(most_held(after, topic) <= number for topic, number in most.items())


@pytest.mark.parametrize(
    ("after", "found"),
    [
        pytest.param({}, [(0, True)], id="as-before"),
        pytest.param({("t", 2): [2]}, [], id="met"),
        pytest.param({("t", 3): [0]}, [(0, False)], id="one-more"),
        pytest.param({("u", 0): [0]}, [(0, True)], id="another-topic"),
        pytest.param({("t", 0): [1], ("t", 1): [1]}, [(1, False)], id="another-broker"),
    ],
)
def test_the_check_counts_the_replicas_of_each_topic(after, found):
    target = Target.from_lists(
        [topic for topic, _ in after], [n for _, n in after], list(after.values())
    )

    findings = check(OVER, target, CheckSettings(custom=(topic_cap({"t": 2}),)))

    ours = [one for one in findings if one.rule == "max-topic-replicas"]
    assert [(one.where.broker, one.existing) for one in ours] == found


def test_the_reason_names_the_cap_and_what_helps():
    made = made_of(
        make_state({"t": [[0], [0], [1]], "u": [[0]]}, racks="ab"),
        max_topic_replicas=["t=1"],
    )

    document = to_document(made.plan)
    [rule] = document["reason"]["rules"]
    assert made.plan.status == "infeasible"
    assert rule == {
        "rule": "max-topic-replicas",
        "message": "replicas on a broker: at most 1 of topic t",
        "remedy": "add brokers, or raise --max-topic-replicas",
        "helps": True,
    }
    first = document["shortfalls"][0]
    assert (first["what"], first["have"], first["need"]) == ("max-topic-replicas", 2, 3)
    assert first["message"] == (
        "brokers have room for 2 replicas of topic t, and 3 need it. Add a broker to "
        "rack a or leave out --max-topic-replicas."
    )
    assert document["settings"]["max_topic_replicas"] == ["t=1"]


@pytest.mark.parametrize(
    ("options", "value", "rule"),
    [
        ({"max_topic_replicas": ["t"]}, "t", "must be REGEX=N, N from 1 to 999999"),
        ({"max_topic_replicas": ["(=1"]}, "(", "must be a regular expression"),
        ({"max_topic_replicas": {".*": 1}}, "33 topics", "may match 32 topics"),
        (
            {"max_topic_replicas": ["t00=1"], "soft": ["max-topic-replicas"]},
            "max-topic-replicas",
            "names the most that a broker may hold: raise it instead",
        ),
    ],
)
def test_a_wrong_value_is_refused(options, value, rule):
    state = make_state({f"t{n:02}": [[0], [0]] for n in range(33)}, racks="ab")

    with pytest.raises(BadInputError) as refused:
        made_of(state, **options)

    [problem] = refused.value.problems
    assert problem.value == value
    assert rule in problem.rule


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("tu"), st.permutations([0, 1, 2]), st.integers(1, 2),
            st.integers(1, 5),
        ),
        min_size=1, max_size=5,
    ),
    st.integers(1, 3),
    st.integers(1, 3),
)  # fmt: skip
def test_a_plan_is_met_where_brute_force_finds_one(rows, of_t, of_u):
    lists = {
        name: [row[1][: row[2]] for row in rows if row[0] == name] for name in "tu"
    }
    lists = {name: some for name, some in lists.items() if some}
    sizes = [row[3] for name in lists for row in rows if row[0] == name]
    state = make_state(lists, ids=[0, 1, 2], racks="abc", size_bytes=sizes)
    caps = {"t": of_t, "u": of_u}
    rule = MaxTopicReplicas(
        tuple((state.topics.names.index(name), caps[name]) for name in lists)
    )

    found = plan(state, Rebalance(), Settings(rules=(rule,), resources=()))

    least = fewest_bytes(lists_of(state), sizes, caps)
    cost = found.solution.certificate.cost
    assert (found.solution.status in MET) == (least is not None)
    if least is not None:
        after = lists_of(found.reassignment.after())
        assert all(most_held(after, name) <= caps[name] for name in lists)
        assert least <= cost.value
        assert found.solution.status is not Status.OPTIMAL or cost.value == least


def fewest_bytes(before, sizes, caps):
    """Return the fewest bytes copied to keep the caps; `None` if nothing keeps them."""
    ways = [
        [set(some) for some in itertools.combinations(range(3), len(row))]
        for row in before.values()
    ]
    costs = []
    for chosen in itertools.product(*ways):
        after = dict(zip(before, chosen, strict=True))
        if all(most_held(after, name) <= most for name, most in caps.items()):
            moved = [
                len(new - set(old))
                for old, new in zip(before.values(), chosen, strict=True)
            ]
            costs.append(sum(n * size for n, size in zip(moved, sizes, strict=True)))
    return min(costs, default=None)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@settings(max_examples=30 if IS_THOROUGH else 3)
@given(data=st.data(), cap=st.sampled_from(["t0=1", "t.*=2", "t1=1"]))
def test_plans_of_every_operation_keep_the_cap(goal, data, cap):
    case = data.draw(drawn((goal,)))
    pattern, _, number = cap.partition("=")
    request = case.request.changed(max_topic_replicas=((pattern, int(number)),))
    judge(replace(case, request=request))


def test_the_rule_goes_from_the_command_to_the_checker(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_document(skewed_document(), tmp_path / "s.json")
    command = ("plan", "rebalance", "s.json", "--effort", "quick")

    own = run(capsys, *command, "--max-topic-replicas", "a=8", "-o", "p")
    checked = run(capsys, "check", "p", "--snapshot", "s.json", "--format", "json")
    run(capsys, *command, "--resources", "disk", "-o", "q")
    document = json.loads((tmp_path / "p/plan.json").read_text(encoding="utf-8"))
    document["settings"]["max_topic_replicas"] = ["a=3"]
    (tmp_path / "q/plan.json").write_text(json.dumps(document), encoding="utf-8")
    other = run(capsys, "check", "q", "--snapshot", "s.json", "--format", "json")

    assert own.code == 0
    assert checked.document["ok"]
    assert "max-topic-replicas" in {one["rule"] for one in other.document["findings"]}


def test_the_file_and_python_have_the_option(tmp_path, capsys):
    config = tmp_path / "planner.toml"
    config.write_text("[plan]\nmax_topic_replicas = { 'orders.*' = 9 }\n", "utf-8")

    command = ("plan", "rebalance", SNAPSHOT_FILE, "--effort", "quick")
    told = run(capsys, *command, "--config", config, "--format", "json")
    result = planner.rebalance(
        planner.read_snapshot(SNAPSHOT_FILE),
        max_topic_replicas={"orders.*": 9},
        effort="quick",
    )

    assert told.document["settings"]["max_topic_replicas"] == ["orders.*=9"]
    assert result.status == told.document["status"]
    assert result.document["moves"] == told.document["moves"]

"""Rules from the command line to the checker, by way of plan.json."""

import json

import pytest

from planner.plan.documents.plan_records import PlanRecord
from support.commands import run
from support.plans import skewed_document, write_document

# How good the plans are is no matter here.
PLAN = ("plan", "rebalance", "s.json", "--effort", "quick")
OPTIONS = [
    pytest.param(["--rack-rule", "strict"], "rack", id="strict-racks"),
    pytest.param(["--rack-map", "a=b"], "rack", id="racks-that-are-one"),
    pytest.param(["--keep-topics", "a|b"], "keep-topics", id="kept-topics"),
    pytest.param(["--keep-leaders", "a|b"], "keep-leaders", id="kept-leaders"),
    pytest.param(["--locality-scoped"], "locality-scoped", id="inside-racks"),
    pytest.param(["--only-trades"], "only-trades", id="only-trades"),
    pytest.param(["--broker-set", "a=gold"], "broker-set", id="broker-sets"),
    pytest.param(
        ["--max-replicas-per-broker", "11"], "max-replicas", id="cap-on-replicas"
    ),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    document = skewed_document()
    for broker in document["brokers"]:
        broker["broker_set"] = "gold" if broker["id"] <= 5 else "silver"
    write_document(document, tmp_path / "s.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.not_quick
@pytest.mark.parametrize(("options", "rule"), OPTIONS)
def test_check_holds_a_plan_to_the_rules_it_was_made_under(
    options, rule, folder, capsys
):
    own = run(capsys, *PLAN, *options, "-o", "p")
    checked = run(capsys, "check", "p", "--snapshot", "s.json", "--format", "json")
    free = ["--resources", "replicas,disk", "--rack-rule", "off"]
    free += ["--broker-set", "off", "-o", "q"]
    run(capsys, *PLAN, *free)
    (folder / "q/plan.json").write_bytes((folder / "p/plan.json").read_bytes())
    other = run(capsys, "check", "q", "--snapshot", "s.json", "--format", "json")

    PlanRecord.model_validate(json.loads((folder / "p/plan.json").read_text()))
    assert own.code in {0, 4}
    assert "Plan       rebalance" in own.out
    assert checked.document["ok"] or own.code == 4
    assert rule in {finding["rule"] for finding in other.document["findings"]}


def test_a_plan_is_known_by_the_racks_of_its_snapshot(folder, capsys):
    plain = run(capsys, *PLAN, "--format", "json")
    mapped = run(capsys, *PLAN, "--rack-map", "a=x", "--format", "json")

    assert plain.document["snapshot"] == mapped.document["snapshot"]
    assert plain.document["moves"] == mapped.document["moves"]


def test_every_rule_can_be_given_at_once(folder, capsys):
    found = run(
        capsys, "plan", "rebalance", "s.json", "--rules", "cruise-control",
        "--low-utilization", "disk=0.9", "--min-topic-leaders", "a=1",
        "--only-over-threshold", "--effort", "quick",
    )  # fmt: skip

    assert found.code in {0, 4}, found.err
    assert "no bands" in found.out
    assert max(map(len, found.out.splitlines())) <= 80

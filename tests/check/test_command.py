"""`kafka-planner check` as a person or a script calls it."""

import json
from pathlib import Path

import pytest

from planner.plan.documents.check_records import CheckRecord
from support.commands import run

BROKERS = [
    {"id": b, "rack": rack, "disk_bytes": 1000}
    for b, rack in enumerate("aabbcc", start=1)
]


def snapshot(folder: Path, **changes) -> Path:
    partition = {"partition": 0, "replicas": [1, 3], "size_bytes": 700, **changes}
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "c",
        "brokers": BROKERS,
        "topics": [{"name": "t", "topic_id": "id-1", "partitions": [partition]}],
    }
    path = folder / "snapshot.json"
    path.write_text(json.dumps(document))
    return path


def reassignment(path: Path, replicas: list[int], topic: str = "t") -> Path:
    entry = {"topic": topic, "partition": 0, "replicas": replicas}
    path.write_text(json.dumps({"version": 1, "partitions": [entry]}))
    return path


def plan_folder(folder: Path, replicas: list[int], **document) -> Path:
    plan = folder / "plan"
    plan.mkdir()
    reassignment(plan / "reassignment.json", replicas)
    reassignment(plan / "rollback.json", [1, 3])
    header = {"format": "kafka-planner/plan", "version": 1}
    (plan / "plan.json").write_text(json.dumps(header | document))
    return plan


def test_a_sound_plan_is_ok(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json", [1, 5])

    outcome = run(capsys, "check", plan, "--snapshot", snapshot(tmp_path))

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "ok: 1 partitions keep 17 rules\n"


def test_a_finding_is_exit_3_with_the_place(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json", [1, 2])

    outcome = run(capsys, "check", plan, "--snapshot", snapshot(tmp_path))

    assert outcome.code == 3
    assert outcome.out.splitlines()[0].startswith("not ok: 1 findings")
    assert "t-0: rack a holds 2 replicas" in outcome.out


def test_json_is_one_document_of_the_schema(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json", [1, 9])
    before = snapshot(tmp_path)

    outcome = run(capsys, "check", plan, "--snapshot", before, "--format", "json")

    assert outcome.code == 3
    assert CheckRecord(**outcome.document).model_dump() == outcome.document
    assert not outcome.document["ok"]
    [finding] = outcome.document["findings"]
    assert (finding["rule"], finding["where"]["broker"]) == ("unknown-broker", 9)


def test_what_was_wrong_before_is_listed_and_does_not_count(tmp_path: Path, capsys):
    plan = tmp_path / "r.json"
    plan.write_text('{"partitions":[]}')

    outcome = run(
        capsys, "check", plan, "--snapshot", snapshot(tmp_path, replicas=[1, 2])
    )

    assert outcome.code == 0
    assert "wrong before, and no worse with this plan: 1" in outcome.out


@pytest.mark.parametrize(
    ("replicas", "options", "rules"),
    [
        pytest.param([1, 3, 5], [], {"replication-factor"}, id="factor"),
        pytest.param(
            [1, 3, 5], ["--allow-replication-factor-change"], set(), id="factor-allowed"
        ),
        pytest.param(
            [1, 5], ["--capacity-threshold", "disk=0.6"], {"capacity"}, id="disk"
        ),
        pytest.param(
            [1, 5], ["--capacity-threshold", "disk=0.7"], set(), id="disk-fits"
        ),
    ],
)
def test_options_say_what_is_allowed(
    tmp_path: Path, capsys, replicas: list[int], options: list[str], rules: set[str]
):
    plan, before = reassignment(tmp_path / "r.json", replicas), snapshot(tmp_path)

    outcome = run(
        capsys, "check", plan, "--snapshot", before, "--format=json", *options
    )

    found = outcome.document["findings"]
    assert {f["rule"] for f in found if not f["existing"]} == rules


@pytest.mark.parametrize(
    ("replicas", "document", "rules"),
    [
        pytest.param([1, 5], {}, set(), id="none-said"),
        pytest.param(
            [1, 5],
            {"settings": {"capacity_threshold": {"disk": 0.6, "replicas": 0.5}}},
            {"capacity"},
            id="capacity-threshold",
        ),
        pytest.param(
            [1, 5],
            {"settings": {"exclude_topics": "t|u"}},
            {"excluded"},
            id="excluded-topics",
        ),
        pytest.param(
            [1, 5],
            {"settings": {"exclude_topics": ["x", "t"]}},
            {"excluded"},
            id="excluded-topics-listed",
        ),
        pytest.param(
            [1, 5],
            {"settings": {"exclude_topics": "."}},
            {"excluded"},
            id="the-whole-name",
        ),
        pytest.param(
            [1, 5], {"settings": {"exclude_topics": "tt"}}, set(), id="another-name"
        ),
        pytest.param(
            [1, 5], {"settings": {"topic": ["u"]}}, {"excluded"}, id="not-chosen"
        ),
        pytest.param(
            [1, 5], {"settings": {"topics": "tt"}}, {"excluded"}, id="does-not-match"
        ),
        pytest.param(
            [1, 5], {"settings": {"topic": ["t"], "topics": "u"}}, set(), id="chosen"
        ),
        pytest.param(
            [1, 5],
            {"settings": {"exclude_brokers_for_replicas": [5]}},
            {"excluded"},
            id="excluded-for-replicas",
        ),
        pytest.param(
            [3, 1],
            {"settings": {"exclude_brokers_for_leaders": [3]}},
            {"excluded"},
            id="excluded-for-leaders",
        ),
        pytest.param(
            [1, 5],
            {"settings": {"destination_broker_list": [6]}},
            {"excluded"},
            id="other-destination",
        ),
        pytest.param(
            [1, 5],
            {"settings": {"destination_broker_list": [5]}},
            set(),
            id="destination",
        ),
        pytest.param(
            [1, 3, 5],
            {"goal": "set-replication-factor"},
            set(),
            id="factor-is-the-goal",
        ),
        pytest.param(
            [1, 2],
            {"goal": "remove-brokers", "settings": {"broker_list": [3, 4, 5, 6]}},
            set(),
            id="racks-that-leave",
        ),
        pytest.param(
            [1, 5],
            {"goal": "replace-broker", "settings": {"broker": 5}},
            {"excluded"},
            id="broker-that-is-replaced",
        ),
        pytest.param([1, 5], {"topic_ids": {"t": "id-1"}}, set(), id="same-topic"),
        pytest.param([1, 5], {"topic_ids": {"t": "id-0"}}, {"stale"}, id="other-topic"),
    ],
)
def test_a_plan_folder_is_held_to_its_own_rules(
    tmp_path: Path, capsys, replicas: list[int], document: dict, rules: set[str]
):
    plan = plan_folder(tmp_path, replicas, **document)

    outcome = run(
        capsys, "check", plan, "--snapshot", snapshot(tmp_path), "--format", "json"
    )

    found = outcome.document["findings"]
    assert {f["rule"] for f in found if not f["existing"]} == rules
    assert outcome.code == (3 if rules else 0)


def test_a_plan_made_for_other_lists_is_stale(tmp_path: Path, capsys):
    plan = plan_folder(tmp_path, [1, 5])

    outcome = run(
        capsys, "check", plan, "--snapshot", snapshot(tmp_path, replicas=[3, 1])
    )

    assert outcome.code == 3
    assert "replicas are [3, 1] now, were [1, 3] in the plan" in outcome.out


def test_every_problem_of_every_input_is_named_at_once(tmp_path: Path, capsys):
    plan = plan_folder(tmp_path, [1, 5], settings={"exclude_topics": "["})
    (plan / "rollback.json").write_text("{")

    outcome = run(
        capsys,
        "check",
        plan,
        "--snapshot",
        tmp_path / "none.json",
        "--capacity-threshold=disk=180%",
        "--capacity-threshold=heat=0.5",
        "--format=json",
    )

    assert outcome.code == 2
    places = [problem["place"] for problem in outcome.document["problems"]]
    assert places[:3] == ["--capacity-threshold"] * 2 + ["line 1, column 2"]
    assert places[3] == "settings.exclude_topics"
    assert outcome.document["problems"][4]["file"].endswith("none.json")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("[]", "format", id="a-list"),
        pytest.param('{"format": "x"}', "format", id="another-format"),
        pytest.param(
            '{"format": "kafka-planner/plan", "version": 9}', "version", id="version"
        ),
        pytest.param("{", "line 1, column 2", id="not-json"),
        pytest.param(
            '{"format": "kafka-planner/plan", "version": 1, "settings": [1]}',
            "settings",
            id="settings-a-list",
        ),
        pytest.param(
            '{"format": "kafka-planner/plan", "version": 1, "settings": '
            '{"capacity_threshold": {"disk": 2}}}',
            "settings.capacity_threshold.disk",
            id="threshold-over-one",
        ),
    ],
)
def test_a_bad_plan_document_is_refused(tmp_path: Path, capsys, text: str, place: str):
    plan = plan_folder(tmp_path, [1, 5])
    (plan / "plan.json").write_text(text)

    outcome = run(
        capsys, "check", plan, "--snapshot", snapshot(tmp_path), "--format", "json"
    )

    assert outcome.code == 2
    assert [p["place"] for p in outcome.document["problems"]] == [place]


def test_a_folder_without_a_reassignment_is_refused(tmp_path: Path, capsys):
    plan = plan_folder(tmp_path, [1, 5])
    (plan / "reassignment.json").unlink()

    outcome = run(capsys, "check", plan, "--snapshot", snapshot(tmp_path))

    assert outcome.code == 2
    assert "reassignment.json: must be readable" in outcome.err


def test_a_thousand_findings_are_cut_for_people(tmp_path: Path, capsys):
    entry = {"topic": "u", "partition": 0, "replicas": [1, 3]}
    entries = [{**entry, "partition": number} for number in range(1000)]
    plan = tmp_path / "r.json"
    plan.write_text(json.dumps({"partitions": entries}))

    outcome = run(capsys, "check", plan, "--snapshot", snapshot(tmp_path))

    assert "… and 950 more; --format json lists all" in outcome.out

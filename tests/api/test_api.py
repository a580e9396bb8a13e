"""The planner from Python: what the commands do, by the same functions."""

import json
import subprocess
import sys
from dataclasses import replace as replace_field
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import planner
from placement.check import Finding, Where
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.plan.folder.moves_file import COLUMNS
from planner.snapshot import Snapshot
from support.commands import run
from support.plans import contents, skewed_document, write_document


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return Snapshot.from_document(skewed_document())


@pytest.fixture(scope="module")
def plan(snapshot):
    return planner.rebalance(snapshot, band=0.2)


def python(code: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_it_loads_nothing(tmp_path):
    code = (
        "import sys, planner; names = dir(planner); "
        "print(sorted({'numpy', 'pyarrow', 'pydantic', 'typer'} & set(sys.modules)))"
    )

    assert python(code, tmp_path) == "[]\n"


def test_every_name_is_there_when_asked_for():
    assert {name for name in planner.__all__ if getattr(planner, name)} == set(
        planner.__all__
    )
    assert set(planner.__all__) <= set(dir(planner))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        planner.nonsense  # noqa: B018


@pytest.mark.not_quick
@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(
            lambda s: planner.rebalance(
                s,
                band={"disk": 0.3},
                resources=["disk", "replicas"],
                exclude_topics="b",
                seed=7,
                effort="quick",
            ),
            "rebalance --band disk=0.3 --resources disk,replicas "
            "--exclude-topics b --seed 7 --effort quick",
            id="rebalance",
        ),
        pytest.param(
            lambda s: planner.add_brokers(
                s, [6], rebalance=True, capacity_threshold={"disk": 0.9}, effort="quick"
            ),
            "add-brokers --broker-list 6 --rebalance --capacity-threshold disk=0.9 "
            "--effort quick",
            id="add-brokers",
        ),
        pytest.param(
            lambda s: planner.remove_brokers(
                s,
                [2],
                topic=["a"],
                destination_brokers=range(3, 7),
                exclude_brokers_for_replicas=[],
                exclude_brokers_for_leaders=(4,),
                effort="quick",
            ),
            "remove-brokers --broker-list 2 --topic a --destination-broker-list 3-6 "
            "--exclude-brokers-for-leaders 4 --effort quick",
            id="remove-brokers",
        ),
        pytest.param(
            lambda s: planner.leaders(s, order_followers=True, resources=["out"]),
            "leaders --order-followers --resources out",
            id="leaders",
        ),
        pytest.param(
            lambda s: planner.log_dirs(s, ["2:/d1"], band=0.05),
            "log-dirs --empty 2:/d1 --band 0.05",
            id="log-dirs",
        ),
        pytest.param(
            lambda s: planner.rebalance(s, waves=True, effort="quick"),
            "rebalance --waves --effort quick",
            id="waves",
        ),
        pytest.param(
            lambda s: planner.remove_brokers(
                s,
                [2],
                max_moves_in=2,
                max_moves_out=3,
                max_moves_per_broker=4,
                bandwidth=1000,
                order="small",
                effort="quick",
            ),
            "remove-brokers --broker-list 2 --max-moves-in 2 --max-moves-out 3 "
            "--max-moves-per-broker 4 --bandwidth 1000 --order small --effort quick",
            id="waves-by-their-options",
        ),
        pytest.param(
            lambda s: planner.add_brokers(s, with_log_dirs=True, effort="quick"),
            "add-brokers --with-log-dirs --effort quick",
            id="add-brokers-with-log-dirs",
        ),
        pytest.param(
            lambda s: planner.remove_brokers(
                s, [2], with_log_dirs=True, effort="quick"
            ),
            "remove-brokers --broker-list 2 --with-log-dirs --effort quick",
            id="remove-brokers-with-log-dirs",
        ),
        pytest.param(
            lambda s: planner.replace_broker(
                s, {2: 6}, with_log_dirs=True, effort="quick"
            ),
            "replace-broker --broker 2 --with 6 --with-log-dirs --effort quick",
            id="replace-broker-with-log-dirs",
        ),
        pytest.param(
            lambda s: planner.set_replication_factor(
                s, 3, with_log_dirs=True, effort="quick"
            ),
            "set-replication-factor --replication-factor 3 --with-log-dirs "
            "--effort quick",
            id="set-replication-factor-with-log-dirs",
        ),
        pytest.param(
            lambda s: planner.fix(
                s, only=["racks"], with_log_dirs=True, effort="quick"
            ),
            "fix --only racks --with-log-dirs --effort quick",
            id="fix-with-log-dirs",
        ),
    ],
)
def test_a_plan_is_the_commands_to_the_byte(make, words, snapshot, tmp_path, capsys):
    file = write_document(skewed_document(), tmp_path / "s.json")
    run(
        capsys, "plan", words.split()[0], file, *words.split()[1:], "-o", tmp_path / "c"
    )

    written = make(snapshot).write(tmp_path / "p")

    assert contents(tmp_path / "p") == contents(tmp_path / "c")
    names = {path.relative_to(tmp_path / "p").as_posix() for path in written}
    assert names == set(contents(tmp_path / "c"))
    is_cut = any(option in words for option in ("--waves", "--max-moves-in"))
    assert ("waves/waves.json" in names) is is_cut


def test_a_plan_says_what_its_document_says(plan):
    document = plan.document

    assert (plan.goal, plan.status) == (document["goal"], document["status"])
    assert plan.counts == document["moves"]
    assert plan.certificate == document["certificate"]
    assert plan.notes == tuple(note["message"] for note in document["notes"])
    assert plan.shortfalls == ()
    assert plan.is_ok
    listed = json.loads(plan.reassignment)["partitions"]
    assert len(listed) == plan.counts["partitions"]


@pytest.mark.parametrize("operation", ["new-topic", "add-partitions", "nope"])
def test_what_is_no_operation_on_partitions_that_exist_is_refused(snapshot, operation):
    with pytest.raises(ValueError, match=f"no operation '{operation}'.* rebalance"):
        planner.plan_operation(snapshot, operation)


def test_a_preview_of_a_plan_is_that_of_the_command(snapshot, plan, tmp_path):
    plan.write(tmp_path / "plan")

    found = planner.preview_plan(tmp_path / "plan", snapshot, throttle="10MB/s")

    assert {blocker.rule for blocker in found.blockers} <= {"needs-waves"}
    copies = sum(one.stage.num_copies for one in found.walk.stages)
    assert copies == plan.counts["replicas"]
    with pytest.raises(BadInputError, match="argument"):
        planner.preview_plan(tmp_path / "plan", snapshot, throttle="fast")


def test_what_cannot_be_met_is_named(snapshot):
    plan = planner.remove_brokers(snapshot, [1, 2, 3, 4])

    assert plan.status == "infeasible"
    assert plan.shortfalls
    assert not plan.is_ok


def test_moves_are_a_table(plan, tmp_path):
    plan.write(tmp_path / "p")
    moves = plan.moves

    arrow, polars, pandas = moves.to_arrow(), moves.to_polars(), moves.to_pandas()

    assert isinstance(arrow, pa.Table)
    assert isinstance(polars, pl.DataFrame)
    assert moves.columns == COLUMNS
    assert list(pandas.columns) == polars.columns == list(moves.columns)
    assert len(moves) == len(pandas) == len(polars) == len(moves.to_rows())
    copied = polars.filter(pl.col("kind") == "replica")
    assert copied.height == plan.counts["replicas"]
    assert copied["bytes"].sum() == plan.counts["bytes"]
    lines = (tmp_path / "p" / "moves.csv").read_text().splitlines()
    assert [
        ",".join("" if value is None else str(value) for value in row.values())
        for row in moves.to_rows()
    ] == lines[1:]


@pytest.mark.not_quick
def test_topics_named_like_numbers_stay_text(tmp_path):
    document = skewed_document()
    for number, topic in enumerate(document["topics"]):
        topic["name"] = str(number + 1)

    plan = planner.rebalance(Snapshot.from_document(document), band=0.2)

    assert {type(row["topic"]) for row in plan.moves.to_rows()} == {str}


def test_brokers_are_a_table_of_before_and_after(plan):
    rows = plan.brokers.to_rows()

    assert len(rows) == 6 * 6
    for when in ("before", "after"):
        listed = {
            (one["broker"], name): (cell["load"], cell["deviation"])
            for one in plan.document[when]["by_broker"]
            for name, cell in one.items()
            if isinstance(cell, dict)
        }
        told = {
            (row["broker"], row["resource"]): (
                row[f"load_{when}"],
                row[f"deviation_{when}"],
            )
            for row in rows
        }
        assert told == listed


def test_it_reads_well(plan, snapshot):
    assert repr(snapshot) == (
        '<Snapshot "skewed": 6 brokers, 12 log dirs, 2 topics, 30 partitions, taken '
        "2026-11-21T08:00:00Z>"
    )
    lines = repr(plan).splitlines()
    assert lines[0].startswith('"skewed": 6 brokers, 3 racks, 30 partitions')
    assert any(line.startswith("Plan       rebalance") for line in lines)
    for text in (repr(plan), repr(plan.moves), repr(plan.brokers)):
        assert max(map(len, text.splitlines())) <= 80
    assert repr(plan.brokers).splitlines()[-2].startswith("… and 26 more rows")
    assert "… and columns" in repr(plan.brokers).splitlines()[-1]


@pytest.mark.slow
def test_it_is_html_in_a_notebook(plan):
    document = skewed_document()
    document["cluster_id"] = "<script>"
    odd = planner.rebalance(Snapshot.from_document(document), band=0.2)

    html = plan._repr_html_()

    assert f"rebalance: {plan.status}" in html
    assert f"{plan.counts['bytes']:,} bytes" in html
    assert "<script>" not in odd._repr_html_()
    table = plan.moves._repr_html_()
    assert table.count("<tr>") == 11
    assert f"… and {len(plan.moves) - 10} more rows" in table


def test_small_and_empty_tables_read_well_too():
    rows = planner.Table(pa.table({"rack": ["<a>", None], "use": [0.5, 12.0]}))
    none = planner.Table(pa.table({"rack": pa.array([], pa.string())}))

    assert repr(rows) == "rack  use\n<a>   0.5\n       12"
    assert "&lt;a&gt;" in rows._repr_html_()
    assert (repr(none), len(none)) == ("rack", 0)


def test_wrong_options_are_named_as_arguments(snapshot):
    with pytest.raises(BadInputError) as raised:
        planner.rebalance(snapshot, band={"heat": 0.1}, topics="(")

    told = str(raised.value).splitlines()
    assert told[0] == "bad options"
    assert told[1].startswith("  - arguments: band: must name a resource (found heat)")
    assert told[2].startswith("  - arguments: topics: must be a regular expression")


def test_options_of_waves_that_make_no_sense_are_refused(snapshot):
    with pytest.raises(BadInputError) as raised:
        planner.rebalance(
            snapshot, max_moves_in=0, max_moves_per_broker=-1, bandwidth=0, order="any"
        )

    told = str(raised.value).splitlines()[1:]
    assert [line.split(": ")[1] for line in told] == [
        "max_moves_in",
        "max_moves_per_broker",
        "bandwidth",
        "order",
    ]
    assert told[0] == (
        "  - arguments: max_moves_in: must be 1 or more (found 0); give 5, or leave it "
        "out"
    )


def test_options_that_do_not_exist_are_refused(snapshot):
    with pytest.raises(TypeError, match=r"unexpected option 'bands'; known: "):
        planner.rebalance(snapshot, bands=0.1)


def test_of_many_problems_the_first_are_listed():
    document = skewed_document()
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            partition["replicas"] = []

    with pytest.raises(BadInputError) as raised:
        Snapshot.from_document(document)

    lines = str(raised.value).splitlines()
    assert len(lines) == 22
    assert lines[-1] == f"  … and {len(raised.value.problems) - 20} more"


def test_snapshots_are_written_and_read(snapshot, tmp_path):
    path = planner.write_snapshot(snapshot, str(tmp_path / "s.json.gz"))

    assert planner.read_snapshot(str(path)).equals(snapshot)


def test_a_plan_is_checked_and_verified_from_memory_as_from_its_folder(
    plan, snapshot, tmp_path, capsys
):
    file = write_document(skewed_document(), tmp_path / "s.json")
    folder, after = tmp_path / "p", tmp_path / "after.json"
    plan.write(folder)
    run(capsys, "snapshot", "apply", folder, file, "-o", after)
    later = planner.read_snapshot(after)

    assert planner.apply_plan(plan, snapshot).equals(later)
    for given in (plan, folder, str(folder)):
        assert planner.check_plan(given, snapshot).ok
        assert planner.verify_plan(given, snapshot).overall == "not-started"
        assert planner.verify_plan(given, later).is_done
    assert repr(planner.check_plan(plan, snapshot)) == "ok"
    assert repr(planner.verify_plan(plan, later)) == (
        f"completed: {plan.counts['partitions']} completed"
    )
    before = repr(planner.verify_plan(plan, snapshot)).splitlines()
    assert before[0] == f"not-started: {plan.counts['partitions']} not_started"
    assert before[1].startswith("not-started: ")
    # What has run is stale for who would run it again.
    assert not planner.check_plan(plan, later).ok


def test_a_plan_made_under_other_limits_is_held_to_those_given(plan, snapshot):
    checked = planner.check_plan(plan, snapshot, capacity_threshold={"disk": 0.01})

    assert not checked.ok
    assert {one.rule for one in checked.findings} == {"capacity", "log-dir-capacity"}
    assert repr(checked).startswith("capacity: ")


def test_lists_may_change_their_length_where_that_is_allowed(snapshot, tmp_path):
    lists = {"topic": "a", "partition": 0, "replicas": [1, 2, 3]}
    first = skewed_document()["topics"][0]["partitions"][0]
    lists["replicas"] = first["replicas"][:1]
    file = tmp_path / "fewer.json"
    file.write_text(json.dumps({"version": 1, "partitions": [lists]}))

    refused = planner.check_plan(file, snapshot)
    allowed = planner.check_plan(file, snapshot, allow_replication_factor_change=True)

    assert {one.rule for one in refused.findings if not one.existing} == {
        "replication-factor"
    }
    assert allowed.ok


def test_rules_of_ones_own_are_asked(plan, snapshot):
    def no_moves_of_a(state, target):
        for topic, partition in zip(
            target.topics, target.partitions.tolist(), strict=True
        ):
            if topic == "a":
                where = Where(topic=topic, partition=partition)
                yield Finding(rule="no-a", where=where, message=f"a-{partition} moves")

    checked = planner.check_plan(plan, snapshot, rules=[no_moves_of_a])

    assert not checked.ok
    assert {one.rule for one in checked.findings} == {"no-a"}


def test_many_findings_are_counted(plan, snapshot):
    where = Where(topic="a", partition=0)
    found = [Finding(rule="r", where=where, message=str(n)) for n in range(13)]

    checked = planner.check_plan(
        plan, snapshot, rules=[lambda _, target: found if len(target) else []]
    )

    assert repr(checked).splitlines()[-1] == "… and 3 more"
    old = planner.CheckResult(tuple(replace_field(f, existing=True) for f in found))
    assert (old.ok, repr(old)) == (True, "ok")


def test_assignments_are_proposed(snapshot):
    proposal = planner.propose_assignment(snapshot, ["a"], range(1, 7))

    assert set(proposal.proposed.topics) == {"a"}
    assert proposal.is_least
    with pytest.raises(BadInputError, match="arguments: broker_list: Broker list con"):
        planner.propose_assignment(snapshot, ["a"], [1, 1, 2, 3])


def test_the_bundled_snapshot_can_be_read():
    assert len(planner.read_snapshot(SNAPSHOT_FILE).brokers) == 12


def test_a_cluster_is_looked_for_by_its_address():
    with pytest.raises(BadInputError) as raised:
        planner.take_snapshot("nowhere:x")

    assert raised.value.problems[0].file == "arguments"


def test_rules_are_those_of_the_command(tmp_path):
    snapshot = Snapshot.from_document(skewed_document())

    plan = planner.rebalance(
        snapshot,
        rack_rule="strict",
        rack_map={"c": "b"},
        low_utilization={"disk": 0.99},
        keep_topics="a",
        keep_leaders="b",
    )

    settings = plan.document["settings"]
    assert plan.status == "infeasible"
    assert settings["rack_map"] == {"c": "b"}
    assert settings["low_utilization"] == {"disk": 0.99}
    assert (settings["rack_rule"], settings["keep_topics"]) == ("strict", "a")
    assert settings["keep_leaders"] == "b"


@pytest.mark.parametrize(
    ("options", "sets"),
    [({}, {"gold", "silver"}), ({"broker_set": {".*": "gold"}}, {"gold"})],
)
def test_broker_sets_of_a_snapshot_hold(options, sets):
    document = skewed_document()
    for broker in document["brokers"]:
        broker["broker_set"] = "gold" if broker["id"] <= 5 else "silver"
    snapshot = Snapshot.from_document(document)

    plan = planner.rebalance(snapshot, effort="quick", **options)
    free = planner.rebalance(snapshot, effort="quick", broker_set="off")

    assert set(plan.document["settings"]["broker_sets"].values()) <= sets
    assert free.document["settings"]["broker_sets"] is None

"""Figures of the page: equal to those of the commands, from the files that it saves."""

import json
from pathlib import Path

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.snapshot import read_snapshot
from planner.ui.ui_actions import next_state
from planner.ui.ui_answer import Answerer, written_plan
from planner.ui.ui_facts import comparison
from planner.ui.ui_play import play_of
from planner.ui.ui_scenarios import plan_words, scenarios_text, what_if_words
from planner.ui.ui_state import UiState
from support.commands import run

STATES = {
    "today": [],
    "a broker is lost": [{"lose-broker": "3"}],
    "a log dir is lost": [{"lose-log-dir": "4:/data/d2"}],
    "brokers are added, and load": [
        {"add": "1", "count": "2", "like": "4", "rack": "a"},
        {"set": "traffic", "traffic": "1.4"},
        {"set": "growth", "growth": "4"},
        {"set": "months", "months": "3"},
    ],
    "topics change": [
        {"topics-form": "retention", "topics": "clicks.*", "keep": "14d"},
        {"topics-form": "replication-factor", "topics": "logs.*", "factor": "2"},
        {"topics-form": "partitions", "topics": "orders.*", "count": "60"},
    ],
    "limits": [
        {"set": "band", "band": "0.2"},
        {"set": "disk", "disk": "0.7"},
        {"set": "bandwidth", "bandwidth": "100MB/s"},
    ],
    "only what must": [{"lose-rack": "b"}, {"set": "then", "then": "needed"}],
    "no plan": [{"lose-rack": "b"}, {"set": "then", "then": "nothing"}],
}


@pytest.fixture(scope="module")
def snapshot():
    return read_snapshot(SNAPSHOT_FILE)


@pytest.fixture
def answerer(snapshot):
    return Answerer(snapshot, snapshot.to_state())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("snap.json.gz").write_bytes(SNAPSHOT_FILE.read_bytes())
    return tmp_path


def play_after(name):
    state = UiState()
    for form in STATES[name]:
        state = next_state(state, form)
    return play_of(state)


def files_of(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
def test_figures_and_folders_are_those_of_what_if_on_the_saved_file(
    name, answerer, folder, capsys
):
    play = play_after(name)
    first = answerer.first(play)
    rows = [first.changed.row]
    if play.has_plan:
        rows.append(answerer.plan(play).side.row)
    Path("scenarios.toml").write_text(scenarios_text(play, "snap.json.gz"))

    words = what_if_words(play, "snap.json.gz")[1:]
    outcome = run(capsys, *words, "--format", "json", "-o", "theirs")

    assert outcome.document["today"] == first.today.row
    assert outcome.document["scenarios"] == rows
    if play.has_plan and not play.is_of_today:
        answerer.write(play, folder / "ours")
        assert written_plan(play, folder / "ours") == folder / "ours/planned/plan"
        assert files_of(folder / "ours") == files_of(folder / "theirs")


@pytest.mark.parametrize("name", ["today", "limits"])
def test_todays_plan_is_that_of_plan_rebalance_to_the_byte(
    name, answerer, folder, capsys
):
    play = play_after(name)
    answer = answerer.plan(play)
    answerer.write(play, folder / "ours")

    names_log_dirs = answer.names_log_dirs
    words = plan_words(play, "snap.json.gz", names_log_dirs=names_log_dirs)[1:]
    outcome = run(capsys, *words, "-o", "theirs", "--format", "json")

    assert files_of(folder / "ours") == files_of(folder / "theirs")
    copies, moves = answer.side.row["copies"], outcome.document["moves"]
    assert (copies["replicas"], copies["bytes"]) == (moves["replicas"], moves["bytes"])
    proven = outcome.document["certificate"]["bytes"]["lower_bound"]
    assert copies["least_bytes"] == proven


def test_words_of_a_plan_are_those_of_its_report(answerer, folder, capsys):
    play = play_after("today")
    answer = answerer.plan(play)
    lines = dict(answer.lines)

    words = plan_words(play, "snap.json.gz", names_log_dirs=answer.names_log_dirs)
    screen = run(capsys, *words[1:], "-o", "plan").out

    words = " ".join(screen.split())
    assert " ".join(lines["copies"].split()) in words
    assert " ".join(lines["leaders"].split()) in words


def test_todays_plan_relieves_full_log_dirs_as_the_command_that_is_shown(
    folder, capsys
):
    dirs = [{"path": path, "size_bytes": 100} for path in ("/a", "/b")]
    row = {"replicas": [1, 2], "log_dirs": ["/a", "/a"], "size_bytes": 22}
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": b, "rack": str(b), "log_dirs": dirs} for b in (1, 2)],
        "topics": [
            {"name": "t", "partitions": [{"partition": p} | row for p in range(4)]}
        ],
    }
    Path("full.json").write_text(json.dumps(document))
    full = read_snapshot(Path("full.json"))
    play, answerer = play_after("today"), Answerer(full, full.to_state())

    answer = answerer.plan(play)
    answerer.write(play, folder / "ours")
    words = plan_words(play, "full.json", names_log_dirs=answer.names_log_dirs)
    run(capsys, *words[1:], "-o", "theirs")

    assert words[-1] == "--with-log-dirs"
    assert answer.side.row["log_dirs_over_threshold"] == []
    assert (folder / "theirs/log-dirs.csv").exists()
    assert files_of(folder / "ours") == files_of(folder / "theirs")


def test_loads_of_brokers_and_log_dirs_are_those_of_score(answerer, folder, capsys):
    loads = answerer.first(play_after("today")).today.loads

    score = run(capsys, "score", "snap.json.gz", "--format", "json").document

    assert [*loads.brokers] == score["by_broker"]
    theirs = {
        f"{row['broker']}:{row['log_dir']}": row["disk"]["use"]
        for row in score["by_log_dir"]
    }
    assert {each.name: each.use for each in loads.log_dirs} == theirs


@pytest.mark.parametrize("kind", ["broker", "rack"])
def test_losses_survived_are_those_of_failures(kind, answerer, folder, capsys):
    row = answerer.first(play_after("today")).today.row

    found = run(capsys, "failures", "snap.json.gz", "--format", "json").document

    mine = found["single"][kind]
    assert row["survives"][kind]["survives"] is found["verdict"][kind]["survives"]
    assert row["survives"][kind]["hardest"] == mine[0]["lost"][0]
    assert row["survives"][kind]["fails"] == sum(not each["survives"] for each in mine)


def test_a_table_has_the_numbers_of_its_rows(answerer):
    play = play_after("brokers are added, and load")
    first, plan = answerer.first(play), answerer.plan(play)

    table = dict(comparison([first.today.row, first.changed.row, plan.side.row]))

    row = plan.side.row
    assert table["Brokers"] == ["12", "14", "14"]
    assert table["Bytes copied"][2].split()[0] == f"{row['copies']['bytes'] / 1e12:.4g}"
    assert table["Disk, fullest broker"][2].startswith(
        f"{100 * row['resources']['disk']['max_use']:.0f} % (broker "
    )
    days = row["full"]["days"]
    assert table["First over a threshold in"][2].startswith(f"{days:.0f} d: ")


def test_every_problem_names_its_step(answerer):
    state = UiState()
    for form in (
        {"set": "traffic", "traffic": "2"},
        {"topics-form": "retention", "topics": "((", "keep": "14d"},
        {"topics-form": "replication-factor", "factor": "99"},
        {"lose-broker": "77"},
        {"set": "band", "band": "wide"},
        {"add": "1", "count": "2", "like": "5"},
    ):
        state = next_state(state, form)

    with pytest.raises(BadInputError) as refused:
        answerer.first(play_of(state))

    places = [each.place for each in refused.value.problems]
    assert places == ["band", "step 2 topics", "step 3 factor", "step 4 brokers"]
    assert {each.file for each in refused.value.problems} == {"this page"}
    assert all(each.remedy for each in refused.value.problems)


def test_a_folder_of_something_else_is_left_alone(answerer, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("notes")

    with pytest.raises(BadInputError, match="will not write"):
        answerer.write(play_after("today"), tmp_path / "mine")
    with pytest.raises(BadInputError, match="nothing to write"):
        answerer.write(play_after("no plan"), tmp_path / "new")

    assert (tmp_path / "mine/notes.txt").read_text() == "notes"
    assert not (tmp_path / "new").exists()


def test_steps_in_an_address_are_text(answerer):
    text = json.dumps([{"change": "lose", "brokers": {"a": [1]}}])

    with pytest.raises(BadInputError) as refused:
        answerer.first(play_of(UiState(tuple(json.loads(text)))))

    assert refused.value.problems[0].place.startswith("step 1 brokers")

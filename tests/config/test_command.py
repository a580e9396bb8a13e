"""`--config`, `config show` and `config init` as a shell sees them."""

import json

import pytest

from planner.config.config_records import ConfigExampleRecord, ConfigRecord
from planner.plan.documents.plan_records import ErrorRecord
from support.commands import run
from support.plans import contents, skewed_document, write_document


@pytest.fixture
def snap(tmp_path, monkeypatch):
    """A cluster that is planned quickly: what becomes of it is no matter here."""
    monkeypatch.setenv("PLANNER_EFFORT", "quick")
    monkeypatch.chdir(tmp_path)
    write_document(skewed_document(), tmp_path / "s.json")
    return "s.json"


@pytest.fixture
def config(tmp_path):
    def write(text):
        (tmp_path / "planner.toml").write_text(text, encoding="utf-8")
        return "planner.toml"

    return write


def settings_of(capsys, *arguments):
    found = run(capsys, "plan", "rebalance", *arguments, "--format", "json")
    assert found.code == 0, found.err
    return found.document["settings"]


def test_a_file_gives_what_the_line_would(snap, config, tmp_path, capsys):
    config(
        "[plan]\nband = {all = 0.2, disk = 0.3}\nresources = ['disk', 'replicas']\n"
        "max_bytes = '1GB'\ntopics = ['a', 'c']\ncapacity_threshold = {disk = 0.9}\n"
    )
    line = [
        "--band", "0.2", "--band", "disk=0.3", "--resources", "disk,replicas",
        "--max-bytes", "1GB", "--topics", "(?:a)|(?:c)",
        "--capacity-threshold", "disk=0.9",
    ]  # fmt: skip

    one = run(capsys, "plan", "rebalance", snap, "--config", "planner.toml", "-o", "p")
    two = run(capsys, "plan", "rebalance", snap, *line, "-o", "q")

    assert (one.code, two.code) == (0, 0)
    assert contents(tmp_path / "p") == contents(tmp_path / "q")
    assert json.loads((tmp_path / "p/plan.json").read_text())["settings"]["band"] == {
        "disk": 0.3, "in": 0.2, "out": 0.2, "cpu": 0.2, "replicas": 0.2, "leaders": 0.2,
    }  # fmt: skip


def test_line_goes_before_environment_and_that_before_the_file(
    snap, config, capsys, monkeypatch
):
    path = config("[plan]\nseed = 1\nmax_moves = 1\nmax_bytes = 1\n")
    monkeypatch.setenv("PLANNER_MAX_MOVES", "200")
    monkeypatch.setenv("PLANNER_MAX_BYTES", "2MB")

    found = settings_of(capsys, snap, "--config", path, "--max-bytes", "3MB")

    assert (found["seed"], found["max_moves"], found["max_bytes"]) == (1, 200, 3000000)


def test_a_flag_of_the_file_can_be_taken_back(snap, config, capsys):
    path = config("[plan]\nwaves = true\n")

    assert settings_of(capsys, snap, "--config", path)["waves"]
    assert settings_of(capsys, snap, "--config", path, "--no-waves")["waves"] is None


def test_the_environment_names_the_file(snap, config, capsys, monkeypatch):
    monkeypatch.setenv("PLANNER_CONFIG", config("[plan]\nseed = 9\n"))

    assert settings_of(capsys, snap)["seed"] == 9


def test_a_file_that_no_option_names_is_not_read(snap, config, capsys):
    config("[plan]\nseed = 9\n")

    assert settings_of(capsys, snap)["seed"] == 1


def test_tables_of_other_operations_do_not_count(snap, config, capsys):
    path = config(
        "[operation.add-brokers]\nseed = 9\n[operation.rebalance]\nseed = 4\n"
    )

    assert settings_of(capsys, snap, "--config", path)["seed"] == 4


def test_all_that_is_wrong_is_named_where_it_stands(snap, config, capsys, monkeypatch):
    path = config("[plan]\nbnad = 1\nband = 99\nexclude_brokers_for_leaders = [77]\n")
    monkeypatch.setenv("PLANNER_MAX_BYTES", "lots")

    found = run(
        capsys, "plan", "rebalance", snap, "--config", path, "--resources", "colour",
        "--format", "json", "-o", "p",
    )  # fmt: skip

    ErrorRecord.model_validate(found.document)
    places = {(one["file"], one["place"]) for one in found.document["problems"]}
    assert found.code == 2
    assert places == {
        ("planner.toml", "plan.bnad"),
        ("planner.toml", "plan.band"),
        ("planner.toml", "plan.exclude_brokers_for_leaders"),
        ("environment", "PLANNER_MAX_BYTES"),
        ("command line", "--resources"),
    }


def test_wrong_values_alone_are_named_where_they_stand_too(snap, config, capsys):
    path = config("[plan]\nband = 99\n")

    found = run(capsys, "plan", "rebalance", snap, "--config", path, "--format", "json")

    (problem,) = found.document["problems"]
    assert (problem["file"], problem["place"]) == ("planner.toml", "plan.band")


def test_show_says_what_holds_and_why(config, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = config(
        "[plan]\nseed = 9\nmax_moves = 3\n[operation.add-brokers]\nband = 0.3\n"
    )
    monkeypatch.setenv("PLANNER_MAX_BYTES", "2TB")
    given = ["config", "show", "--config", path, "--operation", "add-brokers"]

    found = run(capsys, *given, "--max-moves", 5, "--format", "json")
    text = run(capsys, *given, "--max-moves", 5)

    ConfigRecord.model_validate(found.document)
    settings = found.document["settings"]
    assert found.code == 0
    assert settings["band"] == {
        "value": ["0.3"],
        "source": "file",
        "place": "planner.toml: operation.add-brokers.band",
    }
    assert settings["seed"]["place"] == "planner.toml: plan.seed"
    assert settings["max_moves"] == {
        "value": 5, "source": "command line", "place": "--max-moves",
    }  # fmt: skip
    assert settings["max_bytes"] == {
        "value": "2TB", "source": "environment", "place": "PLANNER_MAX_BYTES",
    }  # fmt: skip
    assert settings["effort"] == {"value": "normal", "source": "default", "place": ""}
    assert "rebalance" in settings
    lines = text.out.splitlines()
    assert len(lines) == 1 + len(settings) + sum(
        len(" ".join(one["value"])) > 20
        for one in settings.values()
        if isinstance(one["value"], list)
    )
    assert max(map(len, lines)) <= 94


def test_show_says_what_the_rules_of_another_tool_are(config, tmp_path, capsys):
    path = config("[plan]\nrules = 'cruise-control'\nmax_replicas_per_broker = 7\n")

    found = run(
        capsys, "config", "show", "--config", tmp_path / path, "--format", "json"
    )

    ConfigRecord.model_validate(found.document)
    settings = found.document["settings"]
    place = "--rules cruise-control"
    assert settings["band"] == {"value": ["0.09"], "source": "default", "place": place}
    assert settings["rack_rule"] == {
        "value": "strict", "source": "default", "place": place,
    }  # fmt: skip
    assert settings["max_replicas_per_broker"]["value"] == 7
    assert settings["locality_scoped"] == {
        "value": False, "source": "default", "place": "",
    }  # fmt: skip


def test_show_refuses_what_a_plan_would(config, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = config("[plan]\nband = 99\nbnad = 1\n")

    found = run(capsys, "config", "show", "--config", path, "--format", "json")

    assert found.code == 2
    assert [one["place"] for one in found.document["problems"]] == [
        "plan.bnad", "plan.band",
    ]  # fmt: skip


def test_show_knows_its_operations(capsys):
    found = run(capsys, "config", "show", "--operation", "explode")

    assert found.code == 2
    assert "rebalance" in found.err


def test_init_writes_a_file_that_changes_nothing(snap, tmp_path, capsys):
    written = run(capsys, "config", "init", "-o", "planner.toml")
    with_it = settings_of(capsys, snap, "--config", "planner.toml")

    assert (written.code, written.out) == (0, "")
    assert with_it == settings_of(capsys, snap)
    assert {path.name for path in tmp_path.iterdir()} == {"s.json", "planner.toml"}


def test_init_replaces_nothing(config, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = config("mine = 1\n")

    found = run(capsys, "config", "init", "-o", path)

    assert found.code == 2
    assert (tmp_path / path).read_text() == "mine = 1\n"
    assert len(list(tmp_path.iterdir())) == 1


def test_init_prints_what_it_would_write(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run(capsys, "config", "init")
    as_json = run(capsys, "config", "init", "-o", "p.toml", "--format", "json")

    assert printed.out == (tmp_path / "p.toml").read_text()
    ConfigExampleRecord.model_validate(as_json.document)
    assert as_json.document == {"path": "p.toml", "text": printed.out}

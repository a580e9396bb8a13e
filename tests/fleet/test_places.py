"""Folders that are not there are refused before Spark starts."""

import pytest

from planner.fleet.fleet_places import folder_here, is_local
from support.commands import run


@pytest.fixture
def never_started(monkeypatch):
    for name in ("HADOOP_CONF_DIR", "SPARK_CONF_DIR", "SPARK_ENV_LOADED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)

    def start(**_):
        pytest.fail("Spark was started")

    monkeypatch.setattr("planner.spark.session.start_session", start)


@pytest.mark.parametrize("command", ["score", "plan", "changes", "overview"])
@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_fleet_that_is_not_there(tmp_path, capsys, never_started, command, scheme):
    fleet = f"{scheme}{tmp_path}/fleet"

    found = run(capsys, "fleet", command, fleet, "-o", tmp_path / "out")

    assert (found.code, found.out) == (2, "")
    assert f"{fleet}: there is no such folder; write it with" in found.err


def test_everything_that_is_not_there(tmp_path, capsys, never_started):
    (tmp_path / "fleet" / "commits").mkdir(parents=True)
    given = {"--trends": tmp_path, "--changes": tmp_path / "none"}
    options = [word for pair in given.items() for word in pair]

    found = run(
        capsys, "fleet", "overview", tmp_path / "fleet", "-o", "out", *options,
        "--format", "json",
    )  # fmt: skip

    rules = [(each["place"], each["rule"]) for each in found.document["problems"]]
    assert rules == [
        ("trends", "must be a folder of trends"),
        ("", "there is no such folder"),
    ]


@pytest.mark.parametrize("command", ["score", "plan", "changes", "overview", "trends"])
@pytest.mark.parametrize("name", ["", "lake.", "lake..kafka", "lake.a b", "`lake"])
def test_a_schema_without_a_name(tmp_path, capsys, never_started, command, name):
    (tmp_path / "commits").mkdir()
    (tmp_path / "scores").mkdir()

    found = run(capsys, "fleet", command, tmp_path, "-o", f"table:{name}")

    assert (found.code, found.out) == (2, "")
    assert "write table:CATALOG.SCHEMA" in found.err
    read = run(capsys, "fleet", command, f"table:{name}", "-o", tmp_path / "out")
    assert (read.code, read.out) == (2, "")
    assert "must name a schema of a catalog" in read.err


@pytest.mark.parametrize(
    ("command", "said"), [("trends", "fleet score"), ("ingest", "CLUSTER/TIME/files")]
)
def test_what_other_commands_read(tmp_path, capsys, never_started, command, said):
    found = run(capsys, "fleet", command, tmp_path / "none", "-o", tmp_path / "out")

    assert found.code == 2
    assert said in found.err


@pytest.mark.parametrize(
    ("master", "conf", "variable", "expected"),
    [
        pytest.param(None, {}, None, True, id="this-machine"),
        pytest.param("local[2]", {}, None, True, id="cores"),
        pytest.param("yarn", {}, None, False, id="yarn"),
        pytest.param(None, {"spark.master": "spark://h:7077"}, None, False, id="conf"),
        pytest.param(None, {"spark.hadoop.fs.defaultFS": "x:"}, None, False, id="fs"),
        pytest.param(None, {}, "HADOOP_CONF_DIR", False, id="hadoop"),
        pytest.param(None, {}, "SPARK_REMOTE", False, id="connect"),
    ],
)
def test_paths_that_are_of_this_machine(
    monkeypatch, never_started, master, conf, variable, expected
):
    if variable:
        monkeypatch.setenv(variable, "x")

    assert is_local(master, conf) == expected


@pytest.mark.parametrize(
    ("path", "is_here"),
    [
        ("fleet", True),
        ("/data/fleet", True),
        ("file:///data/fleet", True),
        ("s3a://bucket/fleet", False),
        ("table:kafka", False),
    ],
)
def test_which_paths_are_of_this_machine(path, is_here):
    assert (folder_here(path) is not None) == is_here

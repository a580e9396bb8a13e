"""Workflows and forms of the repository's host, as far as they can be judged here."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from support.screenshots import KEEP

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps_of(workflow, job):
    return read(WORKFLOWS / f"{workflow}.yml")["jobs"][job]["steps"]


def commands_of(workflow, job):
    return [step["run"] for step in steps_of(workflow, job) if "run" in step]


def supported_pythons():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: "
    found = [line.removeprefix(prefix) for line in project["classifiers"]]
    return [name for name in found if re.fullmatch(r"3\.\d+", name)]


def targets():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


@pytest.mark.parametrize("name", ["tests", "nightly", "release"])
def test_a_workflow_has_jobs_and_few_permissions(name):
    workflow = read(WORKFLOWS / f"{name}.yml")

    # YAML 1.1 reads the key `on` as true.
    assert workflow[True]
    assert workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}


def test_the_tests_run_on_every_supported_python():
    matrix = read(WORKFLOWS / "tests.yml")["jobs"]["test"]["strategy"]["matrix"]

    assert matrix["python"] == supported_pythons() == ["3.11", "3.12", "3.13", "3.14"]


def test_the_nightly_run_has_the_oldest_and_newest_python_unpinned_and_thorough():
    workflow = read(WORKFLOWS / "nightly.yml")
    pythons = supported_pythons()

    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == [pythons[0], pythons[-1]]
    assert workflow["env"] == {"UNPINNED": "1", "HYPOTHESIS_PROFILE": "thorough"}
    assert workflow[True]["schedule"]


@pytest.mark.parametrize(
    ("workflow", "target"), [("tests", "test"), ("nightly", "coverage")]
)
def test_all_tests_are_run_by_make_with_java_and_maven(workflow, target):
    used = {step["uses"].split("@")[0]: step for step in steps_of(workflow, "test")
            if "uses" in step}  # fmt: skip

    assert {"actions/setup-python", "actions/setup-java"} <= set(used)
    assert used["actions/setup-java"]["with"]["java-version"] == "17"
    commands = commands_of(workflow, "test")
    assert any("maven" in command for command in commands)
    assert f"make {target} PYTHON=python${{{{ matrix.python }}}}" in commands


@pytest.mark.parametrize("workflow", ["tests", "nightly"])
def test_the_pictures_of_pages_are_kept(workflow):
    steps = steps_of(workflow, "test")
    (tested,) = [step for step in steps if "make" in step.get("run", "")]
    kept = [step for step in steps if "upload-artifact" in step.get("uses", "")]

    assert len(kept) == 1
    assert kept[0]["with"]["path"] == tested["env"][KEEP]
    assert kept[0]["if"] == "always()"


def test_a_release_is_tested_and_then_published_without_a_secret():
    jobs = read(WORKFLOWS / "release.yml")["jobs"]

    assert jobs["test"]["uses"] == "./.github/workflows/tests.yml"
    assert (jobs["build"]["needs"], jobs["publish"]["needs"]) == ("test", "build")
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (WORKFLOWS / "release.yml").read_text()
    assert any(c.startswith("make dist") for c in commands_of("release", "build"))


def test_workflows_make_what_the_makefile_has():
    text = "".join(path.read_text() for path in WORKFLOWS.glob("*.yml"))

    made = set(re.findall(r"make ([a-z-]+)", text))

    assert made
    assert made <= targets()


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_a_form_has_what_its_host_asks_for(name):
    form = read(FORMS / f"{name}.yml")

    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    ids = [field["id"] for field in fields]
    assert len(ids) == len(set(ids))
    assert all(field["attributes"]["label"] for field in fields)


def test_a_bug_report_asks_for_a_snapshot_without_names(tmp_path, capsys):
    from planner.demo import SNAPSHOT_FILE
    from support.commands import run

    text = (FORMS / "bug.yml").read_text(encoding="utf-8")
    asked = re.search(r"`kafka-planner (snapshot anonymize) (\S+) -o (\S+)`", text)

    assert asked
    output = tmp_path / asked[3]
    done = run(capsys, *asked[1].split(), SNAPSHOT_FILE, "-o", output)
    assert done.code == 0
    assert output.is_file()

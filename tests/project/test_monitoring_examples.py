"""
Dashboard, alert rules, Kubernetes, container and workflow of examples/.

Each is held to the schema of its reader, PromQL to a parser of PromQL, and commands to
the command line.
"""

import copy
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import promql_parser
import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field

from planner.cli.main import build_command
from planner.demo import SNAPSHOT_FILE
from planner.metrics.metric_list import METRICS
from support.monitoring_examples import (
    ALERTS,
    FOLDER,
    PAGE,
    dashboard_text,
    rules_text,
    with_metrics_table,
)
from support.published_schemas import (
    KINDS,
    KUBERNETES,
    RULES,
    WORKFLOW,
    misfits,
    unread_fields,
)

ROOT = Path(__file__).parents[2]
GITOPS = ROOT / "examples" / "gitops"
DECLARED = {metric.full_name: metric for metric in METRICS}
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Text = Annotated[str, Field(min_length=1)]


class Strict(BaseModel):
    """Keys of a schema, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Rule(Strict):
    """An alert rule of Prometheus (`rulefmt.Rule`)."""

    alert: Name
    expr: Text
    for_: str = Field(alias="for", pattern=r"^([0-9]+(y|w|d|h|m|s|ms))+$")
    labels: dict[Name, Text]
    annotations: dict[Name, Text]


class Group(Strict):
    """A group of rules of Prometheus (`rulefmt.RuleGroup`)."""

    name: Text
    rules: list[Rule] = Field(min_length=1)


class Rules(Strict):
    """A file of rules of Prometheus (`rulefmt.RuleGroups`)."""

    groups: list[Group] = Field(min_length=1)


class Source(Strict):
    """A reference to a data source of Grafana."""

    type: Literal["prometheus"]
    uid: Literal["${datasource}"]


class Grid(Strict):
    """A place on the grid of a dashboard, 24 columns wide."""

    h: int = Field(ge=1)
    w: int = Field(ge=1, le=24)
    x: int = Field(ge=0, lt=24)
    y: int = Field(ge=0)


class Target(Strict):
    """A query of a panel."""

    ref_id: str = Field(alias="refId", pattern="^[A-Z]$")
    datasource: Source
    expr: Text
    legend: Text = Field(alias="legendFormat")


class Row(Strict):
    """A row of a dashboard."""

    id: int
    type: Literal["row"]
    title: Text
    collapsed: bool
    grid: Grid = Field(alias="gridPos")


class Panel(Strict):
    """A panel that draws series over time."""

    id: int
    type: Literal["timeseries"]
    title: Text
    description: Text
    datasource: Source
    grid: Grid = Field(alias="gridPos")
    field_config: dict[Literal["defaults", "overrides"], Any] = Field(
        alias="fieldConfig"
    )
    options: dict[Literal["legend", "tooltip"], Any]
    targets: list[Target] = Field(min_length=1)


class Dashboard(Strict):
    """A dashboard of Grafana, as its import takes it."""

    uid: str = Field(max_length=40, pattern=r"^[a-zA-Z0-9_-]+$")
    title: Text
    tags: list[Text]
    schema_version: int = Field(alias="schemaVersion", ge=36)
    version: int
    editable: bool
    refresh: str = Field(pattern=r"^[0-9]+[smhd]$")
    time: dict[Literal["from", "to"], str]
    templating: dict[Literal["list"], list[dict[str, Any]]]
    annotations: dict[Literal["list"], list[Any]]
    panels: list[Row | Panel] = Field(min_length=1)


def selectors_of(expression):
    """Selectors of an expression; refuses what is not PromQL."""
    found = []

    def visit(node):
        if isinstance(node, promql_parser.VectorSelector):
            found.append(node)

    promql_parser.walk(promql_parser.parse(expression), visit)
    return found


def check_expression(expression):
    """Refuse metrics and labels that the list does not have; return the labels."""
    selectors = selectors_of(expression)
    assert selectors
    labels = set()
    for selector in selectors:
        metric = DECLARED[selector.name]
        asked = {matcher.name for matcher in selector.matchers.matchers}
        assert asked <= set(metric.all_labels)
        labels |= set(metric.all_labels)
    return {selector.name for selector in selectors}, labels


def generated(name, text):
    """Hold a file to what its generator makes; PLANNER_WRITE_PAGES=1 writes it."""
    path = FOLDER / name
    if os.environ.get("PLANNER_WRITE_PAGES"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_the_dashboard_is_generated_from_the_list():
    generated("dashboard.json", dashboard_text())


def test_the_rules_are_generated_from_the_list():
    generated("alerts.yml", rules_text())


def test_the_page_lists_the_metrics():
    text = PAGE.read_text(encoding="utf-8")
    printed = with_metrics_table(text)
    if os.environ.get("PLANNER_WRITE_PAGES"):
        PAGE.write_text(printed, encoding="utf-8")

    assert printed == text
    for metric in METRICS:
        assert f"`{metric.full_name}`" in text


def test_the_dashboard_is_one_that_grafanas_library_reads_without_loss():
    dashboard = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))

    assert unread_fields(dashboard) == []
    dashboard["panels"][1]["gridpos"] = {}
    assert unread_fields(dashboard) == [".panels[1].gridpos"]


def test_the_rules_keep_the_published_schema_of_prometheus():
    rules = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))

    assert misfits(RULES, rules) == []
    rules["groups"][0]["rules"][0]["fro"] = "5m"
    assert misfits(RULES, rules)


@pytest.mark.parametrize("kind", KINDS)
def test_the_resources_keep_the_published_schema_of_kubernetes(resources, kind):
    resource = copy.deepcopy(resources[kind])

    assert resources.keys() == KINDS.keys()
    assert misfits(KUBERNETES, resource, KINDS[kind]) == []
    resource["spec"]["nothing"] = 1
    (found,) = misfits(KUBERNETES, resource, KINDS[kind])
    assert found.startswith("spec: Additional properties are not allowed")


def test_the_workflow_keeps_the_published_schema_of_github(workflow):
    # YAML 1.1 reads the key `on` as true.
    named = {"on" if key is True else key: value for key, value in workflow.items()}

    assert misfits(WORKFLOW, named) == []
    assert misfits(WORKFLOW, {**named, "jobs": {"plan": {"step": []}}})


@pytest.fixture(scope="module")
def board():
    return Dashboard.model_validate_json((FOLDER / "dashboard.json").read_bytes())


def test_the_dashboard_shows_every_metric(board):
    panels = [panel for panel in board.panels if isinstance(panel, Panel)]

    shown = [check_expression(target.expr)[0] for p in panels for target in p.targets]
    assert set.union(*shown) == DECLARED.keys()
    for panel in panels:
        for target in panel.targets:
            _, labels = check_expression(target.expr)
            assert set(re.findall(r"{{(\w+)}}", target.legend)) <= labels


def test_panels_have_numbers_of_their_own_and_do_not_overlap(board):
    ids = [panel.id for panel in board.panels]
    cells = [
        (x, y)
        for panel in board.panels
        for x in range(panel.grid.x, panel.grid.x + panel.grid.w)
        for y in range(panel.grid.y, panel.grid.y + panel.grid.h)
    ]

    assert len(ids) == len(set(ids))
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_the_dashboard_uses_the_variables_that_it_declares(board):
    declared = {each["name"] for each in board.templating["list"]}
    text = (FOLDER / "dashboard.json").read_text()

    assert set(re.findall(r"\$\{?(\w+)\}?", text)) == declared
    query = next(e for e in board.templating["list"] if e["type"] == "query")
    found = re.fullmatch(r"label_values\((\w+), (\w+)\)", query["query"]["query"])
    assert found[2] in DECLARED[found[1]].all_labels


@pytest.fixture(scope="module")
def rules():
    document = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))
    (group,) = Rules.model_validate(document).groups
    return group.rules


def test_rules_ask_for_metrics_that_there_are(rules):
    for rule in rules:
        _, labels = check_expression(rule.expr)
        texts = " ".join(rule.annotations.values())
        assert set(re.findall(r"\$labels\.(\w+)", texts)) <= labels
        # What `absent` returns has no labels but those of its selector.
        assert not rule.expr.startswith("absent(") or "$labels" not in texts
        assert texts.count("{{") == texts.count("}}")
        used = re.findall(r"{{ \$value \| (\w+) }}", texts)
        assert set(used) <= {"humanizeDuration", "humanizePercentage"}


def test_rules_have_names_of_their_own_and_known_severities(rules):
    names = [rule.alert for rule in rules]

    assert len(names) == len(set(names)) == len(ALERTS)
    assert {rule.labels["severity"] for rule in rules} == {
        "critical",
        "warning",
        "info",
    }


def test_rules_name_commands_that_there_are(rules):
    texts = " ".join(rule.annotations["description"] for rule in rules)

    named = re.findall(r"kafka-planner ((?:plan |snapshot |fleet )?[a-z-]+)", texts)
    assert named
    for words in named:
        found = build_command()
        for word in words.split():
            found = found.commands[word]


@pytest.mark.parametrize(
    "expression",
    ["kafka_planner_brokers{", "max by (x) kafka_planner_brokers", "time() -"],
)
def test_what_is_not_promql_is_refused(expression):
    with pytest.raises(ValueError, match=r"."):
        check_expression(expression)


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("kafka_planner_broker > 0", KeyError),
        ('kafka_planner_brokers{rule="rack"} > 0', AssertionError),
        ("vector(1) > 0", AssertionError),
    ],
)
def test_metrics_and_labels_that_are_not_listed_are_refused(expression, error):
    with pytest.raises(error):
        check_expression(expression)


def parsed(words):
    """The values of a command line of ours; refuses what no option takes."""
    found = build_command()
    while words and words[0] in getattr(found, "commands", {}):
        found, words = found.commands[words[0]], words[1:]
    assert not hasattr(found, "commands")
    return found.make_context("example", list(words)).params


@pytest.fixture(scope="module")
def resources():
    text = (FOLDER / "cronjob.yaml").read_text(encoding="utf-8")
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


def pods_of(resources):
    job = resources["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]
    return job["spec"], resources["Deployment"]["spec"]["template"]["spec"]


def containers_of(pod):
    return [*pod.get("initContainers", ()), *pod["containers"]]


def test_no_container_is_root_or_writes_to_its_root_file_system(resources):
    for pod in pods_of(resources):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["automountServiceAccountToken"] is False
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in containers_of(pod):
            confined = container["securityContext"]
            assert confined["readOnlyRootFilesystem"] is True
            assert confined["allowPrivilegeEscalation"] is False
            assert confined["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]
            assert {each["name"] for each in container["volumeMounts"]} <= volumes


def test_the_job_runs_commands_of_ours_on_folders_that_are_mounted(resources):
    pod, exporter = pods_of(resources)
    snapshot, score = (parsed(each["args"]) for each in containers_of(pod))
    mounts = [
        {each["mountPath"]: each.get("readOnly", False) for each in c["volumeMounts"]}
        for c in containers_of(pod)
    ]

    assert snapshot["output"] == score["snapshots"][0]
    assert mounts[0][str(snapshot["output"].parent)] is False
    assert mounts[0][str(snapshot["command_config"].parent)] is True
    assert mounts[1][str(score["metrics"].parent)] is False
    assert score["metrics"].suffix == ".prom"
    (reader,) = containers_of(exporter)
    assert f"--collector.textfile.directory={score['metrics'].parent}" in reader["args"]


def test_the_job_is_placed_beside_its_exporter_on_one_volume(resources):
    pod, exporter = pods_of(resources)

    claims = [
        volume["persistentVolumeClaim"]["claimName"]
        for each in (pod, exporter)
        for volume in each["volumes"]
        if "persistentVolumeClaim" in volume
    ]
    assert set(claims) == {resources["PersistentVolumeClaim"]["metadata"]["name"]}
    (term,) = pod["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    labels = resources["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert term["labelSelector"]["matchLabels"] == labels
    assert resources["Deployment"]["spec"]["selector"]["matchLabels"] == labels


def test_the_images_have_the_version_of_the_project(resources):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    pod, _ = pods_of(resources)

    assert {each["image"] for each in containers_of(pod)} == {
        f"kafka-planner:{version}"
    }
    assert f"kafka-planner:{version}" in (FOLDER / "Containerfile").read_text()
    workflow = (GITOPS / "kafka-plan.yml").read_text()
    assert f"'kafka-planner[report]=={version}'" in workflow


def test_the_container_has_what_the_build_needs_and_is_not_root():
    text = (FOLDER / "Containerfile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = {
        word.rstrip("/")
        for line in re.findall(r"^COPY (?!--)(.*)$", text, re.MULTILINE)
        for word in line.split()[:-1]
    }

    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        "pyproject.toml", "constraints.txt", "hatch_build.py",
        project["project"]["readme"], *project["project"]["license-files"],
        *wheel["packages"],
    }  # fmt: skip
    assert copied == needed
    assert all((ROOT / name).exists() for name in copied)
    (user,) = re.findall(r"^USER (\d+):\d+$", text, re.MULTILINE)
    assert int(user) > 0
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)
    assert json.loads(entry) == ["kafka-planner"]


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load((GITOPS / "kafka-plan.yml").read_text(encoding="utf-8"))


def test_the_workflow_plans_on_change_with_few_permissions(workflow):
    # YAML 1.1 reads the key `on` as true.
    assert workflow[True]["pull_request"]["paths"] == ["planner.toml"]
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["defaults"]["run"]["shell"] == "bash"


def test_the_commands_of_the_workflow_are_ours(workflow):
    scripts = [step.get("run", "") for step in workflow["jobs"]["plan"]["steps"]]

    ours = re.compile(r"^kafka-planner (.*?)(?: \|.*)?$", re.MULTILINE)
    found = ours.findall("\n".join(scripts))
    assert len(found) == 5
    for line in found:
        parsed(shlex.split(line))


@pytest.mark.slow
@pytest.mark.parametrize("is_over", [False, True], ids=["merged", "refused"])
def test_the_steps_plan_check_and_keep_their_files(workflow, is_over, tmp_path):
    """The steps on the bundled cluster; a threshold that no plan can keep ends them."""
    shutil.copy(GITOPS / "planner.toml", tmp_path)
    shutil.copy(SNAPSHOT_FILE, tmp_path / "now.json.gz")
    if is_over:
        rules = tmp_path / "planner.toml"
        rules.write_text(rules.read_text().replace("disk = 0.75", "disk = 0.30"))
    summary = tmp_path / "summary.txt"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    codes = {}
    for step in workflow["jobs"]["plan"]["steps"]:
        script = step.get("run")
        is_done_here = script and "pip install" not in script
        if not is_done_here or "snapshot live" in script:
            continue
        if any(codes.values()) and step.get("if") != "always()":
            continue
        # As the host runs a step whose shell is bash.
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            check=False, cwd=tmp_path, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        codes[step["name"]] = done.returncode

    assert bool(any(codes.values())) == is_over, codes
    shown = re.findall(r"^### (\w+)$", summary.read_text(), re.MULTILINE)
    upload = workflow["jobs"]["plan"]["steps"][-1]
    assert upload["uses"].startswith("actions/upload-artifact@")
    assert upload["if"] == "always()"
    assert "plan/" in upload["with"]["path"].split()
    for name in ("reassignment.json", "report.html"):
        assert (tmp_path / "plan" / name).exists()
    if is_over:
        assert codes["Plan"] == 4
        assert shown == ["score", "plan"]
    else:
        assert shown == ["score", "plan", "check", "apply"]

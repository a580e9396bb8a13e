import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import requires, version
from pathlib import Path

import pytest

from planner.version import COMMIT_FILE, read_commit

PACKAGES = ("assignment", "placement", "planner")
COMMIT = f"planner/{COMMIT_FILE}"
EXTRAS = {
    "pyspark": "pyspark",
    "pandas": "pandas",
    "altair": "altair",
    "vl-convert-python": "vl_convert",
    "jinja2": "jinja2",
    "starlette": "starlette",
    "uvicorn": "uvicorn",
}
"""Module of each distribution that extras ask for."""
# OR-Tools brings pandas along, which nothing of the base install imports.
ABSENT = {*EXTRAS.values(), "pytest"} - {"pandas"}


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_only_the_three_packages_are_in_the_wheel(names):
    tops = {name.split("/")[0] for name in names}

    assert tops == {*PACKAGES, f"kafka_planner-{version('kafka-planner')}.dist-info"}


def test_every_module_of_the_checkout_is_in_the_wheel(names, tracked_files, root):
    modules = {
        path.relative_to(root).as_posix()
        for path in tracked_files
        if path.relative_to(root).parts[0] in PACKAGES
    }

    built = {name for name in names if name.split("/")[0] in PACKAGES}
    assert modules == built - {COMMIT}


@pytest.mark.parametrize(
    "name",
    [
        "placement/py.typed",
        "assignment/py.typed",
        "planner/py.typed",
        "planner/demo/snapshot.json.gz",
    ],
)
def test_data_is_in_the_wheel(names, name):
    assert name in names


def test_licence_is_in_the_wheel(names):
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_base_install_asks_for_no_jvm_part_and_no_plots():
    base = [r for r in requires("kafka-planner") or [] if "extra ==" not in r]

    assert base
    for heavy in EXTRAS:
        assert not [line for line in base if line.startswith(heavy)]


def test_the_extras_are_all_that_is_not_in_the_base_install():
    asked = [line for line in requires("kafka-planner") or [] if "extra ==" in line]
    names = {re.split(r"[^A-Za-z0-9-]", line)[0].lower() for line in asked}

    assert names - {"kafka-planner"} == EXTRAS.keys()


@pytest.mark.skipif(
    os.environ.get("KAFKA_PLANNER_EXPECT_INSTALLED") != "1",
    reason="only `make test` installs the wheel",
)
@pytest.mark.parametrize("package", PACKAGES)
def test_packages_under_test_are_the_installed_ones(package):
    found = Path(__import__(package).__file__)

    assert "site-packages" in found.parts


@pytest.mark.slow
def test_base_install_alone_runs_the_command(wheel, root, tmp_path):
    environment = tmp_path / "venv"
    make = [sys.executable, "-m", "venv", "--without-pip", environment]
    subprocess.run(make, check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    install = [*pip, "install", "--quiet", "--no-compile"]
    settings = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(
        [*install, "--constraint", root / "constraints.txt", wheel],
        check=True,
        env={**os.environ, **settings},
    )

    told = subprocess.run(
        [environment / "bin" / "kafka-planner", "--version"],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    imported = subprocess.run(
        [
            python,
            "-c",
            "from importlib.util import find_spec as f; "
            "import placement, assignment, planner; "
            f"print([n for n in {sorted(ABSENT)} if f(n)])",
        ],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    known = read_commit(root)
    said = f" (commit {known})" if known else ""
    assert told.stdout == f"kafka-planner {version('kafka-planner')}{said}\n"
    assert imported.stdout == "[]\n"

"""What make promises before and after it has set anything up."""

import os
import re
import shutil
import subprocess

import pytest


def run(command, cwd, **environment):
    return subprocess.run(
        command,
        check=False,
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.fixture
def path_with_no_tools(tmp_path):
    """Return a PATH that has the system's own tools, but no Python, Java or Maven."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("bash", "sed", "head", "env"):
        (folder / tool).symlink_to(shutil.which(tool))
    return str(folder)


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        pytest.param(["python"], ["Python 3.11 or newer"], id="demo"),
        pytest.param(
            ["python", "java", "mvn"],
            ["Python 3.11 or newer", "Java 17 or newer", "Maven"],
            id="test",
        ),
        pytest.param(["chromium"], ["Chromium"], id="browser"),
    ],
)
def test_missing_prerequisites_are_one_line_each(
    root, path_with_no_tools, wanted, missing
):
    done = run([root / ".ci/prerequisites", *wanted], root, PATH=path_with_no_tools)

    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == len(missing)
    for line, name in zip(lines, missing, strict=True):
        assert line.startswith(f"missing: {name}")


@pytest.mark.parametrize(
    ("printed", "is_enough"),
    [
        pytest.param('openjdk version "11.0.2" 2019-01-15', False, id="11"),
        pytest.param('java version "1.8.0_292"', False, id="8"),
        pytest.param('openjdk version "17.0.15" 2025-04-15', True, id="17"),
        pytest.param('openjdk version "21" 2023-09-19', True, id="21"),
    ],
)
def test_java_must_be_17_or_newer(
    root, tmp_path, path_with_no_tools, printed, is_enough
):
    java = tmp_path / "bin" / "java"
    java.write_text(f"#!{shutil.which('bash')}\necho '{printed}' >&2\n")
    java.chmod(0o755)

    done = run([root / ".ci/prerequisites", "java"], root, PATH=path_with_no_tools)

    assert done.returncode == (0 if is_enough else 1)
    assert bool(done.stderr) is not is_enough


def test_a_python_that_is_named_but_too_old_or_absent_is_missing(root):
    done = run([root / ".ci/prerequisites", "python"], root, PYTHON="no-such-python")

    assert done.returncode == 1
    assert done.stderr.startswith("missing: Python 3.11 or newer")


def test_help_names_every_target_for_people(root):
    done = run(["make", "-s"], root)

    told = set(re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE))
    assert told == {
        *(
            "help",
            "demo",
            "test",
            "quick",
            "lint",
            "docs",
            "dist",
            "bench",
            "bench-live",
            "bench-smoke",
            "coverage",
            "fuzz",
            "fuzz-solved",
            "golden",
            "soak",
            "clean",
        )
    }


def test_continuous_integration_runs_make_test(root):
    script = root / ".ci" / "run"

    assert os.access(script, os.X_OK)
    assert script.read_text().splitlines()[-1] == "exec make test"


def fake_python(path, calls):
    """Write a Python that notes what it is asked to do, and does nothing."""
    path.write_text(f'#!{shutil.which("bash")}\necho "$*" >>"{calls}"\n')
    path.chmod(0o755)


def test_an_environment_in_place_is_not_set_up_again(root, tmp_path):
    checkout = tmp_path / "a checkout"
    shutil.copytree(root / ".ci", checkout / ".ci")
    for name in ("pyproject.toml", "constraints.txt", "Makefile"):
        shutil.copy(root / name, checkout / name)
    calls = tmp_path / "calls"
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    fake_python(python, calls)
    (checkout / ".venv" / ".made-for").write_text(f"{checkout} \n")

    def installs():
        before = calls.read_text().count("pip install") if calls.exists() else 0
        done = run([checkout / ".ci/set-up", "base"], checkout, PYTHON="")
        assert done.returncode == 0, done.stderr
        return calls.read_text().count("pip install") - before

    assert installs() == 3
    assert installs() == 0

    with (checkout / "constraints.txt").open("a") as pins:
        pins.write("another==1.0\n")
    assert installs() == 3
    assert installs() == 0

    # What `make test` leaves: the wheel in place of the checkout.
    (checkout / ".venv" / ".is-editable").unlink()
    assert installs() == 1


@pytest.mark.parametrize("unpinned", ["", "1"])
def test_versions_are_pinned_unless_asked_otherwise(root, tmp_path, unpinned):
    checkout, calls, python = tmp_path / "c", tmp_path / "calls", tmp_path / "python"
    shutil.copytree(root / ".ci", checkout / ".ci")
    for name in ("pyproject.toml", "constraints.txt", "Makefile"):
        shutil.copy(root / name, checkout / name)
    own = checkout / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    fake_python(own, calls)
    (checkout / ".venv" / ".made-for").write_text(f"{checkout} {python}\n")

    run(
        [checkout / ".ci/set-up", "dev"],
        checkout,
        PYTHON=str(python),
        UNPINNED=unpinned,
    )

    installs = [line for line in calls.read_text().splitlines() if "install" in line]
    assert len(installs) == 3
    assert all(("--constraint" in line) is not bool(unpinned) for line in installs)
    assert all(("eager" in line) is bool(unpinned) for line in installs)


@pytest.mark.parametrize(
    "made_for",
    [
        pytest.param("/another/place {python}", id="moved"),
        pytest.param("{checkout} ", id="for-another-python"),
        pytest.param("{checkout} {python}", id="its-python-is-gone"),
        pytest.param(None, id="half-made"),
    ],
)
def test_an_environment_of_no_use_is_made_anew(root, tmp_path, made_for):
    checkout, calls, other = tmp_path / "c", tmp_path / "calls", tmp_path / "python"
    shutil.copytree(root / ".ci", checkout / ".ci")
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "old").touch()
    if made_for is not None:
        text = made_for.format(checkout=checkout, python=other)
        (checkout / ".venv" / ".made-for").write_text(f"{text}\n")
    fake_python(other, calls)

    run([checkout / ".ci/set-up", "base"], checkout, PYTHON=str(other))

    assert "-m venv .venv" in calls.read_text()
    assert not (checkout / ".venv" / "old").exists()

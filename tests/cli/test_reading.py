"""How snapshots are read for a command, and what is loaded for it."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from planner.cli.common.snapshot_reading import _without, load_search_for


def test_a_thread_does_without_a_package_that_others_find():
    name = "fractions"
    sys.modules.pop(name, None)

    with _without(name), ThreadPoolExecutor(1) as other:
        with pytest.raises(ImportError):
            __import__(name)
        found = other.submit(__import__, name).result()

    assert found.__name__ == name


@pytest.mark.not_quick
@pytest.mark.parametrize(
    ("settings", "found"),
    [
        pytest.param("", "False True", id="alone"),
        # That is numba's, and it takes YAML to read it.
        pytest.param(".numba_config.yaml", "True True", id="with-settings"),
    ],
)
def test_kernels_are_loaded_without_what_they_do_not_need(settings, found, tmp_path):
    large = tmp_path / "snapshot.json"
    large.write_bytes(bytes(3_000_000))
    if settings:
        (tmp_path / settings).write_text("disable_jit: 0\n")
    code = f"""
import sys, threading
from pathlib import Path
from planner.cli.common.snapshot_reading import load_search_for
load_search_for(Path({str(large)!r}))
for thread in threading.enumerate():
    if thread.name == "load-ahead":
        thread.join()
print("yaml" in sys.modules, "numba" in sys.modules)
"""
    # Counting lines would load what is not to be loaded.
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin"},
    )

    assert (done.stdout.strip(), done.stderr) == (found, "")


def test_a_file_that_is_not_there_is_left_to_who_reads_it(tmp_path):
    load_search_for(tmp_path / "nothing.json")

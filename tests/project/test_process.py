"""How a command ends."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("loads", "said"),
    [
        pytest.param("", "said\n", id="at-once"),
        # Spark's session ends by what it left to be done at the end.
        pytest.param(
            "sys.modules['pyspark'] = sys; ", "said\nat the end\n", id="spark"
        ),
    ],
)
def test_a_command_leaves_at_once_and_loses_nothing(loads, said):
    code = (
        f"import atexit, sys; {loads}from planner.process import leave; "
        "atexit.register(print, 'at the end'); print('said'); leave(3)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )

    assert (done.returncode, done.stdout, done.stderr) == (3, said, "")

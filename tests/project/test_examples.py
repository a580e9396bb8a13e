"""Each example prints what its docstring says."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("example", [pytest.param(e, id=e.stem) for e in EXAMPLES])
def test_example_prints_what_it_says(example, tmp_path):
    source = example.read_text()
    told = (ast.get_docstring(ast.parse(source)) or "").partition("Prints::\n\n")[2]

    done = subprocess.run(
        [sys.executable, example],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == textwrap.dedent(told) + "\n"
    assert len(source.splitlines()) <= 60


def test_there_are_examples():
    assert EXAMPLES

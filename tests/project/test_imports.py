import subprocess
import sys
from pathlib import Path

import pytest


def run_python(code, cwd):
    return subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=cwd,
        capture_output=True,
        text=True,
    )


def test_packages_import_without_heavy_libraries(tmp_path):
    code = (
        "import sys, placement, assignment, planner, planner.cli.main; "
        "heavy = {'numba', 'ortools', 'highspy', 'pulp', 'polars', 'kafka', 'pyspark',"
        "'altair', 'vl_convert', 'jinja2', 'starlette', 'uvicorn', 'pandas'};"
        "print(sorted(heavy & set(sys.modules)))"
    )

    done = run_python(code, tmp_path)

    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_plans_that_move_replicas_import_nothing_of_new_partitions(tmp_path):
    code = (
        "import sys, planner.plan.run.make_plan, planner.plan.screen.plan_screen; "
        "others = {'assignment', 'placement.placers', 'pydantic', 'numpy.random',"
        "'placement.planning.new_partitions'};"
        "print(sorted(others & set(sys.modules)))"
    )

    done = run_python(code, tmp_path)

    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    "imports",
    [
        pytest.param("import highspy, ortools.graph.python.min_cost_flow", id="highs"),
        pytest.param(
            "import ortools.graph.python.min_cost_flow, highspy", id="ortools"
        ),
    ],
)
def test_both_solvers_work_in_one_process(imports, tmp_path):
    code = f"""{imports}
h = highspy.Highs()
h.setOptionValue("output_flag", False)
x = h.addVariable(lb=0, ub=4)
h.maximize(x)
flow = ortools.graph.python.min_cost_flow.SimpleMinCostFlow()
arc = flow.add_arc_with_capacity_and_unit_cost(0, 1, 5, 2)
flow.set_node_supply(0, 3)
flow.set_node_supply(1, -3)
assert flow.solve() == flow.OPTIMAL
print(h.getObjectiveValue(), flow.optimal_cost())
"""

    done = run_python(code, tmp_path)

    assert done.stdout == "4.0 6\n", done.stderr


@pytest.mark.not_quick
def test_imports_go_one_way(root):
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        check=False,
        cwd=root,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout

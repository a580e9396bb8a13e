"""The exact models behind an answer and its proof."""

from dataclasses import replace

from placement.core import milp
from placement.core.effort import NORMAL
from placement.core.solve import solve
from placement.operations import Rebalance
from placement.planning import build_problem, plan
from placement.rules.draft import Settings
from planner.snapshot import Snapshot
from support.plans import skewed_document


def test_no_model_is_solved_twice(monkeypatch):
    document = skewed_document(num_brokers=6, num_partitions=23)
    state = Snapshot.from_document(document).to_state()
    placed = plan(state, Rebalance(), Settings(effort="quick"))
    problem = build_problem(placed.draft, placed.targets, placed.balanced)
    asked, plainly = [], milp.solve_model

    def counted(problem, bands, objective, max_nodes):
        asked.append((objective, bands.lower.tobytes(), bands.upper.tobytes()))
        return plainly(problem, bands, objective, max_nodes)

    monkeypatch.setattr(milp, "solve_model", counted)
    solution = solve(problem, effort=replace(NORMAL, milp_nodes=20))

    assert solution.certificate.cost.proof.kind == "milp-dual"
    assert len(set(asked)) == len(asked) > 0

"""Budget of a search, in steps and never in seconds."""

from dataclasses import dataclass, replace

from placement.core.model.solution import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """
    Budget of a search.

    Parameters
    ----------
    steps_per_item
        Number of balancing steps per item.
    pair_scan
        Number of items of a bin examined for pairs of moves.
    starts
        Number of searches of a small problem, each with another price of a move, until
        all loads are in band.
    rounds
        Number of ruin-and-recreate rounds.
    more_rounds
        Largest number of these rounds while they pay; `most_rounds` lowers it by the
        size of the problem.
    least_pay
        Share of the cost (0-1) that a block of rounds must save to continue, where
        moves have no price.
    slack
        Largest increase of the cost that a ruin round may cause at first, in multiples
        of the gap to the bound per moved item; it falls to 0 over the rounds. 0: only
        improvements are kept.
    gap
        Relative gap to the proven bound (0-1) above which more work is spent.
    milp_cells
        Largest number of (group, bin) pairs of an exact model.
    milp_nodes
        Node limit of branch and bound in the exact model.
    milp_looks
        Largest number of progress checks by HiGHS per model; for all models of a plan a
        third more.
    leaves
        Leaf limit of branch and bound with a witness.
    tree_cells, tree_leaves
        Largest number of (group, bin) pairs, and leaf limit, of that method where the
        problem is too large for an exact model and its gap exceeds `gap`.
    parts
        Number of sub-problems of two to four bins to solve exactly where the whole
        problem is too large.
    part_nodes
        Node limit of branch and bound for each sub-problem.
    flow_cells
        Largest number of pairs of bin and class of groups for which a flow is solved
        where only counts are balanced.
    proof_cells
        Largest number of such pairs for a proof of the number of moves, whatever else
        is balanced, where moves have a price.
    proves_moves
        Whether that proof is also sought where moves have no price.
    priced_cells
        Largest number of (group, bin) pairs for which prices of load are sought, which
        prove more than covers of single bins.
    relaxed_cells
        Largest number of (group, bin) pairs for prices by the linear relaxation of
        places without roles.
    near_cells
        Largest number of (group, bin) pairs for which the relaxation of the exact model
        bounds the distance, where bands are not kept.
    near_nodes
        Node limit of branch and bound for that distance.
    narrowings
        Number of attempts to bring the furthest bins nearer to their bands.
    exact_cells
        Largest number of (group, bin) pairs given to CP-SAT as a whole.
    kernel_cells
        Largest number of (group, bin) pairs for the kernel of the linear relaxation.
    exact_work
        Deterministic seconds of CP-SAT, each about two processor seconds.
    part_work, part_items
        Deterministic seconds for sub-problems of a larger problem, and their largest
        number of items.
    role_work
        Deterministic seconds for fewer role changes at the places found.
    closed
        Relative gap (0-1) at which CP-SAT, or branch and bound with a witness, ends.
    stated_gap
        Relative gap (0-1) at which branch and bound with a witness ends if a solver
        states that the answer is optimal.
    """

    steps_per_item: int
    pair_scan: int = 64
    starts: int = 4
    rounds: int
    more_rounds: int = 0
    least_pay: float = 3e-4
    slack: float = 0.0
    gap: float
    milp_cells: int
    milp_nodes: int
    milp_looks: int = 0
    leaves: int = 0
    tree_cells: int = 0
    tree_leaves: int = 0
    parts: int = 0
    part_nodes: int = 0
    flow_cells: int = 0
    proof_cells: int = 0
    proves_moves: bool = False
    priced_cells: int = 0
    relaxed_cells: int = 0
    near_cells: int = 0
    near_nodes: int = 0
    narrowings: int = 0
    exact_cells: int = 0
    kernel_cells: int = 0
    exact_work: float = 0.0
    part_work: float = 0.0
    part_items: int = 0
    role_work: float = 0.0
    closed: float = CLOSED
    stated_gap: float = CLOSED


QUICK = Effort(
    steps_per_item=2,
    pair_scan=24,
    starts=1,
    rounds=0,
    gap=0.0,
    milp_cells=0,
    milp_nodes=0,
    flow_cells=20_000,
    narrowings=2,
)
NORMAL = Effort(
    steps_per_item=6,
    rounds=200,
    more_rounds=17_000,
    slack=20.0,
    gap=0.001,
    milp_cells=240,
    milp_nodes=2000,
    milp_looks=675,
    leaves=60,
    tree_cells=400,
    tree_leaves=20,
    flow_cells=2_000_000,
    proof_cells=20_000,
    priced_cells=4_000,
    relaxed_cells=40_000,
    near_cells=15_000,
    near_nodes=1,
    narrowings=8,
    exact_cells=1_500,
    kernel_cells=5_000,
    exact_work=0.8,
    part_work=0.4,
    part_items=4_000,
    role_work=0.2,
    stated_gap=0.005,
)
THOROUGH = Effort(
    steps_per_item=20,
    rounds=10_000,
    more_rounds=130_000,
    least_pay=1e-5,
    slack=20.0,
    gap=0.0,
    milp_cells=2000,
    milp_nodes=50_000,
    milp_looks=20_000,
    leaves=100,
    parts=6,
    part_nodes=100,
    flow_cells=4_000_000,
    proof_cells=2_000_000,
    proves_moves=True,
    priced_cells=100_000,
    relaxed_cells=200_000,
    near_cells=50_000,
    near_nodes=50,
    narrowings=16,
    exact_cells=20_000,
    kernel_cells=10_000,
    exact_work=4.0,
    part_work=4.0,
    part_items=100_000,
    role_work=1.0,
)
EXACT = replace(
    THOROUGH,
    leaves=600,
    exact_cells=60_000,
    kernel_cells=20_000,
    exact_work=100_000.0,
    part_work=10.0,
    role_work=10.0,
    closed=0.0,
    stated_gap=0.0,
)
"""Budget of a search that ends with a proof or at a deadline."""
EFFORTS = {"quick": QUICK, "normal": NORMAL, "thorough": THOROUGH, "exact": EXACT}
"""Budgets by option value."""

FEW_PRICED = 1500
"""Number of items up to which `more_rounds` is 0 if moves have a price."""
MORE_FREE = 600
"""Limit of `more_rounds` for few items and free moves: uncompiled, 10 ms a round."""
LARGE_PROBLEM = 100_000
"""Number of items above which a ruin round takes a millisecond and saves little."""
TURN = 1000
"""Number of ruin rounds in a block that must pay before more are made."""
LEAST_PAY = 1e-3
"""Share of the cost (0-1) that a block of rounds must save where moves have a price."""
IDLE_TURNS = 2
"""Number of consecutive blocks that may save less where moves have no price."""


def scans(price_per_move: int) -> tuple[int, ...]:
    """
    Return the numbers of items a balancing step examines, first and later.

    Where every move has a price, a wide scan finds a best fit that saves other moves.
    """
    return (512,) if price_per_move else (32, 128)


def most_rounds(effort: Effort, num_items: int, price_per_move: int) -> int:
    """
    Return the largest number of ruin rounds of a search, made while they pay.

    Exact models take over where items are few. The number does not depend on what is
    compiled, so the answer does not either.
    """
    most = effort.more_rounds
    if num_items <= FEW_PRICED:
        most = 0 if price_per_move else min(most, MORE_FREE)
    elif not price_per_move and num_items > LARGE_PROBLEM:
        most = 0
    return max(effort.rounds, most)

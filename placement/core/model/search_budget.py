"""How much work a search may do, in steps and never in seconds."""

from dataclasses import dataclass, replace

from placement.core.model.solution import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """
    How much work a search may do.

    Parameters
    ----------
    steps_per_item
        Steps of balancing, times the number of items.
    pair_scan
        Items of a bin that are looked at for pairs of moves.
    starts
        How often a small problem is searched from the start, each time with another
        price of a move, until all is in band.
    rounds
        Rounds of ruin and recreate.
    more_rounds
        The most of these as long as they pay, where that is not too long to wait (see
        `most_rounds`).
    least_pay
        Part of the cost that as many of them as are made at once must save, where moves
        have no price.
    searches
        How many times these are made, each with random numbers of its own, at once
        where there are cores; the best answer counts, the first of equal ones.
    gap
        Part of the proven bound by which an answer may be dearer before more work is
        put into it.
    milp_cells
        Largest number of (group, bin) pairs that an exact model may have.
    milp_nodes
        Nodes that the exact model's branch and bound may open.
    milp_looks
        Times that HiGHS may look whether to go on, of one model; of all models of a
        plan a third more.
    leaves
        Cases that branch and bound with a witness may tell apart.
    parts
        Sub-problems of two to four bins that are solved exactly where all of it is
        too large for that.
    part_nodes
        Nodes that branch and bound may open for each of these.
    flow_cells
        Largest number of pairs of bin and class of groups for which a flow is solved
        where counts are all that is to be balanced.
    proof_cells
        The same to prove how many moves are needed, whatever else is to be balanced,
        where moves have a price.
    proves_moves
        Whether that is proven where they have none, too.
    priced_cells
        Largest number of (group, bin) pairs for which prices of load are sought that
        prove more than the bins do one by one.
    relaxed_cells
        The same for prices by the linear relaxation of places without roles.
    near_cells
        Largest number of (group, bin) pairs for which, where bands are not kept to, the
        relaxation of the exact model says how near to them anything can come.
    near_nodes
        Nodes that branch and bound may open to come as near.
    narrowings
        How often, where bands are not kept to, the furthest bins are tried to be
        brought nearer to them.
    exact_cells
        Largest number of (group, bin) pairs that CP-SAT is given as a whole.
    exact_work
        Deterministic seconds that it may take, each about two of a processor.
    part_work, part_items
        The same for sub-problems of larger problems, of so many items at most.
    role_work
        The same for fewer role changes at the places found.
    closed
        Relative gap at which CP-SAT counts an answer as optimal.
    """

    steps_per_item: int
    pair_scan: int = 64
    starts: int = 4
    rounds: int
    more_rounds: int = 0
    least_pay: float = 3e-4
    searches: int = 1
    gap: float
    milp_cells: int
    milp_nodes: int
    milp_looks: int = 0
    leaves: int = 0
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
    exact_work: float = 0.0
    part_work: float = 0.0
    part_items: int = 0
    role_work: float = 0.0
    closed: float = CLOSED


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
    more_rounds=14_200,
    gap=0.001,
    milp_cells=240,
    milp_nodes=2000,
    milp_looks=675,
    leaves=60,
    flow_cells=2_000_000,
    proof_cells=20_000,
    priced_cells=4_000,
    relaxed_cells=40_000,
    near_cells=15_000,
    near_nodes=1,
    narrowings=8,
    exact_cells=1_500,
    exact_work=0.8,
    part_work=0.6,
    part_items=4_000,
    role_work=0.2,
)
THOROUGH = Effort(
    steps_per_item=20,
    rounds=10_000,
    more_rounds=80_000,
    least_pay=3e-5,
    searches=2,
    gap=0.0,
    milp_cells=2000,
    milp_nodes=50_000,
    milp_looks=20_000,
    leaves=600,
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
    exact_work=8.0,
    part_work=4.0,
    part_items=100_000,
    role_work=1.0,
)
EXACT = replace(
    THOROUGH,
    exact_cells=60_000,
    exact_work=100_000.0,
    part_work=10.0,
    role_work=10.0,
    closed=0.0,
)
"""Until it is proven, or until a deadline."""
EFFORTS = {"quick": QUICK, "normal": NORMAL, "thorough": THOROUGH, "exact": EXACT}
"""By the names that options have."""

FEW_PRICED = 1500
"""Up to so many items a price of moves asks for no more rounds of ruin."""
MORE_FREE = 600
"""The same of few items where moves have no price: uncompiled a round takes 10 ms."""
HALVED_ITEMS = 10_000
"""From so many items on half as many of these rounds are made at most."""
LARGE_PROBLEM = 100_000
"""From so many items on a round of ruin takes a millisecond, and saves little."""
TURN = 1000
"""Rounds of ruin that must pay before more are made."""
LEAST_PAY = 1e-3
"""Part of the cost that they must save for that where moves have a price."""
IDLE_TURNS = 2
"""So many times in a row they may save less where moves have no price."""


def scans(price_per_move: int) -> tuple[int, ...]:
    """
    Return how many items a step of balancing looks at, at first and then.

    Where every move has a price, the item that fits best saves others.
    """
    return (512,) if price_per_move else (32, 128)


def most_rounds(effort: Effort, num_items: int, price_per_move: int) -> int:
    """
    Return how many rounds of ruin a search makes at most, as long as they pay.

    Exact models take over where items are few. None of this depends on what is
    compiled, so that the answer does not either.
    """
    most = effort.more_rounds
    if num_items <= FEW_PRICED:
        most = 0 if price_per_move else min(most, MORE_FREE)
    elif not price_per_move and num_items > HALVED_ITEMS:
        most = most // 2 if num_items <= LARGE_PROBLEM else 0
    return max(effort.rounds, most)

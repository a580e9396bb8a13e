"""Stages of the search for exchanges: how many moves, and which halves of them."""

from typing import NamedTuple


class Stage(NamedTuple):
    """
    Size of the exchanges of one stage of the search.

    Parameters
    ----------
    most_moves
        Largest number of moves of one half.
    num_moves
        Number of smallest single-item moves that take part; `None`: all.
    is_near_zero
        Whether halves are pairs of halves of half as many moves whose changes nearly
        cancel out.
    is_by_rows
        Whether exchanges have one part per priced row, without limits on halves.
    work
        Least remaining work for the stage, in deterministic seconds.
    """

    most_moves: int
    num_moves: int | None = None
    is_near_zero: bool = False
    is_by_rows: bool = False
    work: float = 0.0


STAGES = (
    Stage(2),
    Stage(4, is_by_rows=True, work=0.3),
    Stage(3, 210),
    Stage(4, 60),
    Stage(4, 120, work=0.2),
    Stage(4, 350, is_near_zero=True, work=0.3),
    Stage(4, 120, work=0.2),
    Stage(4, 120, work=0.2),
)
"""Stages in order; the next one follows if a stage finds no exchange."""

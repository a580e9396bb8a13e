"""Shortfalls of the loads that rules on request limit by columns of their own."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.solution import Shortfall, Solution
from placement.draft.draft import Draft
from placement.draft.rule_tables import SoftColumn
from placement.model.reassignment import Reassignment


def overfull_columns(
    draft: Draft, lists: Reassignment, is_new: BoolArray | None = None
) -> Iterator[Shortfall]:
    """
    Yield a shortfall for each broker that lists load further beyond a limit.

    Parameters
    ----------
    draft
        Draft with the columns.
    lists
        Replica lists before and after.
    is_new
        ``(P,)`` true for partitions whose load was nowhere before; `None`: none.
    """
    after = lists.after()
    for column in draft.columns:
        if column.capacity is None:
            continue
        load = column.loads(after)
        was = column.loads(lists.before)
        if is_new is not None:
            was = column.only(~is_new).loads(after)
        over: BoolArray = (load > column.capacity) & (load > was)
        for b in np.nonzero(over)[0].tolist():
            yield Shortfall(
                what="capacity",
                have=int(column.capacity[b]),
                need=int(load[b]),
                bin=b,
                resource=column.name,
                level="broker",
            )


def with_rules_named(draft: Draft, solution: Solution) -> Solution:
    """
    Return a solution whose shortfalls of such columns name the rule and its limit.

    Parameters
    ----------
    draft
        Draft with the columns.
    solution
        Solution of its problem, whose shortfalls name columns as resources.
    """
    columns = {column.name: column for column in draft.columns}
    shortfalls = tuple(
        _named(draft, one, columns[one.resource]) if one.resource in columns else one
        for one in solution.shortfalls
    )
    return replace(solution, shortfalls=shortfalls)


def _named(draft: Draft, one: Shortfall, column: SoftColumn) -> Shortfall:
    what, state = column.what, draft.state
    text = f"brokers have room for {one.have:,} {what}, and {one.need:,} need it"
    broker = int(state.brokers.ids[one.bin])
    if one.bin >= 0 and one.group >= 0:
        name = state.name_of(one.group)
        text = f"{name} has no place on broker {broker}, which has room for "
        text += f"{one.have:,} {what}"
    elif one.bin >= 0:
        text = (
            f"broker {broker} would hold {one.need:,} {what} and may hold {one.have:,}"
        )
    rule = column.name.partition(":")[0]
    return replace(one, what=rule, resource="", message=text)

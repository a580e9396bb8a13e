"""Brokers of a plan as a table: groups before, and remaining brokers after."""

from collections.abc import Iterator, Sequence

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.model.cluster import BrokerState
from placement.model.load import RESOURCES, Resource
from placement.score import Score
from planner.plan.documents.plan_figures import COUNTS, given_capacity, over_threshold
from planner.plan.documents.scored_plan import Plan
from planner.text.format import (
    LABEL_WIDTH,
    SCREEN_WIDTH,
    bytes_text,
    ids_text,
    span_text,
)
from planner.text.table import Column, Row, table_blocks


def broker_tables(plan: Plan) -> tuple[list[str], list[str]]:
    """
    Return the lines of the brokers before and after.

    Columns are as wide as both need. Columns that do not fit follow below, with a
    heading of their own.
    """
    columns = shown_resources(plan)
    heads = [str(RESOURCES[r]) for r in columns]
    now = [
        _row(plan, f" {label}", plan.before, columns, chosen)
        for label, chosen in broker_groups(plan)
    ]
    before = [["Now", *heads], *now] if now else []
    stays = plan.placed.draft.holds
    placed = [_row(plan, "After", plan.after, columns, stays)] if stays.any() else []
    after = [["", *heads], *placed] if placed else []
    layout = [Column(least=LABEL_WIDTH, gap=0), *[Column()] * len(columns)]
    blocks = table_blocks(layout, [*before, *after], SCREEN_WIDTH)
    # The only block needs no headings of its own below those of the present.
    first = len(before) + (len(blocks) == 1)
    return (
        [line for block in blocks for line in block[: len(before)]],
        [line for block in blocks for line in block[first:]],
    )


def _row(
    plan: Plan, label: str, score: Score, columns: Sequence[int], chosen: BoolArray
) -> Row:
    return [label, *(_cell(plan, score, r, chosen) for r in columns)]


def shown_resources(plan: Plan) -> list[int]:
    """Return the resources that the screen shows: counts, then known loads."""
    chosen = dict.fromkeys(RESOURCES.index(resource) for resource in COUNTS)
    for r, resource in enumerate(RESOURCES):
        if plan.before.resources[resource].known_fraction > 0:
            chosen[r] = None
    return list(chosen)


def broker_groups(plan: Plan) -> Iterator[tuple[str, BoolArray]]:
    """Yield label and ``(B,)`` mask of old, new, leaving and absent brokers."""
    brokers, draft = plan.state.brokers, plan.placed.draft
    # A replacement broker may already hold replicas.
    is_empty = np.equal(plan.before.load[:, RESOURCES.index(Resource.REPLICAS)], 0)
    is_new = draft.is_new & brokers.is_live & ~draft.leaves
    is_new &= is_empty | np.equal(brokers.state, BrokerState.NEW)
    groups = {
        "": brokers.is_live & ~is_new & ~draft.leaves,
        "new": is_new,
        "leave": draft.leaves,
        "off": ~brokers.is_live & ~draft.leaves,
    }
    for word, chosen in groups.items():
        if chosen.any():
            yield _group_label(brokers.ids[chosen].tolist(), word), chosen


def _group_label(ids: list[int], word: str) -> str:
    """Return ids with a word, or their number if the ids are too long."""
    named = f"{ids_text(ids)} {word}".rstrip()
    if len(named) + 2 <= LABEL_WIDTH:
        return named
    return f"{len(ids)} {word or 'stay'}"


def _cell(plan: Plan, score: Score, r: int, chosen: BoolArray) -> str:
    """Return the span of a resource over brokers, in percent of known capacities."""
    resource = RESOURCES[r]
    load = score.load[chosen, r]
    if resource in COUNTS:
        return span_text(load.min(), load.max())
    given = given_capacity(plan.state, resource)[chosen]
    if not np.all(np.isfinite(given) & (given > 0)):
        return _amount(resource, load)
    text = span_text(100 * (load / given).min(), 100 * (load / given).max(), " %")
    over = over_threshold(plan, score, r) & chosen
    if over.any():
        # All chosen brokers have a capacity; others may have none, or 0.
        use = load / given * over[chosen]
        worst = plan.state.brokers.ids[chosen][int(use.argmax())]
        text += f" !b{worst}"
    return text


def _amount(resource: Resource, load: RateArray) -> str:
    if resource is Resource.CPU:
        return f"{load.max():.2g} cores max"
    rate = "" if resource is Resource.DISK else "/s"
    return f"{bytes_text(load.max(), 2)}{rate} max"

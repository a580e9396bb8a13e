"""Screen of `group what-if`: a table of the runs, then the history of each."""

from collections.abc import Iterator, Sequence

from planner.group.group_answers import UnevenTopicRecord
from planner.group.what_if.what_if_records import (
    PileRecord,
    RevokedStepRecord,
    WhatIfRecord,
    WhatIfRunRecord,
)
from planner.text.format import labelled
from planner.text.table import Column, table_lines

MAX_LINES = 12
"""Largest number of events and rebalances shown for each run."""
LABEL_WIDTH = 13
COLUMNS = (
    Column("run", least=31, most=31, gap=1),
    Column("rebal.", align="right", gap=1),
    Column("revoked", align="right", gap=1),
    Column("moved", align="right", gap=1),
    Column("max pause", align="right", gap=1),
    Column("paused", align="right", least=7, gap=1),
    Column("lag", align="right", gap=1),
)


def lines(document: WhatIfRecord) -> Iterator[str]:
    """Yield the lines of the screen, each at most 80 columns wide."""
    runs = document.runs
    group = document.group_id or "(no name)"
    yield f"Group {group}, {document.until_s:g} s played"
    yield ""
    yield from table_lines(COLUMNS, map(run_cells, runs))
    for run in runs:
        yield ""
        yield from _story(run)
    yield ""
    for note in document.notes:
        yield from labelled("Note", note, len("Note "))


def run_name(run: WhatIfRunRecord) -> str:
    """Return protocol, assignor and kind of membership of a run."""
    words = {True: ", static", False: ", dynamic", None: ""}[run.static]
    return f"{run.protocol} {run.assignor}{words}"


def run_cells(run: WhatIfRunRecord) -> list[str]:
    """Return the cells of a run in the table of the runs, as `COLUMNS` has them."""
    still, lag = run.still, run.lag
    return [
        run_name(run),
        str(run.rebalances),
        _short(run.revoked),
        _short(run.moved),
        _seconds(still.longest_s),
        _seconds(still.partition_s),
        "-" if lag is None else _short(lag.peak),
    ]


def _story(run: WhatIfRunRecord) -> Iterator[str]:
    yield f"{run_name(run)}:"
    entries = [(line.at_s, 0, line.text) for line in run.story]
    entries += [(step.started_s, 1, _step_text(step)) for step in run.steps]
    entries.sort(key=lambda each: each[:2])
    for at_s, _, text in entries[:MAX_LINES]:
        yield from labelled(f"{at_s:>9.1f} s", text, LABEL_WIDTH)
    if (rest := len(entries) - MAX_LINES) > 0:
        text = f"… and {rest} more; --format json has all"
        yield from labelled("", text, LABEL_WIDTH)
    if run.idle_members:
        idle = run.idle_members
        yield from _side_line("idle", f"{len(idle)}: {_some(idle)}")
    if run.uneven_topics:
        yield from _side_line("uneven", _uneven_text(run.uneven_topics))
    if run.still.at_end:
        count = run.still.at_end
        text = f"{count} partitions have no reader at the end"
        yield from _side_line("still", text)
    if (lag := run.lag) is not None and lag.peak:
        yield from _side_line("lag", _lag_text(lag))


def _side_line(label: str, text: str) -> list[str]:
    return labelled(label.rjust(LABEL_WIDTH - 2), text, LABEL_WIDTH)


def _uneven_text(topics: Sequence[UnevenTopicRecord]) -> str:
    texts = [
        f"{one.name}: {one.least} to {one.most} partitions per member"
        for one in topics[:3]
    ]
    rest = len(topics) - len(texts)
    return "; ".join([*texts, *([f"{rest} more topics"] if rest else [])])


def _step_text(step: RevokedStepRecord) -> str:
    revoked = sum(len(n) for topics in step.revoked.values() for n in topics.values())
    text = f"rebalance {step.number} ({step.cause})"
    text += f": {_seconds(step.ended_s - step.started_s)}"
    if revoked:
        text += f"; {revoked} revoked from {_some(list(step.revoked))}"
        if step.given_back:
            text += f", {step.given_back} given back"
    if step.moved:
        text += f"; {step.moved} moved"
    if step.findings:
        text += f"; BROKEN: {step.findings[0].message}"
    return text


def _lag_text(lag: PileRecord) -> str:
    peak = f"{_short(lag.peak)} messages at most"
    if lag.caught_up_s is None:
        return f"{peak}; {_short(lag.end)} at the end, and not caught up"
    return f"{peak}; caught up at {lag.caught_up_s:.1f} s"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 1000 else f"{_short(value)} s"


def _short(value: float) -> str:
    """Return a number with four significant digits and a unit prefix."""
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            size = 1e3 if unit == "k" else limit
            return f"{value / size:.4g}{unit}"
    return f"{value:.4g}"

"""Screen lines on log dirs within brokers."""

from collections.abc import Iterator

import numpy as np

from placement.model.cluster import UNKNOWN
from planner.plan.documents.scored_plan import Plan
from planner.text.format import bytes_text, labelled, percent_text, plural

MOST_SHOWN = 8


def log_dir_lines(plan: Plan) -> Iterator[str]:
    """Yield the moves within brokers, their bound, and the log dirs concerned."""
    dirs = plan.placed.log_dirs
    if dirs is None:
        return
    moves = plan.moves
    text = "none change"
    if moves["log_dirs"]:
        size = bytes_text(moves["log_dir_bytes"], 5, is_padded=True)
        text = f"{plural(moves['log_dirs'], 'replica')} change, {size}"
        if dirs.cost.gap is not None and dirs.cost.lower_bound > 0:
            least = bytes_text(dirs.cost.lower_bound, 5, is_padded=True)
            gap = percent_text(dirs.cost.gap)
            text += f"; proven: no plan can move under {least} (gap {gap})"
    yield from labelled(" log dirs", text)
    yield from _changed(plan)


def _changed(plan: Plan) -> Iterator[str]:
    dirs = plan.placed.log_dirs
    assert dirs is not None  # noqa: S101 - as the caller made sure
    state = plan.state
    rows = np.nonzero(dirs.before != dirs.after)[0]
    worst = rows[np.argsort(-np.abs(dirs.after - dirs.before)[rows], kind="stable")]
    for d in np.sort(worst[:MOST_SHOWN]).tolist():
        broker = int(state.brokers.ids[state.log_dirs.broker_idx[d]])
        size = int(state.log_dirs.size_bytes[d])
        sizes = (int(dirs.before[d]), int(dirs.after[d]))
        if size == UNKNOWN or size == 0:
            now, then = map(bytes_text, sizes)
        else:
            now, then = (percent_text(each / size) for each in sizes)
        text = f"{now} to {then}  {state.log_dirs.paths[d]}"
        yield from labelled(f"  b{broker}", text)
    if len(rows) > MOST_SHOWN:
        yield from labelled("", f"and {len(rows) - MOST_SHOWN} more, in plan.json")

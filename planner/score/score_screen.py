"""Screen of `score`: loads, balance, violations and hot spots."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.model.load import RESOURCES, Resource
from placement.model.targets import COUNTS
from placement.score.cluster_score import ClusterScore
from placement.score.hot_spots import HotSpot
from planner.plan.documents.plan_figures import given_capacity
from planner.score.make_score import Scored
from planner.score.partition_skew import skew_lines
from planner.score.score_verdict import (
    assumed_text,
    balance_text,
    binding_text,
    next_words,
    wrong_text,
)
from planner.status.status_lines import head_lines
from planner.status.trouble_sentences import Address, state_of
from planner.text.format import (
    LABEL_WIDTH,
    SCREEN_WIDTH,
    bytes_text,
    command_lines,
    duration_text,
    labelled,
    percent_text,
    plural,
)
from planner.text.printable import cell_width, shorten
from planner.text.table import Column, table_lines, table_width

MOST_BROKERS = 12
MOST_RACKS = 10
MOST_SPOTS = 5
MOST_DIRS = 3
BAR_WIDTH = 8
LEAST_ASKED = -2
CELL_WIDTH = 17
LABELS = Column(least=LABEL_WIDTH - 1, most=LABEL_WIDTH - 1, gap=1)
CELLS = (SCREEN_WIDTH - LABEL_WIDTH) // CELL_WIDTH
EIGHTHS = " ▏▎▍▌▋▊▉"
MARKS = "! over its threshold, + over its band, - under it"


def score_screen(scored: Scored, path: Path) -> Iterator[str]:
    """
    Yield the lines of the screen, each at most 80 columns wide.

    Parameters
    ----------
    scored
        The score.
    path
        Path of the snapshot on the command line.
    """
    score = scored.score
    yield from labelled("Cluster", _headline(scored))
    if scored.status is not None:
        yield from head_lines(scored.status, Address.of_snapshot(path).place)
    yield from _summary(score)
    columns = shown_resources(score)
    yield from _brokers(score, columns)
    yield from _racks(score, columns)
    yield from _log_dirs(score)
    yield from labelled("Wrong", wrong_text(score))
    yield from _hot(score)
    yield from skew_lines(score)
    yield from labelled("Balance", balance_text(score))
    yield from labelled("Binds", binding_text(scored))
    yield from labelled("Assumed", assumed_text(scored))
    for note in score.notes:
        yield from labelled("Note", note.message)
    yield from command_lines("Next", next_words(score, path))


def _headline(scored: Scored) -> str:
    state = scored.score.state
    named = sum(rack is not None for rack in state.brokers.racks)
    age = scored.data_age_s
    taken = "" if age is None else f"; taken {duration_text(age)} ago"
    return (
        f"{scored.cluster_id or 'unknown'}: "
        f"{plural(state.num_brokers, 'broker')}, {plural(named, 'rack')}, "
        f"{plural(len(state.topics), 'topic')}, "
        f"{plural(state.num_partitions, 'partition')}, "
        f"{plural(len(state.replicas), 'replica')}{taken}"
    )


def shown_resources(score: ClusterScore) -> list[int]:
    """Return the rows of the resources with any known load."""
    return [
        r
        for r, resource in enumerate(RESOURCES)
        if score.placed.resources[resource].known_fraction > 0
    ]


def is_share(score: ClusterScore, r: int) -> bool:
    """Return whether uses of a resource are fractions of given capacities."""
    if RESOURCES[r] in COUNTS:
        return False
    member = score.measured.shares.members.of(r)
    given = given_capacity(score.state, RESOURCES[r])[member]
    return bool(len(given)) and bool(np.all(np.isfinite(given) & (given > 0)))


def amount_text(r: int, value: float) -> str:
    """Return an amount of a resource with its unit."""
    resource = RESOURCES[r]
    if resource in COUNTS:
        return f"{value:,.0f}"
    if resource is Resource.CPU:
        return f"{value:.3g} cores"
    return bytes_text(value) + ("" if resource is Resource.DISK else "/s")


def _use_text(score: ClusterScore, r: int, use: float) -> str:
    return f"{100 * use:.0f} %" if is_share(score, r) else amount_text(r, use)


def _summary(score: ClusterScore) -> Iterator[str]:
    """Yield a line per resource: total, mean, largest with its broker, balance."""
    shown = shown_resources(score)
    head = ("total", "mean", "most", "max/mean", "cv", "gini", "out of band")
    columns = [LABELS, *map(Column, head)]
    rows = [[str(RESOURCES[r]), *_figures(score, r)] for r in shown]
    while table_width(columns, rows) > SCREEN_WIDTH:
        # The longest amounts leave no room for every measure of balance.
        del columns[LEAST_ASKED]
        for row in rows:
            del row[LEAST_ASKED]
    yield from table_lines(columns, rows)


def _figures(score: ClusterScore, r: int) -> tuple[str, ...]:
    figures = score.placed.resources[RESOURCES[r]]
    member = score.measured.shares.members.of(r)
    return (
        amount_text(r, figures.total),
        _use_text(score, r, figures.mean_use) if not _is_count(r) else "",
        _most(score, r, member),
        f"{figures.max_over_mean:.2f}",
        f"{figures.cv:.2f}",
        f"{figures.gini:.2f}",
        f"{figures.brokers_out_of_band} of {int(member.sum())}",
    )


def _is_count(r: int) -> bool:
    return RESOURCES[r] in COUNTS


def _most(score: ClusterScore, r: int, member: BoolArray) -> str:
    """Return the largest use, or the largest count, with its broker."""
    if not member.any():
        return ""
    values = score.placed.load[:, r] if _is_count(r) else broker_use(score, r)
    broker = int(np.where(member, values, -1.0).argmax())
    text = (
        amount_text(r, values[broker])
        if _is_count(r)
        else _use_text(score, r, values[broker])
    )
    return f"{text} b{score.state.brokers.ids[broker]}"


def broker_use(score: ClusterScore, r: int) -> RateArray:
    """Return ``(B,)`` ratio of load to capacity; 0 where a broker has no capacity."""
    capacity = score.placed.capacity[:, r]
    has = capacity > 0
    use: RateArray = np.where(
        has, score.placed.load[:, r] / np.where(has, capacity, 1.0), 0.0
    )
    return use


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of a table: a bar, a text and a mark."""

    fraction: float
    text: str
    mark: str = ""

    def __str__(self) -> str:
        text = f"{self.text}{' ' if self.mark else ''}{self.mark}"
        return f"{bar(self.fraction)} {text}"


def bar(fraction: float, width: int = BAR_WIDTH) -> str:
    """
    Return a bar of a fixed width, full at 1.

    Examples
    --------
    >>> bar(0.5, 4)
    '██  '
    """
    eighths = round(min(max(fraction, 0.0), 1.0) * width * 8)
    full, part = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[part] if part else "")).ljust(width)


def _brokers(score: ClusterScore, columns: Sequence[int]) -> Iterator[str]:
    """Yield a table of the brokers furthest from their shares, with bars."""
    chosen, count = _furthest(score), int(score.state.brokers.is_live.sum())
    labels = [_broker_label(score, b) for b in chosen]
    cells = [[_broker_cell(score, b, r) for r in columns] for b in chosen]
    if chosen:
        yield from _table("Brokers", columns, labels, cells)
    yield from _down(score, is_first=not chosen)
    if count > len(chosen):
        yield from labelled(
            "", f"those furthest from their share, of {count}; --format json has all"
        )
    if any(cell.mark for row in cells for cell in row):
        yield from labelled("", MARKS)


def _down(score: ClusterScore, *, is_first: bool) -> Iterator[str]:
    """Yield a row for each broker that is not live: its state and its replicas."""
    state, brokers = score.state, score.state.brokers
    rows = np.nonzero(~brokers.is_live)[0].tolist()
    held = np.bincount(state.replicas.broker_idx, minlength=len(brokers))
    if rows and is_first:
        yield "Brokers"
    texts = [
        f"{state_of(brokers, b)}: {plural(int(held[b]), 'replica')} offline"
        for b in rows[:MOST_BROKERS]
    ]
    labels = [_broker_label(score, b) for b in rows[:MOST_BROKERS]]
    yield from table_lines([LABELS, Column()], zip(labels, texts, strict=True))
    if len(rows) > MOST_BROKERS:
        yield from labelled("", f"and {len(rows) - MOST_BROKERS} more not live")


def _broker_label(score: ClusterScore, b: int) -> str:
    brokers = score.state.brokers
    broker, rack = f" {brokers.ids[b]}", brokers.racks[brokers.rack_idx[b]] or ""
    if len(broker) + 1 + cell_width(rack) < LABEL_WIDTH:
        return f"{broker} {rack}"
    # A cut rack is still of use, a cut id names other brokers too.
    kept = LABEL_WIDTH - len(broker) - 2
    return f"{broker} {shorten(rack, kept)}" if kept > 1 else broker[-LABEL_WIDTH + 1 :]


def _furthest(score: ClusterScore) -> list[int]:
    live = np.nonzero(score.state.brokers.is_live)[0]
    off = np.abs(score.placed.deviation).max(axis=1, initial=0.0)
    off = off + 1e6 * score.measured.is_over.any(axis=1)
    first = live[np.argsort(-off[live], kind="stable")][:MOST_BROKERS]
    return sorted(first.tolist())


def _broker_cell(score: ClusterScore, b: int, r: int) -> _Cell:
    if not score.measured.shares.members.of(r)[b]:
        return _Cell(0.0, "-")
    use, load = float(broker_use(score, r)[b]), float(score.placed.load[b, r])
    text = _use_text(score, r, use) if is_share(score, r) else amount_text(r, load)
    return _Cell(_filled(score, r, use), text, _mark(score, b, r))


def _filled(score: ClusterScore, r: int, use: float) -> float:
    """Return the filled fraction of a bar: of the capacity, or of the largest use."""
    whole = 1.0 if is_share(score, r) else score.placed.resources[RESOURCES[r]].max_use
    return use / whole if whole > 0 else 0.0


def _mark(score: ClusterScore, b: int, r: int) -> str:
    if score.measured.is_over[b, r]:
        return "!"
    if not score.placed.is_out[b, r]:
        return ""
    return "+" if score.placed.deviation[b, r] > 0 else "-"


def _table(
    head: str,
    columns: Sequence[int],
    labels: Sequence[str],
    cells: Sequence[Sequence[_Cell]],
) -> Iterator[str]:
    """Yield a table in blocks of columns that fit into the width of the screen."""
    # Blocks have equal widths: five columns become three and two, not four and one.
    num_blocks = -(-len(columns) // CELLS)
    width = -(-len(columns) // max(num_blocks, 1))
    for first in range(0, len(columns), max(width, 1)):
        block = slice(first, first + width)
        names = [str(RESOURCES[r]) for r in columns[block]]
        layout = [LABELS, *[Column(least=CELL_WIDTH, gap=0)] * len(names)]
        rows = [
            [label, *map(str, row[block])]
            for label, row in zip(labels, cells, strict=True)
        ]
        yield from table_lines(layout, [["" if first else head, *names], *rows])


def _racks(score: ClusterScore, columns: Sequence[int]) -> Iterator[str]:
    """Yield a table of the racks with a name."""
    names = score.state.brokers.racks
    chosen = [k for k, name in enumerate(names) if name is not None][:MOST_RACKS]
    if len(chosen) < 2:
        return
    level = score.racks.level
    most = level.use.max(axis=0, initial=0.0)
    cells = [
        [
            _Cell(
                float(level.use[k, r])
                if is_share(score, r)
                else float(level.use[k, r] / most[r] if most[r] > 0 else 0.0),
                _use_text(score, r, float(level.use[k, r]))
                if is_share(score, r)
                else amount_text(r, float(level.load[k, r])),
            )
            for r in columns
        ]
        for k in chosen
    ]
    yield from _table("Racks", columns, [f" {names[k]}" for k in chosen], cells)


def _log_dirs(score: ClusterScore) -> Iterator[str]:
    """Yield a line on the fullest log dirs whose sizes are known."""
    dirs = score.state.log_dirs
    use = np.where(dirs.size_bytes > 0, score.log_dirs.use[:, 0], 0.0)
    fullest = [
        d for d in np.argsort(-use, kind="stable")[:MOST_DIRS].tolist() if use[d] > 0
    ]
    if fullest:
        ids = score.state.brokers.ids[dirs.broker_idx]
        texts = [f"b{ids[d]}:{dirs.paths[d]} {100 * use[d]:.0f} %" for d in fullest]
        yield from labelled("Log dirs", f"fullest: {', '.join(texts)}")


def _hot(score: ClusterScore) -> Iterator[str]:
    for spot in score.hot_spots[:MOST_SPOTS]:
        yield from labelled("Hot", hot_text(score, spot))
    rest = score.num_hot_spots - MOST_SPOTS
    if rest > 0:
        yield from labelled("", f"and {rest} more")


def hot_text(score: ClusterScore, spot: HotSpot) -> str:
    """Return a hot spot as text."""
    state, r = score.state, RESOURCES.index(spot.resource)
    what = "threshold" if spot.is_over_threshold else "band"
    topics = ", ".join(
        f"{state.topics.names[topic.topic_idx]} {percent_text(topic.fraction)}"
        for topic in spot.topics
    )
    cooled = ", ".join(
        f"{state.name_of(hot.partition_idx)} ({amount_text(r, hot.load)})"
        for hot in spot.partitions[:3]
    )
    made = f"; most of it {topics}" if topics else ""
    cools = f"; moving {cooled} would cool it most" if cooled else ""
    leaders = (
        f"; {plural(len(spot.leader_moves), 'leader')} handed on would do, no copies"
        if spot.would_leaders_do
        else ""
    )
    return (
        f"broker {state.brokers.ids[spot.broker_idx]}: {amount_text(r, spot.load)} of "
        f"{spot.resource}, {amount_text(r, spot.excess)} too much (over its {what})"
        f"{made}{cools}{leaders}"
    )

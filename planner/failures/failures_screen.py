"""Screen of every failure: the verdict first, then tables of the worst ones."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import numpy as np

from placement.failures.failover import LED, ON_RETURN
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_table import Failures
from placement.failures.partition_health import health_of
from placement.failures.survivor_loads import HELD_COLUMNS
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import RESOURCES, UNIT_ROW, Resource
from planner.failures.all_failures import (
    AllFailures,
    fraction_of,
    known_in_part,
    knows,
    names_of,
    notes_of,
)
from planner.failures.failure_request import FailuresOptions
from planner.failures.lost_sources import no_source_lines
from planner.snapshot.snapshot_document import Snapshot
from planner.status.status_lines import head_of
from planner.text.data_age import age_text
from planner.text.format import (
    bytes_text,
    command_lines,
    duration_text,
    labelled_lines,
    percent_text,
    plural,
    wrapped,
)
from planner.text.table import Column, table_lines

KINDS = {
    DomainKind.BROKER: "broker",
    DomainKind.RACK: "rack",
    DomainKind.LOG_DIR: "log dir",
}
VERDICT_LABELS = {DomainKind.BROKER: "N-1 broker", DomainKind.RACK: "N-1 rack"}
"""Label of the verdict of each kind that has one on the screen."""
LOST_WIDTH = 16
COLUMNS = (
    Column(least=1, gap=0),
    Column(least=LOST_WIDTH, cut="start", is_flexible=True),
    Column("offline", align="right"),
    Column("below", align="right"),
    Column("at min", align="right"),
    Column("leaders", align="right"),
    Column("out", align="right", gap=1),
    Column("disk", align="right", gap=1),
    Column("rebuild", align="right"),
)
ANSWERS = {True: "yes", False: "no", None: "unknown"}
WORDS = {
    "offline": "offline",
    "under_min_isr": "under min ISR",
    "at_min_isr": "at min ISR",
    "under_replicated": "under-replicated",
}


def all_failures_screen(
    every: AllFailures, path: Path, top: int, *, now: datetime
) -> Iterator[str]:
    """Yield the lines of the screen, each at most 80 columns wide."""
    yield from wrapped(headline(every.snapshot, every.state, now))
    yield from head_of(every.snapshot, every.state, path)
    yield from labelled_lines(verdict_lines(every))
    for kind, failures in every.singles.items():
        title = f"Worst {KINDS[kind]}s, of {failures.num_possible}"
        yield from _table(every, failures, title, top)
    for kind, failures in every.pairs.items():
        yield from _table(every, failures, _pairs_title(kind, failures), top)
        yield from _pairs_lines(failures)
    yield from command_lines("Next", _next_words(every, path))


def verdict_lines(every: AllFailures) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line of the screen above its tables."""
    yield "Now", counts_text(health_of(every.state).counts())
    for kind, label in VERDICT_LABELS.items():
        yield label, verdict_text(every, kind)
    yield "Quorum", _quorum_text(every)
    yield "Assumed", assumed_text(every.options)
    yield from no_source_lines(every.state)
    if texts := list(_on_return_texts(every)):
        yield "On return", f"all followers fetch again: {'; '.join(texts)}"
    for note in notes_of(every.snapshot, every.state, every.options, every.given):
        yield "Note", note


def headline(snapshot: Snapshot, state: ClusterState, now: datetime) -> str:
    """Return a line with the cluster id, the age of the data and the size."""
    named = sum(rack is not None for rack in state.brokers.racks)
    racks = plural(named, "rack") if named else "racks unknown"
    return (
        f'Snapshot "{snapshot.cluster_id or "?"}"{age_text(snapshot.taken_at, now)}: '
        f"{plural(state.num_brokers, 'broker')}, {racks}, "
        f"{plural(state.num_partitions, 'partition')}."
    )


def counts_text(counts: Mapping[str, int]) -> str:
    """Return the number of partitions in each state, as text."""
    return ", ".join(f"{counts[name]} {word}" for name, word in WORDS.items())


def verdict_text(every: AllFailures, kind: DomainKind) -> str:
    """Return the verdict for one kind as a line, with its hardest failure."""
    failures, answer = every.singles[kind], every.survives(kind)
    if answer is None:
        return f"unknown: the snapshot has no {KINDS[kind]}"
    if not len(failures):
        return "no: no broker is live"
    worst = int(failures.ranked()[0])
    name = f"{KINDS[kind]} {names_of(every.state, failures, worst)[0]}"
    if every.is_fine_beyond(kind):
        is_known = every.majority.get(kind) is not None
        yes = "yes" if is_known else "yes, if the controllers keep their majority"
        if kind is DomainKind.RACK and None in every.state.brokers.racks:
            yes += ", for the racks that are known"
        if known_in_part(every.given):
            yes += ", as far as loads are known"
        if before := list(_before_texts(every)):
            already = f"{' and '.join(before)} already, with no loss"
            yes = f"no: {already}; of the others {yes}"
        return f"{yes}; the hardest is {name}: {_load_text(every, failures, worst)}"
    hurt = list(_damage_texts(every, failures, worst))
    if not hurt:
        return "no: the controllers lose their majority"
    fails = failures.is_survived & ~failures.is_overfull
    count = int((~fails).sum())
    return f"no, for {count} of {len(failures)}; {name}: {'; '.join(hurt)}"


def _before_texts(every: AllFailures) -> Iterator[str]:
    """Yield the partitions that are offline or refuse producers before any loss."""
    for name, count in every.before.items():
        if count:
            yield f"{plural(count, 'partition')} {WORDS[name]}"


def _damage_texts(every: AllFailures, failures: Failures, row: int) -> Iterator[str]:
    for name in ("offline", "under_min_isr"):
        count = int(failures.damage[name][row])
        if count:
            yield f"{plural(count, 'partition')} {WORDS[name]}"
    if failures.peaks.num_over[row]:
        pushed = plural(int(failures.peaks.num_over[row]), "survivor")
        most = _out_text(every, failures, row)
        yield f"{pushed} pushed over a threshold by leading, out up to {most}"
    for y, r in enumerate(HELD_COLUMNS):
        if failures.even_levels[row, y] > failures.scale.most[r]:
            full = percent_text(float(failures.even_levels[row, y]))
            yield f"{RESOURCES[r]} at least {full} full when rebuilt"
    if not np.isfinite(failures.peaks.value[row]).all():
        yield "no broker is left"


def _load_text(every: AllFailures, failures: Failures, row: int) -> str:
    at_min = int(failures.damage["at_min_isr"][row])
    parts = [f"{at_min} at min ISR", f"out {_out_text(every, failures, row)}"]
    level = _disk_text(every, failures, row)
    if level != "?":
        when = " when rebuilt" if failures.rebuilt_bytes[row] else ""
        parts.append(f"disk {level}{when}")
    if failures.unplaced[row]:
        parts.append(unplaced_text(int(failures.unplaced[row])))
    return ", ".join(parts)


def unplaced_text(count: int) -> str:
    """Return the number of lost replicas that cannot be rebuilt, as text."""
    have = "has" if count == 1 else "have"
    return f"{plural(count, 'replica')} {have} no broker left to be rebuilt on"


def _on_return_texts(every: AllFailures) -> Iterator[str]:
    """Yield the largest outgoing rate on return, by kind of failure."""
    if not knows(every.given, Resource.OUT):
        return
    for kind, failures in every.singles.items():
        value = failures.peaks.value[:, ON_RETURN]
        if not np.isfinite(value).any():
            continue
        worst = int(value.argmax())
        name = names_of(every.state, failures, worst)[0]
        text = f"after {KINDS[kind]} {name} out "
        text += _out_text(every, failures, worst, ON_RETURN)
        over = int((failures.peaks.num_over_on_return > 0).sum())
        if over:
            text += f" (survivors over a threshold after {over} of {len(failures)})"
        yield text


def _out_text(
    every: AllFailures,
    failures: Failures,
    row: int,
    y: int = LED.index(Resource.OUT),
) -> str:
    """Return the busiest survivor by its outgoing rate, as text; `y` is a column."""
    if not knows(every.given, Resource.OUT):
        return "?"
    broker = int(failures.peaks.broker_idx[row, y])
    if broker == ABSENT:
        return "none"
    value = float(failures.peaks.value[row, y])
    r = RESOURCES.index(Resource.OUT)
    name = f"b{int(every.state.brokers.ids[broker])}"
    if failures.scale.is_use[r]:
        return f"{percent_text(value)} {name}"
    load = value * float(failures.scale.unit[broker, r] / UNIT_ROW[r])
    return f"{bytes_text(load, 2)}/s {name}"


def _disk_text(every: AllFailures, failures: Failures, row: int) -> str:
    is_use = failures.scale.is_use[HELD_COLUMNS[0]]
    if not is_use or not knows(every.given, Resource.DISK):
        return "?"
    level = float(failures.levels[row, 0])
    return percent_text(level) if np.isfinite(level) else "?"


def _quorum_text(every: AllFailures) -> str:
    broker = ANSWERS[every.majority[DomainKind.BROKER]]
    rack = ANSWERS[every.majority[DomainKind.RACK]]
    return f"controllers keep their majority: any broker {broker}, any rack {rack}"


def assumed_text(options: FailuresOptions) -> str:
    """Return the assumptions of the figures, as text."""
    most = ", ".join(f"{r} {percent_text(v)}" for r, v in options.thresholds.items())
    elr = "eligible leader replicas on" if options.rules.has_elr else "no ELR"
    rate = bytes_text(options.bandwidth_bytes_per_s)
    return f"at most {most}; {rate}/s per broker to rebuild; {elr}"


def _table(
    every: AllFailures, failures: Failures, title: str, top: int
) -> Iterator[str]:
    if not len(failures):
        return
    yield title
    ranked = failures.ranked()[:top].tolist()
    yield from table_lines(COLUMNS, [_cells(every, failures, row) for row in ranked])


def _cells(every: AllFailures, failures: Failures, row: int) -> list[str]:
    damage = failures.damage
    seconds = float(failures.rebuild_s[row])
    took = duration_text(seconds) if np.isfinite(seconds) else ""
    took = took if knows(every.given, Resource.DISK) else "?"
    has_left = bool(failures.unplaced[row] or damage["gone"][row])
    if has_left and not failures.rebuilt_bytes[row] and np.isfinite(seconds):
        took = "none"
    return [
        "" if failures.is_survived[row] and not failures.is_overfull[row] else "!",
        ", ".join(names_of(every.state, failures, row)),
        str(damage["offline"][row]),
        str(damage["under_min_isr"][row]),
        str(damage["at_min_isr"][row]),
        str(failures.leaders_moved[row]),
        _out_text(every, failures, row),
        _disk_text(every, failures, row),
        took,
    ]


def _pairs_title(kind: DomainKind, failures: Failures) -> str:
    title = f"Worst pairs of {KINDS[kind]}s, of {failures.num_possible:,}"
    if len(failures) == failures.num_possible:
        return title
    return f"{title}; {len(failures):,} drawn"


def _pairs_lines(failures: Failures) -> Iterator[str]:
    if not len(failures):
        return
    texts = []
    hurt = {name: failures.damage[name] > 0 for name in ("offline", "under_min_isr")}
    for name, is_so in hurt.items():
        found = fraction_of(failures, is_so)
        error = f" ± {percent_text(found.error)}" if found.error else ""
        texts.append(f"{percent_text(found.fraction)}{error} {WORDS[name]}")
    yield from wrapped(f" Pairs that take a partition there: {', '.join(texts)}.")


def _next_words(every: AllFailures, path: Path) -> list[str]:
    brokers = every.singles[DomainKind.BROKER]
    if not len(brokers):
        return ["kafka-planner", "status", str(path)]
    worst = names_of(every.state, brokers, int(brokers.ranked()[0]))[0]
    return ["kafka-planner", "failures", str(path), "--broker", worst]

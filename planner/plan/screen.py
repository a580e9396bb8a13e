"""One screen for a plan: what is, what is wrong, what is done, what is proven."""

from collections.abc import Iterator, Sequence

import numpy as np

from placement.check.checker import RULE_NAMES
from placement.cluster import BoolArray, BrokerState
from placement.load import RESOURCES, Resource
from placement.score import Score
from planner.plan.document import Plan
from planner.plan.figures import (
    DEFAULT_RATE_BYTES_PER_S,
    copy_time,
    fullest_disk,
    survive,
)
from planner.plan.make import Planned
from planner.plan.words import (
    bytes_text,
    duration_text,
    ids_text,
    percent_text,
    span_text,
)

LABEL = 11
MOST_NOTES = 6
COUNTS = (Resource.REPLICAS, Resource.LEADERS)


def plan_screen(planned: Planned) -> Iterator[str]:
    """Yield the lines of a plan's screen, each at most 80 columns wide."""
    plan = planned.plan
    yield from now_lines(plan)
    yield _line("Wrong", "; ".join(wrong(plan, plan.before)) or "nothing")
    yield from _notes(plan)
    yield from _plan_lines(plan)
    yield from _after_lines(plan)
    yield _line("Survives", _survival(plan))
    yield _line("Checked", _verdict(planned))


def _line(label: str, text: str) -> str:
    return f"{label:<{LABEL}}{text}"


def headline(plan: Plan) -> str:
    """Return what the cluster is: brokers, racks, partitions, size."""
    state = plan.state
    factors = np.unique(state.replication_factor)
    span = span_text(factors[0], factors[-1]) if len(factors) else "0"
    racks = sum(rack is not None for rack in state.brokers.racks)
    size = plan.before.load[:, 0].sum()
    return (
        f"{state.num_brokers} brokers, {racks} racks, {state.num_partitions} "
        f"partitions RF {span}, {bytes_text(size)}"
    )


def shown_resources(plan: Plan) -> list[int]:
    """Return the resources that the screen shows: counts, then what is known."""
    order = [Resource.REPLICAS, Resource.LEADERS, *RESOURCES]
    chosen = dict.fromkeys(
        RESOURCES.index(resource)
        for resource in order
        if resource in COUNTS or plan.before.resources[resource].known_fraction > 0
    )
    return list(chosen)


def now_lines(plan: Plan) -> Iterator[str]:
    """Yield the table of the brokers now: old, new and those that leave apart."""
    columns = shown_resources(plan)
    names = "".join(f"{RESOURCES[r]:<{_width(plan, r)}}" for r in columns)
    yield _line("Now", names).rstrip()
    for label, chosen in _broker_groups(plan):
        cells = [_cell(plan, plan.before, r, chosen) for r in columns]
        yield _line(f" {label}", _row(plan, columns, cells))


def _width(plan: Plan, r: int) -> int:
    return 10 if RESOURCES[r] in COUNTS else 14


def _row(plan: Plan, columns: Sequence[int], cells: Sequence[str]) -> str:
    padded = (
        f"{cell:<{_width(plan, r)}}" for r, cell in zip(columns, cells, strict=True)
    )
    return "".join(padded).rstrip()


def _broker_groups(plan: Plan) -> Iterator[tuple[str, BoolArray]]:
    brokers, draft = plan.state.brokers, plan.placed.draft
    ids = brokers.ids
    is_new = draft.is_new & brokers.is_live
    rest = brokers.is_live & ~is_new & ~draft.leaves
    off = ~brokers.is_live & ~draft.leaves
    for suffix, chosen in (
        ("", rest),
        (" new", is_new),
        (" leave", draft.leaves),
        (" off", off),
    ):
        if chosen.any():
            text = ids_text(ids[chosen].tolist())
            text = text if len(text) <= 5 else f"{int(chosen.sum())} of"
            yield f"{text}{suffix}", chosen


def _cell(plan: Plan, score: Score, r: int, chosen: BoolArray) -> str:
    """Return the span of a resource over brokers, in percent of known capacities."""
    resource = RESOURCES[r]
    load = score.load[chosen, r]
    if resource in COUNTS:
        return span_text(load.min(), load.max())
    given = _given_capacity(plan, resource)[chosen]
    if not np.all(np.isfinite(given) & (given > 0)):
        if resource is Resource.CPU:
            return f"{load.min():.2g}-{load.max():.2g}"
        suffix = "" if resource is Resource.DISK else "/s"
        return f"{bytes_text(load.max(), 2)}{suffix} max"
    use = load / given
    text = span_text(100 * use.min(), 100 * use.max(), " %")
    threshold = plan.placed.draft.settings.capacity_thresholds.get(resource)
    if threshold is not None and use.max() > threshold * (1 + 1e-9):
        worst = plan.state.brokers.ids[chosen][int(use.argmax())]
        text += f" !b{worst}"
    return text


def _given_capacity(
    plan: Plan, resource: Resource
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    brokers = plan.state.brokers
    given = {
        Resource.DISK: np.where(brokers.disk_bytes > 0, brokers.disk_bytes, np.nan),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
    }
    return given[resource]


def wrong(plan: Plan, score: Score) -> Iterator[str]:
    """Yield what a person would call wrong with a placement."""
    yield from _over_thresholds(plan, score)
    yield from _useless_brokers(plan, score)
    names = {
        "rack": "break the rack rule",
        "offline_partitions": "have no leader",
        "under_min_isr": "under min ISR",
    }
    for rule, words in names.items():
        if score.violations[rule]:
            yield f"{score.violations[rule]} partitions {words}"
    if not score.violations["rack"]:
        yield "racks ok"
    yield f"{score.violations['offline_replicas']} replicas offline"


def _over_thresholds(plan: Plan, score: Score) -> Iterator[str]:
    thresholds = plan.placed.draft.settings.capacity_thresholds
    for r, resource in enumerate(RESOURCES):
        if resource in thresholds:
            use = score.load[:, r] / _given_capacity(plan, resource)
            over = np.nan_to_num(use) > thresholds[resource] * (1 + 1e-9)
            if over.any():
                ids = ids_text(plan.state.brokers.ids[over].tolist())
                limit = percent_text(thresholds[resource])
                yield f"broker {ids} over the {limit} {resource} threshold"


def _useless_brokers(plan: Plan, score: Score) -> Iterator[str]:
    brokers = plan.state.brokers
    replicas = score.load[:, RESOURCES.index(Resource.REPLICAS)]
    empty = int((brokers.is_live & (replicas == 0)).sum())
    if empty:
        yield f"{empty} broker{'s' if empty > 1 else ''} empty"
    dead = brokers.ids[np.equal(brokers.state, BrokerState.DEAD)]
    if len(dead):
        yield f"broker {ids_text(dead.tolist())} dead"


def _notes(plan: Plan) -> Iterator[str]:
    notes = plan.placed.notes
    for note in notes[:MOST_NOTES]:
        yield _line("Note", note.message)
    if len(notes) > MOST_NOTES:
        yield _line("Note", f"and {len(notes) - MOST_NOTES} more, in plan.json")


def _plan_lines(plan: Plan) -> Iterator[str]:
    moves, proven = plan.moves, plan.placed.solution.certificate
    band = plan.placed.draft.settings
    bands = sorted({band.band(resource) for resource in plan.placed.balanced})
    width = " - ".join(percent_text(b) for b in {bands[0]: 0, bands[-1]: 0})
    yield _line("Plan", f"{plan.goal}, band {width}: {plan.status}")
    yield _line(
        " copies",
        f"{moves['replicas']} replicas, {bytes_text(moves['bytes'], 5)}; proven: no "
        "plan can move",
    )
    gap = proven.cost.gap
    gap_text = "" if gap is None else f" (gap {percent_text(gap)})"
    yield _line(
        "",
        f"under {bytes_text(proven.cost.lower_bound, 5)}{gap_text}, nor under "
        f"{int(proven.moves.lower_bound)} replicas",
    )
    yield _line(" leaders", f"{moves['leaders']} change, after all copies")
    yield from _time_line(plan)
    for shortfall in plan.placed.solution.shortfalls[:3]:
        yield _line(
            " lacks",
            f"{shortfall.what}: {shortfall.need} needed, {shortfall.have} there",
        )


def _time_line(plan: Plan) -> Iterator[str]:
    if not plan.moves["bytes"]:
        return
    time = copy_time(plan, DEFAULT_RATE_BYTES_PER_S)
    rate = bytes_text(DEFAULT_RATE_BYTES_PER_S)
    text = f"{duration_text(time.seconds)} at {rate}/s per broker"
    now = fullest_disk(plan, while_copying=False)
    peak = fullest_disk(plan, while_copying=True)
    if now is not None and peak is not None:
        text += f"; fullest disk meanwhile b{peak.broker_id} {peak.fraction:.0%}"
        if abs(peak.fraction - now.fraction) < 0.005:
            text += " (as now)"
    yield _line(" time", text)


def _after_lines(plan: Plan) -> Iterator[str]:
    columns = shown_resources(plan)
    stays = plan.placed.draft.holds
    if not stays.any():
        return
    cells = [_cell(plan, plan.after, r, stays) for r in columns]
    yield _line("After", _row(plan, columns, cells))
    out = _counted_out(plan)
    left = [
        f"{int(out[:, r].sum())} in {resource}"
        for r, resource in enumerate(RESOURCES)
        if resource in plan.placed.balanced and out[:, r].any()
    ]
    if left:
        worst = plan.placed.solution.certificate.deviation.value
        yield _line("", f"out of band: {', '.join(left)}; by {worst:.1%} at most")


def _counted_out(plan: Plan) -> BoolArray:
    """Return ``(B, R)`` what is out of band, as far as the operation minds."""
    draft, after = plan.placed.draft, plan.after
    out = after.is_out & draft.holds[:, None]
    if draft.old_may_be_low:
        out &= draft.is_new[:, None] | (after.deviation > 0)
    return out


def _survival(plan: Plan) -> str:
    after = plan.placed.reassignment.after()
    brokers = after.brokers
    alone = survive(after, np.arange(len(brokers), dtype=np.int32))
    racks = survive(after, brokers.rack_idx)
    return (
        f"any broker: {_yes(alone.most_offline)}. Any rack: {_yes(racks.most_offline)} "
        f"({racks.at_min_isr} at min ISR, {racks.most_below} below)."
    )


def _yes(offline: int) -> str:
    return "yes" if not offline else f"no, {offline} offline"


def _verdict(planned: Planned) -> str:
    caused = [finding for finding in planned.findings if not finding.existing]
    if not caused:
        return f"by separate code: {len(RULE_NAMES)} rules: ok"
    return f"by separate code: {len(caused)} findings; first: {caused[0].message}"

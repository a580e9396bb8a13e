"""Screen of one loss: the verdict, its stages, and the next command."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from placement.failures.controller_events import Loss
from placement.failures.partition_health import health_of
from placement.model.cluster import ClusterState
from placement.model.load import Resource
from planner.failures.carried_loads import binding, busiest, on_return
from planner.failures.failure_records import (
    BusiestRecord,
    FullestRecord,
    RebuildRecord,
    UncleanRecord,
)
from planner.failures.failure_scenario import (
    Scenario,
    moved_leaders,
    partitions_of,
    rebuild,
    scenario_notes,
)
from planner.failures.failures_screen import (
    ANSWERS,
    assumed_text,
    counts_text,
    headline,
    unplaced_text,
)
from planner.failures.lost_sources import no_source_lines
from planner.failures.replicas_needed import lacks_brokers, too_few_replicas
from planner.status.status_lines import head_of
from planner.text.format import (
    bytes_text,
    command_lines,
    duration_text,
    ids_text,
    labelled_lines,
    percent_text,
    plural,
    use_text,
    wrapped,
)

MOST_PARTITIONS_SHOWN = 10
MOST_TOPICS_NAMED = 5
REFUSED = {
    "offline": "offline",
    "under_min_isr": "under min ISR (acks=all refused)",
}


def scenario_screen(
    scenario: Scenario, path: Path, *, has_unclean: bool, now: datetime
) -> Iterator[str]:
    """
    Yield the lines of the screen, each at most 80 columns wide.

    Parameters
    ----------
    scenario
        The failure in stages.
    path
        Path of the snapshot on the command line.
    has_unclean
        Whether lines on unclean elections are included.
    now
        Time, with a zone, that gives the age of the data.
    """
    first, *lost = lost_lines(scenario)
    yield from wrapped(headline(scenario.snapshot, scenario.now, now))
    yield from head_of(scenario.snapshot, scenario.now, path)
    yield from wrapped(": ".join(first))
    yield from labelled_lines(lost)
    yield from _partition_lines(scenario, has_unclean=has_unclean)
    yield from labelled_lines(return_lines(scenario))
    yield from command_lines("Next", next_words(scenario, path))


def lost_lines(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line on the loss itself, the verdict first."""
    caused = scenario.caused
    what = ", ".join(map(_plural_name, scenario.options.names))
    yield f"{what.capitalize()} lost", scenario_verdict(scenario)
    yield "Now", _stage_text(scenario, "now")
    yield "Lost", _stage_text(scenario, "lost")
    moved = moved_leaders(scenario.now, scenario.lost)
    yield " leaders", f"{moved} move; {_busiest_text(scenario)}"
    if caused["gone"]:
        yield " gone", f"{caused['gone']} without any live replica"


def return_lines(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line on what follows the loss."""
    yield from no_source_lines(scenario.lost)
    yield "Rebuild", _rebuild_text(scenario)
    yield "Returned", _stage_text(scenario, "returned")
    stay = moved_leaders(scenario.now, scenario.stages["returned"])
    yield " leaders", f"{stay} stay with those that took over"
    yield " elected", _automatic_text(scenario)
    yield "On return", _on_return_text(scenario)
    majority = ANSWERS[scenario.keeps_majority]
    yield "Quorum", f"controllers keep their majority: {majority}"
    yield "Binds", _binding_text(scenario)
    how = "killed" if scenario.is_crash else "stopped in order"
    yield "Assumed", f"{assumed_text(scenario.options)}; brokers are {how}"
    for note in scenario_notes(scenario):
        yield "Note", note


def _plural_name(name: str) -> str:
    """Return the name of lost brokers, in the plural where it has several ids."""
    kind, _, ids = name.partition(" ")
    is_list = kind == "broker" and not ids.isdecimal()
    return f"brokers {ids}" if is_list else name


def _binding_text(scenario: Scenario) -> str:
    found = binding(scenario.given, scenario.lost)
    if not scenario.lost.brokers.is_live.any():
        return "no broker is left"
    if found is None:
        return "no capacity that leaders use is known"
    use = use_text(found.use, found.threshold)
    return f"{found.resource} of broker {found.broker}: {use}"


def next_words(scenario: Scenario, path: Path) -> list[str]:
    """Return the words of the command that helps most against the loss."""
    name = str(path)
    factor, topics = too_few_replicas(scenario.now, scenario.lost)
    if lacks_brokers(scenario.now, factor):
        return ["kafka-planner", "size", name, "--survive", "broker"]
    if topics:
        words = ["kafka-planner", "plan", "set-replication-factor", name]
        named = "|".join(topics[:MOST_TOPICS_NAMED])
        words += ["--replication-factor", str(factor), "--topics", named]
        return [*words, "-o", "plan"]
    if scenario.num_over:
        words = ["kafka-planner", "plan", "leaders", name]
        return [*words, "--order-followers", "-o", "plan"]
    loss = scenario.options.loss
    if scenario.is_survived and loss is not None:
        words = ["kafka-planner", "plan", "demote", name]
        return [*words, *_named_words(scenario.now, loss), "-o", "plan"]
    return ["kafka-planner", "failures", name]


def _named_words(state: ClusterState, loss: Loss) -> Iterator[str]:
    """Yield the options that name the lost brokers and log dirs."""
    dirs, rows = state.log_dirs, loss.log_dir_idx.tolist()
    if len(loss.broker_idx):
        ids = sorted(state.brokers.ids[loss.broker_idx].tolist())
        yield from ("--broker-list", ids_text(ids))
    for row in rows:
        owner = int(state.brokers.ids[dirs.broker_idx[row]])
        yield from ("--log-dirs", f"{owner}:{dirs.paths[row]}")


def scenario_verdict(scenario: Scenario) -> str:
    """Return the verdict on the loss as a line."""
    if scenario.is_survived:
        count = scenario.caused["at_min_isr"]
        return f"survived; {plural(count, 'partition')} then at min ISR."
    caused = scenario.caused
    hurt = [
        f"{plural(caused[name], 'partition')} {words}"
        for name, words in REFUSED.items()
        if caused[name]
    ]
    if scenario.num_over:
        hurt.append(f"{plural(scenario.num_over, 'survivor')} over a threshold")
    if scenario.keeps_majority is False:
        hurt.append("no majority of controllers")
    return f"not survived: {'; '.join(hurt)}."


def _stage_text(scenario: Scenario, stage: str) -> str:
    return counts_text(health_of(scenario.stages[stage]).counts())


def _busiest_text(scenario: Scenario) -> str:
    texts = []
    if not scenario.lost.brokers.is_live.any():
        return "no broker is left"
    for name, found in busiest(scenario.given, scenario.lost):
        if found is None or not found.load:
            continue
        amount = _amount_text(name, found)
        texts.append(f"{name} {amount} on broker {found.broker}")
    return f"most: {', '.join(texts)}" if texts else "loads unknown"


def _amount_text(name: str, found: BusiestRecord) -> str:
    if found.use is not None:
        return percent_text(found.use)
    if name == Resource.OUT:
        return f"{bytes_text(found.load)}/s"
    return f"{found.load:.3g}"


def _rebuild_text(scenario: Scenario) -> str:
    found = rebuild(scenario)
    text = _copies_text(scenario, found)
    if not found.unplaced_replicas:
        return text
    return f"{text}; {unplaced_text(found.unplaced_replicas)}"


def _copies_text(scenario: Scenario, found: RebuildRecord) -> str:
    if not found.replicas:
        return "nothing to copy"
    if found.bytes is None or found.seconds is None:
        return f"{plural(found.replicas, 'replica')} of unknown size"
    rate = bytes_text(scenario.options.bandwidth_bytes_per_s)
    return (
        f"{plural(found.replicas, 'replica')}, {bytes_text(found.bytes)}, at "
        f"least {duration_text(found.seconds)} at {rate}/s per broker, if nothing "
        f"comes back{_fullest_text(scenario, found.fullest)}"
    )


def _on_return_text(scenario: Scenario) -> str:
    """Return the outgoing rates once all followers fetch again, as text."""
    given = scenario.given
    found = on_return(given, scenario.now, scenario.lost)
    steady, copying = found.busiest_out, found.busiest_out_while_copying
    if steady is None:
        has_live = scenario.lost.brokers.is_live.any()
        return "loads unknown" if has_live else "only what was lost serves then"
    text = f"all followers fetch again: out {_broker_out_text(scenario, steady)}"
    if found.over_threshold:
        over = plural(found.over_threshold, "survivor")
        text += f"; {over} then over a threshold"
    rate = bytes_text(scenario.options.bandwidth_bytes_per_s)
    if copying is not None and copying != steady:
        text += (
            f"; at most {_broker_out_text(scenario, copying)} while brokers catch up "
            f"or rebuild at {rate}/s"
        )
    if found.catch_up_s_per_hour:
        took = duration_text(found.catch_up_s_per_hour)
        text += f"; catching up takes at least {took} for each hour away"
    return text


def _broker_out_text(scenario: Scenario, found: BusiestRecord) -> str:
    where = f"on broker {found.broker}"
    if found.use is None:
        return f"{bytes_text(found.load)}/s {where}"
    most = scenario.options.thresholds.get(Resource.OUT)
    use = percent_text(found.use) if most is None else use_text(found.use, most)
    return f"{use} {where}"


def _fullest_text(scenario: Scenario, fullest: FullestRecord) -> str:
    most = scenario.options.thresholds
    texts = [
        f"{name} at least {use_text(level, most[Resource(name)])}"
        for name, level in fullest.model_dump(by_alias=True).items()
        if level is not None
    ]
    return f"; then {', '.join(texts)}" if texts else ""


def _partition_lines(scenario: Scenario, *, has_unclean: bool) -> Iterator[str]:
    """Yield lines on the first partitions that are offline or under min ISR."""
    hurt = [
        one
        for one in partitions_of(scenario)
        if one.state in {"offline", "under-min-isr"}
    ]
    for one in hurt[:MOST_PARTITIONS_SHOWN]:
        name = f"{one.topic}-{one.partition}"
        text = f"{one.state}, ISR {ids_text(sorted(one.isr)) or 'empty'}"
        if one.elr:
            text += f", eligible {ids_text(sorted(one.elr))}"
        if has_unclean and one.unclean is not None:
            text += f"; unclean: {_unclean_text(one.unclean)}"
        yield from wrapped(f"  {name}: {text}")
    more = scenario.caused["under_min_isr"] - MOST_PARTITIONS_SHOWN
    if more > 0:
        yield f"  … and {more} more; --format json lists {len(hurt):,}"


def _unclean_text(found: UncleanRecord) -> str:
    if found.leader is None:
        return "no replica is live"
    least = found.lost_bytes_at_least
    lost = "what it lacks is not known" if least is None else f"{bytes_text(least)}"
    known = "" if least is None else " at least are lost"
    return f"{found.leader} would lead, {lost}{known}"


def _automatic_text(scenario: Scenario) -> str:
    if not scenario.options.is_automatic:
        return "not by itself: auto.leader.rebalance.enable is false"
    automatic = scenario.automatic
    count = int(automatic.changes.sum())
    how = (
        "brokers past leader.imbalance.per.broker.percentage"
        if automatic.has_threshold
        else "no threshold, 1,000 a pass"
    )
    passes = f", {automatic.num_passes} passes" if automatic.num_passes > 1 else ""
    return f"{count} by the next automatic election{passes} ({how})"

"""Screen of `status`: troubles, running moves, and unknown facts."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from placement.status import Leaderless, TopicTroubles
from planner.status.find_status import Status
from planner.status.min_isr_advice import min_isr_advice, min_isr_texts
from planner.status.running_moves import (
    moving_topics,
    obstacle_text,
    stuck_advice,
    stuck_groups,
)
from planner.status.status_lines import (
    LABEL,
    impossible_lines,
    moving_text,
    trouble_texts,
)
from planner.status.trouble_sentences import (
    Address,
    Advice,
    broker_advice,
    broker_text,
    leaderless_text,
    log_dir_advice,
    log_dir_text,
    no_source_text,
    quorum_text,
    rescue_text,
    throttle_value,
    unclean_command,
    unclean_text,
    unplaced_brokers,
    unplaced_text,
)
from planner.text.data_age import age_text
from planner.text.format import labelled, plural, wrapped
from planner.throttles import removals

MOST_LISTED = 10
"""Largest number of lines for one kind of trouble; the rest is counted."""
INDENT = "  "
NOTHING = {
    "wrong": "",
    "unknown": "nothing in what is known; see Unknown",
    "fine": "nothing",
}


def status_screen(status: Status, address: Address, *, now: datetime) -> Iterator[str]:
    """Yield the lines of the screen; commands are not wrapped."""
    yield from wrapped(_headline(status, now))
    yield from labelled(
        LABEL, NOTHING[status.verdict] or "; ".join(trouble_texts(status))
    )
    yield from impossible_lines(status)
    yield from _brokers(status, address)
    yield from _log_dirs(status, address)
    yield from _leaderless(status, address)
    yield from _no_source(status)
    yield from _topics(status, "Min ISR", status.troubles.under_min_isr)
    yield from _out_of_reach(status, address)
    yield from _topics(status, "Behind", status.troubles.under_replicated)
    yield from _moves(status, address)
    yield from _throttles(status, address)
    yield from labelled("Quorum", quorum_text(status))
    for unknown in status.unknown:
        yield from labelled("Unknown", unknown.message)


def _headline(status: Status, now: datetime) -> str:
    state = status.state
    return (
        f'Cluster "{status.cluster_id or "?"}"{age_text(status.taken_at, now)}: '
        f"{plural(state.num_brokers, 'broker')}, "
        f"{plural(len(state.topics), 'topic')}, "
        f"{plural(state.num_partitions, 'partition')}."
    )


def _listed(label: str, texts: Sequence[str], count: int, noun: str) -> Iterator[str]:
    """Yield a line per text below one label, and the number of those left out."""
    rest = count - len(texts)
    more = [f"and {plural(rest, f'more {noun}')}; --format json has all"]
    for number, text in enumerate([*texts, *(more if rest > 0 else ())]):
        yield from labelled("" if number else label, text)


def _advice(advice: Sequence[Advice]) -> Iterator[str]:
    for number, (text, command) in enumerate(advice, 1):
        end = ":" if command else ";" if number < len(advice) else ""
        yield from labelled("", f"{text}{end}")
        if command:
            yield from _command(command)


def _command(command: str) -> Iterator[str]:
    # Commands are not wrapped, so that they can be copied.
    yield f"{INDENT}{command}"


def _brokers(status: Status, address: Address) -> Iterator[str]:
    rows = status.troubles.broker_idx.tolist()
    if rows:
        texts = [broker_text(status, b) for b in rows[:MOST_LISTED]]
        yield from _listed("Brokers", texts, len(rows), "broker")
        yield from _advice(broker_advice(status, address))


def _log_dirs(status: Status, address: Address) -> Iterator[str]:
    texts = [log_dir_text(status, d) for d in status.troubles.log_dir_idx.tolist()]
    texts += [unplaced_text(status, b) for b in unplaced_brokers(status)]
    if texts:
        yield from _listed("Log dirs", texts[:MOST_LISTED], len(texts), "log dir")
        yield from _advice(log_dir_advice(status, address))


def _leaderless(status: Status, address: Address) -> Iterator[str]:
    found = status.troubles.leaderless
    for number, one in enumerate(found[:MOST_LISTED]):
        yield from _one_leaderless(status, one, address, is_first=not number)
    rest = len(found) - MOST_LISTED
    if rest > 0:
        text = f"and {plural(rest, 'more partition')}; --format json has all"
        yield from labelled("", text)


def _one_leaderless(
    status: Status, one: Leaderless, address: Address, *, is_first: bool
) -> Iterator[str]:
    yield from labelled("No leader" if is_first else "", leaderless_text(status, one))
    yield from labelled("", rescue_text(status, one))
    unclean = unclean_text(status, one)
    if unclean is not None:
        yield from labelled("", unclean)
    command = unclean_command(status, one, address)
    if command is not None:
        yield from _command(command)


def _no_source(status: Status) -> Iterator[str]:
    rows = status.troubles.no_source
    texts = [no_source_text(status, p) for p in rows[:MOST_LISTED].tolist()]
    yield from _listed("No source", texts, len(rows), "partition")


def _topics(status: Status, label: str, found: TopicTroubles) -> Iterator[str]:
    names = status.state.topics.names
    texts = [
        f"{names[found.topic_idx[i]]}: "
        f"{plural(int(found.num_partitions[i]), 'partition')}, the worst with "
        f"{found.least_in_sync[i]} in sync of {found.needed[i]}"
        for i in range(min(len(found.topic_idx), MOST_LISTED))
    ]
    yield from _listed(label, texts, len(found.topic_idx), "topic")


def _out_of_reach(status: Status, address: Address) -> Iterator[str]:
    texts = min_isr_texts(status)
    yield from _listed("Min ISR", texts[:MOST_LISTED], len(texts), "topic")
    yield from _advice(min_isr_advice(status, address))


def _moves(status: Status, address: Address) -> Iterator[str]:
    moves = status.troubles.moves
    if len(moves.partition_idx):
        yield from labelled("Moving now", moving_text(status))
        topics = moving_topics(status)
        texts = [f"{one['topic']} {one['partitions']}" for one in topics[:MOST_LISTED]]
        rest = len(topics) - MOST_LISTED
        more = f" and {plural(rest, 'more topic')}" if rest > 0 else ""
        yield from labelled("", f"partitions by topic: {', '.join(texts)}{more}")
    if moves.num_log_dir_moves:
        count = plural(moves.num_log_dir_moves, "replica")
        yield from labelled("Moving now", f"{count} between log dirs of their brokers")
    if moves.is_stuck.any():
        yield from _stuck(status, address)


def _stuck(status: Status, address: Address) -> Iterator[str]:
    for obstacle, broker, partitions in stuck_groups(status):
        names = [status.state.name_of(p) for p in partitions[:MOST_LISTED]]
        rest = len(partitions) - MOST_LISTED
        more = f" and {rest} more" if rest > 0 else ""
        why = obstacle_text(status, obstacle, broker)
        yield from labelled("Stuck", f"{', '.join(names)}{more}: {why}")
    yield from _advice(stuck_advice(status, address))


def _throttles(status: Status, address: Address) -> Iterator[str]:
    pairs = zip(status.throttles, status.is_throttle_used, strict=True)
    texts = [
        f"{throttle.place}: {throttle.key} {throttle_value(*throttle[2:])}"
        + ("" if is_used else ", left behind: nothing moves that it limits")
        for throttle, is_used in pairs
    ]
    yield from _listed("Throttles", texts[:MOST_LISTED], len(texts), "throttle")
    if not texts:
        return
    when = "" if status.throttles_left else " once the reassignment has ended"
    yield from labelled("", f"they also slow replicas that catch up; to remove{when}:")
    commands = removals(status.throttles, address.connection)
    for command in commands[:MOST_LISTED]:
        yield from _command(command)
    rest = len(commands) - MOST_LISTED
    if rest > 0:
        yield from labelled(
            "", f"and {plural(rest, 'more command')}; --format json has all"
        )

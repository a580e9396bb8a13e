"""What single options promise, worked out from the lists before and after alone."""

import re
from collections.abc import Callable, Iterator

import numpy as np

from fuzz.drawn import Drawn
from placement.model.cluster import (
    ABSENT,
    BrokerState,
    ClusterState,
    LogDirState,
    Storage,
)
from planner.plan.run.make_plan import Planned

Dir = tuple[int, str]


def judge_promises(case: Drawn, made: Planned) -> None:
    """Hold a plan to what its options promise, met or not."""
    for promise in PROMISES:
        promise(case, made)


def copies(made: Planned) -> Iterator[tuple[int, int]]:
    """Yield the partition and the broker of each copy."""
    found = made.plan.placed.reassignment
    old, new = found.before, found.after()
    for p in range(old.num_partitions):
        for broker in set(new.brokers_of(p)) - set(old.brokers_of(p)):
            yield p, broker


def copies_land(case: Drawn, made: Planned) -> None:
    """Copies come to brokers alone that may get them."""
    state = made.plan.state
    may = open_brokers(case, state)
    astray = [(state.name_of(p), b) for p, b in copies(made) if b not in may]
    assert not astray, f"copies come to where none may: {astray}"


def open_brokers(case: Drawn, state: ClusterState) -> set[int]:
    """Return the ids of brokers that may get copies, as the options say."""
    request, brokers = case.request, state.brokers
    options = request.options
    may = set(brokers.ids[brokers.is_live].tolist())
    may -= set(options.exclude_brokers_for_replicas or ())
    if options.destination_broker_list is not None:
        may &= set(options.destination_broker_list)
    if request.goal == "remove-brokers":
        may -= set(options.broker_list or ())
    if request.goal == "add-brokers" and not options.rebalance:
        filled = set(options.broker_list or ())
        is_new = brokers.state == BrokerState.NEW
        to_come = {int(_id_of(text)) for text in options.new_broker}
        may &= filled | to_come if filled else set(brokers.ids[is_new].tolist())
    return may


def _id_of(text: str) -> str:
    return text.removeprefix("id=").split(",")[0]


def caps_hold(case: Drawn, made: Planned) -> None:
    """No more is copied than the caps allow; of soft ones a plan tells what is."""
    options, state = case.request.options, made.plan.state
    sizes = [copy_bytes(state, p) for p, _ in copies(made)]
    told = {
        str(note.message).split(": ")[1].split(" ")[0]: note.have
        for note in made.plan.placed.notes
        if note.what == "soft-rule"
    }
    for name, most, used in (
        ("max-moves", options.max_moves, len(sizes)),
        ("max-bytes", options.max_bytes, sum(sizes)),
    ):
        if most is not None and used > most:
            assert name in options.soft, f"{used}, and {name} is {most}"
            assert told.get(name) == used, f"{used} of {name}, {told} are told"


def copy_bytes(state: ClusterState, p: int) -> int:
    """Return what a copy takes: nothing of what is shared, or what nobody knows."""
    if state.topics.storage[state.partitions.topic_idx[p]] == Storage.SHARED:
        return 0
    return max(int(state.partitions.size_bytes[p]), 0)


def order_alone_changes(case: Drawn, made: Planned) -> None:
    """What changes the order alone copies nothing, and touches what it must alone."""
    if case.request.goal not in {"leaders", "demote", "log-dirs"}:
        return
    assert not list(copies(made)), "something is copied"
    found = made.plan.placed.reassignment
    old, new = found.before, found.after()
    lists = [(old.brokers_of(p), new.brokers_of(p)) for p in range(old.num_partitions)]
    if case.request.goal == "log-dirs":
        assert all(was == now for was, now in lists), "a list has changed"
    if case.request.goal != "leaders":
        return
    options = case.request.options
    if options.order_followers or options.even_positions or options.topics_together:
        return
    live = set(old.brokers.ids[old.brokers.is_live].tolist())
    led = [[next((b for b in row if b in live), None) for row in two] for two in lists]
    for (was, now), (before, after) in zip(lists, led, strict=True):
        assert was == now or before != after, f"{was} becomes {now} for nothing"


def log_dirs_are_kept(case: Drawn, made: Planned) -> None:
    """Replicas come to log dirs alone that are online and not to be emptied."""
    found = made.plan.placed.reassignment
    state = found.before
    if found.log_dir_idx is None:
        return
    closed = {
        (int(state.brokers.ids[owner]), path)
        for owner, path, kind in zip(
            state.log_dirs.broker_idx, state.log_dirs.paths, state.log_dirs.state,
            strict=True,
        )
        if kind != LogDirState.ONLINE
    } | dirs_of(case.request.options.empty)  # fmt: skip
    for row in np.nonzero(found.log_dir_idx != ABSENT)[0].tolist():
        d = int(found.log_dir_idx[row])
        owner = int(state.log_dirs.broker_idx[d])
        assert owner == int(found.broker_idx[row]), "a log dir of another broker"
        named = int(state.brokers.ids[owner]), state.log_dirs.paths[d]
        assert named not in closed, f"{named} gets a replica"


def dirs_of(texts: tuple[str, ...]) -> set[Dir]:
    """Return log dirs as options name them."""
    split = [text.split(":") for text in texts]
    return {(int(broker), path) for broker, path in split}


def lies_in(state: ClusterState, p: int, broker: int) -> Dir | None:
    """Return the log dir of a replica as it is, if that is known."""
    start = int(state.replicas.start[p])
    row = start + state.brokers_of(p).index(broker)
    d = int(state.replicas.log_dir_idx[row])
    return None if d == ABSENT else (broker, state.log_dirs.paths[d])


def wanted_factors(case: Drawn, state: ClusterState) -> dict[str, int]:
    """Return the requested factor of each topic that has one."""
    options = case.request.options
    told = {name: n for n, name in options.replication_factors or ()}
    if options.replication_factor is not None:
        told = dict.fromkeys(state.topics.names, options.replication_factor) | told
    return {
        name: factor
        for name, factor in told.items()
        if (options.topics is None or re.fullmatch(options.topics, name))
        and not (options.exclude_topics and re.fullmatch(options.exclude_topics, name))
    }


PROMISES: tuple[Callable[[Drawn, Planned], None], ...] = (
    copies_land,
    caps_hold,
    order_alone_changes,
    log_dirs_are_kept,
)
"""What is so of any plan, whether it meets all rules or not."""

"""How full log dirs get, against adding up replica by replica."""

from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, Target, check
from placement.check.case.plan_case import look_up
from placement.check.rules.log_dir_capacity import log_dir_loads
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState, Storage
from placement.operations.rebalance import Rebalance
from placement.planning.plan import plan
from planner.plan.documents.scored_plan import make_plan
from planner.plan.folder.plan_folder import target_lists
from support.clusters import Dir, clusters, make_state
from support.naive import NaiveReplica, key_of, replicas_of

ANY_FACTOR = CheckSettings(allow_replication_factor_change=True)
Asked = dict[tuple[str, int], tuple[list[int], list[str | None]]]


def target_of(asked: Asked) -> Target:
    return Target.from_lists(
        [topic for topic, _ in asked],
        [number for _, number in asked],
        [brokers for brokers, _ in asked.values()],
        [dirs for _, dirs in asked.values()],
    )


@st.composite
def cases(draw) -> tuple[ClusterState, Asked]:
    """Any cluster, and sound lists with log dirs for some of its partitions."""
    state = draw(clusters(reassigning=draw(st.booleans())))
    ids = state.brokers.ids.tolist()
    paths: dict[int, list[str | None]] = {broker: [None] for broker in ids}
    for d, path in enumerate(state.log_dirs.paths):
        paths[ids[state.log_dirs.broker_idx[d]]].append(path)
    asked: Asked = {}
    for p in range(state.num_partitions):
        if draw(st.booleans()):
            count = draw(st.integers(1, len(ids)))
            brokers = draw(st.permutations(ids))[:count]
            dirs = [draw(st.sampled_from(paths[broker])) for broker in brokers]
            asked[key_of(state, p)] = (brokers, dirs)
    return state, asked


def plain_loads(state: ClusterState, asked: Asked) -> tuple[list[int], list[int]]:
    """Return the bytes on each log dir before and after, one replica at a time."""
    dirs, ids = state.log_dirs, state.brokers.ids.tolist()
    explained, before, after = ([0] * (len(dirs) + 1) for _ in range(3))
    gone = dict.fromkeys(ids, 0)
    for p in range(state.num_partitions):
        old = {one.broker: one for one in replicas_of(state, p)}
        told = asked.get(key_of(state, p))
        for broker, one in old.items():
            size = plain_size(state, p, one.own_bytes)
            # The last place is that of the unknown.
            explained[one.log_dir] += size
            explained[one.future_log_dir] += size
            before[home_of(one)] += size
            stays = told is None or broker in told[0]
            end = plain_end(state, one, told) if stays else ABSENT
            if stays:
                after[end] += size
            if home_of(one) == ABSENT and (not stays or end != ABSENT):
                gone[broker] += size
        for broker in set(told[0] if told else ()) - set(old):
            end = named_dir(state, broker, told)
            after[end] += plain_size(state, p, UNKNOWN)
    for d in range(len(dirs)):
        other = plain_other(state, d, explained[d])
        before[d] += other
        after[d] += max(other - gone[ids[dirs.broker_idx[d]]], 0)
    return before[:-1], after[:-1]


def home_of(one: NaiveReplica) -> int:
    """Return the log dir a replica lies in, or will once it has arrived."""
    return one.log_dir if one.future_log_dir == ABSENT else one.future_log_dir


def named_dir(state: ClusterState, broker: int, told) -> int:
    """Return the row of the log dir that the plan names on a broker, or `ABSENT`."""
    path = dict(zip(*told, strict=True))[broker]
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    rows = list(zip(owners, state.log_dirs.paths, strict=True))
    return rows.index((broker, path)) if (broker, path) in rows else ABSENT


def plain_end(state: ClusterState, one: NaiveReplica, told) -> int:
    """Return where a replica that stays ends: as named, or where it is at home."""
    named = ABSENT if told is None else named_dir(state, one.broker, told)
    return home_of(one) if named in {ABSENT, one.log_dir} else named


def plain_size(state: ClusterState, p: int, own: int) -> int:
    if state.topics.storage[state.partitions.topic_idx[p]] == Storage.SHARED:
        return 0
    return max(int(state.partitions.size_bytes[p]), 0) if own == UNKNOWN else own


def plain_other(state: ClusterState, d: int, explained: int) -> int:
    """Return what is on a log dir besides replicas, where anybody can tell."""
    dirs = state.log_dirs
    size, free = int(dirs.size_bytes[d]), int(dirs.usable_bytes[d])
    if UNKNOWN in {size, free} or dirs.state[d] == LogDirState.OFFLINE:
        return 0
    return max(size - free - explained, 0)


@settings(max_examples=100)
@given(cases())
def test_loads_of_log_dirs_agree_with_adding_up_replica_by_replica(case):
    state, asked = case

    before, after = log_dir_loads(look_up(state, target_of(asked), ANY_FACTOR))

    assert (before.tolist(), after.tolist()) == plain_loads(state, asked)


@settings(max_examples=100)
@given(cases(), st.sampled_from([0.3, 0.8, 1.0]))
def test_what_is_over_and_gets_more_is_found_and_nothing_else(case, threshold):
    state, asked = case
    limits = CheckSettings(
        allow_replication_factor_change=True, capacity_thresholds={"disk": threshold}
    )

    findings = [
        finding
        for finding in check(state, target_of(asked), limits)
        if finding.rule == "log-dir-capacity"
    ]

    before, after = plain_loads(state, asked)
    dirs, ids = state.log_dirs, state.brokers.ids.tolist()
    live = state.brokers.is_live.tolist()
    over = {
        (ids[dirs.broker_idx[d]], dirs.paths[d]): after[d] <= before[d]
        for d in range(len(dirs))
        if dirs.size_bytes[d] != UNKNOWN
        and dirs.state[d] == LogDirState.ONLINE
        and live[dirs.broker_idx[d]]
        and after[d] > threshold * int(dirs.size_bytes[d]) * (1 + 1e-9)
    }
    told = {(f.where.broker, f.where.log_dir): f.existing for f in findings}
    assert told == over
    assert {finding.where.resource for finding in findings} <= {"disk"}


def test_a_finding_names_the_log_dir_what_it_holds_and_its_limit():
    state = make_state(
        [[0]], size_bytes=90 * 10**9, log_dirs={1: [Dir("/d1", 10**11)]}, racks="ab"
    )

    (finding,) = check(state, target_of({("t", 0): ([1], ["/d1"])}))

    assert finding.message == (
        "log dir /d1 of broker 1: 90 GB (before: 0 B) is over 80 GB, 0.8 of its file "
        "system"
    )
    assert (finding.where.broker, finding.where.log_dir) == (1, "/d1")


@settings(max_examples=15)
@given(clusters(all_known=True, all_live=True, max_topics=2, max_partitions=3))
def test_plans_that_name_the_log_dirs_of_copies_overfill_none(state):
    options = Settings(names_log_dirs=True)

    placed = plan(state, Rebalance(), options)

    made = make_plan("rebalance", placed, taken_at=None, settings={})
    for finding in check(state, target_lists(made).to_target(), CheckSettings()):
        assert finding.existing or finding.rule != "log-dir-capacity"


def test_a_copy_goes_to_the_log_dir_that_has_room():
    state = make_state(
        [[0], [0]],
        racks="ab",
        size_bytes=50,
        disk_bytes=[1000, 1000],
        log_dirs={1: [Dir("/a", 100, 40), Dir("/b", 900, 900)]},
    )

    placed = plan(state, Rebalance(), Settings(names_log_dirs=True))

    made = make_plan("rebalance", placed, taken_at=None, settings={})
    assert [row for row in target_lists(made).to_file().log_dirs if row] == [("/b",)]
    assert check(state, target_lists(made).to_target(), CheckSettings()) == ()

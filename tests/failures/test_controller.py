"""Losses and returns as columns, against the decision partition by partition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from failures.clusters import (
    Case,
    NaiveCluster,
    cases,
    loss_of,
    registration,
    registrations,
)
from failures.kafka_controller import Registration, change_partition
from placement.failures.controller_decision import Election, ElectionRules
from placement.failures.controller_events import bring_back, elect, lose
from placement.model.cluster import ABSENT, ClusterState
from support.clusters import make_state


def decide(
    case: Case, partition: int, now: Registration, alive: list[int], **change
) -> Registration:
    """Decide on one partition as the controller would, topic by topic."""
    state, rules = case.state, case.rules
    topic = state.partitions.topic_idx[partition]
    least = int(state.topics.min_insync_replicas[topic])
    election = Election.UNCLEAN if rules.is_unclean[topic] else Election.ONLINE
    found = change_partition(
        now,
        alive=alive,
        election=change.pop("election", election),
        min_isr=min(least, len(now.replicas)),
        has_elr=rules.has_elr,
        **change,
    )
    # Columns keep no order of the ISR, and not whether a leader recovers.
    return replace(
        found.after,
        isr=tuple(sorted(found.after.isr)),
        elr=tuple(sorted(found.after.elr)),
        is_recovering=False,
    )


def lose_one_by_one(case: Case) -> list[Registration]:
    """Fence broker after broker, then log dir after log dir."""
    state, naive = case.state, NaiveCluster(case.state)
    found = registrations(state)
    events = [("broker", int(b)) for b in state.brokers.ids[case.loss.broker_idx]]
    events += [("dir", int(d)) for d in case.loss.log_dir_idx]
    for kind, which in events:
        (naive.live if kind == "broker" else naive.dirs).discard(which)
        for p, now in enumerate(found):
            gone = [
                b
                for b in now.isr
                if (b == which if kind == "broker" else naive.dir_of(p, b) == which)
            ]
            if gone:
                kept = [b for b in now.isr if b not in gone]
                found[p] = decide(case, p, now, naive.alive(p), target_isr=kept)
    return found


@given(cases())
def test_a_loss_is_decided_as_one_broker_after_the_other(case: Case):
    after = lose(case.state, case.loss, case.rules)

    assert registrations(after) == lose_one_by_one(case)


@given(cases())
def test_a_return_is_decided_as_one_broker_after_the_other(case: Case):
    lost = lose(case.state, case.loss, case.rules)
    for is_crash in (True, False):
        back = bring_back(lost, case.state, case.loss, case.rules, is_crash=is_crash)

        expected = return_one_by_one(case, lost, is_crash=is_crash)
        assert registrations(back) == expected
        assert back.brokers.state.tolist() == case.state.brokers.state.tolist()
        assert back.log_dirs.state.tolist() == case.state.log_dirs.state.tolist()


def return_one_by_one(
    case: Case, lost: ClusterState, *, is_crash: bool
) -> list[Registration]:
    """Unfence broker after broker; at last everything is in sync again."""
    found = registrations(lost)
    whole = NaiveCluster(case.state)
    for p in range(len(found)):
        at = return_times(case, p, found[p])
        for time in sorted(set(at.values())):
            here = [b for b in at if at[b] == time]
            may = [b for b in whole.alive(p) if at.get(b, -1) <= time]
            if is_crash and case.rules.has_elr:
                found[p] = forget(case, p, found[p], here, may)
            if found[p].leader == -1:
                found[p] = decide(case, p, found[p], may)
        if at and found[p].leader != -1:
            isr = sorted({*found[p].isr, *whole.alive(p)})
            found[p] = decide(case, p, found[p], whole.alive(p), target_isr=isr)
    return found


def return_times(case: Case, partition: int, now: Registration) -> dict[int, int]:
    """Kafka's broker to when its replica is back; the rest was never away."""
    naive = NaiveCluster(case.state)
    brokers = case.state.brokers.ids[case.loss.broker_idx].tolist()
    lost_at = {broker: n for n, broker in enumerate(brokers)}
    dir_at = {d: len(brokers) + n for n, d in enumerate(case.loss.log_dir_idx.tolist())}
    at = {}
    for b in now.replicas:
        known = [lost_at.get(b), dir_at.get(naive.dir_of(partition, b))]
        if any(when is not None for when in known):
            at[b] = min(when for when in known if when is not None)
    return at


def forget(
    case: Case, partition: int, now: Registration, here: list[int], may: list[int]
) -> Registration:
    """Trust no longer what came back from a crash."""
    gone = [b for b in here if b in {*now.isr, *now.elr}]
    if not gone:
        return now
    alive = [b for b in may if b not in here]
    kept = [b for b in now.isr if b not in gone]
    return decide(case, partition, now, alive, target_isr=kept, unclean_shutdown=gone)


@pytest.mark.parametrize("election", [Election.PREFERRED, Election.UNCLEAN])
@given(case=cases())
def test_an_election_is_decided_partition_by_partition(election: Election, case: Case):
    chosen = np.arange(case.state.num_partitions)

    after = elect(case.state, election, chosen, case.rules)

    naive = NaiveCluster(case.state)
    assert registrations(after) == [
        decide(case, p, now, naive.alive(p), election=election)
        for p, now in enumerate(registrations(case.state))
    ]


def leaders(state: ClusterState) -> list[int | None]:
    ids = state.brokers.ids.tolist()
    return [None if row == ABSENT else ids[row] for row in state.partitions.leader_idx]


def test_tp_demo_03_leaders_stay_after_a_return_until_they_are_elected():
    state = make_state({"tp_demo_03": [[0, 1], [1, 0], [0, 1]]})
    loss = loss_of(state, [0])

    dead = lose(state, loss)
    back = bring_back(dead, state, loss)
    elected = elect(back, Election.PREFERRED, np.arange(3))

    assert leaders(state) == [0, 1, 0]
    assert leaders(dead) == [1, 1, 1]
    assert [registration(dead, p).isr for p in range(3)] == [(1,)] * 3
    assert leaders(back) == [1, 1, 1]
    assert [registration(back, p).isr for p in range(3)] == [(0, 1)] * 3
    assert leaders(elected) == [0, 1, 0]


def test_the_last_in_sync_replica_stays_in_the_isr_unless_others_are_eligible():
    state = make_state([[0, 1]], min_isr=2)
    loss = loss_of(state, [0, 1])

    plain = registration(lose(state, loss), 0)
    eligible = registration(lose(state, loss, ElectionRules(has_elr=True)), 0)

    assert (plain.leader, plain.isr, plain.elr) == (-1, (1,), ())
    assert (eligible.leader, eligible.isr, eligible.elr) == (-1, (), (0, 1))
    assert eligible.last_known_elr == (1,)


def test_a_topic_that_allows_it_is_led_by_what_is_out_of_sync():
    state = make_state([[0, 1]], isr=[[0]])
    rules = ElectionRules(is_unclean=np.array([True]))

    after = registration(lose(state, loss_of(state, [0]), rules), 0)

    assert (after.leader, after.isr) == (1, (1,))
    assert registration(lose(state, loss_of(state, [0])), 0).leader == -1

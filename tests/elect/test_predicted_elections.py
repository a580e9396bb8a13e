from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.kafka.actions.elections import (
    ElectionType,
    Outcome,
    Seen,
    predict_election,
    predict_elections,
)
from planner.kafka.read.log_dirs import Partition

NAME = Partition("t", 0)
PREFERRED, UNCLEAN = ElectionType.PREFERRED, ElectionType.UNCLEAN


def seen(leader: int | None, replicas: Iterable[int], **lists: Iterable[int]) -> Seen:
    usual = {"isr": replicas} | lists
    return Seen(
        name=NAME,
        leader=leader,
        replicas=tuple(replicas),
        **{name: tuple(brokers) for name, brokers in usual.items()},
    )


@pytest.mark.parametrize(
    ("partition", "outcome", "new_leader", "words"),
    [
        pytest.param(
            seen(1, [1, 2]), Outcome.ALREADY_PREFERRED, 1, "", id="leads-already"
        ),
        pytest.param(seen(2, [1, 2]), Outcome.TO_ELECT, 1, "", id="is-in-sync"),
        pytest.param(
            seen(2, [1, 2], isr=[2]),
            Outcome.PREFERRED_NOT_AVAILABLE,
            2,
            "preferred replica 1 is not in sync",
            id="is-behind",
        ),
        pytest.param(
            seen(2, [1, 2], isr=[2], offline=[1]),
            Outcome.PREFERRED_NOT_AVAILABLE,
            2,
            "preferred replica 1 is offline",
            id="is-offline",
        ),
        pytest.param(
            seen(2, [1, 2], offline=[1]),
            Outcome.PREFERRED_NOT_AVAILABLE,
            2,
            "preferred replica 1 is offline",
            id="died-just-now-and-is-still-in-the-isr",
        ),
        pytest.param(
            seen(2, [4, 2, 1], isr=[1, 2]),
            Outcome.PREFERRED_NOT_AVAILABLE,
            2,
            "preferred replica 4 is not in sync",
            id="is-still-being-copied-to",
        ),
        pytest.param(
            seen(None, [1, 2], isr=[], elr=[2], last_known_elr=[1], offline=[2]),
            Outcome.PREFERRED_NOT_AVAILABLE,
            None,
            "the partition has no leader",
            id="an-unclean-one-is-never-preferred",
        ),
        pytest.param(
            seen(None, [1, 2], isr=[], last_known_elr=[1]),
            Outcome.PREFERRED_NOT_AVAILABLE,
            None,
            "not in sync; the partition has no leader",
            id="not-even-the-last-known-leader",
        ),
        pytest.param(
            seen(None, [1, 2], isr=[], elr=[1]),
            Outcome.TO_ELECT,
            1,
            "",
            id="is-eligible-though-not-in-sync",
        ),
    ],
)
def test_a_preferred_election_is_foreseen(
    partition: Seen, outcome: Outcome, new_leader: int | None, words: str
):
    found = predict_election(partition, PREFERRED)

    assert (found.outcome, found.new_leader) == (outcome, new_leader)
    assert words in found.message
    assert not found.unclean


@pytest.mark.parametrize(
    ("partition", "outcome", "new_leader", "is_unclean"),
    [
        pytest.param(seen(2, [1, 2]), Outcome.HAS_LEADER, 2, False, id="is-led"),
        pytest.param(
            seen(None, [1, 2], isr=[2], offline=[2]),
            Outcome.TO_ELECT,
            1,
            True,
            id="the-only-one-in-sync-is-offline",
        ),
        pytest.param(
            seen(None, [1, 2, 3], isr=[], elr=[3], offline=[]),
            Outcome.TO_ELECT,
            3,
            False,
            id="an-eligible-one-loses-nothing",
        ),
        pytest.param(
            seen(None, [1, 2, 3], isr=[], last_known_elr=[3]),
            Outcome.TO_ELECT,
            3,
            True,
            id="the-last-known-leader-before-the-first",
        ),
        pytest.param(
            seen(None, [1, 2, 3], isr=[], last_known_elr=[3], offline=[3]),
            Outcome.TO_ELECT,
            1,
            True,
            id="the-first-that-is-there",
        ),
        pytest.param(
            seen(None, [1, 2], offline=[1, 2]),
            Outcome.NO_REPLICA_AVAILABLE,
            None,
            False,
            id="nobody-is-there",
        ),
    ],
)
def test_an_unclean_election_is_foreseen(
    partition: Seen, outcome: Outcome, new_leader: int | None, is_unclean: bool
):
    found = predict_election(partition, UNCLEAN)

    assert (found.outcome, found.new_leader) == (outcome, new_leader)
    assert found.unclean is is_unclean


BROKERS = [1, 2, 3, 4]


@st.composite
def partitions(draw: st.DrawFn) -> Seen:
    replicas = draw(st.permutations(BROKERS))[: draw(st.integers(1, 4))]
    some = st.sets(st.sampled_from(replicas))
    isr, offline = draw(some), draw(some)
    elr = draw(some) - isr
    last = [] if isr or elr else draw(st.lists(st.sampled_from(replicas), max_size=1))
    leader = draw(st.sampled_from([None, *sorted(isr - offline)]))
    return seen(
        leader,
        replicas,
        isr=sorted(isr),
        elr=sorted(elr),
        last_known_elr=last,
        offline=sorted(offline),
    )


def is_valid(one: Seen, broker: int | None) -> bool:
    if broker is None or broker in one.offline:
        return False
    return broker in one.isr or (not one.isr and broker in one.elr)


def elect_cleanly(one: Seen, kind: ElectionType) -> int | None:
    """Return the leader that loses nothing, step by step as the controller decides."""
    asked = [one.replicas[0]] if kind is PREFERRED else []
    order = [*asked, one.leader, *one.replicas]
    return next((broker for broker in order if is_valid(one, broker)), None)


def elect_uncleanly(one: Seen, kind: ElectionType) -> int | None:
    """Return the leader where none is clean, likewise."""
    if not one.isr and not one.elr and len(one.last_known_elr) == 1:
        (last,) = one.last_known_elr
        if last not in one.offline:
            return last
    order = one.replicas if kind is UNCLEAN else []
    return next((broker for broker in order if broker not in one.offline), None)


@given(partitions())
def test_whom_a_preferred_election_names_the_controller_elects(one: Seen):
    found = predict_election(one, PREFERRED)

    if found.outcome is Outcome.PREFERRED_NOT_AVAILABLE:
        assert elect_cleanly(one, PREFERRED) != one.replicas[0]
        assert found.new_leader == one.leader
    else:
        assert found.new_leader == elect_cleanly(one, PREFERRED) == one.replicas[0]


@given(partitions())
def test_a_preferred_election_never_loses_a_record(one: Seen):
    found = predict_election(one, PREFERRED)

    if found.outcome is Outcome.TO_ELECT:
        assert found.new_leader in set(one.isr or one.elr) - set(one.offline)


@given(partitions())
def test_whom_an_unclean_election_names_the_controller_elects(one: Seen):
    found = predict_election(one, UNCLEAN)

    if one.leader is not None:
        assert found.outcome is Outcome.HAS_LEADER
    else:
        clean = elect_cleanly(one, UNCLEAN)
        unclean = elect_uncleanly(one, UNCLEAN)
        assert found.new_leader == (unclean if clean is None else clean)


@given(partitions())
def test_what_is_called_clean_has_every_record(one: Seen):
    found = predict_election(one, UNCLEAN)

    if found.outcome is Outcome.TO_ELECT:
        complete = set(one.isr or one.elr) - set(one.offline)
        assert found.unclean == (found.new_leader not in complete)


def test_partitions_come_as_requested_and_unknown_ones_are_listed():
    known = {NAME: seen(2, [1, 2])}
    wanted = [Partition("u", 3), NAME]

    found = predict_elections(known, wanted, PREFERRED)

    assert [one.name for one in found] == wanted
    outcomes = [one.outcome for one in found]
    assert outcomes == [Outcome.UNKNOWN_PARTITION, Outcome.TO_ELECT]
    assert [one.name for one in predict_elections(known, None, PREFERRED)] == [NAME]


def test_a_description_without_elr_or_leader_is_read():
    answer = {
        "partition_index": 0,
        "leader_id": -1,
        "replica_nodes": [2, 1],
        "isr_nodes": [2],
        "eligible_leader_replicas": None,
        "last_known_elr": None,
        "offline_replicas": [2],
    }

    expected = seen(None, [2, 1], isr=[2], offline=[2])
    assert Seen.from_answer("t", answer) == expected

"""Stories of groups, held against what can be reckoned by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.assignors import (
    CooperativeSticky,
    Range,
    RoundRobin,
    ServerRange,
    ServerUniform,
    Sticky,
)
from assignment.balanced.balanced_assignor import Balanced
from assignment.check import check
from assignment.make_group import MemberSpec, TopicSpec
from assignment.rebalance import (
    Freeze,
    Join,
    Leave,
    Protocol,
    Return,
    Run,
    SetPartitions,
    Slow,
    StopPolling,
    Timers,
    play,
)

EAGER, COOPERATIVE, CONSUMER = Protocol
WAYS = [
    pytest.param(protocol, assignor, id=f"{protocol}-{assignor.name}")
    for protocol, assignor in [
        (EAGER, Range()),
        (EAGER, RoundRobin()),
        (EAGER, Sticky()),
        (EAGER, Balanced()),
        (COOPERATIVE, CooperativeSticky()),
        (COOPERATIVE, Balanced()),
        (CONSUMER, ServerUniform()),
        (CONSUMER, ServerRange()),
    ]
]
ONE_EACH = [WAYS[0], WAYS[4], WAYS[6]]
STICKY = [WAYS[2], WAYS[4], WAYS[6]]
SPEED = 10.0


def members(num=3, *, is_static=False, **specs):
    return [
        MemberSpec(
            member_id=f"c{n}",
            instance_id=f"c{n}" if is_static else None,
            **{"topics": ["t"], **specs},
        )
        for n in range(num)
    ]


def story(way, events, *, topics=None, who=None, until_s=1000, timers=None, **run):
    """Play, with each assignment judged by the independent checker."""
    protocol, assignor = way
    course = play(
        Run(
            topics=[
                TopicSpec(name=name, num_partitions=n)
                for name, n in (topics or {"t": 6}).items()
            ],
            members=members() if who is None else who,
            protocol=protocol,
            assignor=assignor,
            timers=timers or Timers(),
            **{"rates": {"t": [SPEED] * 6, "u": [SPEED] * 6}, **run},
        ),
        events,
        1000 * until_s,
    )
    for step in course.steps:
        judged = check(
            step.group,
            step.assignment.member_idx,
            is_cooperative=protocol is COOPERATIVE,
        )
        assert judged == []
    return course


def holders(course):
    return [course.members[row] if row >= 0 else None for row in course.holder]


def at(course):
    return [(step.started_ms, step.assigned_ms, step.cause) for step in course.steps]


JOIN = [Join(at_ms=10_000, spec=members(4)[3])]


@pytest.mark.parametrize(("protocol", "assignor"), WAYS)
def test_nothing_happens_where_nothing_happens(protocol, assignor):
    course = story((protocol, assignor), [])

    assert not course.steps
    assert not course.still_ms.any()
    assert None not in holders(course)
    assert (course.lag.peak, course.lag.behind_until_ms) == (0, 0)


def test_an_eager_join_stops_everybody():
    # Heartbeats at 12.000, 13.000 and 11.000 s, polls every 0.1 s, thirds of it apart:
    # they rejoin at 12.000, 13.033 and 11.066 s, and the last ends it.
    course = story((EAGER, Sticky()), JOIN)

    (step,) = course.steps
    assert (step.assigned_ms, step.ended_ms) == (13_033, 13_033)
    assert {name: len(rows) for name, rows in step.revoked.items()} == {
        "c0": 2,
        "c1": 2,
        "c2": 2,
    }
    assert (step.num_moved, step.num_back) == (1, 5)
    assert sorted(course.still_ms.tolist()) == [0, 0, 1033, 1033, 1967, 1967]


def test_a_cooperative_join_stops_only_what_changes_hands():
    # Round one ends as above. c2 polls at 13.066 s, gives one up and rejoins; the
    # others hear of it at 15.000 and 16.000 s, c3 at 16.000 s, and poll.
    course = story((COOPERATIVE, CooperativeSticky()), JOIN)

    assert [step.assigned_ms for step in course.steps] == [13_033, 16_033]
    assert [step.num_revoked for step in course.steps] == [1, 0]
    assert [step.num_moved for step in course.steps] == [0, 1]
    assert sorted(course.still_ms.tolist()) == [0, 0, 0, 0, 0, 16_033 - 13_066]


def test_a_new_protocol_join_waits_for_no_member():
    # c2 hears at 11.000 s, and gives up at its poll at 11.066 s; c3, whose heartbeats
    # began at 10 s, hears at 13.000 s.
    course = story((CONSUMER, ServerUniform()), JOIN)

    (step,) = course.steps
    assert (step.assigned_ms, step.ended_ms) == (10_000, 13_000)
    assert sorted(course.still_ms.tolist()) == [0, 0, 0, 0, 0, 13_000 - 11_066]


@pytest.mark.parametrize(("protocol", "assignor"), WAYS)
def test_a_crash_is_noticed_by_the_session_timeout(protocol, assignor):
    course = story((protocol, assignor), [Freeze(at_ms=10_000, member="c0")])

    # Its last heartbeat was at 9 s.
    assert course.steps[0].started_ms == 9_000 + 45_000
    assert course.put_out == (("c0", "no heartbeat within session.timeout.ms"),)
    assert course.longest_ms.max() >= 44_000
    assert set(holders(course)) == {"c1", "c2"}


@pytest.mark.parametrize(("protocol", "assignor"), WAYS)
def test_a_short_silence_costs_no_rebalance(protocol, assignor):
    events = [Freeze(at_ms=10_000, member="c0", for_ms=20_000)]

    course = story((protocol, assignor), events)

    assert not course.steps
    assert sorted(course.still_ms.tolist()) == [0, 0, 0, 0, 20_000, 20_000]
    assert course.lag.peak == pytest.approx(2 * SPEED * 20)


@pytest.mark.parametrize(("protocol", "assignor"), ONE_EACH)
@pytest.mark.parametrize(
    ("is_static", "out_ms"),
    [
        pytest.param(False, 310_000, id="dynamic: it leaves by itself"),
        pytest.param(True, 309_000 + 45_000, id="static: it goes silent first"),
    ],
)
def test_who_does_not_poll_is_out(protocol, assignor, is_static, out_ms):
    course = story(
        (protocol, assignor),
        [StopPolling(at_ms=10_000, member="c0")],
        who=members(is_static=is_static),
    )

    assert [step.started_ms for step in course.steps] == [out_ms]
    assert [member for member, _ in course.put_out] == ["c0"]


@pytest.mark.parametrize(("protocol", "assignor"), ONE_EACH)
def test_who_polls_again_after_being_put_out_joins_anew(protocol, assignor):
    events = [StopPolling(at_ms=10_000, member="c0", for_ms=400_000)]

    course = story((protocol, assignor), events)

    assert [text for _, _, text in at(course)][:2] == ["c0 is put out", "c0#2 joins"]
    assert "c0#2" in holders(course)


def test_a_classic_rebalance_waits_for_who_does_not_poll():
    events = [StopPolling(at_ms=10_000, member="c0"), replace(JOIN[0], at_ms=20_000)]

    course = story((EAGER, Range()), events)

    # Everybody stands still until c0 leaves, 300 s after its last poll.
    assert at(course)[0] == (20_000, 310_000, "c3 joins")
    assert np.sort(course.longest_ms).tolist()[0] > 286_000


def test_the_new_protocol_does_not():
    events = [StopPolling(at_ms=10_000, member="c0"), replace(JOIN[0], at_ms=20_000)]

    course = story((CONSUMER, ServerUniform()), events)

    # All but what c0 has; c3 gets its one within two heartbeats.
    assert np.count_nonzero(course.longest_ms > 6_000) == 2


def restarts(down_ms):
    found = []
    for n in range(3):
        found.append(Leave(at_ms=10_000 + 100_000 * n, member=f"c{n}"))
        found.append(Return(at_ms=10_000 + 100_000 * n + down_ms, member=f"c{n}"))
    return found


@pytest.mark.parametrize(("protocol", "assignor"), WAYS)
def test_a_rolling_restart_of_static_members_costs_no_rebalance(protocol, assignor):
    who = members(is_static=True)

    course = story((protocol, assignor), restarts(30_000), who=who)

    assert not course.steps
    assert not course.changes.any()
    assert (course.still_ms == 30_000).all()


@pytest.mark.parametrize(("protocol", "assignor"), WAYS)
@pytest.mark.parametrize("is_static", [False, True])
def test_a_rolling_restart_costs_two_each_otherwise(protocol, assignor, is_static):
    # Static ones that are down for longer than the session timeout are put out.
    who = members(is_static=is_static)

    course = story((protocol, assignor), restarts(60_000), who=who)

    causes = [cause for _, _, cause in at(course) if "handed on" not in cause]
    assert len(causes) == 6
    assert len(course.put_out) == (3 if is_static else 0)
    assert len(set(holders(course))) == 3


@pytest.mark.parametrize(
    ("protocol", "assignor", "seen_ms"),
    [
        pytest.param(EAGER, Range(), 300_000, id="eager: the leader looks"),
        pytest.param(COOPERATIVE, CooperativeSticky(), 300_000, id="cooperative"),
        pytest.param(CONSUMER, ServerUniform(), 2_000, id="consumer: a heartbeat"),
    ],
)
def test_new_partitions_wait_until_they_are_seen(protocol, assignor, seen_ms):
    events = [SetPartitions(at_ms=1000, topic="t", num_partitions=9)]

    course = story((protocol, assignor), events, rates={"t": [SPEED] * 9})

    assert course.steps[0].started_ms == seen_ms
    assert (course.still_ms[6:] >= seen_ms - 1000).all()
    assert None not in holders(course)


@pytest.mark.parametrize(("protocol", "assignor"), WAYS)
def test_a_topic_that_matches_is_read_and_another_is_not(protocol, assignor):
    events = [
        SetPartitions(at_ms=1000, topic="u", num_partitions=3),
        SetPartitions(at_ms=1000, topic="x", num_partitions=3),
    ]

    course = story((protocol, assignor), events, who=members(pattern="u|v"))

    assert list(course.topics) == ["t", "u", "x"]
    assert [name is None for name in holders(course)] == 9 * [False] + 3 * [True]
    assert not course.still_ms[9:].any()


@pytest.mark.parametrize(("protocol", "assignor"), ONE_EACH)
def test_who_is_too_slow_is_put_out_again_and_again(protocol, assignor):
    events = [Slow(at_ms=1000, member="c1", poll_ms=350_000)]

    course = story((protocol, assignor), events, until_s=1500)

    out = [member for member, _ in course.put_out]
    assert out[:3] == ["c1", "c1#2", "c1#3"]
    assert not course.lag.behind_until_ms < 1_000_000


def test_a_slow_member_holds_a_classic_rebalance_up():
    slow = [Slow(at_ms=1000, member="c1", poll_ms=100_000), *JOIN]

    assert at(story((EAGER, Range()), slow))[0][1] == 101_000
    assert at(story((CONSUMER, ServerUniform()), slow))[0][1] == 10_000


def test_an_empty_group_waits_for_more_members():
    events = [
        Join(at_ms=10_000, spec=members(1)[0]),
        Join(at_ms=12_000, spec=members(2)[1]),
    ]

    course = story((EAGER, Range()), events, who=[])

    assert at(course) == [(10_000, 15_000, "c0 joins")]
    assert course.steps[0].group.members.ids == ("c0", "c1")
    # Nobody read from the start.
    assert (course.still_ms == 15_000).all()


@pytest.mark.parametrize(("protocol", "assignor"), WAYS)
def test_the_last_to_leave_leaves_everything_behind(protocol, assignor):
    course = story(
        (protocol, assignor), [Leave(at_ms=500_000, member="c0")], who=members(1)
    )

    assert course.is_still_at_end.all()
    assert (course.still_ms == 500_000).all()
    assert course.lag.behind_until_ms == float("inf")


def test_idle_members_are_known():
    course = story((EAGER, Range()), JOIN, topics={"t": 3})

    assert course.last.idle_members() == ["c3"]


def test_what_piled_up_is_worked_off_by_what_is_to_spare():
    # Two partitions stand still for 20 s: 400 messages. c0 reads 60 a second, of which
    # 20 arrive: it has caught up 10 s later.
    events = [Freeze(at_ms=10_000, member="c0", for_ms=20_000)]

    course = story((EAGER, Range()), events, reads_per_s=60.0)

    assert course.lag.peak == pytest.approx(400)
    assert course.lag.end == 0
    assert course.lag.behind_until_ms == pytest.approx(40_000)


def test_who_reads_less_than_arrives_never_catches_up():
    events = [Slow(at_ms=0, member="c0", reads_per_s=15.0)]

    course = story((EAGER, Range()), events, until_s=100, reads_per_s=60.0)

    assert course.lag.end == pytest.approx(5 * 100)
    assert course.lag.behind_until_ms == float("inf")


def test_lag_at_the_start_is_worked_off():
    lags = {"t": [100.0, 0, 0, 0, 0, 0]}

    course = story((EAGER, Range()), [], lags=lags, reads_per_s=30.0)

    assert (course.lag.peak, course.lag.end) == (100, 0)
    assert course.lag.behind_until_ms == pytest.approx(10_000)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"poll_ms": 0}, id="poll"),
        pytest.param({"initial_delay_ms": -1}, id="delay"),
        pytest.param({"heartbeat_interval_ms": 45_000}, id="heartbeat"),
    ],
)
def test_timers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        Timers(**wrong)


class Cast:
    """Who is there, and who could be started again."""

    def __init__(self, num):
        self.there = [f"c{n}" for n in range(num)]
        self.away = []
        self.number, self.size, self.now_ms = num, 6, 0

    def join(self, draw):
        spec = members(self.number + 1)[self.number]
        self.number += 1
        self.there.append(spec.member_id)
        return Join(at_ms=self.now_ms, spec=spec)

    def grow(self, draw):
        self.size += draw(st.integers(1, 3))
        return SetPartitions(at_ms=self.now_ms, topic="t", num_partitions=self.size)

    def leave(self, draw):
        return Leave(at_ms=self.now_ms, member=self._goes(draw, self.away))

    def back(self, draw):
        who = draw(st.sampled_from(self.away))
        self.away.remove(who)
        self.there.append(who)
        return Return(at_ms=self.now_ms, member=who)

    def crash(self, draw):
        return Freeze(at_ms=self.now_ms, member=self._goes(draw, self.away))

    def hang(self, draw):
        return StopPolling(at_ms=self.now_ms, member=self._goes(draw, []))

    def pause(self, draw):
        kind = draw(st.sampled_from([Freeze, StopPolling]))
        for_ms = draw(st.sampled_from([1_000, 50_000, 350_000]))
        who = draw(st.sampled_from(self.there))
        at_ms, self.now_ms = self.now_ms, self.now_ms + for_ms
        return kind(at_ms=at_ms, member=who, for_ms=for_ms)

    def _goes(self, draw, where):
        who = draw(st.sampled_from(self.there))
        self.there.remove(who)
        where.append(who)
        return who

    def actions(self):
        if_there = [self.leave, self.crash, self.hang, self.pause]
        return [
            self.join,
            self.grow,
            *(if_there if self.there else []),
            *([self.back] if self.away else []),
        ]


@st.composite
def stories(draw):
    """Events that can happen, each to somebody who is there, and who is left."""
    start = draw(st.integers(1, 3))
    cast, events = Cast(start), []
    for _ in range(draw(st.integers(1, 6))):
        cast.now_ms += draw(st.sampled_from([1, 700, 2_999, 20_000, 60_000, 400_000]))
        events.append(draw(st.sampled_from(cast.actions()))(draw))
    return start, events, cast.there, cast.now_ms, cast.size


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize(("protocol", "assignor"), STICKY)
@given(told=stories())
def test_in_the_end_the_remaining_members_read_everything(
    protocol, assignor, is_static, told
):
    start, events, there, last_ms, size = told
    until_s = last_ms // 1000 + 2000
    if is_static:
        events = [
            replace(e, spec=replace(e.spec, instance_id=e.spec.member_id))
            if isinstance(e, Join)
            else e
            for e in events
        ]

    course = story(
        (protocol, assignor),
        events,
        who=members(start, is_static=is_static),
        until_s=until_s,
        rates={"t": [SPEED] * size},
    )

    read_by = {str(name).partition("#")[0] for name in holders(course)}
    assert read_by <= set(there) or not there
    assert course.is_still_at_end.all() == (not there)
    if there:
        group, given_to = course.last.group, course.last.assignment.member_idx
        assert holders(course) == [group.members.ids[row] for row in given_to]
    # Readers are quick: what is behind is what arrived while nobody read.
    piled = SPEED * course.longest_ms / 1000
    assert course.lag.peak_of == pytest.approx(piled)
    assert (course.longest_ms <= course.still_ms).all()


@pytest.mark.parametrize(("protocol", "assignor"), STICKY)
@given(told=stories())
def test_the_same_story_is_always_the_same(protocol, assignor, told):
    start, events, _, last_ms, _ = told
    way, who = (protocol, assignor), members(start)

    first = story(way, events, who=who, until_s=last_ms // 1000 + 1, rates=None)
    again = story(way, events, who=who, until_s=last_ms // 1000 + 1, rates=None)

    assert first.story == again.story
    assert first.still_ms.tolist() == again.still_ms.tolist()
    assert first.lag is None

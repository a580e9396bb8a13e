"""Each rule by a tiny cluster and a plan that breaks it alone, or just not."""

import pytest

from placement.check import CheckSettings, Finding, Target, Where, check, is_ok
from placement.check.checker import RULE_NAMES
from placement.model.cluster import BrokerState, ClusterState, LogDirState
from support.clusters import Dir, make_state


def target(lists: dict[tuple[str, int], list[int]], dirs=None) -> Target:
    names = list(lists)
    return Target.from_lists(
        [topic for topic, _ in names],
        [number for _, number in names],
        list(lists.values()),
        dirs,
    )


def six(**changes) -> ClusterState:
    """Brokers 0-5 in racks aabbcc; t-0 on 0,2 and t-1 on 1,3; all plain."""
    return make_state([[0, 2], [1, 3]], **{"racks": "aabbcc", **changes})


T0 = ("t", 0)
FINE = {T0: [0, 4]}
OFFLINE, CORDONED = LogDirState.OFFLINE, LogDirState.CORDONED
TWO_DIRS = {4: [Dir("/d1"), Dir("/d2", state=CORDONED), Dir("/d3", state=OFFLINE)]}
THRESHOLDS = {"disk_bytes": 100, "size_bytes": [30, 60]}


def broken(rule: str, state: ClusterState, plan: Target, id: str, **settings):  # noqa: A002 - pytest's word
    return pytest.param(rule, state, plan, CheckSettings(**settings), id=id)


BROKEN = [
    broken("unknown-broker", six(), target({T0: [0, 9]}), "no-such-broker"),
    broken("unknown-broker", six(), target({T0: [0, -1]}), "negative-broker"),
    *[
        broken(
            "dead-broker",
            six(states={4: state}),
            target(FINE),
            f"new-replica-on-{state.name.lower()}",
        )
        for state in BrokerState
        if state > BrokerState.DEMOTED
    ],
    broken(
        "dead-broker",
        make_state([[0, 1, 5]], racks="abcabc", states={5: BrokerState.DEAD}),
        target({T0: [1, 0, 5]}),
        "left-on-a-dead-one",
    ),
    broken(
        "no-source",
        six(states={0: BrokerState.DEAD}, isr=[[0], [1, 3]]),
        target({T0: [2, 4]}),
        "the-last-in-sync-is-dead",
    ),
    broken("duplicate-broker", six(), target({T0: [0, 0]}), "same-broker-twice"),
    broken("unknown-topic", six(), target({("u", 0): [0, 2]}), "no-such-topic"),
    broken("unknown-topic", six(), target({("", 0): [0, 2]}), "empty-name"),
    broken("unknown-partition", six(), target({("t", 2): [0, 2]}), "no-such-number"),
    broken("unknown-partition", six(), target({("t", -1): [0, 2]}), "negative-number"),
    broken(
        "duplicate-partition",
        six(),
        Target.from_lists(["t", "t"], [0, 0], [[0, 2], [0, 4]]),
        "two-entries",
    ),
    broken("empty-replicas", six(), target({T0: []}), "empty-list"),
    broken("replication-factor", six(), target({T0: [0, 2, 4]}), "one-more"),
    broken("replication-factor", six(), target({T0: [0]}), "one-less"),
    broken(
        "replication-factor",
        make_state([[0, 2, 4]], racks="aabbcc", adding=[[4]]),
        target({T0: [0, 2, 4]}),
        "more-than-before-the-one-being-added",
    ),
    broken("rack", six(), target({T0: [0, 1]}), "two-in-a-rack"),
    broken(
        "rack",
        six(),
        target({T0: [0, 1, 4]}),
        "two-in-a-rack-of-three",
        allow_replication_factor_change=True,
    ),
    broken(
        "rack",
        make_state([[0, 1, 4]], racks="aaaabc", states={5: BrokerState.DEAD}),
        target({T0: [0, 1, 2]}),
        "uneven-with-a-free-broker",
    ),
    broken(
        "rack",
        make_state([[0, 1, 3], [1, 2]], racks="aabb"),
        target({T0: [0, 1]}),
        "worse-at-a-lower-factor",
        allow_replication_factor_change=True,
    ),
    broken("capacity", six(**THRESHOLDS), target({T0: [3, 0]}), "disk"),
    broken(
        "capacity",
        six(disk_bytes=100, size_bytes=30, log_dirs={4: [Dir("/d", 100, 49)]}),
        target(FINE),
        "disk-with-a-fixed-load",
    ),
    broken(
        "capacity",
        six(size_bytes=30, disk_bytes=[999, 999, 999, 999, 100, 999]),
        target(FINE),
        "disk-below-a-tighter-threshold",
        capacity_thresholds={"disk": 0.29},
    ),
    broken(
        "capacity",
        six(broker_in=[9, 9, 9, 9, 2, 9], in_rate=2),
        target(FINE),
        "in-on-a-follower",
    ),
    broken(
        "capacity",
        six(broker_out=[99, 99, 99, 99, 9, 99], out_rate=4, in_rate=4),
        target({T0: [4, 0]}),
        "out-with-replication",
    ),
    broken(
        "capacity",
        six(broker_cpu=[9, 9, 9, 9, 1, 9], leader_cpu=0.2, follower_cpu=0.71),
        target(FINE),
        "cpu-of-a-follower",
    ),
    broken("max-replicas", six(max_replicas=1), target({T0: [1, 2]}), "one-too-many"),
    broken(
        "log-dir",
        six(log_dirs=TWO_DIRS),
        target(FINE, [[None, "/d9"]]),
        "no-such-log-dir",
    ),
    broken(
        "log-dir", six(log_dirs=TWO_DIRS), target(FINE, [[None, "/d2"]]), "cordoned"
    ),
    broken("log-dir", six(log_dirs=TWO_DIRS), target(FINE, [[None, "/d3"]]), "offline"),
    broken(
        "log-dir",
        six(log_dirs={4: [Dir("/d1", state=CORDONED)]}),
        target(FINE),
        "every-log-dir-cordoned",
    ),
    broken(
        "log-dir-capacity",
        six(size_bytes=90, log_dirs={4: [Dir("/d1", 100)]}),
        target(FINE, [[None, "/d1"]]),
        "log-dir-over-the-threshold",
    ),
    broken(
        "log-dir-capacity",
        six(size_bytes=90, log_dirs={4: [Dir("/d1", 100), Dir("/d2", 200)]}),
        target(FINE),
        "log-dir-the-broker-picks-though-it-is-too-small",
    ),
    broken(
        "log-dir-capacity",
        six(size_bytes=30, log_dirs={4: [Dir("/d1", 100, 45), Dir("/d2", 900)]}),
        target(FINE, [[None, "/d1"]]),
        "log-dir-with-other-files",
    ),
    broken(
        "log-dir-capacity",
        six(
            size_bytes=30,
            log_dirs={0: [Dir("/d1", 50), Dir("/d2", 900)]},
            dirs=[["/d2", None], [None] * 2],
        ),
        target({T0: [0, 2]}, [["/d1", None]]),
        "log-dir-below-a-tighter-threshold",
        capacity_thresholds={"disk": 0.5},
    ),
    broken(
        "min-isr",
        six(min_isr=2),
        target({T0: [0]}),
        "fewer-replicas-than-it",
        allow_replication_factor_change=True,
    ),
    broken(
        "min-isr",
        six(isr=[[2], [1, 3]]),
        target({T0: [0]}),
        "drops-all-in-sync",
        allow_replication_factor_change=True,
    ),
    broken(
        "min-isr",
        make_state([[0, 2, 4]], racks="aabbcc", isr=[[0, 2]], min_isr=2),
        target({T0: [0, 4]}),
        "drops-one-in-sync-too-many",
        allow_replication_factor_change=True,
    ),
    broken(
        "min-isr",
        six(isr=[[0], [1, 3]], elr=[[2], []], min_isr=2),
        target(FINE),
        "drops-an-eligible-leader",
    ),
    broken(
        "excluded",
        six(),
        target(FINE),
        "broker-for-replicas",
        excluded_for_replicas=frozenset({4}),
    ),
    broken(
        "excluded",
        six(),
        target({T0: [4, 2]}),
        "broker-for-leaders",
        excluded_for_leaders=frozenset({4}),
    ),
    broken(
        "excluded",
        six(states={2: BrokerState.DEMOTED}),
        target({T0: [2, 0]}),
        "demoted-leader",
    ),
    broken(
        "excluded",
        six(),
        target({T0: [2, 0]}),
        "topic",
        excluded_topics=frozenset({"t"}),
    ),
    broken(
        "excluded",
        six(log_dirs={0: [Dir("/d")]}),
        target({T0: [0, 2]}, [["/d", None]]),
        "topic-by-log-dir",
        excluded_topics=frozenset({"t"}),
    ),
    broken(
        "excluded",
        six(),
        target(FINE),
        "leaving-broker",
        leaving_brokers=frozenset({4}),
    ),
    broken("stale", six(), target(FINE), "moved-since", rollback=target({T0: [0, 5]})),
    broken(
        "stale", six(), target(FINE), "reordered-since", rollback=target({T0: [2, 0]})
    ),
    broken(
        "stale",
        six(topic_ids=["new"]),
        target(FINE),
        "topic-made-anew",
        topic_ids={"t": "old"},
    ),
]


@pytest.mark.parametrize(("rule", "state", "plan", "settings"), BROKEN)
def test_a_broken_rule_is_found_alone(
    rule: str, state: ClusterState, plan: Target, settings: CheckSettings
):
    findings = check(state, plan, settings)

    assert [finding.rule for finding in findings] == [rule]
    assert not is_ok(findings)


def test_every_rule_has_a_case():
    assert {case.values[0] for case in BROKEN} == set(RULE_NAMES)


def kept(state: ClusterState, plan: Target, id: str, **settings):  # noqa: A002 - pytest's word
    return pytest.param(state, plan, CheckSettings(**settings), id=id)


KEPT = [
    kept(six(), target({}), "no-entries"),
    kept(six(), target({T0: [0, 2]}), "the-same-list"),
    kept(six(), target(FINE), "one-replica-moved"),
    kept(six(), target({T0: [5, 3]}), "every-replica-moved"),
    kept(six(states={4: BrokerState.NEW}), target(FINE), "onto-a-new-broker"),
    kept(six(states={4: BrokerState.DEMOTED}), target(FINE), "follower-on-a-demoted"),
    kept(make_state([[0]], racks="aa"), target({T0: [1]}), "single-replica-moved"),
    kept(
        make_state([[0, 2, 4, 1]], racks="aabbcc"),
        target({T0: [0, 2, 4, 3]}),
        "fourth-replica-in-the-least-racks",
    ),
    kept(
        make_state([[0, 1, 2]], racks="aaab"),
        target({T0: [0, 1, 3]}),
        "as-even-as-brokers-allow",
    ),
    kept(
        make_state([[0, 1, 4]], racks="aaaabc", states={5: BrokerState.DEAD}),
        target({T0: [0, 1, 4]}),
        "uneven-where-the-small-rack-is-full",
    ),
    kept(six(**THRESHOLDS), target({T0: [0, 4]}), "disk-within"),
    kept(six(disk_bytes=100, size_bytes=80), target(FINE), "disk-at-the-threshold"),
    kept(six(disk_bytes=100), target(FINE), "disk-of-unknown-sizes"),
    kept(six(size_bytes=10**15), target(FINE), "disk-of-unknown-capacity"),
    kept(
        six(broker_out=9, out_rate=4),
        target({T0: [4, 0]}),
        "out-unknown-without-the-rate-in",
    ),
    kept(
        six(max_replicas=1),
        target({T0: [2, 4]}),
        "as-many-as-it-may",
        excluded_topics=frozenset({"u"}),
    ),
    kept(six(log_dirs=TWO_DIRS), target(FINE, [[None, "/d1"]]), "log-dir-online"),
    kept(six(log_dirs=TWO_DIRS), target(FINE), "any-log-dir-but-one-is-open"),
    kept(six(), target(FINE, [["/x", "/y"]]), "log-dirs-nobody-listed"),
    kept(
        six(size_bytes=80, log_dirs={4: [Dir("/d1", 100)]}),
        target(FINE, [[None, "/d1"]]),
        "log-dir-at-the-threshold",
    ),
    kept(
        six(size_bytes=90, log_dirs={4: [Dir("/d1", 200), Dir("/d2", 200)]}),
        target(FINE),
        "log-dir-the-broker-picks",
    ),
    kept(
        six(size_bytes=90, log_dirs={4: [Dir("/d1")]}),
        target(FINE, [[None, "/d1"]]),
        "log-dir-of-unknown-size",
    ),
    kept(
        six(size_bytes=70, log_dirs={0: [Dir("/d1", 100, 30)]}),
        target({T0: [4, 2]}),
        "log-dir-that-a-replica-of-unknown-place-leaves",
    ),
    kept(
        six(log_dirs={0: [Dir("/d", state=CORDONED)]}, dirs=[["/d", None], [None] * 2]),
        target(FINE, [["/d", None]]),
        "stays-in-a-cordoned-one",
    ),
    kept(six(min_isr=2), target(FINE), "at-min-isr"),
    kept(six(isr=[[2], [1, 3]]), target(FINE), "in-sync-copy-stays"),
    kept(
        make_state([[0, 2, 4]], racks="aabbcc", isr=[[0, 2]], min_isr=2),
        target({T0: [0, 2]}),
        "what-is-behind-goes",
        allow_replication_factor_change=True,
    ),
    kept(
        make_state([[0, 2, 4]], racks="aabbcc", isr=[[0, 2]], min_isr=2),
        target({T0: [0, 3, 4]}),
        "a-copy-takes-the-place-of-one-in-sync",
    ),
    kept(six(isr=[[2], [1, 3]]), target({T0: [0, 4]}), "copied-before-it-is-dropped"),
    kept(
        six(),
        target({T0: [4, 0]}),
        "other-exclusions",
        excluded_for_leaders=frozenset({0}),
        excluded_for_replicas=frozenset({0, 2}),
    ),
    kept(
        six(),
        target({T0: [0, 2]}),
        "excluded-and-unchanged",
        excluded_topics=frozenset({"t"}),
        excluded_for_replicas=frozenset({0, 2}),
        excluded_for_leaders=frozenset({0}),
    ),
    kept(
        six(),
        target({T0: [0, 2, 4]}),
        "factor-allowed",
        allow_replication_factor_change=True,
    ),
    kept(
        six(),
        target({T0: [0, 3], ("t", 1): [1, 2]}),
        "rack-given-up-as-a-whole",
        leaving_brokers=frozenset({4, 5}),
    ),
    kept(
        make_state([[0, 2]], racks="aab"),
        target({T0: [0, 1]}),
        "racks-that-leave",
        leaving_brokers=frozenset({2}),
    ),
    kept(six(), target(FINE), "fresh", rollback=target({T0: [0, 2]})),
    kept(six(), target(FINE), "rollback-without-it", rollback=target({})),
    kept(six(topic_ids=["id"]), target(FINE), "same-topic", topic_ids={"t": "id"}),
    kept(six(), target(FINE), "topic-id-not-known", topic_ids={"t": "id"}),
]


@pytest.mark.parametrize(("state", "plan", "settings"), KEPT)
def test_a_kept_rule_is_not_found(
    state: ClusterState, plan: Target, settings: CheckSettings
):
    assert check(state, plan, settings) == ()


EXISTING = [
    pytest.param(
        "dead-broker", six(states={3: BrokerState.DEAD}), target(FINE), id="dead-broker"
    ),
    pytest.param(
        "rack",
        make_state([[0, 2], [1, 0]], racks="aabbcc"),
        target(FINE),
        id="rack",
    ),
    pytest.param(
        "rack",
        make_state([[0, 1], [1, 2]], racks="aab"),
        target({T0: [1, 0]}),
        id="rack-in-another-order",
    ),
    pytest.param(
        "rack",
        make_state([[0, 1], [1, 3]], racks="aaabb"),
        target({T0: [0, 2]}),
        id="rack-broken-as-much-elsewhere",
    ),
    pytest.param(
        "min-isr",
        make_state([[0]], racks="ab", min_isr=[2]),
        target({T0: [1]}),
        id="min-isr-of-a-partition-that-moves",
    ),
    pytest.param(
        "log-dir",
        six(log_dirs={0: [Dir("/d", state=OFFLINE)]}, dirs=[["/d", None], [None] * 2]),
        target({T0: [0, 4]}),
        id="log-dir-of-a-replica-that-stays",
    ),
    pytest.param(
        "capacity",
        six(disk_bytes=100, size_bytes=[1, 90]),
        target({T0: [0, 4]}),
        id="capacity-elsewhere",
    ),
    pytest.param(
        "capacity",
        make_state(
            [[0, 2], [0, 2]], racks="aabb", disk_bytes=[9] + [99] * 3, size_bytes=8
        ),
        target({T0: [1, 2]}),
        id="capacity-less-than-before",
    ),
    pytest.param(
        "max-replicas",
        make_state([[0], [0]], racks="ab", max_replicas=[1, 9]),
        target({T0: [0]}),
        id="max-replicas",
    ),
    pytest.param(
        "min-isr",
        make_state({"a": [[0, 2]], "b": [[0]]}, racks="aabbcc", min_isr=[1, 2]),
        target({("a", 0): [0, 4]}),
        id="min-isr",
    ),
    pytest.param(
        "log-dir-capacity",
        six(
            size_bytes=90,
            log_dirs={1: [Dir("/d", 100)]},
            dirs=[[None] * 2, ["/d", None]],
        ),
        target(FINE),
        id="log-dir-too-full",
    ),
    pytest.param(
        "log-dir",
        six(log_dirs={1: [Dir("/d", state=OFFLINE)]}, dirs=[[None] * 2, ["/d", None]]),
        target(FINE),
        id="log-dir",
    ),
]


@pytest.mark.parametrize(("rule", "state", "plan"), EXISTING)
def test_what_was_wrong_elsewhere_is_existing(
    rule: str, state: ClusterState, plan: Target
):
    findings = check(state, plan)

    assert {finding.rule for finding in findings} == {rule}
    assert all(finding.existing for finding in findings)
    assert is_ok(findings)


def test_a_broker_over_its_capacity_that_gets_more_is_no_longer_existing():
    state = six(disk_bytes=100, size_bytes=[10, 90])

    findings = check(state, target({T0: [1, 2]}))

    on_1, on_3 = (f for f in findings if f.rule == "capacity")
    assert (on_1.where.broker, on_1.existing) == (1, False)
    assert (on_3.where.broker, on_3.existing) == (3, True)


def test_an_entry_kafka_refuses_is_not_carried_out():
    state = six(**THRESHOLDS)

    # Carried out it would break racks and overfill broker 1 as well.
    findings = check(state, target({T0: [1, 0, 9]}))

    assert {finding.rule for finding in findings} == {
        "unknown-broker",
        "replication-factor",
    }


def test_partitions_being_reassigned_are_judged_by_where_they_go():
    state = make_state(
        [[2, 4, 0, 1]], racks="aabbcc", adding=[[2, 4]], removing=[[0, 1]]
    )

    assert check(state, target({})) == ()


def test_a_plan_whose_broker_is_gone_is_stale_too():
    findings = check(
        six(), target({T0: [0, 9]}), CheckSettings(rollback=target({T0: [0, 2]}))
    )

    assert [finding.rule for finding in findings] == ["unknown-broker", "stale"]
    assert findings[1].where.broker == 9


def test_findings_name_the_place_the_value_and_the_limit():
    state = six(disk_bytes=100_000, size_bytes=[30_000, 60_000])

    [finding] = check(state, target({T0: [3, 0]}))

    assert finding.to_dict() == {
        "rule": "capacity",
        "where": {
            "topic": None,
            "partition": None,
            "broker": 3,
            "rack": None,
            "log_dir": None,
            "resource": "disk",
        },
        "message": "broker 3: disk 90 kB (before: 60 kB) is over 80 kB, "
        "0.8 of its capacity",
        "existing": False,
        "soft": False,
    }


def test_a_custom_rule_adds_its_own_findings():
    def never_on_four(state: ClusterState, plan: Target):
        if 4 in plan.broker_ids:
            yield Finding(rule="not-4", where=Where(broker=4), message="4 is for tests")

    findings = check(six(), target(FINE), CheckSettings(custom=(never_on_four,)))

    assert [finding.rule for finding in findings] == ["not-4"]


@pytest.mark.parametrize(
    ("thresholds", "said"),
    [
        pytest.param({"disks": 0.5}, "no capacity threshold", id="unknown-resource"),
        pytest.param({"disk": 0}, "must be in", id="zero"),
        pytest.param({"disk": 1.5}, "must be in", id="over-one"),
        pytest.param({"disk": float("nan")}, "must be in", id="nan"),
    ],
)
def test_bad_thresholds_are_refused(thresholds: dict[str, float], said: str):
    with pytest.raises(ValueError, match=said):
        CheckSettings(capacity_thresholds=thresholds)

"""Files that contradict each other are refused, and both places are named."""

import pytest

from importers.small_files import (
    HEALTHY,
    MIN_ISR_0,
    assignment,
    kcat,
    log_dirs,
    problems,
    table,
    topics,
    twice,
)
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.metrics.rates_table import read_rates


@pytest.mark.parametrize(
    ("sources", "places"),
    [
        pytest.param(
            [HEALTHY, assignment([2, 1], [2, 1])],
            ("now.json: partitions[0], replicas of a-0", "topics.txt: line 2"),
            id="replicas",
        ),
        pytest.param(
            [HEALTHY, kcat([1, 2], [(2, [1, 2], [1, 2]), (2, [2, 1], [2, 1])])],
            ("kcat.json: topics[0].partitions[0], leader of a-0", "topics.txt: line 2"),
            id="leader",
        ),
        pytest.param(
            [HEALTHY, kcat([1, 2], [(1, [1, 2], [1]), (2, [2, 1], [1, 2])])],
            ("kcat.json: topics[0].partitions[0], isr of a-0", "topics.txt: line 2"),
            id="isr",
        ),
        pytest.param(
            [HEALTHY, assignment([1, 2], [2, 1], [1, 2])],
            ("topics.txt: topic a: must list a-2", "now.json: partitions[2]"),
            id="a-partition-more",
        ),
        pytest.param(
            [
                HEALTHY,
                table("id,rack", "1,a", "2,b"),
                table("id,rack", "2,c", name="t"),
            ],
            ("t: line 2, rack of broker 2", "brokers.csv: line 3"),
            id="rack",
        ),
        pytest.param(
            [HEALTHY, kcat([1])],
            ("kcat.json: brokers: broker 2 is not listed", "topics.txt: line 2"),
            id="a-leader-that-does-not-live",
        ),
        pytest.param(
            [HEALTHY, table("id,state", "1,", "2,dead")],
            (
                "brokers.csv: line 3: broker 2 is dead, but is in sync",
                "topics.txt: line 2",
            ),
            id="in-sync-and-dead",
        ),
        pytest.param(
            [HEALTHY, kcat([1, 2]), table("id,state", "2,dead")],
            ("brokers.csv: line 2, state of broker 2", "kcat.json: brokers[1]"),
            id="dead-and-alive",
        ),
        pytest.param(
            [
                assignment([1, 2]),
                kcat([1, 2]),
                read_endpoints(
                    b"ID HOST PORT RACK STATE ENDPOINT_TYPE\n"
                    b"1 k1 9092 r unfenced broker\n",
                    file="ends.txt",
                ),
            ],
            ("ends.txt: brokers: broker 2 is not listed as live", "kcat.json"),
            id="alive-for-one-list-only",
        ),
        pytest.param(
            [
                HEALTHY,
                table("id,log_dirs", "1,/d1", "2,/d"),
                log_dirs(
                    {1: {"/d2": {"a-0": 1, "a-1": 1}}, 2: {"/d": {"a-0": 1, "a-1": 1}}}
                ),
            ],
            ("brokers.csv: log dirs of broker 1", "those in dirs.txt; /d2 is missing"),
            id="log-dirs",
        ),
        pytest.param(
            [
                assignment([1, 2], log_dirs=["/d1", "any"]),
                log_dirs({1: {"/d2": {"a-0": 1}}, 2: {"/d": {"a-0": 1}}}),
            ],
            ("dirs.txt: broker 1, log dir of a-0", "now.json: partitions[0]"),
            id="log-dir-of-a-replica",
        ),
        pytest.param(
            [HEALTHY, table("id,disk,log_dirs", "1,3TB,/d1=1TB;/d2=1TB", "2,,")],
            (
                "brokers.csv: line 2, disk_bytes of broker 1",
                "sum of the online log dirs",
            ),
            id="disk-and-log-dirs",
        ),
        pytest.param(
            [topics(("3", "1,2", "1,2"))],
            ("topics.txt: line 2, leader of a-0", "one of the replicas"),
            id="leader-without-a-replica",
        ),
        pytest.param(
            [topics(("1", "1,2", "1,3"))],
            ("topics.txt: line 2, isr of a-0", "among the replicas"),
            id="isr-without-a-replica",
        ),
        pytest.param(
            [topics(("1", "1,1", "1"))],
            ("topics.txt: line 2, replicas of a-0", "once"),
            id="twice-on-a-broker",
        ),
        pytest.param(
            [assignment([1]), assignment([1]), assignment([2])],
            ("now.json: partitions[0], replicas of a-0", "now.json: partitions[0]"),
            id="three-files",
        ),
        pytest.param(
            [table("id", "1")],
            ("command line", "list the replicas of the partitions"),
            id="none",
        ),
        pytest.param(
            [twice([1, 2], [1, 2])],
            ("now.json: partitions[1]", "a-0 is also at partitions[0]"),
            id="a-partition-twice",
        ),
        pytest.param(
            [HEALTHY, read_rates(b"topic,partition,in\na,0,1\na,0,2\n", file="r")],
            ("r: line 3", "a-0 is also at line 2"),
            id="a-rate-twice",
        ),
        pytest.param(
            [
                HEALTHY,
                read_rates(b"topic,partition,in\na,0,1\n", file="r"),
                read_rates(b"topic,partition,in\na,0,2\n", file="s"),
            ],
            ("s: line 2, in_bytes_per_s of a-0", "r: line 2, which has 1.0"),
            id="two-rates",
        ),
        pytest.param(
            [
                assignment([1, 2], log_dirs=["/d1", "any"]),
                assignment([1, 2], log_dirs=["/d9", "/d2"]),
            ],
            ("now.json: partitions[0], log_dirs of a-0", "now.json: partitions[0]"),
            id="log-dirs-that-are-named",
        ),
        pytest.param(
            [HEALTHY, log_dirs({1: {"/d": {"a-0": 1}, "/e": {"a-0": 1}}, 2: {}})],
            ("dirs.txt: broker 1", "a-0 must be in one log dir of broker 1"),
            id="in-two-log-dirs",
        ),
        pytest.param(
            [
                HEALTHY,
                log_dirs({1: {"/d": {"a-0": 1}, "/e": {}}, 2: {"/d": {"a-0": 1}}}),
                log_dirs({1: {"/d": {}, "/e": {"a-0": 1}}, 2: {"/d": {"a-0": 1}}}),
            ],
            ("dirs.txt: broker 1, log dir of a-0", "dirs.txt: broker 1"),
            id="two-log-dirs-of-a-replica",
        ),
        pytest.param(
            [read_topics(MIN_ISR_0, file="topics.txt")],
            ("topics.txt: line 1, configs.min.insync.replicas", "from 1 to"),
            id="a-config-that-cannot-be",
        ),
        pytest.param(
            [assignment([1, 2]), table("id,disk", "1,4EB", "2,4EB")],
            ("all files: brokers, disk_bytes", "below 2^62"),
            id="too-much-disk",
        ),
    ],
)
def test_contradictions_name_both_places(sources, places):
    found = problems(*sources)

    assert any(all(place in problem for place in places) for problem in found), found


def test_all_contradictions_are_named():
    found = problems(
        HEALTHY,
        assignment([2, 1], [1, 2]),
        table("id,rack", "1,a", "2,b"),
        table("id,rack", "1,x", "2,y", name="other.csv"),
    )

    assert len(found) == 4

"""Total lag of listed groups, by a stand-in for what brokers answer."""

import pytest

from planner.kafka.client.cluster_errors import NotAuthorisedError
from planner.kafka.groups import group_lags
from planner.kafka.groups.group_lags import total_lags
from planner.kafka.groups.group_listing import ListedGroup
from planner.kafka.read.log_dirs import Partition

P0, P1, GONE, HIDDEN = (
    Partition("t", 0),
    Partition("t", 1),
    Partition("gone", 0),
    Partition("hidden", 0),
)
GROUP = ListedGroup(
    group_id="g", kind="classic", protocol_type="consumer", state="Empty", coordinator=1
)


@pytest.mark.parametrize(
    ("committed", "owned", "logs", "expected"),
    [
        pytest.param({P0: 3, P1: 4}, [], {P0: (0, 5), P1: (0, 4)}, 2, id="sum"),
        pytest.param({P0: 9}, [], {P0: (0, 5)}, 0, id="ahead-of-an-old-end"),
        pytest.param({P0: 3}, [P1], {P0: (0, 5), P1: (0, 4)}, None, id="not-committed"),
        pytest.param({P0: 3}, [P1], {P0: (0, 5), P1: (7, 7)}, 2, id="nothing-in-it"),
        pytest.param({P0: 3, P1: 4}, [], {P0: (0, 5)}, None, id="no-leader"),
        pytest.param({P0: 3, HIDDEN: 1}, [], {P0: (0, 5)}, None, id="hidden"),
        pytest.param({P0: 3, GONE: 1}, [], {P0: (0, 5)}, 2, id="deleted"),
        pytest.param({}, [], {}, None, id="nothing-known"),
    ],
)
def test_the_total_is_unknown_where_a_part_is(
    monkeypatch, committed, owned, logs, expected
):
    topics = {
        "t": {
            "error_code": 0,
            "partitions": [
                {
                    "partition_index": one.partition,
                    "leader_id": 1 if one in logs else -1,
                }
                for one in (P0, P1)
            ],
        },
        "gone": {"error_code": 3, "partitions": []},
        "hidden": {"error_code": 29, "partitions": []},
    }
    ends = {"EARLIEST": 0, "LATEST": 1}
    monkeypatch.setattr(group_lags, "offsets_of", lambda *_: committed)
    monkeypatch.setattr(group_lags, "_owned", lambda *_: owned)
    monkeypatch.setattr(
        group_lags, "read_topics", lambda _, names: {one: topics[one] for one in names}
    )
    monkeypatch.setattr(
        group_lags,
        "log_offsets",
        lambda _, names, at: {one: logs[one][ends[at.name]] for one in names},
    )

    assert total_lags(None, [GROUP]) == {"g": expected}


def test_a_group_that_may_not_be_described_has_an_unknown_lag(monkeypatch):
    def refuse(*_):
        raise NotAuthorisedError("refused", "Describe on Group g")  # noqa: EM101

    monkeypatch.setattr(group_lags, "offsets_of", refuse)
    monkeypatch.setattr(group_lags, "read_topics", lambda *_: {})
    monkeypatch.setattr(group_lags, "log_offsets", lambda *_: {})

    assert total_lags(None, [GROUP]) == {"g": None}

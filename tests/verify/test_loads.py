import math

import pytest

from planner.verify.predicted_loads import compare_loads, load_text
from support.clusters import make_state

STATE = make_state(
    [[0, 1], [1, 2]],
    size_bytes=[10, 20],
    in_rate=[1, 2],
    out_rate=math.nan,
    leaders=[1, 1],
)


def after(**loads: dict[int, object]) -> dict[str, object]:
    """A score that foretells loads per broker: ``after(disk={0: 5})``."""
    brokers = sorted({broker for of in loads.values() for broker in of})
    return {
        "by_broker": [
            {
                "broker": broker,
                "rack": "a",
                **{r: {"load": of[broker]} for r, of in loads.items() if broker in of},
            }
            for broker in brokers
        ]
    }


def test_the_broker_furthest_off_is_named():
    [disk] = compare_loads(STATE, after(disk={0: 10, 1: 21, 2: 24}))

    assert disk.model_dump() == {
        "resource": "disk",
        "predicted": 55,
        "measured": 60,
        "broker": 1,
        "broker_predicted": 21,
        "broker_measured": 30,
    }
    assert load_text(disk).startswith(
        "disk: 60 B measured, 55 B predicted; furthest off"
    )


def test_the_current_leaders_count():
    [leaders] = compare_loads(STATE, after(leaders={0: 1, 1: 1}))

    assert (leaders.broker_measured, leaders.measured) == (0, 2)


@pytest.mark.parametrize(
    "foretold",
    [
        pytest.param(None, id="nothing"),
        pytest.param({}, id="no-brokers"),
        pytest.param({"by_broker": 7}, id="no-list"),
        pytest.param({"by_broker": [7, {"broker": "x"}]}, id="no-rows"),
        pytest.param(after(out={0: 1}), id="not-measured"),
        pytest.param(after(disk={9: 1}), id="no-such-broker"),
        pytest.param(after(disk={0: None}), id="not-foretold"),
        pytest.param(after(weight={0: 1}), id="unknown-resource"),
    ],
)
def test_what_either_side_does_not_know_is_not_compared(foretold: object):
    assert compare_loads(STATE, foretold) == []

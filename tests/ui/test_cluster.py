"""The cluster as it is drawn: shades, words, what is lost, and too many log dirs."""

import pytest

from planner.ui.ui_answer import FirstAnswer, PlanAnswer, Side
from planner.ui.ui_cluster import MOST_LOG_DIRS, STEPS, Painter
from planner.ui.ui_picture import ClusterLoads, LogDirLoad

THRESHOLDS = {"disk": 0.8, "in": 0.5, "out": 0.5, "cpu": 0.6}
NO_LOAD = {"load": None, "use": None}


def row(broker, rack="a", **cells):
    """Return the row of a broker: loads, or loads and uses, by resource."""
    loads = dict.fromkeys(("disk", "in", "out", "cpu", "replicas", "leaders"), NO_LOAD)
    pairs = {
        name: dict(zip(("load", "use"), c, strict=True)) for name, c in cells.items()
    }
    return {"broker": broker, "rack": rack, **loads, **pairs}


def loads(*rows, live=None, log_dirs=()):
    ids = frozenset(each["broker"] for each in rows)
    return ClusterLoads(
        brokers=rows, live=ids if live is None else live, log_dirs=log_dirs
    )


def painter(today, changed=None, planned=None, *, resource="disk", steps=()):
    sides = [Side(row={}, loads=each) for each in (today, changed or today)]
    first = FirstAnswer(
        today=sides[0], changed=sides[1], thresholds=THRESHOLDS, bands={}
    )
    plan = None
    if planned is not None:
        plan = PlanAnswer(
            side=Side(row={}, loads=planned), lines=(), proofs=(), names_log_dirs=False
        )
    return Painter(first, plan, steps, resource)


def tiles(found):
    return {tile.name: tile for rack in found.racks() for tile in rack.brokers}


@pytest.mark.parametrize(
    ("use", "shade"),
    [
        (0.0, "shade-0"),
        (0.159, "shade-0"),
        (0.161, "shade-1"),
        (0.4, "shade-2"),
        (0.639, "shade-3"),
        (0.65, "shade-4"),
        (0.8, "shade-4"),
        (0.81, "over"),
    ],
)
def test_shades_go_up_to_the_threshold_in_equal_steps(use, shade):
    found = tiles(painter(loads(row(1, disk=(use * 1e9, use)))))

    assert found["1"].shade == shade
    assert STEPS == 5


def test_each_resource_has_its_own_threshold_and_its_own_colours():
    cluster = loads(row(1, disk=(1.0, 0.1), out=(1.0, 0.49), cpu=(4.2, 0.7)))

    shades = {
        name: tiles(painter(cluster, resource=name))["1"].shade
        for name in ("disk", "out", "cpu")
    }

    assert shades == {"disk": "shade-0", "out": "shade-4", "cpu": "over"}


def test_counts_and_loads_without_capacity_compare_the_brokers():
    cluster = loads(
        row(1, leaders=(100.0, None), replicas=(5.0, None)),
        row(2, leaders=(10.0, None), replicas=(10.0, None)),
    )

    by_leaders = tiles(painter(cluster, resource="leaders"))
    by_replicas = tiles(painter(cluster, resource="replicas"))

    assert [each.shade for each in by_leaders.values()] == ["shade-4", "shade-0"]
    assert [each.shade for each in by_replicas.values()] == ["shade-2", "shade-4"]
    assert by_leaders["1"].figures == "100"


def test_nothing_to_compare_has_the_lightest_shade():
    cluster = loads(row(1, leaders=(0.0, None)))

    assert tiles(painter(cluster, resource="leaders"))["1"].shade == "shade-0"


def test_a_broker_that_is_down_says_so_whatever_its_load():
    cluster = loads(row(1, disk=(9.0, 0.99)), row(2, disk=(1.0, 0.1)), live={2})

    found = tiles(painter(cluster))

    assert (found["1"].shade, found["1"].label) == ("down", "Broker 1 (down)")
    assert found["2"].label == "Broker 2"


def test_an_unknown_load_has_no_shade():
    found = tiles(painter(loads(row(1))))

    assert (found["1"].shade, found["1"].figures) == ("unknown", "unknown")


def test_a_broker_is_coloured_by_the_last_stage_and_tells_all():
    today, changed, planned = (
        loads(row(1, disk=(use * 1e9, use))) for use in (0.9, 0.9, 0.3)
    )

    found = tiles(painter(today, changed, planned))

    assert found["1"].shade == "shade-1"
    assert found["1"].figures == "90 % → 30 %"


def test_a_broker_that_is_added_is_new_and_one_without_a_rack_stands_last():
    today = loads(row(1, "b", disk=(1.0, 0.1)))
    changed = loads(
        row(1, "b", disk=(1.0, 0.1)), row(2, None, disk=(0.0, 0.0)), row(3, "a")
    )

    found = painter(today, changed)

    assert [rack.name for rack in found.racks()] == ["a", "b", None]
    assert tiles(found)["2"].figures == "new: 0 %"


def test_what_a_step_loses_is_pressed():
    cluster = loads(
        row(1, "a"),
        row(2, "b"),
        log_dirs=[LogDirLoad(broker=2, path="/d", is_online=True, use=0.5)],
    )
    steps = [
        {"change": "lose", "brokers": "1"},
        {"change": "lose", "racks": ["b"]},
        {"change": "lose", "log_dirs": ["2:/d"]},
    ]

    a, b = painter(cluster, steps=steps).racks()

    assert (a.is_lost, b.is_lost) == (False, True)
    assert (a.brokers[0].is_lost, b.brokers[0].is_lost) == (True, False)
    assert b.brokers[0].inside[0].is_lost


@pytest.mark.parametrize(
    ("is_online", "use", "shade", "label"),
    [
        (True, 0.5, "shade-3", "/d"),
        (True, 0.9, "over", "/d"),
        (True, None, "unknown", "/d"),
        (False, 0.5, "down", "/d (offline)"),
    ],
)
def test_log_dirs_are_shaded_by_their_own_use(is_online, use, shade, label):
    log_dir = LogDirLoad(broker=1, path="/d", is_online=is_online, use=use)
    cluster = loads(row(1, leaders=(1.0, None)), log_dirs=[log_dir])

    (tile,) = tiles(painter(cluster, resource="leaders"))["1"].inside

    assert (tile.shade, tile.label) == (shade, label)


@pytest.mark.parametrize(
    ("count", "is_drawn"), [(MOST_LOG_DIRS, True), (MOST_LOG_DIRS + 1, False)]
)
def test_of_very_many_log_dirs_none_is_drawn(count, is_drawn):
    dirs = [
        LogDirLoad(broker=1, path=f"/d{n}", is_online=True, use=0.1)
        for n in range(count)
    ]
    found = painter(loads(row(1, disk=(1.0, 0.1)), log_dirs=dirs))

    assert found.omits_log_dirs is not is_drawn
    assert len(tiles(found)["1"].inside) == (count if is_drawn else 0)

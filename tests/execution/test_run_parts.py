"""Parts of a run: hours, gate, journal, lock, controls, throttles, least rate."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.execution.admission import Caps
from planner.execution.changes import Change, Step
from planner.execution.cluster.running_cluster import Health
from planner.execution.least_throttle import least_rate, too_low_blocker
from planner.execution.run.controls import ControlFile, Controls
from planner.execution.run.gate import Gate, run_guard
from planner.execution.run.journal import Journal, read_journal
from planner.execution.run.run_choices import Hours, RunChoices, read_run_choices
from planner.execution.run.run_lock import lock_path, run_lock
from planner.execution.run.run_throttles import OwnThrottles
from planner.execution.simulation.simulated_configs import Configs
from planner.kafka.actions.config_changes import Place

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Time:
    """A clock of a test."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


# -- hours and durations -----------------------------------------------------


@given(st.times(), st.times(), st.integers(0, 86_399))
def test_hours_end_after_the_seconds_that_are_left(begin, end, second):
    hours = Hours(begin.replace(microsecond=0), end.replace(microsecond=0))
    now = NOON.replace(hour=0) + timedelta(seconds=second)

    left = hours.seconds_left(now)

    if left:
        assert left <= hours.length_s
        assert (now + timedelta(seconds=left)).time() == hours.end
        last = now + timedelta(seconds=left - 1)
        assert hours.seconds_left(last) == 1
    else:
        assert hours.begin != now.time() or hours.begin == hours.end


def choices(**more):
    given_ = {
        "window": None,
        "max_duration": None,
        "guard": None,
        "broker_grace": "2m",
        "patience": "1h",
    }
    return read_run_choices(**(given_ | more))


def test_times_are_read_as_operators_write_them():
    found = choices(window="22:00-06:30", max_duration="1h30m", broker_grace="90s")

    assert found.window == Hours(time(22), time(6, 30))
    assert (found.max_duration_s, found.broker_grace_s) == (5400, 90)


def test_every_wrong_time_is_named():
    with pytest.raises(BadInputError) as caught:
        choices(window="22-6", max_duration="4 hours", broker_grace="0s", patience="x")

    places = [problem.place for problem in caught.value.problems]
    assert places == ["--window", "--max-duration", "--broker-grace", "--patience"]
    with pytest.raises(BadInputError):
        choices(window="24:00-06:00")
    with pytest.raises(BadInputError):
        choices(window="06:00-06:00")


# -- gate --------------------------------------------------------------------


def gate(clock=lambda: NOON, guard=run_guard, **more):
    now = Time()
    run_choices = RunChoices(**more)
    made = Gate(
        choices=run_choices, now_s=now, at_start=Health(), clock=clock, guard=guard
    )
    return made, now


def test_a_gate_is_closed_by_the_operator_hours_and_duration():
    made, now = gate(window=Hours(time(11), time(13)), max_duration_s=1800.0)
    assert made.reason(Controls()) is None
    assert made.reason(Controls(is_paused=True)) == "paused by the operator"
    assert (made.is_in_time(1800), made.is_in_time(1801)) == (True, False)
    now.now_s = 1800.0
    assert "duration" in made.reason(Controls())
    late, _ = gate(window=Hours(time(13), time(11)))
    assert late.reason(Controls()) == "outside the hours 13:00-11:00"


def test_a_copy_longer_than_all_hours_begins_when_they_do():
    made, _ = gate(window=Hours(time(11), time(13)))
    assert made.is_in_time(3600)
    assert not made.is_in_time(3601)
    assert made.is_in_time(7201)


@pytest.mark.parametrize("name", ["offline", "under_min_isr", "under_replicated"])
def test_a_gate_is_closed_while_more_is_in_trouble_than_at_the_start(name):
    made, _ = gate()
    made.health = Health(**{name: 2})
    assert "2 partitions" in made.reason(Controls())
    made.rebase()
    # What is out of sync for good is taken as given; a lost leader never is.
    assert (made.reason(Controls()) is None) == (name == "under_replicated")


def test_a_gate_is_closed_while_others_move_partitions_unless_that_is_ignored():
    made, _ = gate()
    made.num_foreign = 1
    assert made.reason(Controls()) == (
        "another tool moves 1 partition that this plan does not"
    )
    made.are_others_ignored = True
    assert made.reason(Controls()) is None


def test_a_guard_is_asked_again_after_a_while():
    answers = iter(["not now", None])
    made, now = gate(guard=lambda _: next(answers))
    made.choices = replace(made.choices, guard="check")
    assert made.reason(Controls()) == "not now"
    now.now_s = 29.0
    assert made.reason(Controls()) == "not now"
    now.now_s = 30.0
    assert made.reason(Controls()) is None


def test_a_guard_is_a_command():
    assert run_guard("exit 0") is None
    assert run_guard("exit 7") == "the guard exited with 7"


# -- journal, lock, controls -------------------------------------------------


def test_a_journal_goes_on_after_a_line_that_was_cut_off(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path, now=lambda: NOON) as journal:
        journal.write("one", number=1)
        journal.write("two")
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        complete = whole[:cut].count(b"\n")
        with Journal(path, now=lambda: NOON) as journal:
            journal.write("three")
        events = [line["event"] for line in read_journal(path)]
        # A line may be complete but for its end.
        assert events[-1] == "three"
        assert events[:-1] == ["one", "two"][: len(events) - 1]
        assert len(events) - 1 in {complete, complete + 1}


def test_a_journal_that_is_missing_or_empty_has_no_line(tmp_path):
    assert list(read_journal(tmp_path / "none")) == []
    (tmp_path / "empty").write_text("")
    assert list(read_journal(tmp_path / "empty")) == []


HOLD = """
import sys
from pathlib import Path
from planner.execution.run.run_lock import run_lock
with run_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_names_its_holder_and_is_free_when_that_one_is_killed(tmp_path):
    path = tmp_path / "journal.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"

        with pytest.raises(BadInputError) as caught, run_lock(path):
            pass
        assert f"process {other.pid} of " in caught.value.problems[0].rule
        other.kill()

    assert lock_path(path).read_text()
    with run_lock(path):
        pass


def test_a_journal_that_cannot_be_written_is_bad_input(tmp_path):
    path = tmp_path / "missing" / "journal.jsonl"
    with pytest.raises(BadInputError, match="cannot be written"), run_lock(path):
        pass


def test_controls_change_one_by_one_and_wrong_ones_change_nothing(tmp_path):
    file = ControlFile(tmp_path / "control")
    assert file.read() == Controls()
    assert file.set(["throttle=80MB/s"]).throttle_bytes_per_s == 80_000_000
    assert file.set(["pause"]) == Controls(
        throttle_bytes_per_s=80_000_000, is_paused=True
    )
    assert not file.set(["resume"]).is_paused
    with pytest.raises(BadInputError) as caught:
        file.set(["pause", "faster", "throttle=x", "pause=1"])
    assert len(caught.value.problems) == 3
    assert not file.read().is_paused
    file.path.write_text("{")
    assert file.read() == Controls()


# -- throttles ---------------------------------------------------------------

RATE = "leader.replication.throttled.rate"
LIST = "leader.replication.throttled.replicas"
ENTRIES = st.lists(
    st.sampled_from([f"{p}:{b}" for p in range(3) for b in range(3)]), unique=True
)


def line(scope, name, before, values):
    return {"scope": scope, "name": name, "before": before, "values": values}


def throttled(*places):
    return {"event": "throttled", "places": list(places)}


def test_rates_come_back_unless_another_tool_has_set_them_since():
    own = OwnThrottles.from_journal(
        [throttled(line("broker", "1", {RATE: "5"}, {RATE: "9"}))]
    )
    place = Place("broker", "1")
    assert own.undone(place, {RATE: "9"}) == {RATE: ("SET", "5")}
    # A broker that lags shows the rate of before.
    assert own.undone(place, {RATE: "5"}) == {RATE: ("SET", "5")}
    assert own.undone(place, {RATE: "7"}) == {}
    assert own.undone(place, {}) == {}
    without = OwnThrottles.from_journal(
        [throttled(line("broker", "1", {}, {RATE: "9"}))]
    )
    assert without.undone(place, {RATE: "9"}) == {RATE: ("DELETE", "")}
    assert without.undone(place, {}) == {RATE: ("DELETE", "")}


def test_what_was_cleaned_is_ours_no_more():
    lines = [throttled(line("broker", "1", {}, {RATE: "9"}))]
    assert OwnThrottles.from_journal(lines).places == [Place("broker", "1")]
    left = [*lines, {"event": "cleaned", "left": ["broker 1: it is down"]}]
    assert OwnThrottles.from_journal(left).places == [Place("broker", "1")]
    gone = [*lines, {"event": "cleaned", "left": []}]
    assert OwnThrottles.from_journal(gone).places == []


@given(ENTRIES, ENTRIES, ENTRIES)
def test_lists_end_as_they_were_with_what_others_have_added(before, ours, others):
    own, configs = set_by_us(before, ours)
    configs.change({LIST: ("APPEND", ",".join(others))})
    now = configs.values()

    configs.change(own.undone(Place("topic", "t"), now))

    kept = [one for one in now[LIST].split(",") if one in before or one not in ours]
    assert configs.values() == ({LIST: ",".join(kept)} if any(kept) else {})


@given(ENTRIES, ENTRIES.filter(len), st.data())
def test_lists_end_as_they_were_though_a_broker_shows_an_earlier_one(
    before, ours, data
):
    own, configs = set_by_us(before, ours)
    had = Configs({LIST: ",".join(before)} if before else {}).values()
    shown = [had, configs.values()]
    configs.change({LIST: ("SUBTRACT", ",".join({*ours} - {*before}))})
    shown.append(configs.values())

    configs.change(own.undone(Place("topic", "t"), data.draw(st.sampled_from(shown))))

    assert configs.values() == had


def set_by_us(before, ours):
    """Return what a run notes as its own, and a topic's configs with it."""
    had = {LIST: ",".join(before)} if before else {}
    configs = Configs(had)
    configs.change({LIST: ("APPEND", ",".join(ours))})
    noted = throttled(line("topic", "t", had, {LIST: ",".join(ours)}))
    return OwnThrottles.from_journal([noted]), configs


# -- least rate --------------------------------------------------------------


def change(number, before, target, rate):
    step = Step(
        replicas=(*before[1:], target), log_dirs=None, copies=(target,), inside=()
    )
    return Change(
        key=("t", number), before=before, steps=(step,), leader=before[0],
        has_source=True, copy_bytes=1, is_internal=False, in_bytes_per_s=rate,
    )  # fmt: skip


@given(
    st.lists(
        st.tuples(st.permutations(range(5)), st.integers(0, 9)), min_size=1, max_size=7
    ),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_the_least_rate_is_the_most_that_any_copies_at_once_need(rows, ins, outs):
    changes = [
        change(n, tuple(row[:3]), row[3], float(rate))
        for n, (row, rate) in enumerate(rows)
    ]

    found = least_rate(changes, Caps(max_in=ins, max_out=outs))

    def most(key, load, cap):
        return max(
            sum(load(one) for one in some)
            for broker in range(5)
            for count in range(cap + 1)
            for some in itertools.combinations(
                [one for one in changes if key(one) == broker], count
            )
        )

    sent = most(lambda one: one.leader, lambda one: 3 * one.in_bytes_per_s, outs)
    came = most(lambda one: one.steps[0].copies[0], lambda one: one.in_bytes_per_s, ins)
    assert found.bytes_per_s == max(sent, came)
    assert found.is_known


def test_an_unknown_rate_is_said_and_a_rate_at_the_least_is_refused():
    known = change(0, (1, 2), 3, 10.0)
    found = least_rate([known, change(1, (1, 2), 3, nan)], Caps())
    assert (found.bytes_per_s, found.is_known) == (20.0, False)
    assert [b.rule for b in too_low_blocker(found, 20)] == ["throttle-too-low"]
    assert list(too_low_blocker(found, 21)) == []


def test_a_journal_line_is_json_with_its_time(tmp_path):
    with Journal(tmp_path / "j", now=lambda: NOON) as journal:
        assert journal.write("one", name="ä") == "2026-03-01T12:00:00.000Z"
    assert json.loads((tmp_path / "j").read_text()) == {
        "time": "2026-03-01T12:00:00.000Z", "event": "one", "name": "ä",
    }  # fmt: skip

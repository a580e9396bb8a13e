"""Run of one stage: admit, request, look, until nothing runs and nothing waits."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf

from planner.execution.admission import Admitted, Caps, Disk, Window
from planner.execution.cluster.running_cluster import Reassigned
from planner.execution.head_room import MOST_RATE_BYTES_PER_S
from planner.execution.run.active_steps import ActiveStep, ActiveSteps, Fate
from planner.execution.run.copy_watch import CopyWatch
from planner.execution.run.run_context import RunContext, records
from planner.execution.run.run_records import (
    AdmittedEvent,
    Event,
    FinishedEvent,
    PausedEvent,
    ProgressEvent,
    ResumedEvent,
    ThrottleEvent,
)
from planner.execution.run.stage_requests import request
from planner.execution.stages import Stage
from planner.verify.state_rows import Key

PROGRESS_S = 10.0
"""Seconds between two reports of progress."""
HEALTH_S = 30.0
"""Seconds between two looks at all partitions; more where a look takes long."""
HEALTH_SHARE = 20.0
"""A look at all partitions may take this part of the time."""


class StageRun:
    """
    Run of one stage.

    Parameters
    ----------
    stage
        The stage.
    caps
        Caps on simultaneous copies.
    free_bytes
        Free bytes of brokers and log dirs, shared by all stages; changed in place.
    context
        Context of the run.
    planned
        Every partition of the plan: reassignments of others are foreign.
    """

    def __init__(
        self,
        stage: Stage,
        caps: Caps,
        free_bytes: dict[Disk, float],
        context: RunContext,
        planned: Collection[Key],
    ) -> None:
        self._stage, self._caps, self._context = stage, caps, context
        self._cluster, self._planned = context.cluster, planned
        changes = [c for c in stage.changes if c.key not in context.set_aside]
        self._window = Window(changes, caps, free_bytes)
        self._steps = ActiveSteps(context)
        self._steps.add(self._window.active.values(), is_confirmed=True)
        self._watch = CopyWatch(context)
        self._live: frozenset[int] = frozenset()
        self._moving: frozenset[Key] = frozenset()
        self._needed = frozenset(
            broker
            for change in changes
            for step in change.steps
            for broker in step.replicas
        )
        self._down_s: dict[int, float] = {}
        self._lost: set[int] = set()
        self._limited: frozenset[int] = frozenset()
        self._shown_s, self._health_s = -inf, -inf
        self._last: tuple[float, int] | None = None
        self._done = self._copied = 0
        self._held: str | None = None
        self._idle_s: float | None = None
        self.stopped: str | None = None

    @property
    def num_active(self) -> int:
        """Number of partitions under way."""
        return len(self._window.active)

    def events(self) -> Iterator[Event]:
        """Yield the events of the stage, until it has ended or stopped."""
        while not self._window.is_done and self.stopped is None:
            if self._context.control_file.read().is_stopped:
                self.stopped = "stopped by the operator"
                break
            self._look()
            yield from self._context.handed_out()
            self._admit()
            yield from self._context.handed_out()
            if not self._window.is_done:
                self._stop_if_nothing_goes_on()
                self._cluster.sleep(self._context.choices.poll_s)
        self._report()
        yield from self._context.handed_out()

    # -- what has become of it -----------------------------------------------

    def _look(self) -> None:
        ask = self._context.ask
        self._live = ask(self._cluster.live_brokers)
        moving = ask(self._cluster.reassignments)
        self._moving = frozenset(moving)
        self._context.gate.num_foreign = len(self._moving.difference(self._planned))
        self._settle(moving)
        self._note_down()
        self._limit()
        self._look_at_health()
        self._change_rate()
        if self._cluster.now_s() - self._shown_s >= PROGRESS_S:
            self._report()

    def _settle(self, moving: Mapping[Key, Reassigned]) -> None:
        ended: list[Admitted] = []
        again: list[Admitted] = []
        lost: dict[str, list[Admitted]] = {}
        for active, fate in self._steps.fates(moving):
            if fate is Fate.ENDED:
                ended.append(active.one)
            elif fate is Fate.UNREQUESTED:
                again.append(active.one)
            elif fate is Fate.LOST:
                lost.setdefault(active.reason, []).append(active.one)
        self._finish(ended)
        for reason, steps in lost.items():
            self._give_up(steps, reason)
        if again:
            self._request(again)

    def _finish(self, ended: Sequence[Admitted]) -> None:
        if not ended:
            return
        for one in ended:
            self._steps.remove(one.change.key)
            self._window.finish(one.change.key)
            self._done += one.number + 1 == len(one.change.steps)
            self._copied += one.new_bytes * len(one.step.paths or one.step.copies)
        self._context.ask(lambda: self._context.throttles.release(ended))
        partitions = records((one.change.key, one.step.replicas) for one in ended)
        self._context.journal.write(
            "finished", partitions=[[p.topic, p.partition] for p in partitions]
        )
        self._context.events.append(
            FinishedEvent(
                time=self._context.time, stage=self._stage.kind, partitions=partitions
            )
        )

    def _give_up(
        self, steps: Sequence[Admitted], reason: str, *, is_cancelled: bool = False
    ) -> None:
        if not steps:
            return
        for one in steps:
            self._steps.remove(one.change.key)
            self._window.set_aside(one.change.key)
        self._context.ask(lambda: self._context.throttles.release(steps))
        self._context.give_up(steps, reason, is_cancelled=is_cancelled)

    # -- brokers that are down -----------------------------------------------

    def _note_down(self) -> None:
        """Cancel the copies to brokers that stay down, and wait for the others."""
        now = self._cluster.now_s()
        needed = {
            broker
            for active in self._steps.by_key.values()
            for broker in active.one.step.replicas
        }
        down = (needed | self._down_s.keys()) - self._live
        self._down_s = {broker: self._down_s.get(broker, now) for broker in down}
        grace = self._context.choices.broker_grace_s
        gone = {b for b, since in self._down_s.items() if now - since >= grace}
        if new := gone - self._lost:
            names = ", ".join(f"broker {broker}" for broker in sorted(new))
            self._cancel_to(new, f"{names}: down for {grace:g} s")
            self._context.gate.rebase()
        self._lost = gone
        self._window.close(self._needed - self._live)

    def _cancel_to(self, brokers: Collection[int], reason: str) -> None:
        hit = [
            active.one
            for active in self._steps.by_key.values()
            if not set(brokers).isdisjoint(_receivers(active))
        ]
        self._cancel(hit, reason)

    def _cancel(self, hit: Sequence[Admitted], reason: str) -> None:
        """Take steps back that are under way, and give them up."""
        if not hit:
            return
        keys = [one.change.key for one in hit if one.step.replicas != one.before]
        self._context.journal.write("request", kind="cancel", partitions=keys)
        targets = dict.fromkeys(keys)
        refused = self._context.ask(lambda: self._cluster.reassign(targets))
        self._context.journal.write("answer", refused=list(refused.values()))
        taken = [one for one in hit if one.change.key not in refused]
        self._give_up(taken, reason, is_cancelled=True)
        for one in hit:
            if error := refused.get(one.change.key):
                why = f"{reason}; the cluster refuses to cancel it: {error}"
                self._give_up([one], why)

    # -- health, rate, progress ----------------------------------------------

    def _look_at_health(self) -> None:
        now = self._cluster.now_s()
        if now < self._health_s:
            return
        self._context.gate.health = self._context.ask(self._cluster.health)
        took = self._cluster.now_s() - now
        self._health_s = now + max(HEALTH_S, HEALTH_SHARE * took)

    def _limit(self) -> None:
        """Set the rate on brokers of copies that an earlier run began, or are back."""
        needed = self._live & {
            broker
            for active in self._steps.by_key.values()
            for broker in (*active.one.before, *active.one.step.replicas)
        }
        if new := needed - self._limited:
            self._context.ask(lambda: self._context.throttles.limit(new))
        self._limited = needed

    def _change_rate(self) -> None:
        rate = self._context.control_file.read().throttle_bytes_per_s
        throttles = self._context.throttles
        if rate is None or throttles.rate in {None, rate}:
            return
        self._set_rate(rate, "set by the operator")

    def _set_rate(self, rate: int, reason: str) -> None:
        self._context.ask(lambda: self._context.throttles.change_rate(rate))
        self._context.events.append(
            ThrottleEvent(time=self._context.time, bytes_per_s=rate, reason=reason)
        )

    def _report(self) -> None:
        """Report the progress, and the copies that do not go on."""
        found, now = self._watch.look(self._steps.by_key), self._cluster.now_s()
        waiting = list(self._window.waiting())
        left = found.left_bytes + sum(map(_bytes_to_come, waiting))
        rate = None
        if self._last is not None and now > self._last[0]:
            rate = max(self._last[1] - left, 0) / (now - self._last[0])
        self._shown_s, self._last = now, (now, left)
        self._context.events.append(
            ProgressEvent(
                time=self._context.time,
                stage=self._stage.kind,
                done=self._done,
                active=self.num_active,
                waiting=len(waiting),
                set_aside=len(self._context.set_aside),
                copied_bytes=self._copied,
                left_bytes=left,
                bytes_per_s=rate,
                eta_s=left / rate if rate else None,
                brokers=found.brokers,
                copies=found.copies,
            )
        )
        is_throttle = self._watch.explain(self._watch.stalled(), self._live)
        rate = self._context.throttles.rate
        if is_throttle and rate is not None and self._context.may_raise_rate:
            self._set_rate(
                min(2 * rate, MOST_RATE_BYTES_PER_S), "copies made no progress"
            )
        self._cancel_failed()

    def _cancel_failed(self) -> None:
        """Cancel the copies that failed log dirs hold for good."""
        for reason, keys in self._watch.failed().items():
            under_way = self._steps.by_key
            self._cancel([under_way[k].one for k in keys if k in under_way], reason)
            self._context.gate.rebase()

    # -- admission -----------------------------------------------------------

    def _admit(self) -> None:
        controls = self._context.control_file.read()
        self._hold(self._context.gate.reason(controls))
        if self._held is not None:
            return
        while steps := self._window.admit(may_begin=self._in_time()):
            self._request(steps)

    def _in_time(self) -> "_InTime | None":
        choices = self._context.choices
        if choices.window is None and choices.max_duration_s is None:
            return None
        return _InTime(self._context, self._caps)

    def _hold(self, reason: str | None) -> None:
        """Report that admission is held, or goes on, once each time."""
        if reason == self._held:
            return
        time = self._context.time
        if reason is None:
            self._context.events.append(ResumedEvent(time=time))
        elif self._held is None:
            self._context.events.append(PausedEvent(time=time, reason=reason))
        self._held = reason

    def _request(self, admitted: Sequence[Admitted]) -> None:
        """Request steps; wait for the others to be as before, or to be set aside."""
        as_before = self._steps.unchanged(admitted, self._moving)
        others = [one for one in admitted if one.change.key not in as_before]
        self._steps.add(others, is_confirmed=False)
        steps = [one for one in admitted if one.change.key in as_before]
        if not steps:
            return
        found = request(steps, self._context)
        self._steps.add(steps, is_confirmed=found.is_confirmed)
        for key, reason in found.refused.items():
            self._give_up([self._window.active[key]], reason)
        taken = [one for one in steps if one.change.key not in found.refused]
        if taken:
            self._context.events.append(
                AdmittedEvent(
                    time=self._context.time,
                    stage=self._stage.kind,
                    partitions=records((o.change.key, o.step.replicas) for o in taken),
                    bytes=sum(one.new_bytes * len(one.step.copies) for one in taken),
                )
            )

    # -- the end -------------------------------------------------------------

    def _stop_if_nothing_goes_on(self) -> None:
        """Set aside steps that cannot begin, and stop if admission stays held."""
        now = self._cluster.now_s()
        if self._window.active:
            self._idle_s = None
            if self._context.gate.is_over:
                self.stopped = "the longest duration is over, and copies still run"
            return
        self._idle_s = now if self._idle_s is None else self._idle_s
        if self._held is None:
            self._set_waiting_aside(now - self._idle_s)
        elif self._context.gate.is_over or (
            self._may_give_up and now - self._idle_s >= self._context.choices.patience_s
        ):
            self.stopped = self._held

    @property
    def _may_give_up(self) -> bool:
        """Whether the reason to hold is not the operator's own."""
        gate = self._context.gate
        return not self._context.control_file.read().is_paused and gate.seconds_left > 0

    def _set_waiting_aside(self, idle_s: float) -> None:
        """Give up the steps that can never begin, as nothing runs that frees room."""
        may_begin = self._in_time()
        if may_begin and not all(map(may_begin, self._window.waiting())):
            if self._context.choices.max_duration_s is not None:
                self.stopped = "what is left does not end within the longest duration"
            return
        down = self._needed - self._live
        if idle_s >= self._context.choices.broker_grace_s:
            hit = self._window.set_waiting_aside(
                lambda one: not down.isdisjoint(one.step.replicas)
            )
            names = ", ".join(map(str, sorted(down)))
            self._context.give_up(hit, f"brokers {names} are down")
        if all(down.isdisjoint(one.step.replicas) for one in self._window.waiting()):
            rest = self._window.set_waiting_aside(lambda _: True)
            self._context.give_up(rest, "no disk has room for it")


class _InTime:
    """Whether a step ends before the hours, or the longest duration, end."""

    def __init__(self, context: RunContext, caps: Caps) -> None:
        self._gate, self._rate = context.gate, context.throttles.rate
        self._shared_by = caps.max_in

    def __call__(self, one: Admitted) -> bool:
        if self._rate is None or not one.step.copies:
            return self._gate.is_in_time(0.0)
        return self._gate.is_in_time(one.new_bytes * self._shared_by / self._rate)


def _receivers(active: ActiveStep) -> tuple[int, ...]:
    return (*active.one.step.copies, *active.one.step.paths)


def _bytes_to_come(one: Admitted) -> int:
    """Return the bytes of a step that waits, and of those after it."""
    size, steps = one.change.copy_bytes or 0, one.change.steps[one.number :]
    return size * sum(len(step.copies) + len(step.inside) for step in steps)

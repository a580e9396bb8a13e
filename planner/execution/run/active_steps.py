"""Steps under way: which have ended, which are lost, and which to ask for again."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from planner.execution.admission import Admitted
from planner.execution.cluster.running_cluster import Reassigned, ReplicaKey, Seen
from planner.execution.run.run_context import RunContext
from planner.kafka.read.log_dirs import BrokerDirs, Partition
from planner.verify.state_rows import Key

SETTLE_S = 15.0
"""Seconds in which brokers learn of what the controller has decided."""
REPEAT_S = 5.0
"""Seconds between two requests for the same replica or partition."""


class Fate(Enum):
    """State of a step, as seen in the cluster."""

    RUNNING = "running"
    ENDED = "ended"
    UNREQUESTED = "not requested"
    LOST = "lost"


@dataclass(slots=True)
class ActiveStep:
    """
    A step under way.

    Parameters
    ----------
    one
        The step.
    asked_s
        When it was requested last.
    first_asked_s
        When it was requested first.
    is_confirmed
        Whether the cluster was seen to carry it out, or said so.
    gone_s
        When its reassignment was first missing.
    """

    one: Admitted
    asked_s: float
    first_asked_s: float
    is_confirmed: bool
    gone_s: float | None = None
    reason: str = ""
    dirs_asked_s: dict[int, float] = field(default_factory=dict)


class ActiveSteps:
    """
    Steps of a stage that were requested.

    Parameters
    ----------
    context
        Context of the run.
    """

    def __init__(self, context: RunContext) -> None:
        self._context, self._cluster = context, context.cluster
        self.by_key: dict[Key, ActiveStep] = {}

    def add(self, steps: Iterable[Admitted], *, is_confirmed: bool) -> None:
        """Begin to look at some steps."""
        now = self._cluster.now_s()
        for one in steps:
            before = self.by_key.get(one.change.key)
            first_s = before.first_asked_s if before and before.one == one else now
            self.by_key[one.change.key] = ActiveStep(one, now, first_s, is_confirmed)

    def remove(self, key: Key) -> None:
        """Look at a step no more."""
        del self.by_key[key]

    def fates(
        self, moving: Mapping[Key, Reassigned]
    ) -> Iterator[tuple[ActiveStep, Fate]]:
        """
        Yield each step with what has become of it.

        Parameters
        ----------
        moving
            Every reassignment under way.
        """
        quiet = [key for key in self.by_key if key not in moving]
        seen: dict[Key, Seen] = {}
        if quiet:
            seen = self._context.ask(lambda: self._cluster.partitions(quiet))
        arrived: list[ActiveStep] = []
        for key, active in list(self.by_key.items()):
            fate = self._fate(active, moving.get(key), seen.get(key))
            if fate is Fate.ENDED and active.one.step.paths:
                arrived.append(active)
            else:
                yield active, fate
        yield from self._in_dirs(arrived)

    def _fate(
        self, active: ActiveStep, move: Reassigned | None, seen: Seen | None
    ) -> Fate:
        if move is not None:
            return self._moving(active, move)
        if seen is None:
            return self._gone(active)
        topic_id = self._context.topic_ids.get(active.one.change.key[0])
        if None not in {topic_id, seen.topic_id} and seen.topic_id != topic_id:
            return _lost(active, "its topic was deleted and created again")
        if seen.replicas == active.one.step.replicas:
            return Fate.ENDED
        return self._vanished(active, seen)

    def _moving(self, active: ActiveStep, move: Reassigned) -> Fate:
        active.gone_s = None
        if move.target == active.one.step.replicas:
            active.is_confirmed = True
            return Fate.RUNNING
        # A request of ours may still be on its way to the controller.
        is_young = self._cluster.now_s() - active.asked_s < SETTLE_S
        if is_young and not active.is_confirmed:
            return Fate.RUNNING
        target = ",".join(map(str, move.target))
        return _lost(active, f"another tool moves it to {target}")

    def _gone(self, active: ActiveStep) -> Fate:
        now = self._cluster.now_s()
        active.gone_s = now if active.gone_s is None else active.gone_s
        is_sure = now - active.gone_s >= SETTLE_S
        return _lost(active, "it does not exist") if is_sure else Fate.RUNNING

    def _vanished(self, active: ActiveStep, seen: Seen) -> Fate:
        """Return the fate of a step that is not under way, and has not ended."""
        now = self._cluster.now_s()
        if active.gone_s is None:
            active.gone_s = now
        if now - active.gone_s < (SETTLE_S if active.is_confirmed else REPEAT_S):
            return Fate.RUNNING
        if not active.is_confirmed and seen.replicas == active.one.before:
            patience = self._context.choices.patience_s
            if now - active.first_asked_s >= patience:
                reason = f"no request for it had an effect for {patience:g} s"
                return _lost(active, reason)
            active.asked_s, active.gone_s = now, None
            return Fate.UNREQUESTED
        found = ",".join(map(str, seen.replicas))
        return _lost(active, f"another tool changed it: its replicas are {found}")

    # -- log dirs ------------------------------------------------------------

    def _in_dirs(self, arrived: list[ActiveStep]) -> Iterator[tuple[ActiveStep, Fate]]:
        """Yield the steps with the planned lists, by the state of their log dirs."""
        wanted = {
            (active.one.change.key, broker): path
            for active in arrived
            for broker, path in active.one.step.paths.items()
        }
        if not wanted:
            return
        found = self._context.ask(lambda: self._cluster.log_dirs(list(wanted)))
        again: dict[ReplicaKey, str] = {}
        for active in arrived:
            key = active.one.change.key
            states = [
                _dir_state(found.get(broker), key, path)
                for broker, path in active.one.step.paths.items()
            ]
            if set(states) <= {Fate.ENDED}:
                yield active, Fate.ENDED
                continue
            for (broker, path), state in zip(
                active.one.step.paths.items(), states, strict=True
            ):
                if state is Fate.UNREQUESTED and self._is_due(active, broker):
                    again[key, broker] = path
            yield active, Fate.RUNNING
        if again:
            named = [[*key, broker, path] for (key, broker), path in again.items()]
            self._context.journal.write("request", kind="log-dirs", replicas=named)
            self._context.ask(lambda: self._cluster.move_replicas(again))

    def _is_due(self, active: ActiveStep, broker: int) -> bool:
        now = self._cluster.now_s()
        is_due = now - active.dirs_asked_s.get(broker, -REPEAT_S) >= REPEAT_S
        if is_due:
            active.dirs_asked_s[broker] = now
        return is_due


def _lost(active: ActiveStep, reason: str) -> Fate:
    active.reason = reason
    return Fate.LOST


def _dir_state(dirs: BrokerDirs | None, key: Key, path: str) -> Fate:
    """Return whether a replica is in a log dir, on its way, or not asked for."""
    name = Partition(*key)
    if dirs is None:
        return Fate.RUNNING
    if name in dirs.future:
        is_right = dirs.future[name].path == path
        return Fate.RUNNING if is_right else Fate.UNREQUESTED
    if name in dirs.current and dirs.current[name].path == path:
        return Fate.ENDED
    return Fate.UNREQUESTED

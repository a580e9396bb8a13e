"""Steps under way: which have ended, which are lost, and which to ask for again."""

from collections.abc import Collection, Iterable, Iterator, Mapping
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
    reason
        Reason why it is lost.
    dirs_asked_s
        When each broker was last asked again for a log dir.
    dirs_failed
        Reason why each broker takes no replica in a log dir, and since when.
    """

    one: Admitted
    asked_s: float
    first_asked_s: float
    is_confirmed: bool
    gone_s: float | None = None
    reason: str = ""
    dirs_asked_s: dict[int, float] = field(default_factory=dict)
    dirs_failed: dict[int, tuple[str, float]] = field(default_factory=dict)


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

    def unchanged(self, steps: Iterable[Admitted], moving: Collection[Key]) -> set[Key]:
        """
        Return the partitions that are as they were before their steps.

        Parameters
        ----------
        steps
            Steps that are about to be requested.
        moving
            Partitions that are being reassigned.
        """
        still = {o.change.key: o for o in steps if o.change.key not in moving}
        seen = self._context.ask(lambda: self._cluster.partitions(list(still)))
        return {
            key
            for key, one in still.items()
            if (found := seen.get(key)) is not None
            and found.replicas == one.before
            and not self._is_made_again(key, found)
        }

    def _is_made_again(self, key: Key, seen: Seen) -> bool:
        topic_id = self._context.topic_ids.get(key[0])
        return None not in {topic_id, seen.topic_id} and seen.topic_id != topic_id

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
        if self._is_made_again(active.one.change.key, seen):
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
            fate = self._fate_in_dirs(active, found, again)
            yield active, fate
        if again:
            self._ask_again(again)

    def _fate_in_dirs(
        self,
        active: ActiveStep,
        dirs: Mapping[int, BrokerDirs],
        again: dict[ReplicaKey, str],
    ) -> Fate:
        """Return the fate of a step in its log dirs; add what to ask for again."""
        key, paths = active.one.change.key, active.one.step.paths
        fates = {b: _dir_state(dirs.get(b), key, path) for b, path in paths.items()}
        if set(fates.values()) <= {Fate.ENDED}:
            return Fate.ENDED
        for broker, fate in fates.items():
            if fate is Fate.LOST:
                reason = offline_text(broker, failed_dirs(dirs.get(broker)))
                self._note_failed(active, broker, reason)
            elif fate is not Fate.UNREQUESTED:
                active.dirs_failed.pop(broker, None)
            elif self._is_due(active, broker):
                again[key, broker] = paths[broker]
        return self._lost_in_dirs(active) or Fate.RUNNING

    def _lost_in_dirs(self, active: ActiveStep) -> Fate | None:
        """Return that a step is lost whose log dirs have failed for some time."""
        now, grace = self._cluster.now_s(), self._context.choices.broker_grace_s
        for reason, since_s in active.dirs_failed.values():
            if now - since_s >= grace:
                self._context.gate.rebase()
                return _lost(active, reason)
        return None

    def _ask_again(self, again: dict[ReplicaKey, str]) -> None:
        named = [[*key, broker, path] for (key, broker), path in again.items()]
        self._context.journal.write("request", kind="log-dirs", replicas=named)
        refused = self._context.ask(lambda: self._cluster.move_replicas(again))
        texts = {f"{t}-{n} on broker {b}": why for ((t, n), b), why in refused.items()}
        self._context.journal.write("answer", refused=texts)
        for (key, broker), path in again.items():
            active, error = self.by_key[key], refused.get((key, broker))
            if error is None:
                active.dirs_failed.pop(broker, None)
            else:
                reason = f"broker {broker} refuses the log dir {path}: {error}"
                self._note_failed(active, broker, reason)

    def _note_failed(self, active: ActiveStep, broker: int, reason: str) -> None:
        """Note since when a broker takes no replica in a log dir."""
        now = self._cluster.now_s()
        _, since_s = active.dirs_failed.get(broker, ("", now))
        active.dirs_failed[broker] = reason, since_s

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
    """Return whether a replica is in a log dir, on its way, not asked for, or lost."""
    name = Partition(*key)
    if dirs is None:
        return Fate.RUNNING
    failed = failed_dirs(dirs)
    if name in dirs.future:
        if failed and name not in dirs.current:
            # What it is copied from is gone: the future replica grows no more.
            return Fate.LOST
        is_right = dirs.future[name].path == path
        return Fate.RUNNING if is_right else Fate.UNREQUESTED
    if name in dirs.current and dirs.current[name].path == path:
        return Fate.ENDED
    return Fate.LOST if path in failed else Fate.UNREQUESTED


def failed_dirs(dirs: BrokerDirs | None) -> list[str]:
    """Return the paths of the log dirs of a broker that are offline."""
    some = () if dirs is None else dirs.dirs
    return [str(one["log_dir"]) for one in some if one.get("error_code")]


def offline_text(broker: int, failed: list[str]) -> str:
    """Return as text that log dirs of a broker are offline."""
    return f"log dirs of broker {broker} are offline: {', '.join(failed)}"

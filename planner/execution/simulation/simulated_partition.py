"""One partition of a simulated cluster, and the controller's rules for changing it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from placement.model.kraft_reassignment import (
    OngoingReassignment,
    cancel_reassignment,
    complete_reassignment,
    start_reassignment,
)
from planner.execution.cluster.running_cluster import Seen
from planner.kafka.actions import elections
from planner.kafka.read.log_dirs import Partition
from planner.verify.state_rows import Brokers, Key


@dataclass(frozen=True, slots=True)
class Rules:
    """
    Rules by which the controller changes a partition.

    Parameters
    ----------
    is_online
        Whether the replica of a broker is online: its broker, and its log dir.
    min_isr
        ``min.insync.replicas`` of the topic.
    has_elr
        Whether the cluster has eligible leader replicas (KIP-966).
    is_unclean_allowed
        Whether replicas out of sync may lead.
    """

    is_online: Callable[[int], bool]
    min_isr: int
    has_elr: bool
    is_unclean_allowed: bool


@dataclass(slots=True, eq=False, kw_only=True)
class SimulatedPartition:
    """
    A partition of a simulated cluster.

    Parameters
    ----------
    key
        Topic and number.
    size_bytes, in_bytes_per_s
        Bytes of a complete replica, and bytes/s that producers write.
    replicas, in_sync, adding, removing, eligible, last_leader
        Broker ids, as the controller records them.
    leader
        Broker id; `None`: no leader.
    row
        Row in the snapshot; `None`: created since.
    paths
        Log dir path of each replica that exists, by broker id; `None`: unknown.
    missing
        Bytes that replicas out of sync lack, by broker id.
    failed
        Brokers whose replica fails for a reason that no log dir explains.
    future
        Log dir paths of future replicas by broker id, and in `future_missing` the bytes
        that they lack.
    """

    key: Key
    size_bytes: float
    in_bytes_per_s: float
    replicas: Brokers
    in_sync: Brokers
    leader: int | None
    row: int | None = None
    adding: Brokers = ()
    removing: Brokers = ()
    eligible: Brokers = ()
    last_leader: Brokers = ()
    paths: dict[int, str | None] = field(default_factory=dict)
    missing: dict[int, float] = field(default_factory=dict)
    failed: Brokers = ()
    future: dict[int, str] = field(default_factory=dict)
    future_missing: dict[int, float] = field(default_factory=dict)

    @property
    def is_reassigning(self) -> bool:
        """Whether a reassignment is under way."""
        return bool(self.adding or self.removing)

    @property
    def is_at_rest(self) -> bool:
        """Whether it is complete and in sync, and nothing of it moves."""
        is_whole = self.in_sync and set(self.in_sync) == set(self.replicas)
        trouble = (self.eligible, self.last_leader, self.failed, self.missing)
        return (
            bool(is_whole and self.paths.keys() == set(self.replicas))
            and self.leader is not None
            and not (self.is_reassigning or self.future or any(trouble))
        )

    @property
    def target(self) -> Brokers:
        """Broker ids that the partition gets, preferred leader first."""
        return tuple(b for b in self.replicas if b not in self.removing)

    def seen(self, topic_id: str | None) -> Seen:
        """Return the partition as brokers describe it."""
        return Seen(self.replicas, self.in_sync, self.leader, topic_id)

    def electable(self, is_online: Callable[[int], bool]) -> elections.Seen:
        """Return the partition as elections are predicted from."""
        return elections.Seen(
            name=Partition(*self.key),
            leader=self.leader,
            replicas=self.replicas,
            isr=self.in_sync,
            elr=self.eligible,
            last_known_elr=self.last_leader,
            offline=tuple(b for b in self.replicas if not is_online(b)),
        )

    def reassign(self, target: Brokers, rules: Rules) -> None:
        """Start a reassignment, or replace the running one."""
        started = start_reassignment(self.replicas, target)
        self.replicas = started.replicas
        # The controller leaves a list that would become empty as it was: a reassignment
        # back to the first list both adds and removes the new replicas, for ever.
        self.adding = started.adding or self.adding
        self.removing = started.removing or self.removing
        self.update(self.in_sync, rules)

    def may_cancel(self, rules: Rules) -> bool:
        """Return whether a cancellation leaves a replica in sync."""
        is_unclean = cancel_reassignment(self._ongoing(), self.in_sync).is_unclean
        return rules.is_unclean_allowed or not is_unclean

    def cancel(self, rules: Rules) -> None:
        """Cancel the reassignment."""
        settled = cancel_reassignment(self._ongoing(), self.in_sync)
        self.replicas, self.adding, self.removing = settled.replicas, (), ()
        self.update(settled.isr, rules)

    def _ongoing(self) -> OngoingReassignment:
        return OngoingReassignment(
            replicas=self.replicas,
            adding=self.adding,
            removing=self.removing,
            target=self.target,
        )

    def update(
        self, in_sync: Sequence[int], rules: Rules, *, is_preferred: bool = False
    ) -> None:
        """
        Change the ISR, complete the reassignment if it may, and elect a leader.

        Parameters
        ----------
        in_sync
            Broker ids in sync.
        rules
            Rules of the controller.
        is_preferred
            Whether the preferred leader replaces another leader that may stay.

        References
        ----------
        Kafka's ``PartitionChangeBuilder``.
        """
        before = self.in_sync
        done = complete_reassignment(self._ongoing(), in_sync)
        if done is not None:
            self.replicas, in_sync = done.replicas, done.isr
            self.adding, self.removing = (), ()
        kept = tuple(b for b in in_sync if b in self.replicas)
        self._note_eligible(before, kept, rules)
        if kept or rules.has_elr:
            self.in_sync = kept
        self._elect(rules, kept, is_preferred=is_preferred)

    def _note_eligible(self, before: Brokers, now: Brokers, rules: Rules) -> None:
        if not rules.has_elr or len(now) >= rules.min_isr:
            self.eligible = ()
            return
        known = dict.fromkeys((*self.eligible, *before))
        self.eligible = tuple(b for b in known if b not in now and b in self.replicas)

    def _elect(self, rules: Rules, in_sync: Brokers, *, is_preferred: bool) -> None:
        """Elect a leader from the ISR, or from the ELR if the ISR is empty."""
        before = self.leader
        complete = in_sync or self.eligible
        valid = [b for b in self.replicas if b in complete and rules.is_online(b)]
        keeps = before in valid and not (is_preferred and self.replicas[0] in valid)
        if keeps:
            self.last_leader = ()
            return
        self._lead(valid, rules)
        if self.leader is None and before is not None and rules.has_elr:
            self.last_leader = (before,)

    def _lead(self, valid: Sequence[int], rules: Rules) -> None:
        """Elect the first valid leader; without any, an unclean one or none."""
        if valid:
            self.leader, self.last_leader = valid[0], ()
            if not self.in_sync:
                self._clear_to(valid[0], keeps_eligible=True)
            return
        unclean = self._unclean(rules)
        self.leader = unclean[0] if unclean else None
        if unclean:
            self.last_leader = ()
            self._clear_to(unclean[0], keeps_eligible=False)

    def _clear_to(self, leader: int, *, keeps_eligible: bool) -> None:
        """Shrink the ISR to a leader that was not in it."""
        self.in_sync = (leader,)
        others = tuple(b for b in self.eligible if b != leader)
        self.eligible = others if keeps_eligible else ()

    def _unclean(self, rules: Rules) -> list[int]:
        """Return the replicas that may lead though they may lack records."""
        online = [b for b in self.replicas if rules.is_online(b)]
        is_lost = rules.has_elr and not self.in_sync and not self.eligible
        if is_lost and (last := [b for b in online if b in self.last_leader]):
            return last
        return online if rules.is_unclean_allowed else []

"""Partitions that a plan must not change, with the reasons."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.problem import Movability
from placement.draft.draft import Draft, Note
from placement.model.cluster import ClusterState, LogDirState, Storage, sum_rows
from placement.model.load import first_true
from placement.rules.descriptor import RuleDescriptor


@dataclass(frozen=True, slots=True)
class LeaveUnsettled:
    """
    Leave partitions alone that cannot be moved safely now.

    These are partitions being reassigned; those with a replica on a broker that is
    fenced, shutting down or dead and not being emptied (a reassignment that names it
    would hang); those with a replica in a failed log dir that stays; and those of
    topics whose storage is unknown.
    """

    name: str = "leave-unsettled"

    def fill(self, draft: Draft) -> None:
        """Freeze these partitions, and add notes with their number."""
        for chosen, why in self.found_in(draft):
            _freeze(draft, chosen, why)

    def found_in(self, draft: Draft) -> Iterator[tuple[BoolArray, str]]:
        """Yield ``(P,)`` masks of partitions, each with its reason."""
        first, *others = self.unsettled_in(draft)
        yield first
        yield from self.offline_in(draft)
        yield from others

    @staticmethod
    def unsettled_in(draft: Draft) -> Iterator[tuple[BoolArray, str]]:
        """Yield the masks of partitions with another reason than offline replicas."""
        state = draft.state
        unknown = np.equal(state.topics.storage, Storage.UNKNOWN)
        yield state.is_reassigning, "are being reassigned"
        if len(unknown):
            of_unknown = unknown[state.partitions.topic_idx]
            yield of_unknown, "belong to topics whose storage is unknown"

    def offline_in(self, draft: Draft) -> Iterator[tuple[BoolArray, str]]:
        """Yield the masks of partitions with an offline replica that stays."""
        state = draft.state
        off = ~state.brokers.is_live & ~draft.leaves
        is_off = off[state.replicas.broker_idx] & draft.is_there
        on_off = first_true(is_off, state.replicas.start) >= 0
        yield on_off, "have a replica on a broker that is not live"
        yield (
            self._in_failed_dirs(draft),
            "have a replica in an offline log dir that this operation does not repair",
        )

    @staticmethod
    def _in_failed_dirs(draft: Draft) -> BoolArray:
        """Return ``(P,)`` true where a replica in a failed log dir stays."""
        state, replicas = draft.state, draft.state.replicas
        failed = state.is_offline & state.brokers.is_live[replicas.broker_idx]
        failed &= np.not_equal(draft.movability, Movability.MUST)
        return first_true(failed, replicas.start) >= 0


@dataclass(frozen=True, slots=True)
class ExcludeTopics:
    """Leave the partitions of excluded topics alone; their loads still count."""

    name: str = "exclude-topics"

    def fill(self, draft: Draft) -> None:
        """Freeze the partitions of excluded topics."""
        excluded = draft.settings.excluded_topics
        if excluded is not None and len(excluded):
            of = draft.state.partitions.topic_idx
            _freeze(draft, excluded[of], "belong to excluded topics")


@dataclass(frozen=True, slots=True)
class SayUnknownRacks:
    """Report brokers without a rack, each of which counts as a rack of its own."""

    name: str = "unknown-racks"

    def fill(self, draft: Draft) -> None:
        """Add a note on the brokers without a rack."""
        brokers = draft.state.brokers
        named = np.array([rack is not None for rack in brokers.racks], dtype=np.bool_)
        if not len(brokers) or named.all():
            return
        without = brokers.ids[~named[brokers.rack_idx]].tolist()
        shown = ", ".join(map(str, without[:10]))
        more = f" and {len(without) - 10} more" if len(without) > 10 else ""
        draft.notes.append(
            Note(
                what="rack-unknown",
                message=f"no rack is known of broker {shown}{more}: each counts as a "
                "rack of its own",
                have=len(brokers) - len(without),
                need=len(brokers),
            )
        )


def is_on_every_broker(state: ClusterState) -> BoolArray:
    """Return ``(P,)`` true where no broker is left that could take a new replica."""
    takes = state.brokers.is_live & ~has_no_online_dir(state)
    held = sum_rows(takes[state.replicas.broker_idx], state.replicas.start)
    found: BoolArray = np.greater_equal(held, int(takes.sum()))
    return found


def has_no_online_dir(state: ClusterState) -> BoolArray:
    """Return ``(B,)`` true for brokers whose listed log dirs take no new replica."""
    owner, count = state.log_dirs.broker_idx, state.num_brokers
    is_online = np.equal(state.log_dirs.state, LogDirState.ONLINE)
    every = np.bincount(owner, minlength=count)
    usable = np.bincount(owner[is_online], minlength=count)
    found: BoolArray = (every > 0) & (usable == 0)
    return found


@dataclass(frozen=True, slots=True)
class UsableLogDirs:
    """Close brokers without an online log dir to new replicas (KIP-1066: cordoned)."""

    name: str = "log-dirs"

    def fill(self, draft: Draft) -> None:
        """Close brokers whose log dirs are all offline or cordoned."""
        if "log-dirs" in draft.settings.lifted:
            return
        closed = has_no_online_dir(draft.state) & draft.may_receive
        draft.may_receive &= ~closed
        for broker in np.nonzero(closed)[0]:
            broker_id = int(draft.state.brokers.ids[broker])
            draft.notes.append(
                Note(
                    what="broker-closed",
                    message=f"broker {broker_id} gets no replicas: none of its log "
                    "dirs is online",
                    where={"broker": broker_id},
                )
            )


def is_untouchable(draft: Draft, *, drops_offline: bool = False) -> BoolArray:
    """
    Return ``(P,)`` partitions that must be left alone, excluded topics included.

    `drops_offline`: offline replicas are no reason, since the operation drops them.
    """
    found, rule = is_excluded(draft) | ~draft.state.has_source, LeaveUnsettled()
    reasons = rule.unsettled_in if drops_offline else rule.found_in
    for chosen, _ in reasons(draft):
        found |= chosen
    return found


def is_excluded(draft: Draft) -> BoolArray:
    """Return ``(P,)`` partitions of excluded topics."""
    excluded, partitions = draft.settings.excluded_topics, draft.state.partitions
    if excluded is None or not len(excluded):
        return np.zeros(len(partitions), dtype=np.bool_)
    found: BoolArray = excluded[partitions.topic_idx]
    return found


@dataclass(frozen=True, slots=True)
class Say:
    """
    Add a note on the request, without any limit.

    Parameters
    ----------
    what, message
        Kind and message of the note.
    """

    what: str
    message: str
    name: str = "say"

    def fill(self, draft: Draft) -> None:
        """Add the note."""
        draft.note(Note(what=self.what, message=self.message))


def _freeze(draft: Draft, chosen: BoolArray, why: str) -> None:
    chosen = chosen & ~draft.is_left_alone
    count = int(chosen.sum())
    if not count:
        return
    draft.freeze_partitions(chosen)
    first = draft.state.name_of(int(np.nonzero(chosen)[0][0]))
    many = f"{first} and {count - 1} more" if count > 1 else first
    draft.notes.append(
        Note(
            what="left-alone",
            message=f"{many}: left alone, for they {why}",
            have=count,
        )
    )


def _holds_the_rest(draft: Draft) -> bool:
    """Return whether the operation pins replicas that could move without it."""
    of = draft.state.replicas.partition_idx
    never = np.equal(draft.movability, Movability.NEVER) & ~draft.is_left_alone[of]
    is_pinned = bool(never.any()) or draft.old_may_be_low
    return is_pinned and not draft.settings.frees_the_rest


RULES = (
    RuleDescriptor(
        name="only-what-must",
        always_hard="",
        text="nothing moves but what the operation is about",
        remedy="give --rebalance",
        rank=57,
        lift=lambda settings: replace(settings, frees_the_rest=True),
        is_active=_holds_the_rest,
        is_of_brokers=True,
        left_out="give --rebalance",
    ),
    RuleDescriptor(
        name="exclude-topics",
        text="excluded topics stay as they are",
        remedy="let the excluded topics move",
        rank=57,
        setting="excluded_topics",
    ),
    RuleDescriptor(
        name="exclude-brokers-for-replicas",
        text="no replicas for broker {settings.excluded_for_replicas:ids}",
        remedy="shorten --exclude-brokers-for-replicas",
        rank=57,
        setting="excluded_for_replicas",
        is_of_brokers=True,
    ),
    RuleDescriptor(
        name="exclude-brokers-for-leaders",
        text="no leaders for broker {settings.excluded_for_leaders:ids}",
        remedy="shorten --exclude-brokers-for-leaders",
        rank=57,
        setting="excluded_for_leaders",
        is_of_brokers=True,
    ),
    RuleDescriptor(
        name="destination-broker-list",
        text="replicas for broker {settings.destination_brokers:ids} only",
        remedy="widen --destination-broker-list",
        rank=57,
        setting="destination_brokers",
        is_of_brokers=True,
    ),
    RuleDescriptor(name="topics"),
)

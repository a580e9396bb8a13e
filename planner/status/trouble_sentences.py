"""Sentences on troubles, with the commands that help."""

import shlex
from dataclasses import dataclass

import numpy as np

from placement.array_types import RowArray
from placement.model.cluster import ABSENT, Brokers, BrokerState, ClusterState
from placement.rules.frozen_partitions import has_no_online_dir, is_on_every_broker
from placement.status import Leaderless, Rescue
from planner.kafka_commands import ANY_SERVER
from planner.status.find_status import Status
from planner.text.format import brokers_text, bytes_text, ids_text, plural

Advice = tuple[str, str | None]
"""Text of a remedy, with its command or `None`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """
    Names of the cluster in commands.

    Parameters
    ----------
    snapshot
        Path of the snapshot for `kafka-planner plan`.
    place
        Argument or options by which `status` found the cluster.
    connection
        Options of Kafka's tools that connect to the cluster.
    """

    snapshot: str
    place: str
    connection: str = ANY_SERVER

    @classmethod
    def of_snapshot(cls, path: object) -> "Address":
        """Return the address of a cluster in a snapshot."""
        quoted = shlex.quote(str(path))
        return cls(snapshot=quoted, place=quoted)

    @classmethod
    def of_cluster(cls, server: str, command_config: object = None) -> "Address":
        """Return the address of a running cluster."""
        words = ["--bootstrap-server", server]
        if command_config is not None:
            words += ["--command-config", str(command_config)]
        connection = shlex.join(words)
        return cls(snapshot="SNAP", place=connection, connection=connection)


def state_of(brokers: Brokers, b: int) -> str:
    """Return the state of a broker by its name in snapshots."""
    return BrokerState(brokers.state[b]).name.lower().replace("_", "-")


def dir_name(state: ClusterState, d: int) -> str:
    """Return ``BROKER:PATH`` of a log dir."""
    dirs = state.log_dirs
    return f"{state.brokers.ids[dirs.broker_idx[d]]}:{dirs.paths[d]}"


STATE_TEXTS = {
    "fenced": "the controller hears nothing from it. It died or is cut off: Kafka "
    "keeps a dead broker fenced until it is unregistered",
    "shutting-down": "it is being stopped; a broker that is stopped becomes fenced",
    "dead": "it is not registered",
}


def broker_text(status: Status, b: int) -> str:
    """Return a sentence on a broker that is not live."""
    brokers = status.state.brokers
    rack, host = brokers.racks[brokers.rack_idx[b]], brokers.hosts[brokers.host_idx[b]]
    named = [f"{k} {v}" for k, v in (("rack", rack), ("host", host)) if v is not None]
    where = f" ({', '.join(named)})" if named else ""
    state = state_of(brokers, b)
    count = int(status.troubles.replicas_on[b])
    replicas = f"{plural(count, 'replica')} on it {_are(count)} offline"
    tail = replicas if count else "no partition lists it"
    return f"broker {brokers.ids[b]}{where} is {state}: {STATE_TEXTS[state]}; {tail}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def broker_advice(status: Status, address: Address) -> list[Advice]:
    """Return the remedies for brokers that are not live."""
    found, brokers = status.troubles, status.state.brokers
    ids = brokers.ids[found.broker_idx].tolist()
    listed, snap = ids_text(ids), address.snapshot
    gone = [int(b) for b in ids if state_of(brokers, brokers.rows_of([b])[0]) != "dead"]
    lost = f" --lost {ids_text(gone)}" if gone else ""
    start = f"start {brokers_text(ids)}"
    advice: list[Advice] = [(f"{start}, if the cluster is to have it", None)]
    if found.replicas_on[found.broker_idx].any() and not _have_copies(status):
        return [(f"{start}: no live broker has a full copy of what is there", None)]
    if found.replicas_on[found.broker_idx].any():
        first, added = _brokers_missing(status)
        advice = [
            (f"{start}: replicas there catch up by themselves", None),
            (
                f"or {first}treat it as gone, and copy what it held from the replicas "
                "left",
                f"kafka-planner plan fix {snap}{lost} -o plan",
            ),
            (
                f"or{added} take it out of the cluster for good",
                f"kafka-planner plan remove-brokers {snap} --broker-list {listed} "
                "-o plan",
            ),
        ]
    advice += [
        (
            f"once broker {broker} holds nothing, Kafka may forget it",
            f"kafka-cluster.sh unregister {address.connection} --id {broker}",
        )
        for broker in gone[:1]
    ]
    return advice


def _have_copies(status: Status) -> bool:
    """Return whether something on the brokers that are down has a copy elsewhere."""
    state = status.state
    is_down = np.isin(state.replicas.broker_idx, status.troubles.broker_idx)
    return bool(state.has_source[state.replicas.partition_idx[is_down]].any())


def _brokers_missing(status: Status) -> tuple[str, str]:
    """Return texts on the brokers that rebuilding lacks; empty where none lacks."""
    state = status.state
    is_down = np.isin(state.replicas.broker_idx, status.troubles.broker_idx)
    rows = state.replicas.partition_idx[is_down]
    need = int(state.replication_factor[rows].max(initial=0))
    live = int(state.brokers.is_live.sum())
    if need <= live:
        return "", ""
    lacking = plural(need - live, "broker")
    first = (
        f"add {lacking} first (partitions there need {need}, and {live} {_are(live)} "
        "live); then "
    )
    return first, f", with {lacking} added,"


def log_dir_text(status: Status, d: int) -> str:
    """Return a sentence on an offline log dir."""
    state, found = status.state, status.troubles
    owner = int(state.log_dirs.broker_idx[d])
    count, others = int(found.replicas_in[d]), int(found.unplaced_on[owner])
    text = f"log dir {dir_name(state, d)} is offline; {plural(count, 'replica')} in it"
    more = f", {others} more in it or another failed one of this broker"
    return text + more if others else text


def unplaced_brokers(status: Status) -> list[int]:
    """Return the rows of live brokers with offline replicas and no failed log dir."""
    found, dirs = status.troubles, status.state.log_dirs
    failed = set(dirs.broker_idx[found.log_dir_idx].tolist())
    rows = np.nonzero(found.unplaced_on)[0].tolist()
    return [b for b in rows if b not in failed]


def unplaced_text(status: Status, b: int) -> str:
    """Return a sentence on offline replicas of a live broker."""
    count = int(status.troubles.unplaced_on[b])
    return (
        f"{plural(count, 'replica')} on broker {status.state.brokers.ids[b]} "
        f"{_are(count)} offline though it is live; which log dir failed is unknown"
    )


def log_dir_advice(status: Status, address: Address) -> list[Advice]:
    """Return the remedies for offline log dirs."""
    state, dirs = status.state, status.state.log_dirs
    failed = dirs.broker_idx[status.troubles.log_dir_idx].tolist()
    owners = np.array(sorted({*failed, *unplaced_brokers(status)}), dtype=np.int64)
    others = state.brokers.ids[owners[~has_no_online_dir(state)[owners]]].tolist()
    ids = state.brokers.ids[owners].tolist()
    advice: list[Advice] = [(f"repair the disk and restart {brokers_text(ids)}", None)]
    if others:
        text = f"or restart {brokers_text(others)} without the directory: Kafka "
        advice.append((f"{text}re-creates the replicas in the others", None))
    if _can_copy_elsewhere(state, owners):
        command = f"kafka-planner plan fix {address.snapshot} --only log-dirs -o plan"
        advice.append(("or copy the replicas to other brokers", command))
    return advice


def _can_copy_elsewhere(state: ClusterState, owners: RowArray) -> bool:
    """Return whether a replica in a failed log dir has a source, and a broker left."""
    replicas = state.replicas
    is_failed = state.is_offline & np.isin(replicas.broker_idx, owners)
    failed = replicas.partition_idx[is_failed]
    is_movable = state.has_source & ~is_on_every_broker(state)
    return bool(is_movable[failed].any())


def leaderless_text(status: Status, one: Leaderless) -> str:
    """Return the replicas, ISR and ELR of a partition without a leader, as text."""
    state = status.state
    isr = _ids(one.isr) if status.has_isr[one.partition_idx] else "unknown"
    parts = [
        f"replicas {_ids(tuple(state.brokers_of(one.partition_idx)))}",
        f"ISR {isr}",
        f"ELR {_ids(one.elr)}",
        f"last known ELR {_ids(one.last_known_elr)}",
        f"live but out of sync {_ids(one.out_of_sync)}",
    ]
    return f"{state.name_of(one.partition_idx)}: {', '.join(parts)}"


def _ids(ids: tuple[int, ...]) -> str:
    return ",".join(map(str, ids)) or "none"


def rescue_of(status: Status, one: Leaderless) -> Rescue | None:
    """Return the rescue of a partition; `None` where its ISR is unknown."""
    return one.rescue if status.has_isr[one.partition_idx] else None


def rescue_text(status: Status, one: Leaderless) -> str:
    """Return the rescue without an unclean election, as text."""
    some = brokers_text(one.brokers)
    rescue = rescue_of(status, one)
    if rescue is None:
        return (
            "which replicas are in sync is unknown; kafka-topics.sh --describe "
            "--unavailable-partitions lists them"
        )
    several = f"one of {some}" if len(one.brokers) > 1 else some
    return {
        Rescue.ELECTION: f"{several} has every committed record: the controller elects "
        f"it by itself; a clean election loses nothing{_doubt(status, one)}",
        Rescue.START: f"start {some} (or bring back the log dir): {_trust_text(one)}",
        Rescue.LAST_LEADER: f"start {several}: the last known leader; no other replica "
        "is known to have as many records",
        Rescue.UNCLEAN: "no replica is known to have every record: only an "
        "unclean election brings it back",
        Rescue.ANY: f"start {several}: which of them had every record is unknown",
    }[rescue]


def _doubt(status: Status, one: Leaderless) -> str:
    """Return what else may be the cause, where no log dir has the replica."""
    state = status.state
    rows = np.arange(*state.replicas.start[one.partition_idx :][:2])
    ids = state.brokers.ids[state.replicas.broker_idx[rows]]
    is_unseen = np.equal(state.replicas.log_dir_idx[rows], ABSENT)
    if not (np.isin(ids, one.brokers) & is_unseen).any():
        return ""
    return (
        ". If it stays so, the log dir of the replica has failed "
        "(kafka-log-dirs.sh --describe): repair it"
    )


def _trust_text(one: Leaderless) -> str:
    """Return the condition on which Kafka elects a returning broker, as text."""
    if len(one.brokers) == 1:
        return (
            "it had every committed record when it went; after a crash the last ones "
            "may be missing"
        )
    return (
        "one that was stopped in order is elected at once; those that crashed are "
        "trusted no more where eligible leader replicas are on, and only once all are "
        "back does the last leader lead again"
    )


def unclean_text(status: Status, one: Leaderless) -> str | None:
    """Return the outcome of an unclean election, as text; `None` if none is needed."""
    if rescue_of(status, one) in {None, Rescue.ELECTION}:
        return None
    if one.unclean_leader is None:
        return "no replica is live: not even an unclean election is possible"
    lost = "an unknown number of records is lost"
    if one.lost_bytes is not None:
        lost = f"at least {bytes_text(one.lost_bytes)} are lost"
    return f"an unclean election makes broker {one.unclean_leader} the leader: {lost}"


def unclean_command(status: Status, one: Leaderless, address: Address) -> str | None:
    """Return the command of an unclean election; `None` if no replica is electable."""
    if one.unclean_leader is None or unclean_text(status, one) is None:
        return None
    topic, number = status.state.key_of(one.partition_idx)
    return (
        "kafka-planner elect --election-type unclean "
        f"--topic {shlex.quote(topic)} --partition {number} {address.connection}"
    )


def no_source_text(status: Status, p: int) -> str:
    """Return a sentence on a partition without a replica to copy from."""
    return (
        f"{status.state.name_of(p)}: no live replica is in sync or eligible to lead; "
        f"its replicas are on {brokers_text(status.state.brokers_of(p))}"
    )


def throttle_value(key: str, value: str) -> str:
    """Return the value of a throttle as text: a rate, or a number of replicas."""
    if key.endswith(".replicas"):
        if value == "*":
            return "every replica"
        return plural(len(value.split(",")), "replica")
    return f"{bytes_text(int(value))}/s" if value.isdecimal() else value


def quorum_text(status: Status) -> str:
    """Return the state of the controllers' quorum, as text."""
    quorum = status.quorum
    if quorum is None:
        return "unknown"
    leader = "leader unknown" if quorum.leader is None else f"leader {quorum.leader}"
    voters = f"{plural(len(quorum.voters), 'voter')} ({ids_text(list(quorum.voters))})"
    more = "how many more may fail is unknown"
    if quorum.is_lost:
        more = "the majority is lost: nothing is elected, created or changed"
    elif quorum.may_fail is not None:
        more = f"{quorum.may_fail} more may fail"
    text = f"{leader}; {voters}, majority {quorum.majority}; {more}"
    if quorum.silent:
        text += f"; silent: {ids_text(list(quorum.silent))}, restart them"
    return text

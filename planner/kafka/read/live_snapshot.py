"""Reader of a running cluster into a snapshot document, without changes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.background_tasks import Task
from planner.kafka.read.authorization_gaps import (
    INVISIBLE,
    find_gaps,
    half_visible_error,
    is_bound,
    suspects,
)
from planner.kafka.read.cluster_metadata import Look, take_look, without_topics
from planner.kafka.read.log_dirs import BrokerDirs, Partition
from planner.kafka.read.produce_rates import sample_rates, with_rates
from planner.kafka.read.topic_metadata import find_deleted, kafka_topic_id
from planner.progress import stage

if TYPE_CHECKING:
    from planner.snapshot.snapshot_document import Snapshot

Note = Callable[[str], None]
Document = dict[str, Any]
_ELIGIBLE = {"elr": "eligible_leader_replicas", "last_known_elr": "last_known_elr"}
NO_TIME = -1
NOBODY = -1


def _be_silent(_: str) -> None:
    """Ignore a note."""


def _log_dir(one: Mapping[str, Any]) -> Document:
    found: Document = {"path": one["log_dir"]}
    if one["error_code"]:
        return {**found, "state": "offline"}
    for name, key in (("size_bytes", "total_bytes"), ("usable_bytes", "usable_bytes")):
        if one.get(key, -1) >= 0:
            found[name] = one[key]
    return {**found, "state": "cordoned" if one.get("is_cordoned") else "online"}


def _brokers(look: Look) -> Iterator[Document]:
    """Yield registered brokers and brokers that only replica lists name, by id."""
    known = {one["broker_id"]: one for one in look.cluster["brokers"]}
    named = {
        broker_id
        for topic in look.topics.values()
        for one in topic["partitions"]
        for broker_id in one["replica_nodes"]
    }
    for broker_id in sorted(known.keys() | named):
        one = known.get(broker_id)
        if one is None:
            yield {"id": broker_id, "state": "dead"}
            continue
        # A broker without an answer on log dirs has been fenced since.
        is_alive = broker_id in look.dirs
        found: Document = {"id": broker_id, "rack": one["rack"], "host": one["host"]}
        found["state"] = "alive" if is_alive else "fenced"
        if is_alive:
            found["configs"] = dict(look.broker_configs.get(broker_id, {}))
            found["log_dirs"] = [_log_dir(one) for one in look.dirs[broker_id].dirs]
        yield found


def _known_or_absent(found: Document) -> Document:
    return {key: value for key, value in found.items() if value is not None}


def _paths(
    name: Partition, replicas: Sequence[int], look: Look, which: str
) -> list[str | None] | None:
    """Return the log dir path of each replica; `None` if no path is known."""

    def path(dirs: BrokerDirs | None) -> str | None:
        copy = None if dirs is None else getattr(dirs, which).get(name)
        return None if copy is None else str(copy.path)

    found = [path(look.dirs.get(broker_id)) for broker_id in replicas]
    return found if any(found) else None


def _sizes(name: Partition, one: Mapping[str, Any], look: Look) -> Document:
    """Return the size of the partition, and each replica's size if sizes differ."""
    sizes: list[int | None] = []
    for broker_id in one["replica_nodes"]:
        dirs = look.dirs.get(broker_id)
        copy = None if dirs is None else dirs.current.get(name)
        sizes.append(None if copy is None else copy.size_bytes)
    known = [size for size in sizes if size is not None]
    if not known:
        return {}
    by_broker = dict(zip(one["replica_nodes"], sizes, strict=True))
    leader_bytes = by_broker.get(one["leader_id"])
    size_bytes = max(known) if leader_bytes is None else leader_bytes
    differs = any(size != size_bytes for size in known)
    return {"size_bytes": size_bytes, **({"replica_bytes": sizes} if differs else {})}


def _moves(moving: Mapping[str, Any], *, is_known: bool) -> Document:
    """Return the adding and removing replicas; `None` if reassignments are hidden."""
    return {
        key: list(moving.get(key, ())) if is_known else None
        for key in ("adding_replicas", "removing_replicas")
    }


def _partition(name: Partition, one: Mapping[str, Any], look: Look) -> Document:
    replicas = list(one["replica_nodes"])
    moving = look.reassignments.get(name, {})
    found: Document = {
        "partition": name.partition,
        "replicas": replicas,
        "leader": one["leader_id"] if one["leader_id"] >= 0 else None,
        "isr": list(one["isr_nodes"]),
    }
    if "eligible_leader_replicas" in one:
        # After a reassignment Kafka keeps removed replicas in the ELR; none may lead.
        for key, source in _ELIGIBLE.items():
            found[key] = [broker for broker in one[source] or () if broker in replicas]
    optional = {
        **_moves(moving, is_known="reassignments" not in look.refused),
        "offline_replicas": list(one.get("offline_replicas") or ()),
        "log_dirs": _paths(name, replicas, look, "current"),
        "future_log_dirs": _paths(name, replicas, look, "future"),
    }
    return found | _known_or_absent(optional) | _sizes(name, one, look)


def _topics(look: Look) -> Iterator[Document]:
    for name, topic in look.topics.items():
        configs = dict(look.topic_configs.get(name, {}))
        is_tiered = configs.get("remote.storage.enable") == "true"
        yield {
            "name": name,
            "topic_id": kafka_topic_id(topic["topic_id"]),
            "storage": "tiered" if is_tiered else "local",
            "configs": configs,
            "partitions": [
                _partition(Partition(name, one["partition_index"]), one, look)
                for one in topic["partitions"]
            ],
        }


def _fetch_ages(quorum: Mapping[str, Any]) -> dict[int, int]:
    """
    Return the milliseconds since each voter fetched from the leader.

    The leader's own timestamp is the time of its answer. A voter that never fetched
    from this leader has no age.
    """
    times = {
        one["replica_id"]: one.get("last_fetch_timestamp", NO_TIME)
        for one in quorum.get("current_voters", ())
    }
    now = times.get(quorum.get("leader_id", NOBODY), NO_TIME)
    if now < 0:
        return {}
    return {node: max(now - time, 0) for node, time in times.items() if time >= 0}


def _controllers(look: Look) -> list[Document]:
    racks = {one["broker_id"]: one["rack"] for one in look.cluster["brokers"]}
    voting = look.quorum.get("current_voters", ())
    voters = {one["replica_id"] for one in voting}
    leader, ages = look.quorum.get("leader_id"), _fetch_ages(look.quorum)
    observers = {one["replica_id"] for one in look.quorum.get("observers", ())}
    # Brokers are observers, too; an observer that is not a broker is a controller.
    return [
        {
            "id": node,
            "rack": racks.get(node),
            "voter": node in voters,
            "combined": node in racks,
            **({"leader": True} if node == leader else {}),
            **({"fetch_age_ms": ages[node]} if node in ages else {}),
        }
        for node in sorted(voters | (observers - racks.keys()))
    ]


def _document(look: Look) -> Document:
    now = datetime.now(UTC).replace(microsecond=0)
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": look.cluster["cluster_id"],
        "taken_at": now.isoformat().replace("+00:00", "Z"),
        "configs": dict(look.cluster_configs),
        "features": dict(look.features),
        "controllers": _controllers(look),
        "brokers": list(_brokers(look)),
        "topics": list(_topics(look)),
    }


def _look(client: ClusterClient, *, allow_partial: bool, note: Note) -> Look:
    """
    Return a complete view of the cluster, with at most two attempts.

    A topic created or deleted between two answers leaves the same gap as a missing
    permission, but rarely twice. A request for the topic by name distinguishes both.
    """
    look = take_look(client)
    if find_gaps(look):
        look = take_look(client)
    if found := suspects(look):
        look = without_topics(look, find_deleted(client, found))
    if is_bound(look.cluster):
        note(INVISIBLE)
    gaps = find_gaps(look)
    if gaps and not allow_partial:
        raise half_visible_error(client.servers, gaps)
    for gap in gaps:
        note(f"seen in part: {gap}")
    return look


def _share_a_disk(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two log dirs have equal size and free space within 0.1 %."""
    total = one.get("total_bytes", -1)
    if total <= 0 or total != other.get("total_bytes"):
        return False
    return bool(abs(one["usable_bytes"] - other["usable_bytes"]) * 1000 < total)


def _note_shared_disks(look: Look, note: Note) -> None:
    """Note log dirs that seem to share a disk, whose capacity would count twice."""
    shared = [
        str(broker_id)
        for broker_id, one in sorted(look.dirs.items())
        if any(_share_a_disk(*pair) for pair in combinations(one.dirs, 2))
    ]
    if shared:
        note(
            f"log dirs of equal size and free space on brokers {', '.join(shared)}: if "
            "they share one disk, its capacity counts more than once"
        )


def _first_look(client: ClusterClient, *, allow_partial: bool, note: Note) -> Look:
    stage(f"connecting to {client.servers}")
    client.reach_brokers()
    look = _look(client, allow_partial=allow_partial, note=note)
    _note_shared_disks(look, note)
    return look


def take_snapshot(
    client: ClusterClient,
    *,
    sample_seconds: float,
    allow_partial: bool = False,
    note: Note = _be_silent,
) -> "Snapshot":
    """
    Take a snapshot of a running cluster.

    Parameters
    ----------
    client
        Client of the cluster.
    sample_seconds
        Seconds between the two views that rates are estimated from; 0: no rates. The
        snapshot is built and checked meanwhile.
    allow_partial
        Whether to continue if parts of the cluster are hidden from the user.
    note
        Callback for notes to the user of the snapshot.

    Raises
    ------
    ClusterUnavailableError
        If the cluster or one of its brokers cannot be reached, or a part is hidden.
    BadInputError
        If the answers of the brokers do not form a valid snapshot.
    """
    look = _first_look(client, allow_partial=allow_partial, note=note)
    rates = None
    if sample_seconds > 0:
        rates = Task(lambda: sample_rates(client, look, sample_seconds))
    # The import of Arrow takes as long as the first view; there is time for it between
    # the views.
    from planner.snapshot.snapshot_document import Snapshot

    snapshot = Snapshot.from_document(_document(look), file=client.servers)
    return snapshot if rates is None else with_rates(snapshot, rates.result())

"""Meaning, unit and nulls of the columns of a fleet's own tables."""

from collections.abc import Mapping

Meaning = tuple[str, str, str]
"""Meaning, unit, and reason for nulls; an empty unit is none, an empty reason never."""
UNKNOWN = "not measured, or not given"
KEY: Mapping[str, Meaning] = {
    "cluster_id": ("Cluster of the snapshot.", "", ""),
    "taken_at": ("Time of the snapshot, UTC.", "", ""),
}
SNAPSHOTS: Mapping[str, Mapping[str, Meaning]] = {
    "clusters": {
        **KEY,
        "kafka_version": ("Version of Kafka.", "", UNKNOWN),
        "configs": ("Settings of the cluster, by name.", "", UNKNOWN),
        "features": ("Finalised features and their levels.", "", UNKNOWN),
        "rates": ("Source, window and quantile of all rates.", "s", "no rates"),
        "controllers": (
            "Controllers of KRaft: id, rack, voter, combined.",
            "",
            UNKNOWN,
        ),
    },
    "brokers": {
        **KEY,
        "id": ("Id of the broker.", "", ""),
        "rack": ("Rack of the broker.", "", "the broker is a rack of its own"),
        "host": ("Host name.", "", UNKNOWN),
        "state": ("alive, new, demoted, shutting-down, fenced or dead.", "", "alive"),
        "broker_set": ("Set of brokers that it is in.", "", "in none"),
        "disk_bytes": ("Capacity of its disks.", "bytes", "sum of its log dirs"),
        "in_bytes_per_s": ("Capacity of its link, inwards.", "bytes/s", UNKNOWN),
        "out_bytes_per_s": ("Capacity of its link, outwards.", "bytes/s", UNKNOWN),
        "cpu_cores": ("Capacity of its processors.", "cores", UNKNOWN),
        "max_replicas": ("Most replicas that it may hold.", "replicas", "no limit"),
        "configs": ("Settings of the broker, by name.", "", UNKNOWN),
        "tags": ("Tags of the broker, by name.", "", UNKNOWN),
    },
    "log_dirs": {
        **KEY,
        "broker_id": ("Broker of the log dir.", "", ""),
        "path": ("Path of the log dir.", "", ""),
        "size_bytes": ("Size of its file system.", "bytes", UNKNOWN),
        "usable_bytes": ("Free part of its file system.", "bytes", UNKNOWN),
        "state": ("online, offline or cordoned.", "", "online"),
    },
    "topics": {
        **KEY,
        "topic": ("Name of the topic.", "", ""),
        "topic_id": ("Id of the topic.", "", UNKNOWN),
        "storage": ("local, tiered, shared or unknown.", "", "local"),
        "configs": ("Settings of the topic, by name.", "", UNKNOWN),
        "tags": ("Tags of the topic, by name.", "", UNKNOWN),
    },
    "partitions": {
        **KEY,
        "topic": ("Topic of the partition.", "", ""),
        "partition": ("Number of the partition.", "", ""),
        "replicas": ("Brokers of its replicas, the preferred leader first.", "", ""),
        "leader": (
            "Broker that leads; -1: none does.",
            "",
            "the first live replica in the ISR",
        ),
        "isr": ("Brokers in sync.", "", "all live replicas"),
        "elr": ("Eligible leader replicas.", "", UNKNOWN),
        "last_known_elr": ("Eligible leader replicas known last.", "", UNKNOWN),
        "adding_replicas": ("Replicas that a reassignment adds.", "", "none"),
        "removing_replicas": ("Replicas that a reassignment removes.", "", "none"),
        "offline_replicas": ("Replicas that the metadata calls offline.", "", UNKNOWN),
        "log_dirs": ("Log dir of each replica; null where unknown.", "", UNKNOWN),
        "future_log_dirs": ("Log dir that each replica moves to.", "", "none moves"),
        "size_bytes": ("Size of one replica, the leader's.", "bytes", UNKNOWN),
        "replica_bytes": ("Size of each replica where they differ.", "bytes", UNKNOWN),
        "remote_bytes": ("Bytes in remote storage.", "bytes", UNKNOWN),
        "in_bytes_per_s": ("Rate of what producers write.", "bytes/s", UNKNOWN),
        "out_bytes_per_s": ("Rate of what consumers read.", "bytes/s", UNKNOWN),
        "leader_cpu_cores": ("Processor use of the leader.", "cores", UNKNOWN),
        "follower_cpu_cores": ("Processor use of each follower.", "cores", UNKNOWN),
    },
    "commits": {
        **KEY,
        "content": (
            "Hash of the content of a snapshot that is whole.",
            "",
            "a job writes the snapshot",
        ),
    },
    "rejects": {
        "dump": ("Folder or file of the dump.", "", ""),
        "cluster_id": ("Cluster of the dump.", "", "neither file nor folder says"),
        "taken_at": ("Time of the dump, UTC.", "", "neither file nor folder says"),
        "scope": ("Missing for it: row, file, snapshot or nothing.", "", ""),
        "file": ("File of the dump.", "", ""),
        "place": ("Line or field in the file; of several the first.", "", ""),
        "value": ("Value found there.", "", ""),
        "reason": ("Rule that is broken.", "", ""),
        "remedy": ("Change that resolves it.", "", ""),
        "count": ("Rejects of this kind in the file.", "rejects", ""),
    },
    "ingested": {
        "dump": ("Folder or file of the dump.", "", ""),
        "signature": ("Hash of names, sizes and times of its files.", "", ""),
        "cluster_id": ("Cluster of its snapshot.", "", "the dump was refused"),
        "taken_at": ("Time of its snapshot, UTC.", "", "the dump was refused"),
        "content": ("Hash of the snapshot's content.", "", "the dump was refused"),
        "rejects": ("Rows of the dump in rejects.", "rows", ""),
    },
}
"""Meaning, unit and nulls by table and column."""

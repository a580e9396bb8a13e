"""What Kafka's own tools printed, and the importers that read it."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from planner.errors import BadInputError
from planner.snapshot.importers import Source, merge
from planner.snapshot.importers.cruise_control.capacity_files import (
    read_broker_sets,
    read_capacity,
)
from planner.snapshot.importers.cruise_control.partition_load import read_partition_load
from planner.snapshot.importers.cruise_control.rest_answers import (
    read_cluster_state,
    read_load,
)
from planner.snapshot.importers.hardware.broker_table import read_broker_table
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.inputs.import_source import Record
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_configs import read_configs
from planner.snapshot.importers.kafka_tools.kafka_features import read_features
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_quorum import read_quorum
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from planner.snapshot.importers.metrics.prometheus import read_prometheus
from planner.snapshot.importers.metrics.rates_table import read_rates
from support.monitoring import (
    BROKER_SETS,
    CAPACITY,
    CAPACITY_CORES,
    CAPACITY_JBOD,
    KAFKA_TOPICS,
    LOAD,
    PARTITION_LOAD,
    POOLS,
    STATE,
    encoded,
    matrix,
    vector,
)

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
Reader = Callable[..., Source]

COVERED: dict[Reader, tuple[str, ...]] = {
    read_topics: tuple(
        f"topics-describe{name}.txt"
        for name in (
            "",
            "-after",
            "-after-unclean",
            "-broker-down",
            "-offline-dir",
            "-one",
            "-preferred",
            "-reassigning",
            "-rf-increase",
            "-three-down",
            "-wrong-leaders",
        )
    ),
    read_log_dirs: tuple(
        f"log-dirs-describe{name}.txt"
        for name in (
            "",
            "-brokers-down",
            "-filtered",
            "-future",
            "-offline",
            "-reassigning",
        )
    ),
    read_endpoints: (
        "cluster-id.txt",
        "cluster-list-endpoints.txt",
        "cluster-list-endpoints-fenced.txt",
    ),
    read_configs: tuple(
        f"configs-{name}.txt"
        for name in (
            "topics",
            "topics-throttled",
            "brokers-after-cancel",
            "brokers-empty",
            "brokers-logdir-throttle",
            "brokers-throttled",
        )
    ),
    read_features: ("features-describe.txt",),
    read_quorum: ("quorum-status.txt", "quorum-replication.txt"),
    read_assignment: (
        "reassign.json",
        "reassign-rf.json",
        "reassign-logdirs.json",
        "reassign-generate.txt",
        "reassign-execute-additional.txt",
        "reassign-execute-logdirs.txt",
        "reassign-execute-rf.txt",
        "reassign-execute-throttled.txt",
        # What is printed before the refusal is the current assignment, too.
        "reassign-error-bad-logdir.txt",
    ),
}
"""Which samples each importer reads; every other one it must refuse."""

KCAT = b"""{"originating_broker":{"id":1,"name":"k1:9092/1"},"query":{"topic":"*"},
"controllerid":1,"brokers":[{"id":1,"name":"k1:9092"},{"id":2,"name":"k2:9092"}],
"topics":[{"topic":"orders","partitions":[
{"partition":0,"leader":1,"replicas":[{"id":1},{"id":2}],"isrs":[{"id":2},{"id":1}]},
{"partition":1,"leader":-1,"replicas":[{"id":3},{"id":1}],"isrs":[],
 "error":"Broker: Leader not available"}]}]}
"""
KCAT_TEXT = b"""Metadata for all topics (from broker -1: k1:9092/bootstrap):
 2 brokers:
  broker 1 at k1:9092 (controller)
  broker 2 at k2:9092
 1 topics:
  topic "orders" with 2 partitions:
    partition 0, leader 1, replicas: 1,2, isrs: 2,1
    partition 1, leader -1, replicas: 3,1, isrs: , Broker: Leader not available
"""
"""The cluster of `KCAT`, as kcat prints it without -J."""
BROKERS = b"""id,rack,state,disk_bytes,in_bytes_per_s,cpu_cores,max_replicas,log_dirs
1,a,,2TB,100MB/s,8,4000,/data/d1=1TB;/data/d2=1TB
2,b,demoted,,,,,
3,c,new,1000000000000,1e8,7.5,,/data/d1
"""
RATES = b"""topic,partition,in_bytes_per_s,out_bytes_per_s,size_bytes
orders,0,120000,240000.5,5GB
orders,1,1.5MB/s,,
"""
READERS: dict[Reader, tuple[bytes, ...]] = {
    **{
        reader: tuple((SAMPLES / name).read_bytes() for name in names)
        for reader, names in COVERED.items()
    },
    read_kcat: (KCAT, KCAT_TEXT),
    read_broker_table: (BROKERS,),
    read_rates: (RATES,),
    read_capacity: (encoded(CAPACITY), encoded(CAPACITY_CORES), encoded(CAPACITY_JBOD)),
    read_broker_sets: (encoded(BROKER_SETS),),
    read_cluster_state: (encoded(STATE),),
    read_load: (encoded(LOAD),),
    read_partition_load: (encoded(PARTITION_LOAD),),
    read_prometheus: (
        vector(({"planner": "in", "topic": "a", "broker_id": "1"}, 7.5)),
        matrix(({"planner": "size", "topic": "a", "partition": "0"}, [(0, "1")])),
        matrix(({"__name__": "process_cpu_seconds_total"}, [(0, "1"), (9, "3.5")])),
    ),
}
if find_spec("yaml"):
    READERS[read_strimzi] = (POOLS, KAFKA_TOPICS)
"""Every importer with inputs that it takes."""


def sample(reader: Reader, name: str) -> Source:
    """Read one sample."""
    return reader((SAMPLES / name).read_bytes(), file=name)


def records_of(source: Source) -> tuple[Record, ...]:
    """Every record of a source."""
    return (
        *(*source.brokers, *source.log_dirs),
        *(*source.topics, *source.controllers),
    )


def imported(*sources: Source, **options: Any) -> dict[str, Any]:
    """The document of the snapshot that sources make, by topic and broker."""
    document = merge(sources, **options).snapshot.to_document()
    document["topics"] = {topic["name"]: topic for topic in document["topics"]}
    document["brokers"] = {broker["id"]: broker for broker in document["brokers"]}
    return document


def partitions(document: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    """Partitions of such a document by name and number."""
    return {
        (name, one["partition"]): one
        for name, topic in document["topics"].items()
        for one in topic["partitions"]
    }


def refusal(reader: Reader, data: bytes) -> BadInputError:
    """What a reader says of bad input."""
    try:
        reader(data, file="given.txt")
    except BadInputError as error:
        return error
    msg = "the input was taken"
    raise AssertionError(msg)


def words(error: BadInputError) -> str:
    """Everything that a refusal would print."""
    return "\n".join([error.message, *map(str, error.problems)])

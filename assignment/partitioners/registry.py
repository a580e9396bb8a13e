"""Partitioners by name."""

from collections.abc import Mapping

from assignment.partitioners.built_in import BATCH_BYTES
from assignment.partitioners.java_clients import JavaDefault, RoundRobinPartitioner
from assignment.partitioners.librdkafka import LIBRDKAFKA
from assignment.partitioners.other_clients import OTHER_CLIENTS
from assignment.partitioners.partitioner import Partitioner

NAMES = (
    "default",
    "default-sticky",
    "uniform-sticky",
    "builtin",
    "roundrobin",
    "roundrobin-skips",
    *(each.name for each in LIBRDKAFKA),
    *(each.name for each in OTHER_CLIENTS),
)


def find_partitioner(name: str, *, batch_bytes: int = BATCH_BYTES) -> Partitioner:
    """
    Return the partitioner of a name.

    Parameters
    ----------
    name
        One of `NAMES`; librdkafka's names also with underscores, as its option
        ``partitioner`` has them.
    batch_bytes
        ``batch.size`` of the partitioners that place records in batches.

    Raises
    ------
    KeyError
        If no partitioner has the name.
    """
    known: Mapping[str, Partitioner] = {
        each.name: each
        for each in (*_java_clients(batch_bytes), *LIBRDKAFKA, *OTHER_CLIENTS)
    }
    return known[name.replace("_", "-")]


def _java_clients(batch_bytes: int) -> tuple[Partitioner, ...]:
    return (
        JavaDefault(batch_bytes=batch_bytes),
        JavaDefault(name="default-sticky", is_sticky=True, batch_bytes=batch_bytes),
        JavaDefault(
            name="uniform-sticky",
            is_sticky=True,
            ignores_keys=True,
            batch_bytes=batch_bytes,
        ),
        JavaDefault(name="builtin", ignores_keys=True, batch_bytes=batch_bytes),
        RoundRobinPartitioner(batch_bytes=batch_bytes),
        RoundRobinPartitioner(
            name="roundrobin-skips", skips=True, batch_bytes=batch_bytes
        ),
    )

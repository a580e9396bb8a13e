"""Registry of importers by name, the only list of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from planner.snapshot.importers.cruise_control.capacity_files import (
    read_broker_sets,
    read_capacity,
)
from planner.snapshot.importers.hardware.broker_table import read_broker_table
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.inputs.import_source import Source
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

Reader = Callable[..., Source]


@dataclass(frozen=True, slots=True)
class Importer:
    """
    Importer of one format.

    Parameters
    ----------
    name
        Name of the command's option, and of the format in
        `planner.pasted_text.recognise`.
    read
        Reads bytes: ``read(data, file=…)``.
    reads_partly
        Whether `read` takes `allow_partial`, and then leaves out invalid entries.
    """

    name: str
    read: Reader
    reads_partly: bool = False

    def reader(self, *, allow_partial: bool) -> Reader:
        """Return the reader; it leaves out invalid entries if that is allowed."""
        if allow_partial and self.reads_partly:
            return partial(self.read, allow_partial=True)
        return self.read


IMPORTERS = (
    Importer("topics", read_topics),
    Importer("log_dirs", read_log_dirs, reads_partly=True),
    Importer("list_endpoints", read_endpoints),
    Importer("configs", read_configs),
    Importer("features", read_features),
    Importer("quorum", read_quorum),
    Importer("kcat", read_kcat, reads_partly=True),
    Importer("assignment", read_assignment),
    Importer("brokers", read_broker_table),
    Importer("rates", read_rates, reads_partly=True),
    Importer("capacity", read_capacity),
    Importer("broker_sets", read_broker_sets),
    Importer("strimzi", read_strimzi),
    Importer("prometheus", read_prometheus, reads_partly=True),
)
"""Importers of single files; three of them together read a folder of Cruise Control."""

READERS: Mapping[str, Reader] = MappingProxyType(
    {importer.name: importer.read for importer in IMPORTERS}
)
"""Readers by name."""

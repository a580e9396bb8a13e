"""Options of new topics and of more partitions."""

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from planner.options.declared.operation_readers import read_topic_configs
from planner.options.declared.option import Option, Panel, Saved
from planner.options.declared.value_readers import read_rate, read_size

_new = partial(Option, panel=Panel.OPERATION, saved=Saved.NEVER)
_rate = partial(_new, metavar="RATE", takes=str, read=read_rate)


@dataclass(frozen=True, kw_only=True)
class NewPartitionOptions:
    """Options of new partitions; their plans record what came of them."""

    partitions: Annotated[
        int | None, _new(help="Partitions of the topic afterwards.", metavar="N")
    ] = None
    in_bytes_per_s: Annotated[
        int | None, _rate(help="Rate of producers for the whole topic: 5MB/s.")
    ] = None
    out_bytes_per_s: Annotated[
        int | None, _rate(help="Rate of consumers for the whole topic.")
    ] = None
    size_bytes: Annotated[
        int | None,
        _new(
            help="Size of one replica of the whole topic, when full.",
            metavar="SIZE",
            takes=str,
            read=read_size,
        ),
    ] = None
    replica_assignment: Annotated[
        str | None,
        _new(
            help="Replica lists in the format of Kafka's tool: 0:1,1:0,0:1.",
            metavar="LISTS",
        ),
    ] = None
    topic_config: Annotated[
        dict[str, str],
        Option(
            help="A config of the new topic: min.insync.replicas=2; repeatable.",
            metavar="KEY=VALUE",
            takes=list,
            read=read_topic_configs,
            example='{ "min.insync.replicas" = "2" }',
            panel=Panel.OPERATION,
            saved=Saved.NEVER,
        ),
    ] = field(default_factory=dict)
    keys: Annotated[
        str | None,
        _new(help="Sample of the topic's keys, as of keys grow.", metavar="FILE"),
    ] = None
    partitioner: Annotated[
        str | None,
        _new(help="With --keys: partitioner of the producers.", metavar="NAME"),
    ] = None
    sample_format: Annotated[
        str | None, _new(help="With --keys: format of the file.", metavar="FORMAT")
    ] = None
    key_column: Annotated[
        str | None, _new(help="With --keys: column of the key.", metavar="NAME")
    ] = None
    key_type: Annotated[
        str | None, _new(help="With --keys: serializer of the keys.", metavar="TYPE")
    ] = None
    schema_id: Annotated[
        int | None,
        _new(help="With --keys: id of the schema before each key.", metavar="ID"),
    ] = None

"""Options of `partitions size` that become a `CountRequest`, each a row of a table."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from planner.cli.common.fractions import fraction


class OptionRow(NamedTuple):
    """
    One option.

    Parameters
    ----------
    field
        Field of `CountRequest`, whose default the option has.
    kind
        Type of the value.
    flag, metavar, text
        Name of the option, placeholder of its value, and help.
    panel
        Panel of the help.
    """

    field: str
    kind: Any
    flag: str
    metavar: str | None
    text: str
    panel: str


TEXT, NUMBER, COUNT = str | None, float | None, int | None
TEXTS, SWITCH = list[str] | None, bool | None
LOAD, HOSTS, KEPT, LIMITS = "Load", "Brokers", "Retention", "Limits"
ROWS = (
    OptionRow("topic", TEXT, "--topic", "NAME", "Topic of SNAP to size.", LOAD),
    OptionRow(
        "throughput", TEXT, "--throughput", "RATE", "Rate written to the topic.", LOAD
    ),
    OptionRow(
        "producer_rate",
        TEXT,
        "--producer-rate",
        "RATE",
        "Rate at which one producer writes to one partition.",
        LOAD,
    ),
    OptionRow(
        "read",
        TEXTS,
        "--read",
        "[GROUP=]RATE",
        "Rate that a consumer group reads; repeatable.",
        LOAD,
    ),
    OptionRow(
        "consumer_rate",
        TEXTS,
        "--consumer-rate",
        "[GROUP=]RATE",
        "Rate that one consumer processes; repeatable.",
        LOAD,
    ),
    OptionRow(
        "consumers",
        TEXTS,
        "--consumers",
        "[GROUP=]N",
        "Consumers at work in a group; repeatable.",
        LOAD,
    ),
    OptionRow(
        "headroom",
        NUMBER,
        "--headroom",
        "FACTOR",
        "Growth to be ready for; by default 2 with keys, else 1.",
        LOAD,
    ),
    OptionRow(
        "skew",
        float,
        "--skew",
        "FACTOR",
        "Rate of the busiest partition by the mean; by default 1.",
        LOAD,
    ),
    OptionRow(
        "lag",
        TEXT,
        "--lag",
        "SIZE|TIME",
        "Backlog of each group: a size, or a time of reading.",
        LOAD,
    ),
    OptionRow(
        "catch_up", TEXT, "--catch-up", "TIME", "Time to work off the backlog.", LOAD
    ),
    OptionRow(
        "keyed", SWITCH, "--keyed/--unkeyed", None, "Whether records have keys.", LOAD
    ),
    OptionRow(
        "candidates",
        TEXT,
        "--candidates",
        "N,N",
        "Counts to compare besides.",
        LOAD,
    ),
    OptionRow(
        "brokers",
        COUNT,
        "--brokers",
        "N",
        "Number of brokers; by default those of SNAP.",
        HOSTS,
    ),
    OptionRow(
        "racks", COUNT, "--racks", "N", "Racks, with --brokers evenly in them.", HOSTS
    ),
    OptionRow(
        "replication_factor",
        COUNT,
        "--replication-factor",
        "N",
        "Replicas of each partition; by default 3.",
        HOSTS,
    ),
    OptionRow(
        "uneven",
        bool,
        "--uneven",
        None,
        "Also counts that are no multiple of the brokers.",
        HOSTS,
    ),
    OptionRow(
        "leading_brokers",
        COUNT,
        "--leading-brokers",
        "N",
        "Brokers that must lead a partition; by default 12, or all of fewer.",
        HOSTS,
    ),
    OptionRow("retention", TEXT, "--retention", "TIME", "retention.ms: 7d.", KEPT),
    OptionRow(
        "retention_bytes",
        TEXT,
        "--retention-bytes",
        "SIZE",
        "retention.bytes, of a partition.",
        KEPT,
    ),
    OptionRow(
        "segment_bytes",
        TEXT,
        "--segment-bytes",
        "SIZE",
        "segment.bytes: 1GiB.",
        KEPT,
    ),
    OptionRow("segment_time", TEXT, "--segment-time", "TIME", "segment.ms: 7d.", KEPT),
    OptionRow(
        "max_replicas",
        COUNT,
        "--max-replicas-per-broker",
        "N",
        "Replicas of a broker; by default 4000.",
        LIMITS,
    ),
    OptionRow(
        "instance_type",
        TEXT,
        "--instance-type",
        "TYPE",
        "Type of an Amazon MSK broker, for its replicas.",
        LIMITS,
    ),
    OptionRow(
        "max_open_files",
        COUNT,
        "--max-open-files",
        "N",
        "Open files of a broker; by default 100000.",
        LIMITS,
    ),
    OptionRow(
        "max_map_count",
        COUNT,
        "--max-map-count",
        "N",
        "vm.max_map_count; by default 65530.",
        LIMITS,
    ),
    OptionRow(
        "broker_in",
        TEXT,
        "--broker-in",
        "RATE",
        "Network of a broker, in.",
        LIMITS,
    ),
    OptionRow(
        "broker_out",
        TEXT,
        "--broker-out",
        "RATE",
        "Network of a broker, out.",
        LIMITS,
    ),
    OptionRow(
        "max_use",
        float,
        "--max-use",
        "FRACTION",
        "Fraction of the network to use; by default 0.8.",
        LIMITS,
    ),
    OptionRow(
        "max_latency",
        TEXT,
        "--max-latency",
        "TIME",
        "Delay that replication may add.",
        LIMITS,
    ),
    OptionRow(
        "latency_per_partition",
        TEXT,
        "--latency-per-partition",
        "TIME",
        "Delay per partition between two brokers; by default 0.02ms.",
        LIMITS,
    ),
    OptionRow(
        "max_recovery",
        TEXT,
        "--max-recovery",
        "TIME",
        "Recovery after an unclean stop of the cluster.",
        LIMITS,
    ),
    OptionRow(
        "recovery_per_partition",
        TEXT,
        "--recovery-per-partition",
        "TIME",
        "Recovery per partition; by default 0.0185ms.",
        LIMITS,
    ),
)
"""Options in the order of the help."""
DEFAULTS = {"skew": 1.0, "max_use": 0.8, "uneven": False}
"""Defaults of fields that are not absent by default."""


def with_count_options(command: Callable[..., None]) -> Callable[..., None]:
    """
    Declare the options of `ROWS` on a command.

    Parameters
    ----------
    command
        Function with the parameter `request`, which gets the `CountRequest`.
    """

    @wraps(command)
    def call(**values: Any) -> None:  # noqa: ANN401 - each of its own type
        from planner.partitions.size_request import CountRequest

        given = {row.field: values.pop(row.field) for row in ROWS}
        known = {name: value for name, value in given.items() if value is not None}
        command(request=CountRequest(**known), **values)

    own = dict(inspect.signature(command).parameters)
    del own["request"]
    # Its type is not loaded for the help.
    del command.__annotations__["request"]
    hints = get_type_hints(command, include_extras=True)
    for row in ROWS:
        hints[row.field] = _annotation(row)
        own[row.field] = inspect.Parameter(
            row.field,
            inspect.Parameter.KEYWORD_ONLY,
            default=DEFAULTS.get(row.field),
            annotation=hints[row.field],
        )
    call.__signature__ = inspect.Signature(list(own.values()))  # type: ignore[attr-defined] # read by Typer
    call.__annotations__ = hints
    return call


def _annotation(row: OptionRow) -> Any:  # noqa: ANN401 - a type
    rules: dict[str, Any] = {"parser": fraction(1)} if row.field == "max_use" else {}
    option = typer.Option(
        row.flag,
        metavar=row.metavar,
        help=row.text,
        rich_help_panel=row.panel,
        show_default=False,
        **rules,
    )
    return Annotated[row.kind, option]

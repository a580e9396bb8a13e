"""Options of `partitions size`, each declared once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import isnan, nan
from typing import Annotated, Any, TypedDict

from planner.errors import InputProblem
from planner.options.declared.option import Option, Problems, read_options
from planner.partitions.backlog import NO_BACKLOG, Backlog, read_backlog
from planner.partitions.hottest_key import read_key_share, read_skew_document
from planner.partitions.value_readers import (
    Grouped,
    by_group,
    read_count,
    read_number,
    read_rate,
    read_seconds,
    read_size,
    read_whole,
)


def read_candidates(value: str | Sequence[int], problems: Problems) -> tuple[int, ...]:
    """Return numbers of partitions, without those that are too many."""
    from placement.partition_counts.choose_count import MOST_PARTITIONS

    texts = value.split(",") if isinstance(value, str) else map(str, value)
    found = [read_whole(text.strip(), problems) for text in texts]
    for count in found:
        if count > MOST_PARTITIONS:
            rule = f"must be at most {MOST_PARTITIONS:,}"
            problems.refuse(int(count), rule, "give smaller counts")
    return tuple(int(n) for n in found if n <= MOST_PARTITIONS)


def read_share(value: float, problems: Problems) -> float:
    """Return a fraction above 0 and at most 1."""
    if not 0 < value <= 1:
        problems.refuse(value, "must be above 0 and at most 1", "give 0.8 or 80%")
    return value


LOAD, BROKERS, RETENTION, LIMITS = "Load", "Brokers", "Retention", "Limits"
_rate = partial(Option, metavar="RATE", takes=str, read=read_rate)
_rates = partial(Option, metavar="[GROUP=]RATE", takes=list, read=by_group(read_rate))
_size = partial(Option, metavar="SIZE", takes=str, read=read_size)
_time = partial(Option, metavar="TIME", takes=str, read=read_seconds)
_count = partial(Option, metavar="N", read=read_count)
_factor = partial(Option, metavar="FACTOR", takes=float, read=read_number)
_limit = partial(Option, metavar="N", takes=int, read=read_number)


@dataclass(frozen=True, kw_only=True)
class SizeOptions:
    """
    Options of `partitions size`, in bytes, bytes/s and seconds; NaN where absent.

    Quantities of the empty group are those of all groups that are not named.
    """

    topic: Annotated[
        str | None, Option(help="Topic of SNAP to size.", metavar="NAME", panel=LOAD)
    ] = None
    throughput: Annotated[
        float, _rate(help="Rate written to the topic.", panel=LOAD)
    ] = nan
    producer_rate: Annotated[
        float,
        _rate(help="Rate at which one producer writes to one partition.", panel=LOAD),
    ] = nan
    read: Annotated[
        dict[str, float],
        _rates(help="Rate that a consumer group reads; repeatable.", panel=LOAD),
    ] = field(default_factory=dict)
    consumer_rate: Annotated[
        dict[str, float],
        _rates(help="Rate that one consumer processes; repeatable.", panel=LOAD),
    ] = field(default_factory=dict)
    consumers: Annotated[
        dict[str, float],
        Option(
            help="Consumers at work in a group; repeatable.",
            metavar="[GROUP=]N",
            takes=list,
            read=by_group(read_whole),
            panel=LOAD,
        ),
    ] = field(default_factory=dict)
    headroom: Annotated[
        float,
        _factor(
            help="Growth to be ready for; by default 2 with keys, else 1.", panel=LOAD
        ),
    ] = nan
    skew: Annotated[
        float,
        _factor(
            help="Rate of the busiest partition by the mean; by default 1.", panel=LOAD
        ),
    ] = 1.0
    hottest_key: Annotated[
        float,
        Option(
            help="Share of the records that the hottest key has.",
            metavar="FRACTION",
            takes=Fraction,
            at_most=1,
            read=read_key_share,
            panel=LOAD,
        ),
    ] = nan
    keys_skew: Annotated[
        float,
        Option(
            help="Document of keys skew with the hottest key.",
            metavar="FILE",
            takes=str,
            read=read_skew_document,
            panel=LOAD,
        ),
    ] = nan
    total_order: Annotated[
        bool,
        Option(
            help="All records in one order: one partition.",
            flag="--total-order",
            panel=LOAD,
        ),
    ] = False
    lag: Annotated[
        Backlog,
        Option(
            help="Backlog of each group: a size, or a time of reading.",
            metavar="SIZE|TIME",
            takes=str,
            read=read_backlog,
            panel=LOAD,
        ),
    ] = NO_BACKLOG
    catch_up: Annotated[
        float, _time(help="Time to work off the backlog.", panel=LOAD)
    ] = nan
    keyed: Annotated[
        bool | None,
        Option(help="Whether records have keys.", flag="--keyed/--unkeyed", panel=LOAD),
    ] = None
    candidates: Annotated[
        tuple[int, ...],
        Option(
            help="Counts to compare besides.",
            metavar="N,N",
            takes=str,
            read=read_candidates,
            panel=LOAD,
        ),
    ] = ()
    brokers: Annotated[
        int | None,
        _count(help="Number of brokers; by default those of SNAP.", panel=BROKERS),
    ] = None
    racks: Annotated[
        int | None, _count(help="Racks, with --brokers evenly in them.", panel=BROKERS)
    ] = None
    replication_factor: Annotated[
        int | None,
        _count(help="Replicas of each partition; by default 3.", panel=BROKERS),
    ] = None
    uneven: Annotated[
        bool,
        Option(
            help="Also counts that are no multiple of the brokers.",
            flag="--uneven",
            panel=BROKERS,
        ),
    ] = False
    leading_brokers: Annotated[
        int | None,
        _count(
            help="Brokers that must lead a partition; by default 12, or all of fewer.",
            panel=BROKERS,
        ),
    ] = None
    retention: Annotated[float, _time(help="retention.ms: 7d.", panel=RETENTION)] = nan
    retention_bytes: Annotated[
        float, _size(help="retention.bytes, of a partition.", panel=RETENTION)
    ] = nan
    segment_bytes: Annotated[
        float, _size(help="segment.bytes: 1GiB.", panel=RETENTION)
    ] = nan
    segment_time: Annotated[float, _time(help="segment.ms: 7d.", panel=RETENTION)] = nan
    max_replicas: Annotated[
        float,
        _limit(
            help="Replicas of a broker; by default 4000.",
            flag="--max-replicas-per-broker",
            panel=LIMITS,
        ),
    ] = nan
    instance_type: Annotated[
        str | None,
        Option(
            help="Type of an Amazon MSK broker, for its limits.",
            metavar="TYPE",
            panel=LIMITS,
        ),
    ] = None
    max_open_files: Annotated[
        float, _limit(help="Open files of a broker; by default 100000.", panel=LIMITS)
    ] = nan
    max_map_count: Annotated[
        float, _limit(help="vm.max_map_count; by default 65530.", panel=LIMITS)
    ] = nan
    broker_in: Annotated[
        float, _rate(help="Network of a broker, in.", panel=LIMITS)
    ] = nan
    broker_out: Annotated[
        float, _rate(help="Network of a broker, out.", panel=LIMITS)
    ] = nan
    max_use: Annotated[
        float,
        Option(
            help="Fraction of the network to use; by default 0.8.",
            metavar="FRACTION",
            takes=Fraction,
            at_most=1,
            read=read_share,
            panel=LIMITS,
        ),
    ] = 0.8
    max_latency: Annotated[
        float, _time(help="Delay that replication may add.", panel=LIMITS)
    ] = nan
    latency_per_partition: Annotated[
        float,
        _time(
            help="Delay per partition between two brokers; by default 0.02ms.",
            panel=LIMITS,
        ),
    ] = nan
    max_recovery: Annotated[
        float,
        _time(help="Recovery after an unclean stop of the cluster.", panel=LIMITS),
    ] = nan
    recovery_per_partition: Annotated[
        float, _time(help="Recovery per partition; by default 0.0185ms.", panel=LIMITS)
    ] = nan

    @property
    def hottest_share(self) -> float:
        """Share of the hottest key; 0 if unknown."""
        share = self.keys_skew if isnan(self.hottest_key) else self.hottest_key
        return 0.0 if isnan(share) else share


class PartitionsSizeOptions(TypedDict, total=False):
    """
    Arguments of `planner.partitions_size`, as the fields of `SizeOptions`.

    Quantities are numbers in bytes, bytes/s and seconds, or texts with a unit.
    """

    topic: str
    throughput: str | float
    producer_rate: str | float
    read: Grouped
    consumer_rate: Grouped
    consumers: Grouped
    headroom: float
    skew: float
    hottest_key: float
    keys_skew: str
    total_order: bool
    lag: str | float
    catch_up: str | float
    keyed: bool
    candidates: Sequence[int]
    brokers: int
    racks: int
    replication_factor: int
    uneven: bool
    leading_brokers: int
    retention: str | float
    retention_bytes: str | float
    segment_bytes: str | float
    segment_time: str | float
    max_replicas: int
    instance_type: str
    max_open_files: int
    max_map_count: int
    broker_in: str | float
    broker_out: str | float
    max_use: float
    max_latency: str | float
    latency_per_partition: str | float
    max_recovery: str | float
    recovery_per_partition: str | float


def read_size_options(
    given: Mapping[str, Any],
) -> tuple[SizeOptions, list[InputProblem]]:
    """
    Return the options of `partitions size`, and what is wrong with them.

    Parameters
    ----------
    given
        Texts, numbers or typed values by the names of the options; `None`: not given.
    """
    options, found = read_options(SizeOptions, given)
    problems = [*found, *_lag_problems(given), *_rack_problems(options)]
    problems += _order_problems(options, given)
    most = Problems("--instance-type")
    options = replace(options, max_replicas=_max_replicas(options, most))
    return options, [*problems, *most.found]


def _lag_problems(given: Mapping[str, Any]) -> list[InputProblem]:
    lag, time = given.get("lag"), given.get("catch_up")
    problems = Problems("--lag, --catch-up")
    if (lag is None) != (time is None):
        rule = "a backlog and the time to work it off must be given together"
        problems.refuse(lag if time is None else time, rule, "give both, or neither")
    return problems.found


def _rack_problems(options: SizeOptions) -> list[InputProblem]:
    problems = Problems("--racks")
    racks, brokers = options.racks, options.brokers
    if racks is None or racks < 1:
        return []
    if brokers is None:
        rule = "racks are those of the snapshot unless --brokers is given"
        problems.refuse(racks, rule, "give --brokers too, or leave it out")
    elif racks > brokers >= 1:
        rule = f"each rack must have a broker, and there are {brokers}"
        problems.refuse(racks, rule, f"give at most {brokers}")
    return problems.found


def _max_replicas(options: SizeOptions, problems: Problems) -> float:
    """Return the replicas of one broker, given or by the type of an MSK broker."""
    from planner.snapshot.importers.hardware.msk_types import MSK_TYPES, msk_type

    most, name = options.max_replicas, options.instance_type
    if name is None:
        return most
    by_type = msk_type(name)
    if by_type is None:
        rule = f"must be a type of MSK: {MSK_TYPES}"
        remedy = "give kafka.m7g.large, or --max-replicas-per-broker"
        problems.refuse(name, rule, remedy)
    elif not isnan(most):
        rule = "sets the replicas of a broker, and --max-replicas-per-broker does too"
        problems.refuse(name, rule, "give one")
    return most if by_type is None else float(by_type.replicas)


def _order_problems(
    options: SizeOptions, given: Mapping[str, Any]
) -> list[InputProblem]:
    """Return the problems of options on the order of records."""
    problems = Problems("--hottest-key")
    if given.get("hottest_key") is not None and given.get("keys_skew") is not None:
        rule = "is the share of the hottest key, and --keys-skew gives it too"
        problems.refuse(given["hottest_key"], rule, "give one")
    keys = Problems("--unkeyed")
    if options.keyed is False and (options.total_order or options.hottest_share > 0):
        rule = "has no order of records, nor a hottest key"
        keys.refuse("", rule, "leave it out")
    return [*problems.found, *keys.found]

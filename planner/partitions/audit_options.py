"""Options of `partitions audit`, each declared once."""

from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Annotated

from placement.partition_counts.count_task import MOST_LEADING
from planner.options.declared.option import Option
from planner.partitions.value_readers import (
    read_count,
    read_number,
    read_rate,
    read_seconds,
)

_option = partial(Option, panel="Options")
_rate = partial(_option, metavar="RATE", takes=str, read=read_rate)
_factor = partial(_option, metavar="FACTOR", read=read_number)


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """Options of `partitions audit`, in bytes/s and seconds; NaN where absent."""

    producer_rate: Annotated[
        float,
        _rate(help="Rate of one producer into a partition; by default the most seen."),
    ] = nan
    consumer_rate: Annotated[
        float,
        _rate(help="Rate of one consumer from a partition; by default the most seen."),
    ] = nan
    headroom: Annotated[float, _factor(help="Growth that a count should allow.")] = 2.0
    many: Annotated[
        float, _factor(help="Factor above the needed count that is too many.")
    ] = 4.0
    leading_brokers: Annotated[
        int,
        _option(
            help="Brokers that should lead a partition of each topic, or all of fewer.",
            metavar="N",
            read=read_count,
        ),
    ] = MOST_LEADING
    recovery_per_partition: Annotated[
        float,
        _option(
            help="Recovery per partition; by default 0.0185ms.",
            metavar="TIME",
            takes=str,
            read=read_seconds,
        ),
    ] = nan

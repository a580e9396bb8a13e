"""Options of waves."""

from dataclasses import dataclass
from typing import Annotated, TypedDict

from planner.options.declared.option import Option, Panel, Saved
from planner.options.declared.types import CopyOrder
from planner.options.declared.value_readers import read_cap, read_order, read_rate


@dataclass(frozen=True, kw_only=True)
class WaveOptions:
    """Options of waves; any of them but `waves` implies `waves`."""

    waves: Annotated[
        bool,
        Option(
            help="Also cut the plan into waves that are safe each.",
            panel=Panel.WAVES,
        ),
    ] = False
    max_moves_in: Annotated[
        int | None,
        Option(
            help="Copies a broker gets in a wave: 5.",
            at_least=1,
            read=read_cap,
            example="5",
            panel=Panel.WAVES,
            sets="max_in",
            saved=Saved.IN_WAVES,
        ),
    ] = None
    max_moves_out: Annotated[
        int | None,
        Option(
            help="Copies a broker sends in a wave: 5.",
            at_least=1,
            read=read_cap,
            example="5",
            panel=Panel.WAVES,
            sets="max_out",
            saved=Saved.IN_WAVES,
        ),
    ] = None
    max_moves_per_broker: Annotated[
        int | None,
        Option(
            help="Copies in and out of a broker together.",
            at_least=1,
            read=read_cap,
            example="8",
            panel=Panel.WAVES,
            sets="max_shared",
            saved=Saved.IN_WAVES,
        ),
    ] = None
    max_moves_per_partition: Annotated[
        int | None,
        Option(
            help="Replicas a partition gets in a wave: 1.",
            at_least=1,
            read=read_cap,
            example="1",
            panel=Panel.WAVES,
            sets="max_per_partition",
            saved=Saved.IN_WAVES,
        ),
    ] = None
    bandwidth: Annotated[
        int | None,
        Option(
            help="What a broker may copy: 50MB/s, by default.",
            metavar="RATE",
            takes=str,
            read=read_rate,
            example='"50MB/s"',
            panel=Panel.WAVES,
            sets="bandwidth_bytes_per_s",
            saved_as="bandwidth_bytes_per_s",
            saved=Saved.IN_WAVES,
        ),
    ] = None
    order: Annotated[
        CopyOrder | None,
        Option(
            help="Which copies go first, where caps allow a choice.",
            read=read_order,
            example='"shortest"',
            panel=Panel.WAVES,
            sets="order",
            saved=Saved.IN_WAVES,
        ),
    ] = None


class WaveKeywords(TypedDict, total=False):
    """The same options as keywords of Python."""

    waves: bool
    max_moves_in: int
    max_moves_out: int
    max_moves_per_broker: int
    max_moves_per_partition: int
    bandwidth: int
    order: CopyOrder

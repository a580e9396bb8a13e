"""Options of waves."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypedDict

from planner.options.declared.option import Option, Panel, Saved
from planner.options.declared.types import CopyOrder
from planner.options.declared.value_readers import read_cap, read_order, read_rate

_wave = partial(Option, panel=Panel.WAVES, saved=Saved.IN_WAVES)
_cap = partial(_wave, at_least=1, read=read_cap)


@dataclass(frozen=True, kw_only=True)
class WaveOptions:
    """Options of waves; any of them but `waves` implies `waves`."""

    waves: Annotated[
        bool,
        Option(
            help="Also divide the plan into waves, each of them safe.",
            panel=Panel.WAVES,
        ),
    ] = False
    max_moves_in: Annotated[
        int | None,
        _cap(
            help="Copies that a broker receives in a wave: 5.",
            example="5",
            sets="max_in",
        ),
    ] = None
    max_moves_out: Annotated[
        int | None,
        _cap(
            help="Copies that a broker sends in a wave: 5.", example="5", sets="max_out"
        ),
    ] = None
    max_moves_per_broker: Annotated[
        int | None,
        _cap(
            help="Copies in and out of a broker in a wave.",
            example="8",
            sets="max_shared",
        ),
    ] = None
    max_moves_per_partition: Annotated[
        int | None,
        _cap(
            help="New replicas of a partition in a wave: 1.",
            example="1",
            sets="max_per_partition",
        ),
    ] = None
    bandwidth: Annotated[
        int | None,
        _wave(
            help="Rate at which a broker may copy: 50MB/s by default.",
            metavar="RATE",
            takes=str,
            read=read_rate,
            example='"50MB/s"',
            sets="bandwidth_bytes_per_s",
            saved_as="bandwidth_bytes_per_s",
        ),
    ] = None
    order: Annotated[
        CopyOrder | None,
        _wave(
            help="Order of copies, where caps allow a choice.",
            read=read_order,
            example='"shortest"',
            sets="order",
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

"""Options of single operations."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from planner.options.declared.operation_readers import (
    read_defects,
    read_factor_file,
    read_log_dirs,
)
from planner.options.declared.option import Option, Panel, Saved
from planner.options.declared.savers import (
    by_factor,
    dir_texts,
    sorted_ids,
    sorted_if_any,
    texts_if_any,
)
from planner.options.declared.types import BrokerId
from planner.options.declared.value_readers import read_broker_lists, read_brokers

_own = partial(Option, panel=Panel.OPERATION, saved=Saved.OWN)


@dataclass(frozen=True, kw_only=True)
class OperationOptions:
    """Options that single operations have."""

    broker: Annotated[
        tuple[BrokerId, ...],
        _own(
            help="Broker to replace. Repeatable.",
            metavar="ID",
            takes=list,
            read=read_broker_lists,
            example="[3]",
        ),
    ] = ()
    with_broker: Annotated[
        tuple[BrokerId, ...],
        _own(
            help="Broker that replaces it.",
            flag="--with",
            must_be_live=True,
            metavar="ID",
            takes=list,
            read=read_broker_lists,
            example="[9]",
        ),
    ] = ()
    brokers: Annotated[
        tuple[BrokerId, ...] | None,
        _own(
            help="The two brokers that trade places: 3,7.",
            metavar="IDS",
            takes=str,
            read=read_brokers,
            count=2,
            must_be_live=True,
            example='"3,7"',
            save=sorted_ids,
        ),
    ] = None
    log_dirs: Annotated[
        tuple[tuple[BrokerId, str], ...],
        _own(
            help="Single log dirs: 4:/data/d1. {broker} stands for the id. Repeatable.",
            metavar="IDS:PATH",
            takes=list,
            read=read_log_dirs,
            example='["4:/data/d1"]',
            save=dir_texts,
        ),
    ] = ()
    replication_factor: Annotated[
        int | None,
        _own(
            help="Replicas of each partition.",
            metavar="N",
            example="3",
        ),
    ] = None
    replication_factors: Annotated[
        tuple[tuple[int, str], ...] | None,
        _own(
            help="Factors and their topics, as TOML or JSON.",
            metavar="FILE",
            takes=Path,
            read=read_factor_file,
            example='"factors.toml"',
            save=by_factor,
        ),
    ] = None
    only: Annotated[
        tuple[str, ...],
        _own(
            help="Only offline, racks, log-dirs or replication-factor. Repeatable.",
            metavar="WHAT",
            takes=list,
            read=read_defects,
            example='["offline", "racks"]',
            save=sorted_if_any,
        ),
    ] = ()
    lost: Annotated[
        tuple[BrokerId, ...] | None,
        _own(
            help="Brokers that are not live and will not come back.",
            metavar="IDS",
            takes=str,
            read=read_brokers,
            example='"3"',
            save=sorted_ids,
        ),
    ] = None
    new_broker: Annotated[
        tuple[str, ...],
        Option(
            help="A broker that does not exist yet. Repeatable.",
            metavar="id=N,rack=R,like=M",
            takes=list,
            example='["id=7,rack=c,like=3"]',
            panel=Panel.OPERATION,
            saved=Saved.GIVEN,
            save=texts_if_any,
        ),
    ] = ()

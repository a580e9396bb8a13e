"""Options of a single operation, parsed for one cluster."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from placement.model.cluster import ABSENT
from placement.operations import Defect
from planner.errors import BadInputError
from planner.options.option_reader import OptionReader, parse_broker_list
from planner.options.replication_factors import (
    MOST_REPLICAS,
    Rules,
    read_factor,
    read_factors,
)

LOG_DIR = re.compile(r"(?P<brokers>[\d,\s-]+):(?P<path>/.*)")
"""Brokers, a colon, an absolute path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOptions:
    """
    Options of single operations, as given.

    Parameters
    ----------
    broker, with_broker
        ``replace-broker``: lists of the old brokers, and of the new ones in the same
        order.
    log_dirs
        ``demote``: ``BROKERS:PATH`` texts; ``{broker}`` in a path is replaced by the
        id.
    replication_factor, replication_factors
        ``set-replication-factor``: factor of all topics, and file of factors by topic.
    only
        ``fix``: values of `Defect`, joined by commas; empty: all.
    lost
        ``fix``: list of brokers, not live, that are treated as permanently lost.
    new_broker
        ``add-brokers``, ``replace-broker``: ``id=7,rack=c,like=3`` texts.
    """

    broker: Sequence[str] = ()
    with_broker: Sequence[str] = ()
    log_dirs: Sequence[str] = ()
    replication_factor: int | None = None
    replication_factors: Path | None = None
    only: Sequence[str] = ()
    lost: str | None = None
    new_broker: Sequence[str] = ()


OWN_NAMES = frozenset(field.name for field in fields(OwnOptions))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OwnWishes:
    """
    Options of single operations, parsed for one cluster.

    Parameters
    ----------
    pairs
        Ids of an old broker and of its replacement.
    log_dirs
        Broker id and path.
    factor, factors
        Replication factor of all topics, and factors by regular expressions.
    defects
        Defects that `fix` repairs.
    lost
        Ids of the brokers that `fix` treats as permanently lost.
    document
        Entries of plan.json under `settings`.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    log_dirs: tuple[tuple[int, str], ...] = ()
    factor: int | None = None
    factors: Rules = ()
    defects: frozenset[Defect] = frozenset(Defect)
    lost: frozenset[int] = frozenset()
    document: dict[str, Any] = field(default_factory=dict)


def read_own(reader: OptionReader, goal: str, given: OwnOptions) -> OwnWishes:
    """Parse the options of one operation; the reader keeps the problems."""
    if goal == "replace-broker":
        return _replacement(reader, given)
    if goal == "demote":
        log_dirs = _log_dirs(reader, given.log_dirs)
        named = sorted(f"{broker}:{path}" for broker, path in log_dirs)
        return OwnWishes(log_dirs=log_dirs, document={"log_dirs": named or None})
    if goal == "set-replication-factor":
        return _factors(reader, given)
    if goal == "fix":
        return _defects(reader, given)
    return OwnWishes()


def _replacement(reader: OptionReader, given: OwnOptions) -> OwnWishes:
    olds = _listed(reader, "--broker", given.broker)
    news = _listed(reader, "--with", given.with_broker)
    if not reader.problems and (not olds or len(olds) != len(news)):
        value = f"{len(olds)} --broker, {len(news)} --with"
        rule = "every --broker needs one --with, and there must be one"
        reader.refuse("--broker", value, rule, "write --broker 3 --with 9")
    both = (*olds, *news)
    twice = sorted({broker for broker in both if both.count(broker) > 1})
    if twice:
        value = ",".join(map(str, twice))
        rule = "each broker may be named once, as the old or as the new one"
        reader.refuse("--broker", value, rule, "replace them one plan after the other")
    _refuse_off(reader, news)
    return OwnWishes(
        pairs=tuple(zip(olds, news, strict=False)),
        document={"broker": list(olds), "with_broker": list(news)},
    )


def _defects(reader: OptionReader, given: OwnOptions) -> OwnWishes:
    words = [word.strip() for text in given.only for word in text.split(",")]
    known = ", ".join(Defect)
    for word in words:
        if word not in set(Defect):
            rule = "must name what can be mended"
            reader.refuse("--only", word, rule, f"one of {known}")
    chosen = frozenset(defect for defect in Defect if defect in words or not words)
    lost = _lost(reader, given)
    return OwnWishes(
        defects=chosen,
        lost=lost,
        document={
            "only": sorted(map(str, chosen)) if words else None,
            "lost": sorted(lost) or None,
        },
    )


def _lost(reader: OptionReader, given: OwnOptions) -> frozenset[int]:
    """Parse the brokers that are treated as lost; a live one is rejected."""
    if given.lost is None:
        return frozenset()
    ids = reader.brokers("--lost", given.lost) or ()
    if reader.state is not None:
        brokers = reader.state.brokers
        for broker, row in zip(ids, brokers.rows_of(list(ids)), strict=True):
            if row != ABSENT and brokers.is_live[row]:
                rule = "a broker that is taken as gone must not be live"
                remedy = f"run plan remove-brokers --broker-list {broker} to empty it"
                reader.refuse("--lost", broker, rule, remedy)
    return frozenset(ids)


def _factors(reader: OptionReader, given: OwnOptions) -> OwnWishes:
    factor, path = given.replication_factor, given.replication_factors
    if factor is None and path is None:
        rule = "a replication factor, or a file of them, must be given"
        remedy = "write --replication-factor 3"
        reader.refuse("--replication-factor", "nothing", rule, remedy)
    if factor is not None and read_factor(factor) is None:
        rule = f"must be from 1 to {MOST_REPLICAS}"
        remedy = "write --replication-factor 3"
        reader.refuse("--replication-factor", factor, rule, remedy)
    rules: Rules = ()
    if path is not None:
        try:
            rules = read_factors(path)
        except BadInputError as error:
            reader.problems += error.problems
    listed: dict[str, list[str]] = {}
    for number, pattern in rules:
        listed.setdefault(str(number), []).append(pattern)
    document = {"replication_factor": factor, "replication_factors": listed or None}
    return OwnWishes(factor=factor, factors=rules, document=document)


def _listed(reader: OptionReader, option: str, texts: Sequence[str]) -> tuple[int, ...]:
    lists = [reader.brokers(option, text) for text in texts]
    return tuple(broker for ids in lists for broker in ids or ())


def _refuse_off(reader: OptionReader, news: Sequence[int]) -> None:
    """Reject replacement brokers that are not live."""
    if reader.state is None:
        return
    brokers = reader.state.brokers
    for broker, row in zip(news, brokers.rows_of(list(news)), strict=True):
        if row != ABSENT and not brokers.is_live[row]:
            rule = "a broker that takes replicas must be live"
            reader.refuse("--with", broker, rule, "start it, or name another one")


def _log_dirs(
    reader: OptionReader, texts: Sequence[str]
) -> tuple[tuple[int, str], ...]:
    """Parse ``BROKERS:PATH`` texts; every log dir must be in the snapshot."""
    found: dict[tuple[int, str], None] = {}
    for text in texts:
        for broker, path in _named_dirs(reader, text):
            if _has_dir(reader, text, broker, path):
                found[broker, path] = None
    return tuple(found)


def _has_dir(reader: OptionReader, text: str, broker: int, path: str) -> bool:
    state = reader.state
    if state is None:
        return True
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    listed = zip(owners, state.log_dirs.paths, strict=True)
    paths = [one for owner, one in listed if owner == broker]
    if path not in paths:
        rule = f"broker {broker} must have the log dir {path}"
        remedy = f"it has {', '.join(paths) or 'none'}"
        reader.refuse("--log-dirs", text, rule, remedy)
    return path in paths


def _named_dirs(reader: OptionReader, text: str) -> list[tuple[int, str]]:
    match = LOG_DIR.fullmatch(text.strip())
    try:
        brokers = parse_broker_list(match["brokers"]) if match else ()
    except ValueError:
        brokers = ()
    if match is None or not brokers:
        rule = "must be brokers, a colon, and an absolute path"
        remedy = "write 4:/data/d1, or 1-3:/kafka/log{broker}"
        reader.refuse("--log-dirs", text, rule, remedy)
        return []
    path = match["path"]
    return [(broker, path.replace("{broker}", str(broker))) for broker in brokers]

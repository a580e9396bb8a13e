"""Advice on a group: the busiest member, idle members, the number of members."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assignment.advice import Needed, members_needed, members_worth_having
from assignment.group import Group
from placement.array_types import BoolArray, RateArray
from planner.group.assignor_comparison import (
    NEAR,
    Option,
    amount,
    joined,
    matching_assignor,
    near_best,
    options_of,
    owners,
    uneven_text,
)
from planner.group.group_document import GroupDocument, lags_of
from planner.group.show_records import (
    AdviceRecord,
    BusiestRecord,
    HoldsBackRecord,
    MembersAdviceRecord,
    NeededRecord,
    SkewRecord,
    WorthHavingRecord,
)
from planner.text.format import plural

SKEWED = 1.2
"""Ratio of the largest load to the mean above which a skew is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """
    A time to catch up in, with the rates of readers and producers.

    Parameters
    ----------
    catch_up_s
        Seconds within which the lag is to be 0. Positive.
    reads_per_s
        Messages/s that one member reads. Positive.
    in_per_s
        Messages/s that arrive, summed over all topics. Not negative.
    """

    catch_up_s: float
    reads_per_s: float
    in_per_s: float = 0.0


class _Busiest(NamedTuple):
    """The busiest member, and the ratio of its load to its capacity."""

    record: BusiestRecord
    use: float


def advise(document: GroupDocument, aim: Aim | None = None) -> AdviceRecord:
    """
    Return the field `advice` of the document of `--format json`.

    Parameters
    ----------
    document
        The group, with offsets where they are known.
    aim
        The time to catch up in; `None` leaves `needed` out.
    """
    group = document.to_group()
    lag, is_lag_known, unknown = _lags(document)
    is_read = group.is_read[group.partitions.topic_idx]
    # An unknown lag could be the largest, so the skew stays unknown, too.
    is_whole = is_lag_known and not unknown
    busiest = {
        "load": _busiest(group, group.partitions.weight),
        "lag": _busiest(group, lag) if is_whole else None,
    }
    found = AdviceRecord(
        skew=SkewRecord(**{what: one and one.record for what, one in busiest.items()}),
        members=MembersAdviceRecord(
            now=document.num_members,
            worth_having=_worth_having(group, lag, is_read, is_known=is_lag_known),
            needed=None if aim is None else _needed(document, group, lag, is_read, aim),
        ),
        holds_back=_heaviest(group, lag) if is_whole and lag.any() else None,
        unknown_lags=unknown,
        sayings=[],
    )
    if document.record.type == "share":
        # Members of a share group share partitions: any further member helps.
        return found
    if not document.has_owners:
        texts = _texts_without_owners(found, aim)
        return found.model_copy(update={"sayings": list(texts)})
    measures = {"load": group.partitions.weight, "lag": lag}
    texts = _advice_texts(document, group, found, busiest, measures, aim)
    return found.model_copy(update={"sayings": list(texts)})


def _lags(document: GroupDocument) -> tuple[RateArray, bool, int]:
    """
    Return the lags, whether any lag is known, and the number of unknown lags.

    The lags are ``(P,)`` messages, 0 where unknown. The number is 0 where no lag is
    known.

    """
    lags = [lag for topic in document.record.topics for lag in lags_of(topic)]
    known = any(lag is not None for lag in lags)
    unknown = sum(lag is None for lag in lags) if known else 0
    return np.array([lag or 0 for lag in lags], dtype=np.float64), known, unknown


def _busiest(group: Group, weight: RateArray) -> _Busiest | None:
    """Return the busiest member and the ratio of its load to the mean."""
    if not group.num_members:
        return None
    rows, owner = group.owned.idx, group.owned.owner
    carried = np.bincount(owner, weight[rows], group.num_members)
    use = carried / group.members.capacity
    if not use.any():
        return None
    at = int(use.argmax())
    record = BusiestRecord(
        busiest=group.members.ids[at],
        load=float(carried[at]),
        max_over_mean=round(float(use[at] / use.mean()), 3),
    )
    return _Busiest(record, float(use[at]))


def _worth_having(
    group: Group, lag: RateArray, is_read: BoolArray, *, is_known: bool
) -> WorthHavingRecord:
    """Return the largest useful number of members by count, by load and by lag."""
    has_lag = is_known and bool(lag[is_read].any())
    by_lag = {"by_lag": members_worth_having(lag[is_read])} if has_lag else {}
    return WorthHavingRecord(
        by_count=int(is_read.sum()),
        by_load=members_worth_having(group.partitions.weight[is_read]),
        **by_lag,
    )


def _heaviest(group: Group, lag: RateArray) -> HoldsBackRecord:
    row = int(lag.argmax())
    topic = int(group.partitions.topic_idx[row])
    holders = group.owned.owner[np.equal(group.owned.idx, row)].tolist()
    return HoldsBackRecord(
        topic=group.topics.names[topic],
        partition=int(group.number[row]),
        lag=int(lag[row]),
        share=round(float(lag[row] / lag.sum()), 4),
        member=group.members.ids[holders[0]] if holders else None,
    )


def _needed(
    document: GroupDocument, group: Group, lag: RateArray, is_read: BoolArray, aim: Aim
) -> NeededRecord:
    """Return bounds on the number of members that catch up in time."""
    rates = _rates(document, is_read, aim.in_per_s)
    # In T seconds a reader has to read the lag and the messages that arrive meanwhile.
    load = np.where(is_read, lag / aim.catch_up_s + rates, 0.0)
    needed: Needed = members_needed(load, aim.reads_per_s)
    return NeededRecord(
        at_least=needed.at_least,
        enough=needed.enough,
        too_heavy=[group.name_of(row) for row in needed.too_heavy[:100].tolist()],
        num_too_heavy=len(needed.too_heavy),
    )


def _rates(document: GroupDocument, is_read: BoolArray, in_per_s: float) -> RateArray:
    """Return ``(P,)`` messages/s that arrive, in proportion to the log end offsets."""
    ends = [
        end or 0
        for topic in document.record.topics
        for end in topic.log_end_offsets or [0] * topic.partitions
    ]
    share = np.where(is_read, np.array(ends, dtype=np.float64), 0.0)
    if not share.any():
        share = is_read.astype(np.float64)
    total = share.sum()
    rates: RateArray = in_per_s * share / total if total else share
    return rates


def _advice_texts(
    document: GroupDocument,
    group: Group,
    found: AdviceRecord,
    busiest: Mapping[str, _Busiest | None],
    measures: Mapping[str, RateArray],
    aim: Aim | None,
) -> Iterator[str]:
    """Yield advice texts, comparing the current assignment with other assignors."""
    now = owners(group)
    is_assigned = bool(len(group.owned.idx)) and group.num_members > 0
    options = {
        what: options_of(group, document.record.type, weight) if is_assigned else []
        for what, weight in measures.items()
    }
    for what, one in busiest.items():
        if one is not None and one.record.max_over_mean > SKEWED:
            yield _skew_text(what, one, options[what], now)
    yield from _idle_texts(found.members, group, options.get("load", []))
    if is_assigned and (text := uneven_text(group, now, options["load"])) is not None:
        yield text
    yield from _fewer_texts(found.members)
    yield from _held_back_texts(found, options.get("lag", []))
    yield from _unknown_lag_texts(found)
    needed = found.members.needed
    if aim is not None and needed is not None:
        yield from _catch_up_texts(found.members.now, needed, aim)


def _texts_without_owners(found: AdviceRecord, aim: Aim | None) -> Iterator[str]:
    """Yield the advice on a group of which members or ownership are unknown."""
    yield from _unknown_lag_texts(found)
    if aim is not None and found.members.needed is not None:
        yield from _catch_up_texts(found.members.now, found.members.needed, aim)


def _unknown_lag_texts(found: AdviceRecord) -> Iterator[str]:
    if found.unknown_lags and found.skew.lag is None:
        yield (
            f"partitions of unknown lag: {found.unknown_lags}; how lag is "
            "spread is unknown"
        )


def _skew_text(
    what: str,
    one: _Busiest,
    options: Sequence[Option],
    now: npt.NDArray[np.int32],
) -> str:
    """Return a sentence on the busiest member and the assignors that lower its load."""
    times = f"{one.record.max_over_mean:.3g} times"
    text = f"{one.record.busiest} carries {times} the mean {what} of the members"
    if not options:
        return text
    least = min(option.busiest for option in options)
    if one.use <= least * NEAR:
        return f"{text}; no assignment makes that less"
    assignor = matching_assignor(options, now)
    by = f" as {assignor} assigns it" if assignor else ""
    names = joined([*near_best(options)])
    return (
        f"{text}{by}: {amount(one.use)}; {names} would bring the busiest to "
        f"{amount(least)}"
    )


def _idle_texts(
    advice: MembersAdviceRecord, group: Group, options: Sequence[Option]
) -> Iterator[str]:
    """Yield sentences on the members that idle now and on those that always must."""
    members, partitions = group.num_members, advice.worth_having.by_count
    must = max(0, members - partitions)
    idle = members - len(np.unique(group.owned.owner))
    could = min(idle - min((one.num_idle for one in options), default=must), idle)
    if options and could > 0:
        fewest = min(one.num_idle for one in options)
        names = joined([one.name for one in options if one.num_idle == fewest])
        yield f"{idle} of {members} members idle now; {could} could read, by {names}"
    if must:
        verb = "must idle" if options and could > 0 else "idle"
        be = "is" if partitions == 1 else "are"
        there = f"there {be} {plural(partitions, 'partition')}"
        yield f"{must} of {plural(members, 'member')} {verb}: {there}"


def _held_back_texts(found: AdviceRecord, options: Sequence[Option]) -> Iterator[str]:
    """Yield a sentence on a partition whose lag alone decides the time to catch up."""
    held, members = found.holds_back, found.members
    if held is None:
        return
    readers = max(1, min(members.now or 0, members.worth_having.by_count))
    least = min((one.busiest for one in options), default=0.0)
    # Where any assignment leaves a member more lag than this partition has, the
    # partition does not decide the time to catch up.
    decides = held.lag >= least / NEAR
    if held.share * readers > SKEWED and decides:
        yield (
            f"{held.topic}-{held.partition} holds the group back: "
            f"{100 * held.share:.3g} % of the lag; a partition has one reader, so "
            "quicker readers or other keys help, more members do not"
        )


def _fewer_texts(members: MembersAdviceRecord) -> Iterator[str]:
    worth = members.worth_having
    now = members.now or 0
    if worth.by_lag is not None and worth.by_lag < min(now, worth.by_count):
        yield (
            f"{worth.by_lag} members would catch up as soon as {now}, if lag "
            "were spread well: the partition furthest behind decides"
        )


def _catch_up_texts(now: int | None, needed: NeededRecord, aim: Aim) -> Iterator[str]:
    aimed = f"to catch up in {aim.catch_up_s:g} s"
    if needed.num_too_heavy:
        names = ", ".join(needed.too_heavy[:3])
        more = " …" if needed.num_too_heavy > 3 else ""
        yield f"{aimed}, one reader is too slow for {names}{more}"
    least, enough = needed.at_least, needed.enough
    span = f"{enough}" if least == enough else f"{least} to {enough}"
    if not enough:
        return
    text = f"{aimed}, {span} members are needed, well assigned"
    if now is None:
        yield text
        return
    word = "enough" if now >= enough else "too few" if now < least else "maybe enough"
    yield f"{text}; {now} are {word}"

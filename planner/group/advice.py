"""What is worth doing about a group: who is busiest, who idles, how many to have."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from assignment.advice import Needed, members_needed, members_worth_having
from assignment.group import BoolArray, Group, RateArray
from planner.group.document import GroupDocument, lags_of

SKEWED = 1.2
"""Above so many times the mean it is worth saying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """
    What the group is to reach.

    Parameters
    ----------
    catch_up_s
        In so many seconds nothing is left behind.
    reads_per_s
        Messages per second that one member reads.
    in_per_s
        Messages per second that arrive, in all topics together.
    """

    catch_up_s: float
    reads_per_s: float
    in_per_s: float = 0.0


def advise(document: GroupDocument, aim: Aim | None = None) -> dict[str, Any]:
    """
    Return what there is to say, as it stands in `--format json`.

    Parameters
    ----------
    document
        The group, offsets and all.
    aim
        `None`: only what can be said without.
    """
    group = document.to_group()
    lag, is_lag_known = _lags(document)
    is_read = group.is_read[group.partitions.topic_idx]
    found: dict[str, Any] = {
        "skew": {
            "load": _skew(group, group.partitions.weight),
            "lag": _skew(group, lag) if is_lag_known else None,
        },
        "members": {
            "now": group.num_members,
            "worth_having": _worth_having(group, lag, is_read, is_known=is_lag_known),
            "needed": None
            if aim is None
            else _needed(document, group, lag, is_read, aim),
        },
        "holds_back": _heaviest(group, lag) if is_lag_known and lag.any() else None,
    }
    if document.record.type == "share":
        # One more member helps there, however few partitions there are.
        return {**found, "sayings": []}
    return {**found, "sayings": list(_sayings(found, aim))}


def _lags(document: GroupDocument) -> tuple[RateArray, bool]:
    """Return ``(P,)`` messages behind, 0 where not known, and whether any is known."""
    lags = [lag for topic in document.record.topics for lag in lags_of(topic)]
    known = any(lag is not None for lag in lags)
    return np.array([lag or 0 for lag in lags], dtype=np.float64), known


def _skew(group: Group, weight: RateArray) -> dict[str, Any] | None:
    """Return the busiest member, and how many times the mean it carries."""
    if not group.num_members:
        return None
    rows, owner = group.owned.idx, group.owned.owner
    carried = np.bincount(owner, weight[rows], group.num_members)
    use = carried / group.members.capacity
    if not use.any():
        return None
    at = int(use.argmax())
    return {
        "busiest": group.members.ids[at],
        "load": float(carried[at]),
        "max_over_mean": round(float(use[at] / use.mean()), 3),
    }


def _worth_having(
    group: Group, lag: RateArray, is_read: BoolArray, *, is_known: bool
) -> dict[str, int]:
    """Return how many members are worth having, by what makes a partition heavy."""
    by_load = members_worth_having(group.partitions.weight[is_read])
    found = {"by_count": int(is_read.sum()), "by_load": by_load}
    if is_known and lag[is_read].any():
        found["by_lag"] = members_worth_having(lag[is_read])
    return found


def _heaviest(group: Group, lag: RateArray) -> dict[str, Any]:
    row = int(lag.argmax())
    topic = int(group.partitions.topic_idx[row])
    holders = group.owned.owner[np.equal(group.owned.idx, row)].tolist()
    return {
        "topic": group.topics.names[topic],
        "partition": int(group.number[row]),
        "lag": int(lag[row]),
        "share": round(float(lag[row] / lag.sum()), 4),
        "member": group.members.ids[holders[0]] if holders else None,
    }


def _needed(
    document: GroupDocument, group: Group, lag: RateArray, is_read: BoolArray, aim: Aim
) -> dict[str, Any]:
    """Return how many members reach the aim."""
    rates = _rates(document, is_read, aim.in_per_s)
    # In T seconds a reader has to get through what is there and what arrives.
    load = np.where(is_read, lag / aim.catch_up_s + rates, 0.0)
    needed: Needed = members_needed(load, aim.reads_per_s)
    return {
        "at_least": needed.at_least,
        "enough": needed.enough,
        "too_heavy": [group.name_of(row) for row in needed.too_heavy[:100].tolist()],
        "num_too_heavy": len(needed.too_heavy),
    }


def _rates(document: GroupDocument, is_read: BoolArray, in_per_s: float) -> RateArray:
    """Return ``(P,)`` what arrives, as it did so far: in proportion to the offsets."""
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


def _sayings(found: dict[str, Any], aim: Aim | None) -> Iterator[str]:
    """Yield advice in words."""
    for what, skew in found["skew"].items():
        if skew is not None and skew["max_over_mean"] > SKEWED:
            times = f"{skew['max_over_mean']:.3g} times"
            yield f"{skew['busiest']} carries {times} the mean {what} of the members"
    members = found["members"]
    yield from _surplus(members["now"], members["worth_having"])
    held = found["holds_back"]
    if held is not None and held["share"] * max(1, members["now"]) > SKEWED:
        yield (
            f"{held['topic']}-{held['partition']} holds the group back: "
            f"{100 * held['share']:.3g} % of the lag; a partition has one reader, so "
            "quicker readers or other keys help, more members do not"
        )
    if aim is not None:
        yield from _towards(members["now"], members["needed"], aim)


def _surplus(now: int, worth: dict[str, int]) -> Iterator[str]:
    if now > worth["by_count"]:
        count = worth["by_count"]
        yield f"{now - count} of {now} members idle: there are {count} partitions"
    if "by_lag" in worth and worth["by_lag"] < min(now, worth["by_count"]):
        yield (
            f"{worth['by_lag']} members would catch up as soon as {now}, if lag were "
            "spread well: the partition furthest behind decides"
        )


def _towards(now: int, needed: dict[str, Any], aim: Aim) -> Iterator[str]:
    aimed = f"to catch up in {aim.catch_up_s:g} s"
    if needed["num_too_heavy"]:
        names = ", ".join(needed["too_heavy"][:3])
        more = " …" if needed["num_too_heavy"] > 3 else ""
        yield f"{aimed}, one reader is too slow for {names}{more}"
    least, enough = needed["at_least"], needed["enough"]
    span = f"{enough}" if least == enough else f"{least} to {enough}"
    if not enough:
        return
    word = "enough" if now >= enough else "too few" if now < least else "maybe enough"
    yield f"{aimed}, {span} members are needed, well assigned; {now} are {word}"

"""New brokers of a plan, which do not exist yet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from placement.cluster_changes.broker_changes import add_brokers, usual_broker
from placement.cluster_changes.variant import variant_of
from placement.draft.draft import Note
from placement.model.cluster import ABSENT, ClusterState
from planner.options.option_reader import OptionReader, parse_broker_list

OPTION = "--new-broker"
KEYS = ("id", "rack", "like")
REMEDY = "write id=7,rack=c,like=3"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBroker:
    """
    A broker that does not exist yet.

    Parameters
    ----------
    broker_id
        Id of the broker, not used by any other.
    rack
        Rack of the broker; `None`: that of its model.
    like
        Id of the model, whose capacities and log dirs the broker gets; `None`: a broker
        of the most frequent kind.
    """

    broker_id: int
    rack: str | None = None
    like: int | None = None


def read_new_brokers(reader: OptionReader, texts: Sequence[str]) -> list[NewBroker]:
    """Parse ``id=7,rack=c,like=3``; the reader keeps the problems."""
    found: dict[int, NewBroker] = {}
    for text in texts:
        given = _pairs(reader, text)
        broker_id = _id(reader, text, given.get("id"))
        like = _id(reader, text, given["like"]) if "like" in given else None
        if broker_id is None:
            continue
        if broker_id in found or _has(reader, broker_id):
            rule = f"no broker may have the id {broker_id} yet"
            reader.refuse(OPTION, text, rule, "name another id")
        elif like is not None and reader.state is not None and not _has(reader, like):
            known = ",".join(map(str, reader.state.brokers.ids.tolist()[:50]))
            rule = f"the model, broker {like}, must be in the snapshot"
            reader.refuse(OPTION, text, rule, f"it has {known or 'none'}")
        elif (
            like is None and reader.state is not None and not len(reader.state.brokers)
        ):
            reader.refuse(OPTION, text, "there is no broker to be like", REMEDY)
        else:
            rack = given.get("rack") or None
            found[broker_id] = NewBroker(broker_id=broker_id, rack=rack, like=like)
    return list(found.values())


def _pairs(reader: OptionReader, text: str) -> Mapping[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    names = [name.strip() for name, _, _ in pairs]
    if not all(sign for _, sign, _ in pairs) or not set(names) <= set(KEYS):
        rule = f"must be pairs of {', '.join(KEYS)} and a value"
        reader.refuse(OPTION, text, rule, REMEDY)
        return {}
    if len(set(names)) != len(names):
        reader.refuse(OPTION, text, "must give each of its parts once", REMEDY)
        return {}
    # A missing id is reported like an empty one.
    values = [value.strip() for _, _, value in pairs]
    return {"id": "", **dict(zip(names, values, strict=True))}


def _id(reader: OptionReader, text: str, value: str | None) -> int | None:
    if value is None:
        return None
    try:
        (broker_id,) = parse_broker_list(value)
    except ValueError:
        reader.refuse(OPTION, text, "must give one broker id", REMEDY)
        return None
    return broker_id


def _has(reader: OptionReader, broker_id: int) -> bool:
    state = reader.state
    return state is not None and state.brokers.rows_of([broker_id])[0] != ABSENT


def with_new_brokers(
    state: ClusterState, arrivals: Sequence[NewBroker]
) -> ClusterState:
    """Return the cluster with the new brokers, which are empty."""
    variant, known = variant_of(state), state.brokers
    for arrival in arrivals:
        model = usual_broker(state) if arrival.like is None else arrival.like
        rack = known.racks[known.rack_idx[known.rows_of([model])[0]]]
        variant = add_brokers(
            variant,
            [arrival.broker_id],
            like=model,
            racks=[rack if arrival.rack is None else arrival.rack],
        )
    return variant.state


def ids_to_come(texts: Sequence[str]) -> frozenset[int]:
    """Return the ids in ``id=7,rack=c,like=3`` texts, as plan.json has them."""
    named = (re.search(r"\bid=(\d{1,10})\b", text) for text in texts)
    return frozenset(int(match[1]) for match in named if match)


def arrival_notes(state: ClusterState, arrivals: Sequence[NewBroker]) -> Iterator[Note]:
    """Yield a note for each new broker: it must be started before the plan runs."""
    for arrival in arrivals:
        row = state.brokers.rows_of([arrival.broker_id])[0]
        rack = state.brokers.racks[state.brokers.rack_idx[row]]
        place = "without a rack" if rack is None else f"in rack {rack}"
        yield Note(
            what="broker-to-come",
            message=f"broker {arrival.broker_id} does not exist yet: start it {place} "
            "before this plan runs; check finds it unknown until then",
            where={"broker": arrival.broker_id},
        )

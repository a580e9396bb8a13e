"""Changes of brokers and log dirs: names validated, then applied to the model."""

from collections.abc import Mapping
from dataclasses import replace

from placement.cluster_changes import broker_changes
from placement.cluster_changes import log_dir_changes as dir_changes
from placement.cluster_changes.broker_changes import (
    Capacities,
    next_ids,
    usual_broker,
)
from placement.cluster_changes.broker_loss import lose_parts
from placement.cluster_changes.variant import Variant
from placement.model.cluster import ClusterState
from planner.what_if.changes import scenario_records as r
from planner.what_if.changes.change_context import Changer, Maker


def _add_brokers(
    changer: Changer, variant: Variant, change: r.AddBrokersRecord, place: str
) -> Variant:
    state = variant.state
    changer.one_of(place, change, ("count", "ids"))
    ids = (
        next_ids(state, change.count or 0)
        if change.ids is None
        else changer.names.new_ids(f"{place}.ids", change.ids, state)
    )
    like = usual_broker(state) if change.like is None else change.like
    changer.names.brokers(f"{place}.like", [like], state)
    racks = [change.rack] if change.rack is not None else change.racks or []
    if change.rack is not None and change.racks is not None:
        rule = "rack and racks must not both be given"
        changer.refuse(f"{place}.racks", change.racks, rule, "remove one")
    model = changer.type_of(place, change.type)
    if like not in state.brokers.ids:
        return variant
    return broker_changes.add_brokers(
        variant,
        ids,
        like=like,
        racks=racks,
        capacities=capacities_of(change, model),
        type_name=change.type,
    )


def _remove_brokers(
    changer: Changer, variant: Variant, change: r.RemoveBrokersRecord, place: str
) -> Variant:
    state = variant.state
    ids = _named_brokers(changer, state, change, place)
    stay = set(state.brokers.ids[state.brokers.is_live].tolist())
    if ids and not stay - set(ids) - variant.leaving:
        changer.refuse(place, ids, "some live broker must stay", "remove fewer")
    return broker_changes.remove_brokers(variant, ids)


def _named_brokers(
    changer: Changer,
    state: ClusterState,
    change: r.RemoveBrokersRecord | r.ReplaceBrokersRecord | r.LoseRecord,
    place: str,
) -> list[int]:
    """Return the ids of the brokers that a change names by id or by rack."""
    ids = _ids_of(changer, state, change, place)
    fields = type(change).model_fields
    keys = [key for key in ("brokers", "racks", "log_dirs") if key in fields]
    if all(getattr(change, key) is None for key in keys):
        rule = f"some of {', '.join(keys)} must be given"
        changer.refuse(place, None, rule, "name the brokers")
    return ids


def _ids_of(
    changer: Changer,
    state: ClusterState,
    change: r.RemoveBrokersRecord
    | r.ResizeBrokersRecord
    | r.ReplaceBrokersRecord
    | r.LoseRecord,
    place: str,
) -> list[int]:
    ids = (
        []
        if change.brokers is None
        else changer.names.brokers(f"{place}.brokers", change.brokers, state)
    )
    racks = changer.names.racks(f"{place}.racks", change.racks or [], state)
    rows = state.brokers.rack_idx.tolist()
    ids += [
        int(b)
        for b, k in zip(state.brokers.ids, rows, strict=True)
        if state.brokers.racks[k] in racks
    ]
    return list(dict.fromkeys(ids))


def _resize_brokers(
    changer: Changer, variant: Variant, change: r.ResizeBrokersRecord, place: str
) -> Variant:
    ids = _chosen_brokers(changer, variant.state, change, place)
    model = changer.type_of(place, change.type)
    factors = {
        "disk_bytes": change.disk_factor,
        "in_bytes_per_s": change.network_factor,
        "out_bytes_per_s": change.network_factor,
        "cpu_cores": change.cpu_factor,
    }
    given = {name: factor for name, factor in factors.items() if factor is not None}
    capacities = capacities_of(change, model)
    if not given and capacities == Capacities() and change.type is None:
        rule = "some capacity, factor or type must be given"
        changer.refuse(place, None, rule, "give one of them")
    resized = broker_changes.resize_brokers(variant, ids, capacities, given)
    return broker_changes.typed(resized, ids, change.type)


def _chosen_brokers(
    changer: Changer, state: ClusterState, change: r.ResizeBrokersRecord, place: str
) -> list[int]:
    """Return the ids of the brokers of a change; all brokers where it names none."""
    if change.racks is None:
        return changer.names.brokers(f"{place}.brokers", change.brokers, state)
    return _ids_of(changer, state, change, place)


def _replace_brokers(
    changer: Changer, variant: Variant, change: r.ReplaceBrokersRecord, place: str
) -> Variant:
    state = variant.state
    old = _named_brokers(changer, state, change, place)
    model = changer.type_of(place, change.type)
    new = (
        old
        if change.with_ is None
        else changer.names.new_ids(f"{place}.with", change.with_, state)
    )
    if len(new) != len(old):
        rule = f"must name one new broker for each of the {len(old)} replaced ones"
        changer.refuse(f"{place}.with", change.with_, rule, "name as many")
        return variant
    successors = dict(zip(old, new, strict=True))
    capacities = capacities_of(change, model)
    replaced = broker_changes.replace_brokers(variant, successors, capacities)
    return broker_changes.typed(replaced, new, change.type)


def _add_log_dirs(
    changer: Changer, variant: Variant, change: r.AddLogDirsRecord, place: str
) -> Variant:
    state = variant.state
    ids = changer.names.brokers(f"{place}.brokers", change.brokers, state)
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    known = set(zip(owners, state.log_dirs.paths, strict=True))
    taken = [b for b in ids if (b, change.path) in known]
    if taken:
        rule = f"brokers {taken} must not have such a log dir already"
        changer.refuse(f"{place}.path", change.path, rule, "choose another path")
    return dir_changes.add_log_dirs(
        variant, [(b, change.path) for b in ids], change.size
    )


def _remove_log_dirs(
    changer: Changer, variant: Variant, change: r.RemoveLogDirsRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.log_dirs(f"{place}.log_dirs", change.log_dirs, state)
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    for broker in sorted({b for b, _ in chosen}):
        if owners.count(broker) == sum(b == broker for b, _ in chosen):
            rule = f"broker {broker} must keep a log dir"
            changer.refuse(f"{place}.log_dirs", broker, rule, "remove the broker")
    return dir_changes.remove_log_dirs(variant, chosen)


def _resize_log_dirs(
    changer: Changer, variant: Variant, change: r.ResizeLogDirsRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.log_dirs(f"{place}.log_dirs", change.log_dirs, state)
    return dir_changes.resize_log_dirs(variant, dict.fromkeys(chosen, change.size))


def _replace_log_dirs(
    changer: Changer, variant: Variant, change: r.ReplaceLogDirsRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.log_dirs(f"{place}.log_dirs", change.log_dirs, state)
    return dir_changes.replace_log_dirs(variant, chosen, change.size)


def _lose(
    changer: Changer, variant: Variant, change: r.LoseRecord, place: str
) -> Variant:
    state = variant.state
    ids = _named_brokers(changer, state, change, place)
    dirs = changer.names.log_dirs(f"{place}.log_dirs", change.log_dirs or [], state)
    live = set(state.brokers.ids[state.brokers.is_live].tolist())
    if live and not live - set(ids):
        changer.refuse(place, ids, "some live broker must stay", "lose fewer")
    return lose_parts(
        variant,
        broker_ids=ids,
        racks=change.racks or [],
        log_dirs=dirs,
        rules=changer.context.rules,
    )


def capacities_of(
    record: r.CapacitiesRecord, model: r.CapacitiesRecord | None = None
) -> Capacities:
    """Return the capacities of a record, completed by those of its type."""
    own = _capacities(record)
    return own if model is None else replace(_capacities(model), **own.given())


def _capacities(record: r.CapacitiesRecord) -> Capacities:
    return Capacities(
        disk_bytes=record.disk,
        in_bytes_per_s=record.network_in,
        out_bytes_per_s=record.network_out,
        cpu_cores=record.cpu_cores,
        max_replicas=record.max_replicas,
    )


BROKER_CHANGES: Mapping[type, Maker] = {
    r.AddBrokersRecord: _add_brokers,
    r.RemoveBrokersRecord: _remove_brokers,
    r.ResizeBrokersRecord: _resize_brokers,
    r.ReplaceBrokersRecord: _replace_brokers,
    r.AddLogDirsRecord: _add_log_dirs,
    r.RemoveLogDirsRecord: _remove_log_dirs,
    r.ResizeLogDirsRecord: _resize_log_dirs,
    r.ReplaceLogDirsRecord: _replace_log_dirs,
    r.LoseRecord: _lose,
}

"""Notes of a plan: widened bands, effective caps, a cut search, failed log dirs."""

import numpy as np

from placement.draft.draft import Note
from placement.draft.topic_spread import spread_notes
from placement.leadership.list_positions import uneven_positions
from placement.log_dirs.kept_replicas import FAILED_LOG_DIR
from placement.model.cluster import ABSENT, ClusterState
from placement.model.cross_rack import crossing_copies
from placement.model.load import RESOURCES
from placement.model.reassignment import Reassignment
from placement.planning.outcome.result import PlannedPlacement


def plan_notes(found: PlannedPlacement, *, is_cut: bool) -> tuple[Note, ...]:
    """
    Return the notes of a plan: those of its draft, then those of its outcome.

    Parameters
    ----------
    found
        The plan.
    is_cut
        Whether a deadline ended the search.
    """
    draft = found.draft
    notes = [
        *draft.notes,
        *_band_notes(found),
        *_cap_notes(found),
        *spread_notes(draft, found.targets, found.reassignment),
        *_position_notes(found),
        *failed_dir_notes(found.reassignment),
    ]
    if is_cut:
        notes.append(_cut_note(draft.settings.deadline_s))
    return tuple(notes)


def _cut_note(seconds: float | None) -> Note:
    return Note(
        what="cut",
        message=f"the search was cut short after the {seconds:g} s it was given: this "
        "is the best plan found by then, and another run may find another",
        have=seconds,
    )


def _cap_notes(found: PlannedPlacement) -> list[Note]:
    """Return notes on caps of a plan with brokers out of band or broken rules."""
    draft, value = found.draft, found.solution.certificate
    settings = draft.settings
    if value.deviation.value <= 0 and found.has_met_rules:
        return []
    crossing = int(crossing_copies(found.reassignment, draft.weights).sum())
    caps = {
        "max-moves": ("copies", settings.max_moves, value.moves.value),
        "max-bytes": ("bytes", settings.max_bytes, value.cost.value),
        "max-cross-rack-bytes": (
            "bytes between racks",
            settings.max_cross_rack_bytes,
            crossing,
        ),
    }
    return [
        Note(
            what="capped",
            message=f"at most {cap:,} {unit} were allowed: {used:,} are used, and the "
            f"worst broker stays {value.deviation.value:.1%} of its share out of band",
            have=float(used),
            need=float(cap),
        )
        for name, (unit, cap, used) in caps.items()
        # Notes on soft caps are made elsewhere: the cap asked for, and the excess.
        if cap is not None and not settings.gives_way(name)
    ]


def _position_notes(found: PlannedPlacement) -> list[Note]:
    """Return a note if brokers occur too often or too rarely at a list position."""
    draft = found.draft
    if not draft.evens_positions:
        return []
    off = uneven_positions(draft, found.reassignment)
    if not off.any():
        return []
    worst = int(off.argmax())
    broker_id = int(draft.state.brokers.ids[worst])
    return [
        Note(
            what="positions-uneven",
            message=f"{int(off.sum()):,} places of the lists are taken more or less "
            f"often than is even, {int(off[worst]):,} of them by broker {broker_id}: "
            "rules, bands and what stays came first",
            where={"broker": broker_id},
            have=float(off.sum()),
            need=0.0,
        )
    ]


def _band_notes(found: PlannedPlacement) -> list[Note]:
    """Return a note for each band that was widened for a heavy replica."""
    targets, brokers = found.targets, found.draft.state.brokers
    notes = []
    for r, resource in enumerate(RESOURCES):
        if resource not in found.balanced or resource in {"replicas", "leaders"}:
            continue
        widened = (targets.heaviest[:, r] > targets.target[:, r]) & (
            targets.target[:, r] > 0
        )
        for broker in np.nonzero(widened | targets.is_aside[:, r])[0]:
            broker_id = int(brokers.ids[broker])
            notes.append(
                Note(
                    what="band-widened",
                    message=f"broker {broker_id} holds a replica heavier than its "
                    f"share of {resource}; its band was widened to fit",
                    where={"broker": broker_id, "resource": str(resource)},
                )
            )
    return notes


def failed_dir_notes(reassignment: Reassignment) -> list[Note]:
    """Return a note for each failed log dir in which replicas stay."""
    before, origin = reassignment.before, reassignment.origin
    stays = origin[~reassignment.is_copied]
    replicas, is_live = before.replicas, before.brokers.is_live
    rows = stays[before.is_offline[stays] & is_live[replicas.broker_idx[stays]]]
    places = np.column_stack([replicas.broker_idx[rows], replicas.log_dir_idx[rows]])
    found, counts = np.unique(places, axis=0, return_counts=True)
    return [
        _failed_dir_note(before, broker, log_dir, count)
        for (broker, log_dir), count in zip(
            found.tolist(), counts.tolist(), strict=True
        )
    ]


def _failed_dir_note(
    state: ClusterState, broker: int, log_dir: int, count: int
) -> Note:
    broker_id, is_known = int(state.brokers.ids[broker]), log_dir != ABSENT
    path = state.log_dirs.paths[log_dir] if is_known else ""
    failed = f"its log dir {path} failed" if is_known else "a log dir of it failed"
    noun = "replica is" if count == 1 else "replicas are"
    return Note(
        what=FAILED_LOG_DIR,
        message=f"{count:,} {noun} offline on broker {broker_id}: {failed}. Copy what "
        f"other brokers can take with plan fix, or restart broker {broker_id} without "
        "the directory: Kafka then re-creates its replicas in the other log dirs",
        where={"broker": broker_id, **({"log_dir": path} if is_known else {})},
        have=float(count),
        need=0.0,
    )

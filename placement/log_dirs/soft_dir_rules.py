"""
Soft rules of log dirs: the disk threshold, and caps on a whole plan of log dirs.

Log dirs are first planned with these rules hard. If no plan keeps them, log dirs are
planned without bands, with the excess over the threshold as the goal, so that it is
violated by as little as the search can. The bytes of each log dir in this plan become
its new limit, the copies of the plan the new values of the relaxed caps, and the plan
is made again with its bands.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from placement.array_types import IntArray
from placement.core.model.solution import Status
from placement.draft.draft import Draft, Note, Settings
from placement.draft.soft_rules import Eased
from placement.log_dirs.dir_problem import DISK_RULE, Tables
from placement.log_dirs.planned_dirs import PlannedDirs
from placement.model.load import Resource
from placement.rules.registry import rules_named
from placement.rules.soft_caps import (
    CAPS,
    cap_note,
    soft_note,
    used_text,
    without_caps,
)

MET = frozenset({Status.OPTIMAL, Status.FEASIBLE})


def soften_dirs(
    planned: Callable[[Draft], PlannedDirs],
    tables: Callable[[Draft], Tables],
    draft: Draft,
) -> PlannedDirs:
    """
    Plan log dirs; relax soft rules if they cannot be kept.

    Parameters
    ----------
    planned
        Function that plans log dirs under the settings of a draft.
    tables
        Function that returns the data of all brokers for a draft.
    draft
        Draft with the allowed moves, and settings with the soft rules.
    """
    found = planned(draft)
    if found.status in MET:
        return found
    eased, measured = _measured(planned, draft)
    if measured is None:
        return found
    table = tables(draft)
    capped = _raised(draft.settings, eased, measured)
    peak = _peak(table, measured) if DISK_RULE in eased.rules else None
    room = replace(eased, is_measured=False, dir_capacity=peak)
    final = planned(replace(draft, settings=replace(capped, eased=room)))
    if final.status not in MET:
        return found
    lacking = (*_notes(table, final, eased), *_cap_notes(draft.settings, final, eased))
    return replace(final, notes=lacking)


def _measured(
    planned: Callable[[Draft], PlannedDirs], draft: Draft
) -> tuple[Eased, PlannedDirs | None]:
    """Return a plan without bands with the fewest relaxed rules, if one exists."""
    settings, nothing = draft.settings, Eased(rules=frozenset(), is_measured=True)
    known = {DISK_RULE}
    if draft.is_emptied_dir is not None:
        # These caps count here only if the plan has no moves between brokers.
        known |= {"max-moves", "max-bytes"}
    tried = {nothing.rules}
    for last in range(len(settings.soft)):
        rules = rules_named(settings.soft[: last + 1]) & known
        if rules in tried:
            continue
        tried.add(rules)
        eased = replace(nothing, rules=rules)
        relaxed = without_caps(replace(settings, eased=eased))
        found = planned(replace(draft, settings=relaxed))
        if found.status in MET:
            return eased, found
    return nothing, None


def _used(found: PlannedDirs) -> dict[str, int]:
    return {"max-moves": int(found.is_moved.sum()), "max-bytes": int(found.cost.value)}


def _raised(settings: Settings, eased: Eased, found: PlannedDirs) -> Settings:
    """Return settings with the relaxed caps raised to the copies of a plan."""
    caps: dict[str, Any] = {
        CAPS[name]: max(getattr(settings, CAPS[name]), used)
        for name, used in _used(found).items()
        if name in eased.rules and getattr(settings, CAPS[name]) is not None
    }
    return replace(settings, **caps)


def _cap_notes(settings: Settings, found: PlannedDirs, eased: Eased) -> Iterator[Note]:
    for name, used in _used(found).items():
        most = getattr(settings, CAPS[name])
        if name in eased.rules and most is not None and used > most:
            yield cap_note(name, used, most)


def _peak(table: Tables, found: PlannedDirs) -> IntArray:
    """Return ``(D,)`` bytes on the log dirs, with leaving replicas if those count."""
    left = found.is_moved & (table.home >= 0)
    peak = found.after.copy()
    if table.draft.settings.is_disk_transient:
        np.add.at(peak, table.home[left], table.size[left])
    return peak


def _notes(table: Tables, found: PlannedDirs, eased: Eased) -> Iterator[Note]:
    if DISK_RULE not in eased.rules:
        return
    dirs, most = table.dirs, table.ruled_capacity()
    threshold = table.draft.settings.capacity_thresholds.get(Resource.DISK, 1.0)
    for d in np.nonzero((found.after > most) & table.is_member)[0].tolist():
        broker = int(table.state.brokers.ids[dirs.broker_idx[d]])
        have, need = int(found.after[d]), int(most[d])
        text = f"log dir {dirs.paths[d]} of broker {broker} uses "
        text += f"{used_text(have, need, threshold)} of its file system, "
        where: dict[str, str | int] = {
            "broker": broker,
            "log_dir": dirs.paths[d],
            "resource": "disk",
        }
        yield soft_note(
            DISK_RULE, f"{text}{threshold:.0%} is the most", where, (have, need)
        )

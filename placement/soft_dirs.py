"""
The threshold of disks as a soft rule of log dirs: it gives way where it must.

Log dirs are planned with it as hard as ever. Where that cannot be, they are planned
without bands, and how far a log dir is over the threshold is what counts: so it is
broken by as little as the search can. What each holds then is its new limit, and the
plan is made again with its bands.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from placement.core.problem import IntArray
from placement.core.solution import Status
from placement.dir_tables import DISK_RULE, Tables
from placement.load import Resource
from placement.rules.draft import Draft, Note
from placement.rules.easing import Eased, rules_named
from placement.softening import soft_note, used_text

if TYPE_CHECKING:
    from placement.log_dirs import PlannedDirs

MET = frozenset({Status.OPTIMAL, Status.FEASIBLE})


def soften_dirs(
    planned: Callable[[Draft], "PlannedDirs"],
    tables: Callable[[Draft], Tables],
    draft: Draft,
) -> "PlannedDirs":
    """
    Plan log dirs, over the threshold of their disks where that is soft and cannot be.

    Parameters
    ----------
    planned
        Plans log dirs under the settings of a draft.
    tables
        Returns what the problems are cut from.
    draft
        What may move; the settings say what is soft.
    """
    found = planned(draft)
    if found.status in MET or DISK_RULE not in rules_named(draft.settings.soft):
        return found
    measured = planned(_eased(draft, is_measured=True))
    if measured.status not in MET:
        return found
    table = tables(draft)
    room = _peak(table, measured)
    final = planned(_eased(draft, is_measured=False, dir_capacity=room))
    if final.status not in MET:
        return found
    return replace(final, notes=tuple(_notes(table, final)))


def _eased(
    draft: Draft, *, is_measured: bool, dir_capacity: IntArray | None = None
) -> Draft:
    """Return a draft whose log dirs may hold more."""
    eased = Eased(
        rules=frozenset({DISK_RULE}), is_measured=is_measured, dir_capacity=dir_capacity
    )
    return replace(draft, settings=replace(draft.settings, eased=eased))


def _peak(table: Tables, found: "PlannedDirs") -> IntArray:
    """Return ``(D,)`` bytes on the log dirs, with what leaves where that counts."""
    left = found.is_moved & (table.home >= 0)
    peak = found.after.copy()
    if table.draft.settings.is_disk_transient:
        np.add.at(peak, table.home[left], table.size[left])
    return peak


def _notes(table: Tables, found: "PlannedDirs") -> Iterator[Note]:
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

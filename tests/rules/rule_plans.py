"""Plans under rules, and their lists, for several modules of tests."""

import numpy as np

from placement.check import Target
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.operations.rebalance import Rebalance
from placement.planning.plan import plan
from support.naive import key_of, lists_of

MET = {Status.OPTIMAL, Status.FEASIBLE}


def planned(state, *rules, operation=None, **chosen_settings):
    return plan(
        state, operation or Rebalance(), Settings(rules=rules, **chosen_settings)
    )


def after(found):
    return found.reassignment.after()


def changed_lists(found):
    state = found.reassignment.before
    rows = np.nonzero(found.reassignment.is_changed)[0]
    new = lists_of(after(found))
    return {key_of(state, int(row)): new[key_of(state, int(row))] for row in rows}


def target_of(lists):
    return Target.from_lists(
        [topic for topic, _ in lists], [n for _, n in lists], list(lists.values())
    )


SETS = {0: "gold", 1: "gold", 2: "silver", 3: "silver"}

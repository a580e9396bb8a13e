"""What any placement of new partitions must keep."""

from collections import Counter

from fuzz.drawn import Drawn
from fuzz.promises import open_brokers
from planner.errors import BadInputError
from planner.plan.run.plan_new_partitions import PlannedNew, make_new

MET = {"optimal", "feasible"}
NOT_ITS_DOING = {"even-positions", "min-isr"}
"""What gives way to all else, and what the factor that is asked for decides."""


def judge_new(case: Drawn) -> str:
    """Place new partitions, and hold the plan against all that must be so."""
    try:
        made = make_new(case.state, case.request)
    except BadInputError as error:
        if not error.problems:
            raise
        return "refused"
    judge_lists(case, made)
    judge_rest(made)
    if case.request.options.replica_assignment is None:
        judge_rules(made)
    for bounded in (made.plan.placed.solution.certificate.deviation,):
        assert 0 <= bounded.lower_bound <= bounded.value, bounded
    again = make_new(case.state, case.request)
    assert again.lists == made.lists, "another plan the second time"
    return made.status


def judge_lists(case: Drawn, made: PlannedNew) -> None:
    """As many partitions and replicas as asked for, by hand or where some may be."""
    lists, asked = made.lists, case.request.options
    rows = [list(row) for row in lists.replicas]
    if asked.partitions is not None:
        count = asked.partitions - made.first
        assert list(lists.partitions) == [made.first + n for n in range(count)]
    if asked.replication_factor is not None:
        assert {len(row) for row in rows} == {asked.replication_factor}
    if asked.replica_assignment is not None:
        told = asked.replica_assignment.split(",")
        assert rows == [[int(b) for b in row.split(":")] for row in told[made.first :]]
        return
    may = open_brokers(case, made.plan.state)
    for row in rows:
        assert len(set(row)) == len(row), f"{row} names a broker twice"
        assert made.status not in MET or set(row) <= may, f"{row} is not in {may}"


def judge_rest(made: PlannedNew) -> None:
    """What exists stays as it is."""
    before = made.before
    after = made.plan.placed.reassignment.after()
    was = Counter(
        (before.name_of(p), tuple(before.brokers_of(p)))
        for p in range(before.num_partitions)
    )
    now = Counter(
        (after.name_of(p), tuple(after.brokers_of(p)))
        for p in range(after.num_partitions)
        if not made.is_new[p]
    )
    assert was == now, "what exists has changed"


def judge_rules(made: PlannedNew) -> None:
    """A plan that says all rules are met causes no finding."""
    caused = [f for f in made.findings if f.is_wrong and f.rule not in NOT_ITS_DOING]
    assert made.status not in MET or not caused, caused

"""What any placement of new partitions must keep."""

from collections import Counter

from fuzz.drawn import Drawn
from fuzz.promises import open_brokers
from planner.errors import BadInputError
from planner.plan.run.make_plan import Planned, make

MET = {"optimal", "feasible"}
NOT_ITS_DOING = {"even-positions", "min-isr"}
"""What gives way to all else, and what the factor that is asked for decides."""


def judge_new(case: Drawn) -> str:
    """Place new partitions, and hold the plan against all that must be so."""
    try:
        made = make(case.state, case.request)
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
    again = make(case.state, case.request)
    assert again.plan.creation == made.plan.creation, "another plan the second time"
    return made.plan.status


def judge_lists(case: Drawn, made: Planned) -> None:
    """As many partitions and replicas as asked for, by hand or where some may be."""
    created, asked = made.plan.creation, case.request.options
    rows = [list(row) for row in created.lists]
    if asked.partitions is not None:
        assert created.count == asked.partitions
    if asked.replication_factor is not None:
        assert {len(row) for row in rows} == {asked.replication_factor}
    if asked.replica_assignment is not None:
        given = asked.replica_assignment.split(",")
        assert rows == [
            [int(b) for b in row.split(":")] for row in given[created.first :]
        ]
        return
    may = open_brokers(case, made.plan.state)
    for row in rows:
        assert len(set(row)) == len(row), f"{row} names a broker twice"
        assert made.plan.status not in MET or set(row) <= may, f"{row} is not in {may}"


def judge_rest(made: Planned) -> None:
    """What exists stays as it is."""
    before = made.plan.identity
    after = made.plan.placed.reassignment.after()
    was = Counter(
        (before.name_of(p), tuple(before.brokers_of(p)))
        for p in range(before.num_partitions)
    )
    now = Counter(
        (after.name_of(p), tuple(after.brokers_of(p)))
        for p in range(after.num_partitions)
        if after.key_of(p) not in made.plan.creation.by_key
    )
    assert was == now, "what exists has changed"


def judge_rules(made: Planned) -> None:
    """A plan that says all rules are met causes no finding."""
    caused = [f for f in made.findings if f.is_wrong and f.rule not in NOT_ITS_DOING]
    assert made.plan.status not in MET or not caused, caused

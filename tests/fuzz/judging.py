"""Promises that every plan keeps, whatever was requested."""

import re
from collections.abc import Iterable, Iterator

import numpy as np

from fuzz.drawn import Drawn
from fuzz.judging_new import judge_new
from fuzz.left_alone import why_left_alone
from fuzz.promises import dirs_of, judge_promises, lies_in, wanted_factors
from fuzz.soft_goals import judge_soft_goals
from placement.check import Finding, Target, check
from placement.model.cluster import ABSENT, ClusterState
from placement.operations.descriptor import OPERATIONS
from placement.rules.registry import HARD, goals_named
from planner.errors import BadInputError
from planner.options.cluster_options import read_request
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import Planned, make, rules_of

MET = {"optimal", "feasible", "nothing-to-do"}
SHAPE = {
    "unknown-broker", "dead-broker", "duplicate-broker", "unknown-topic",
    "unknown-partition", "duplicate-partition", "empty-replicas", "excluded",
    "replication-factor", "stale",
}  # fmt: skip
"""What no plan may have wrong, met or not."""
GIVES_WAY = {"even-positions"}
"""Rules that every other comes before."""
IN_BAND = 1e-9
"""Brokers less out of their bands than this are in them."""
Key = tuple[object, ...]


def judge(case: Drawn) -> str:
    """
    Plan a case, and hold the plan against all that must be so.

    Returns
    -------
    The status of the plan; ``refused`` if the request makes no sense for the cluster.

    Raises
    ------
    AssertionError
        With what is wrong.
    """
    if OPERATIONS[case.request.goal].creates_partitions:
        return judge_new(case)
    try:
        made = make(case.state, case.request)
    except BadInputError as error:
        if not error.problems:
            raise
        return "refused"
    caused = {key for key in newly_wrong(case, made) if key[0] not in GIVES_WAY}
    status = made.plan.status
    assert not {key for key in caused if key[0] in SHAPE}, caused
    # That no safe order exists is said, and then the waves do not end in the plan.
    is_told = made.plan.waves is not None and made.plan.waves.found.stuck is not None
    caused -= {key for key in caused if is_told and key[0] == "wave-end"}
    assert not {key for key in caused if str(key[0]).startswith("wave-")}, caused
    assert status not in MET or not caused, caused
    judge_certificate(made)
    judge_hard_goals(made)
    judge_copies(made)
    judge_promises(case, made)
    judge_emptied(case, made)
    judge_demoted_dirs(case, made)
    judge_emptied_dirs(case, made)
    judge_exchanged(case, made)
    judge_factors(case, made)
    if status in MET:
        judge_soft_goals(case, made)
        judge_again(case, made)
    return status


def judge_hard_goals(made: Planned) -> None:
    """Hard goals that are missed are named, whether that is the plan's doing or not."""
    lacks = made.plan.placed.solution.shortfalls
    if any(lack.what != "goal" for lack in lacks):
        return
    named = goals_named(HARD)
    missed = {f.rule for f in made.findings if f.rule in named and not f.soft}
    unsaid = missed - {lack.level for lack in lacks}
    assert not unsaid, f"{unsaid} are missed, and the plan says {lacks}"


def judge_copies(made: Planned) -> None:
    """The copies that a plan tells of are those that Kafka makes of its lists."""
    found = made.plan.placed.reassignment
    old, new = found.before, found.after()
    copies = sum(
        len(set(new.brokers_of(p)) - set(old.brokers_of(p)))
        for p in range(old.num_partitions)
    )
    told = made.plan.moves["replicas"]
    assert told == copies, f"{told} copies are told of, and {copies} are made"


def newly_wrong(case: Drawn, made: Planned) -> set[Key]:
    """Return what the checker finds and would not find had no list changed."""
    placed = made.plan.placed.reassignment
    rules = rules_of(made.plan, read_request(case.request, case.state))
    same = as_it_was(placed.before, np.nonzero(placed.is_changed)[0].tolist())
    return keys(made.findings) - keys(check(placed.before, same, rules))


def keys(findings: Iterable[Finding]) -> set[Key]:
    """Return rules and places of what is not said to have been so before."""
    return {
        (f.rule, f.where.topic, f.where.partition, f.where.broker, f.where.resource)
        for f in findings
        if f.is_wrong
    }


def as_it_was(state: ClusterState, rows: list[int]) -> Target:
    """Return the lists of some partitions as they are."""
    names = [state.topics.names[t] for t in state.partitions.topic_idx[rows]]
    numbers = state.partitions.partition[rows].tolist()
    return Target.from_lists(names, numbers, [state.brokers_of(p) for p in rows])


def judge_certificate(made: Planned) -> None:
    """No bound is above what it bounds."""
    proven = made.plan.placed.solution.certificate
    for bounded in (proven.cost, proven.moves, proven.deviation):
        assert 0 <= bounded.lower_bound <= bounded.value, bounded


def judge_emptied(case: Drawn, made: Planned) -> None:
    """What was to be emptied is empty, but for what must be left alone."""
    options = case.request.options
    own = {
        "remove-brokers": options.broker_list,
        "demote": options.broker_list,
        "replace-broker": options.broker,
    }
    brokers = set(own.get(case.request.goal) or ())
    if not brokers:
        return
    kept = [
        made.plan.state.name_of(p)
        for p, row, leader in lists_after(made)
        if (leader in brokers if case.request.goal == "demote" else brokers & set(row))
        and why_left_alone(case, made.plan.state, p, brokers) is None
    ]
    assert not kept or is_short(made), f"{brokers} keep {kept}"


def is_short(made: Planned) -> bool:
    """Tell whether a plan says that something is missing."""
    is_met = made.plan.status in MET
    return not is_met and bool(made.plan.placed.solution.shortfalls)


def judge_demoted_dirs(case: Drawn, made: Planned) -> None:
    """Nothing in a demoted log dir leads, but for what must be left alone."""
    demoted, state = set(case.request.options.log_dirs), made.plan.state
    if not demoted:
        return
    kept = [
        state.name_of(p)
        for p, row, leader in lists_after(made)
        if leader is not None
        and lies_in(state, p, leader) in demoted
        and why_left_alone(case, state, p, set()) is None
    ]
    assert not kept or is_short(made), f"{demoted} lead {kept}"


def judge_emptied_dirs(case: Drawn, made: Planned) -> None:
    """Log dirs to be emptied are empty, but for what must be left alone."""
    found = made.plan.placed.reassignment
    emptied, state = dirs_of(case.request.options.empty), made.plan.state
    goes = found.log_dir_idx
    if not emptied:
        return
    kept = [
        state.name_of(p)
        for row, p in enumerate(found.partition_idx.tolist())
        if (goes is None or goes[row] == ABSENT)
        and lies_in(state, p, int(state.brokers.ids[found.broker_idx[row]])) in emptied
        and why_left_alone(case, state, p, set()) is None
    ]
    assert not kept or is_short(made), f"{emptied} keep {kept}"


def judge_exchanged(case: Drawn, made: Planned) -> None:
    """Two brokers are exchanged in every list that may change, or in none."""
    options = case.request.options
    pair = options.brokers
    if not pair or options.even_positions:
        return
    other = dict(zip(pair, reversed(pair), strict=True))
    state, changed, kept = made.plan.state, [], []
    for p, row, _ in lists_after(made):
        before, topic = state.brokers_of(p), state.partitions.topic_idx[p]
        is_kept = re.fullmatch(options.keep_topics or "", state.topics.names[topic])
        if set(before) & set(pair) and not is_kept:
            assert row in (before, [other.get(b, b) for b in before]), (before, row)
            (kept if row == before else changed).append(p)
    left = [p for p in kept if why_left_alone(case, state, p, set()) is None]
    assert not (changed and left), f"{changed} are exchanged, and {left} are not"
    assert changed or not left or is_short(made), f"{left} are not exchanged"


def judge_factors(case: Drawn, made: Planned) -> None:
    """Every topic has the factor that is requested, and the others keep theirs."""
    state = made.plan.state
    if case.request.goal != "set-replication-factor":
        return
    wanted = wanted_factors(case, state)
    for p, row, _ in lists_after(made):
        name = state.topics.names[int(state.partitions.topic_idx[p])]
        if name not in wanted:
            assert len(row) == len(state.brokers_of(p)), f"{name}: {row}"
        elif why_left_alone(case, state, p, set()) is None:
            is_right = len(row) == wanted[name]
            assert is_right or is_short(made), f"{name}: {row}, not {wanted[name]}"


def lists_after(made: Planned) -> Iterator[tuple[int, list[int], int | None]]:
    """Yield each partition with its brokers, and who leads, once all is done."""
    after = made.plan.placed.reassignment.after()
    ids, leader = after.brokers.ids, after.partitions.leader_idx
    for p in range(after.num_partitions):
        led_by = int(ids[leader[p]]) if leader[p] >= 0 else None
        yield p, after.brokers_of(p), led_by


def judge_again(case: Drawn, made: Planned) -> None:
    """
    What was planned and done is not planned again.

    Where bands are out of reach the search, which is no exact one, may still find a
    better way from where it got to; where they did not count, they may from there.
    """
    request = case.request
    options = request.options
    if options.brokers:
        # Planned again, an exchange is taken back.
        return
    caps = (options.max_moves, options.max_bytes, options.max_cross_rack_bytes)
    if any(cap is not None for cap in caps):
        return
    after = made.plan.placed.reassignment.after()
    again = make(after, as_they_are(request))
    moved = int(again.plan.placed.reassignment.is_copied.sum())
    off = made.plan.placed.solution.certificate.deviation.value
    did_not_count = any(note.what == "bands-left" for note in made.plan.placed.notes)
    is_free = did_not_count or off > IN_BAND
    assert not moved or is_free, f"{moved} copies the second time"


def as_they_are(request: PlanRequest) -> PlanRequest:
    """Return a request for when the brokers that were to come are there."""
    options = request.options
    to_come = [
        int(text.removeprefix("id=").split(",")[0]) for text in options.new_broker
    ]
    if not to_come or options.broker_list is None:
        return request.changed(new_broker=())
    return request.changed(new_broker=(), broker_list=(*options.broker_list, *to_come))

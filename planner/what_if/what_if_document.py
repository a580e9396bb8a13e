"""Documents of today's cluster and of each scenario, for `what-if`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from placement.draft.draft import LEAST_KNOWN
from placement.failures.controller_majority import Voter
from placement.model.load import RESOURCES, Resource
from placement.planning.outcome.result import PlannedPlacement
from placement.scenarios.cross_rack_load import cross_rack_rate, knows_racks
from placement.scenarios.scenario_figures import CAPPED, Figures, Use, Verdict
from placement.scenarios.scenario_outcome import Outcome
from planner.plan.documents.plan_document import shortfall_document
from planner.text.document_numbers import rounded
from planner.text.format import bytes_text, percent_text, plural
from planner.what_if.changes.prices import Prices
from planner.what_if.scenario_costs import costs_record
from planner.what_if.scenario_quorum import quorum_after
from planner.what_if.scenarios import Scenario
from planner.what_if.what_if_records import (
    BalanceRecord,
    BindingRecord,
    CopiesRecord,
    FullRecord,
    PointRecord,
    ScenarioOutcomeRecord,
    SurvivesOneRecord,
    SurvivesRecord,
    UseRecord,
    UsesRecord,
    ViolationsRecord,
)

BROKEN = frozenset({"partial", "infeasible"})


def outcome_document(
    scenario: Scenario | None,
    outcome: Outcome,
    voters: Sequence[Voter],
    prices: Prices | None = None,
    *,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the document of one scenario, or of today's cluster, with more notes."""
    figures, variant = outcome.figures, outcome.variant
    quorum = quorum_after(outcome, voters)
    return_use = figures.return_use
    return ScenarioOutcomeRecord(
        name="today" if scenario is None else scenario.name,
        sweep=None if scenario is None else scenario.sweep,
        point=_point(scenario),
        after=None if scenario is None else scenario.after,
        then=None if scenario is None else str(scenario.then),
        status=outcome.status,
        holds=holds(outcome) and quorum.has_majority is not False,
        brokers=figures.num_brokers,
        partitions=figures.state.num_partitions,
        replicas=len(figures.state.replicas),
        resources=UsesRecord(**{str(r): _use(figures.use[r]) for r in CAPPED}),
        out_on_return=None if return_use is None else _use(return_use),
        binding=_binding(figures),
        balance=_balance(figures),
        brokers_over_threshold=figures.num_over,
        log_dirs_over_threshold=_full_dirs(figures),
        violations=ViolationsRecord(
            rack=int(figures.score.violations["rack"]), **figures.health
        ),
        copies=_copies(outcome),
        cross_rack_bytes_per_s=_rounded(cross_rack_rate(figures.state)),
        price=costs_record(outcome, prices),
        survives=SurvivesRecord(
            **{
                str(kind): _verdict(
                    verdict, quorum.survives_one_more(figures.state, kind)
                )
                for kind, verdict in figures.verdicts.items()
            }
        ),
        full=_full(figures),
        is_checked=None,
        shortfalls=[*quorum.shortfalls(), *_shortfalls(outcome)],
        notes=[
            *variant.notes,
            *notes,
            *quorum.notes(),
            *_left_offline_notes(outcome),
            *_moved_inside_notes(outcome),
            *_unknown_load_notes(scenario, figures),
        ],
    ).model_dump(by_alias=True)


def _moved_inside_notes(outcome: Outcome) -> Iterator[str]:
    """Yield a note on replicas that the plan moves between log dirs of a broker."""
    placed = outcome.placed
    if placed is None or not placed.reassignment.is_moved_inside.any():
        return
    lists, weights = placed.reassignment, placed.weights_before
    rows = np.nonzero(lists.is_moved_inside)[0]
    size = int(weights.copy_bytes[lists.partition_idx[rows]].sum())
    amount = f", {bytes_text(size)}," if outcome.is_copying_known and size else ""
    verb = "move" if len(rows) > 1 else "moves"
    yield (
        f"{plural(len(rows), 'replica')}{amount} {verb} between log dirs of a broker, "
        "besides the copies"
    )


def _full_dirs(figures: Figures) -> list[str]:
    dirs, ids = figures.state.log_dirs, figures.state.brokers.ids
    return [
        f"{ids[dirs.broker_idx[row]]}:{dirs.paths[row]}"
        for row in figures.full_dirs.tolist()
    ]


def _copies(outcome: Outcome) -> CopiesRecord:
    """Return the copies of the plan; bytes and seconds are null for unknown sizes."""
    copying, state = outcome.copying, outcome.figures.state
    is_known = outcome.is_copying_known
    has_racks = is_known and knows_racks(state)
    return CopiesRecord(
        replicas=copying.replicas,
        bytes=copying.size_bytes if is_known else None,
        least_bytes=_least_bytes(outcome.placed) if is_known else None,
        seconds=rounded(copying.seconds) if is_known else None,
        busiest_broker=None if copying.broker_id < 0 else copying.broker_id,
        cross_rack_bytes=copying.cross_rack_bytes if has_racks else None,
    )


def _left_offline_notes(outcome: Outcome) -> Iterator[str]:
    """Yield a note on replicas in failed log dirs that the plan does not rebuild."""
    state = outcome.figures.state
    is_left = state.is_offline & state.brokers.is_live[state.replicas.broker_idx]
    count = int(is_left.sum())
    if outcome.placed is not None and outcome.variant.leaving and count:
        yield (
            f"not rebuilt, as the plan empties brokers: {plural(count, 'replica')} in "
            "failed log dirs; remove the brokers in a scenario of its own, after one "
            "that rebuilds these"
        )


def _unknown_load_notes(scenario: Scenario | None, figures: Figures) -> Iterator[str]:
    """Yield a note for each resource whose load is known for too few partitions."""
    for resource in CAPPED:
        known = figures.score.resources[resource].known_fraction
        if 0 < known < LEAST_KNOWN:
            where = "today" if scenario is None else scenario.name
            yield (
                f"{where}: {resource} is known for {percent_text(known)} of the "
                "partitions, too few to tell its use"
            )


def _rounded(value: float | None) -> float | int | None:
    return None if value is None else rounded(value)


def _point(scenario: Scenario | None) -> PointRecord | None:
    if scenario is None or scenario.point is None:
        return None
    point = scenario.point
    return PointRecord(traffic=point.traffic, brokers=point.brokers, days=point.days)


def holds(outcome: Outcome) -> bool:
    """
    Return whether a cluster holds its load.

    No broker is over a threshold, no partition is offline or under min ISR, and the
    plan, if there is one, keeps every hard rule.
    """
    figures = outcome.figures
    hurt = figures.health["offline"] + figures.health["under_min_isr"]
    return not hurt and not figures.num_over and outcome.status not in BROKEN


def _use(use: Use) -> UseRecord | None:
    if not use.is_known:
        return None
    return UseRecord(
        max_use=rounded(use.most),
        mean_use=rounded(use.mean),
        broker=use.broker_id,
        over_threshold=use.over,
    )


def _binding(figures: Figures) -> BindingRecord | None:
    """Return the resource and the broker with the largest ratio of use to threshold."""
    found = figures.binding
    if found is None:
        return None
    resource, use = found
    return BindingRecord(
        resource=str(resource),
        broker=use.broker_id,
        use=rounded(use.most),
        threshold=rounded(figures.threshold_of(resource, use.broker_id)),
    )


def _balance(figures: Figures) -> BalanceRecord:
    score = figures.score
    known = [r for r in RESOURCES if score.resources[r].known_fraction >= 0.95]
    worst = max(known, key=lambda r: score.resources[r].max_deviation)
    return BalanceRecord(
        resource=str(worst),
        max_deviation=rounded(score.resources[worst].max_deviation),
        brokers_out_of_band=figures.num_out_of_band,
    )


def _least_bytes(placed: PlannedPlacement | None) -> int | None:
    if placed is None:
        return None
    return int(placed.solution.certificate.cost.lower_bound)


def _verdict(verdict: Verdict, majority: bool | None) -> SurvivesOneRecord:
    answer = verdict.answer
    return SurvivesOneRecord(
        survives=False if majority is False else answer,
        hardest=verdict.hardest or None,
        reason=verdict.reason or None,
        fails=verdict.fails,
        controllers_keep_majority=majority,
    )


def _full(figures: Figures) -> FullRecord | None:
    """Return the first threshold passed by growth; `None` without growth."""
    if figures.crossings is None:
        return None
    if not figures.crossings:
        return FullRecord(days=None, broker=None, resource=None, log_dir=None)
    first = figures.crossings[0]
    return FullRecord(
        days=rounded(round(first.days, 3)),
        broker=first.broker_id,
        resource=str(first.resource),
        log_dir=first.log_dir,
    )


def _shortfalls(outcome: Outcome) -> list[str]:
    placed, proof = outcome.placed, outcome.proof
    if proof is not None:
        use, most = percent_text(proof.level), percent_text(proof.threshold)
        return [f"whatever the placement, {proof.resource} is at least {use} of {most}"]
    if placed is None:
        return []
    found = [shortfall_document(placed, s) for s in placed.solution.shortfalls]
    return [str(each["message"]) for each in found]


def assumptions_document(
    thresholds: Mapping[Resource, float], bandwidth_bytes_per_s: int
) -> dict[str, Any]:
    """Return the assumptions of the figures."""
    return {
        "capacity_threshold": {str(r): v for r, v in thresholds.items()},
        "bandwidth_bytes_per_s": bandwidth_bytes_per_s,
    }

"""The document of one loss: its stages, and what it causes."""

from datetime import datetime
from typing import Any

from placement.failures.partition_health import health_of
from placement.model.cluster import ABSENT, ClusterState
from planner.failures.all_failures import assumptions_of
from planner.failures.carried_loads import binding, busiest, on_return
from planner.failures.failure_records import (
    AutomaticRecord,
    CountsRecord,
    LossAssumptionsRecord,
    ScenarioRecord,
    StageRecord,
    StagesRecord,
)
from planner.failures.failure_scenario import (
    Scenario,
    moved_leaders,
    num_losing_replicas,
    partitions_of,
    rebuild,
    scenario_notes,
)
from planner.failures.loss_screen import lost_lines, return_lines
from planner.failures.lost_sources import no_source
from planner.io.summary_lines import summary_of
from planner.status.find_status import status_of
from planner.status.status_lines import head_texts
from planner.text.data_age import dated_fields


def to_document(scenario: Scenario, *, now: datetime) -> dict[str, Any]:
    """Return the document of the scenario; `now` gives the age of the data."""
    options, automatic = scenario.options, scenario.automatic
    troubles = head_texts(status_of(scenario.snapshot, scenario.now), None)
    return ScenarioRecord(
        **dated_fields(scenario.snapshot.cluster_id, scenario.snapshot.taken_at, now),
        lost=list(options.names),
        assumptions=LossAssumptionsRecord(
            **assumptions_of(options), clean_shutdown=not scenario.is_crash
        ),
        stages=StagesRecord(
            **{
                name: StageRecord(
                    **health_of(state).counts(),
                    leader_not_preferred=_not_preferred(state),
                    busiest=busiest(scenario.given, state),
                )
                for name, state in scenario.stages.items()
            }
        ),
        caused=CountsRecord(**scenario.caused),
        leaders_moved=moved_leaders(scenario.now, scenario.lost),
        pushed_over_threshold=scenario.num_over,
        binding=binding(scenario.given, scenario.lost),
        rebuild=rebuild(scenario),
        on_return=on_return(scenario.given, scenario.now, scenario.lost),
        no_source=no_source(scenario.lost),
        num_partitions=num_losing_replicas(scenario),
        partitions=partitions_of(scenario),
        automatic_election=AutomaticRecord(
            is_enabled=options.is_automatic,
            has_threshold=automatic.has_threshold,
            changes=int(automatic.changes.sum()),
            passes=automatic.num_passes,
        ),
        controllers_keep_majority=scenario.keeps_majority,
        survives=scenario.is_survived,
        notes=scenario_notes(scenario),
        summary=summary_of([*lost_lines(scenario), *troubles, *return_lines(scenario)]),
    ).model_dump(by_alias=True)


def _not_preferred(state: ClusterState) -> int:
    first = state.replicas.broker_idx_at(state.replicas.start[:-1])
    led = state.partitions.leader_idx
    return int(((led != ABSENT) & (led != first)).sum())

"""Verification of a plan folder with its waves, or of a reassignment file."""

from placement.operations.descriptor import describe
from planner.kafka_commands import ANY_SERVER
from planner.plan.input.plan_input import PlanInput
from planner.plan.input.wave_input import read_waves
from planner.snapshot import Snapshot
from planner.status.throttles_in_force import throttles_in
from planner.verify.plan_files import files_of
from planner.verify.verification import Verification, verify


def verify_read(
    plan: PlanInput, snapshot: Snapshot, *, connection: str = ANY_SERVER
) -> Verification:
    """
    Return the outcome of a plan.

    Parameters
    ----------
    plan
        The plan folder or the reassignment file.
    snapshot
        The cluster now.
    connection
        Options of Kafka's tools that reach the cluster.

    Raises
    ------
    BadInputError
        If the waves, or the lists before the plan, cannot be read.
    """
    waves = read_waves(plan.path) if plan.path.is_dir() else None
    return verify(
        snapshot.to_state(),
        plan.reassignment,
        rollback=plan.before,
        throttles=throttles_in(snapshot),
        waves=() if waves is None else waves.waves,
        creates=describe(plan.goal).creates_partitions,
        files=files_of(plan, waves),
        connection=connection,
    )

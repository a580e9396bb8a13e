"""Verification of a plan folder with its waves, or of a reassignment file."""

from placement.operations.descriptor import describe
from planner.kafka_commands import ANY_SERVER
from planner.plan.input.plan_input import PlanInput
from planner.plan.input.wave_input import WavesInput, read_waves
from planner.snapshot import Snapshot
from planner.status.throttles_in_force import throttles_in
from planner.verify.plan_files import files_of
from planner.verify.verification import Verification, verify


def verify_read(
    plan: PlanInput,
    snapshot: Snapshot,
    *,
    connection: str = ANY_SERVER,
    waves: WavesInput | None = None,
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
    waves
        Waves in place of those of the folder.

    Raises
    ------
    BadInputError
        If the waves, or the lists before the plan, cannot be read.
    """
    if waves is None and plan.path.is_dir():
        waves = read_waves(plan.path)
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

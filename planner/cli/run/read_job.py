"""The plan and the choices of a run, as `apply` and `rollback` take them."""

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.common.cluster_source import ClusterSource
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from planner.execution.run.run import Job


def read_job(
    inputs: Gatherer,
    source: ClusterSource,
    command: str,
    plan: Path,
    *,
    throttle: str | None,
    no_throttle: bool,
    window: str | None,
    max_duration: str | None,
    guard: str | None,
    broker_grace: str,
    patience: str,
    ignore: Collection[str] | None,
    journal: Path | None,
    allow_drift: bool = False,
) -> "Job | None":
    """
    Return the plan and how to carry it out.

    Parameters
    ----------
    inputs
        Gatherer of all problems of the command.
    source
        The running cluster.
    command
        Name of the command.
    plan
        Path of the plan.
    throttle, no_throttle, window, max_duration, guard, broker_grace, patience, ignore
        Options of the command as they were given.
    journal, allow_drift
        Likewise.

    Returns
    -------
    The job, or `None` if something is wrong: `inputs` has the problems.
    """
    from planner.cli.run.interruption import with_journal
    from planner.execution.choices import read_choices
    from planner.execution.run.journal import journal_path
    from planner.execution.run.run import Job
    from planner.execution.run.run_choices import read_run_choices
    from planner.plan.input.plan_input import read_plan

    choices = inputs.read(
        lambda: read_choices(
            throttle,
            ignore or (),
            allow_drift=allow_drift,
            has_throttle=not no_throttle,
        )
    )
    run_choices = inputs.read(
        lambda: read_run_choices(
            window=window,
            max_duration=max_duration,
            guard=guard,
            broker_grace=broker_grace,
            patience=patience,
        )
    )
    given = inputs.read(lambda: read_plan(plan))
    if given is None or choices is None or run_choices is None:
        return None
    words = f"kafka-planner {command} {shlex.quote(str(plan))} {source.connection}"
    return Job(
        plan=given,
        journal=journal or journal_path(plan),
        choices=choices,
        run_choices=run_choices,
        command=with_journal(words, journal),
        connection=source.connection,
    )

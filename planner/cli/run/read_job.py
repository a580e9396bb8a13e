"""The plan and the choices of a run, as `apply` and `rollback` take them."""

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.common.cluster_source import ClusterSource
from planner.cli.run.run_options import RunOptions
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from planner.execution.run.run import Job


def read_job(
    inputs: Gatherer,
    source: ClusterSource,
    command: str,
    plan: Path,
    options: RunOptions,
    *,
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
    options, ignore, journal, allow_drift
        Options of the command as they were given.

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
            options.throttle,
            ignore or (),
            allow_drift=allow_drift,
            has_throttle=not options.no_throttle,
        )
    )
    run_choices = inputs.read(
        lambda: read_run_choices(
            window=options.window,
            max_duration=options.max_duration,
            guard=options.guard,
            broker_grace=options.broker_grace,
            patience=options.patience,
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

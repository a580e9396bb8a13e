"""Plans carried out on a running cluster, taken back, and brought back."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from planner.api.errors import named_as_arguments, plan_path
from planner.execution.choices import read_choices
from planner.execution.preflight import Ignorable
from planner.plan.input.plan_input import read_plan

if TYPE_CHECKING:
    from planner.execution.cluster.running_cluster import RunningCluster
    from planner.execution.run.run_records import Event
    from planner.kafka.client.admin_client import ClusterClient

AnyPath = str | PathLike[str]


def apply(
    plan: AnyPath,
    cluster: "str | ClusterClient | RunningCluster",
    *,
    command_config: AnyPath | None = None,
    throttle: str | int | None = None,
    no_throttle: bool = False,
    window: str | None = None,
    max_duration: str | None = None,
    guard: str | None = None,
    broker_grace: str = "2m",
    patience: str = "1h",
    allow_drift: bool = False,
    ignore: Collection[Ignorable] = (),
    journal: AnyPath | None = None,
    stop: "Callable[[Event], bool] | None" = None,
    report: "Callable[[Event], None] | None" = None,
    sample_seconds: float = 5.0,
) -> "Iterator[Event]":
    """
    Carry out a plan, and yield what happens; it changes the cluster.

    The last event is a `DoneEvent` or a `FailedEvent`. The same call again goes on with
    a run that was interrupted. Closing the iterator ends it at once: what runs goes on
    inside Kafka.

    Parameters
    ----------
    plan
        A plan folder, or a reassignment JSON file.
    cluster
        ``host:port,…``, or a client; a `SimulatedAdmin` of a snapshot tries the same
        stages without a cluster.
    command_config
        Properties of a Java client: SASL, SSL, timeouts.
    throttle
        Rate in bytes/s at which a broker copies, or a text such as ``80MB/s``;
        `None`: that of the plan's waves, else one that networks have room for, else 50
        MB/s.
    no_throttle
        Whether copies run as fast as the brokers can.
    window, max_duration, guard
        Local hours (``22:00-06:00``) in which copies begin, longest time (``4h``), and
        a shell command that holds copies back while it fails.
    broker_grace, patience
        Longest time that a broker is down, and that the cluster is silent.
    allow_drift
        Whether partitions that are no longer as planned are left out.
    ignore
        Names of reasons that do not stop it.
    journal
        Path of the journal; `None`: in the plan folder.
    stop
        Function that receives each event; once it returns true, no copy begins.
    report
        Function that receives an event while the cluster does not answer; `None`: it
        is yielded once the cluster answers.
    sample_seconds
        Seconds in which rates are sampled before the run; 0: no rates.

    Raises
    ------
    BadInputError
        If the plan cannot be read, is of another cluster, another run of it is under
        way, or an argument is wrong; has every problem.
    ClusterUnavailableError, AnswerUnknownError
        If the cluster does not answer as long as the patience lasts.
    """
    from planner.execution.run.controls import ControlFile, Controls, control_path
    from planner.execution.run.journal import journal_path
    from planner.execution.run.run import Job, run
    from planner.execution.run.run_choices import read_run_choices

    with named_as_arguments():
        choices = read_choices(
            throttle, ignore, allow_drift=allow_drift, has_throttle=not no_throttle
        )
        run_choices = read_run_choices(
            window=window,
            max_duration=max_duration,
            guard=guard,
            broker_grace=broker_grace,
            patience=patience,
        )
    path = Path(journal) if journal is not None else journal_path(plan_path(plan))
    job = Job(
        plan=read_plan(plan_path(plan)),
        journal=path,
        choices=choices,
        run_choices=run_choices,
        sample_s=sample_seconds,
        report=report,
    )
    with _opened(cluster, command_config) as opened:
        for event in run(job, opened):
            yield event
            if stop is not None and stop(event):
                ControlFile(control_path(path)).write(Controls(is_stopped=True))


def cancel(
    plan: AnyPath,
    cluster: "str | ClusterClient | RunningCluster",
    *,
    command_config: AnyPath | None = None,
    journal: AnyPath | None = None,
) -> "Iterator[Event]":
    """
    Take back what a plan has under way, and its throttles; it changes the cluster.

    Parameters
    ----------
    plan, cluster, command_config, journal
        As in `apply`.

    Raises
    ------
    BadInputError
        If the plan cannot be read, or a run of it does not stop.
    ClusterUnavailableError, AnswerUnknownError
        If the cluster does not answer.
    """
    from planner.execution.run.journal import journal_path
    from planner.execution.undo.cancel import cancel as cancel_plan

    path = Path(journal) if journal is not None else journal_path(plan_path(plan))
    with _opened(cluster, command_config) as opened:
        yield from cancel_plan(read_plan(plan_path(plan)), path, opened)


def rollback(
    plan: AnyPath,
    cluster: "str | ClusterClient | RunningCluster",
    *,
    command_config: AnyPath | None = None,
    throttle: str | int | None = None,
    journal: AnyPath | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> "Iterator[Event]":
    """
    Bring back what a plan has changed; it changes the cluster.

    Parameters
    ----------
    plan, cluster, command_config, throttle, journal
        As in `apply`; the plan needs its rollback.json.
    note
        Function that receives which partitions are left out.

    Raises
    ------
    BadInputError
        If the plan cannot be read, or a run of it does not stop.
    ClusterUnavailableError, AnswerUnknownError
        If the cluster does not answer.
    """
    from planner.execution.run.journal import journal_path
    from planner.execution.run.run import Job
    from planner.execution.run.run_choices import RunChoices
    from planner.execution.undo.rollback import roll_back

    with named_as_arguments():
        choices = read_choices(throttle, (), allow_drift=False)
    job = Job(
        plan=read_plan(plan_path(plan)),
        journal=Path(journal) if journal is not None else journal_path(plan_path(plan)),
        choices=choices,
        run_choices=RunChoices(),
    )
    with _opened(cluster, command_config) as opened:
        yield from roll_back(job, opened, note)


@contextmanager
def _opened(
    cluster: "str | ClusterClient | RunningCluster", command_config: AnyPath | None
) -> "Iterator[RunningCluster]":
    """Open a client for an address; a client or a cluster is used as it is."""
    from planner.execution.cluster.live_cluster import LiveCluster
    from planner.kafka.client.admin_client import ClusterClient
    from planner.kafka.client.client_session import open_cluster

    if isinstance(cluster, ClusterClient):
        yield LiveCluster(cluster)
    elif isinstance(cluster, str):
        config = None if command_config is None else Path(command_config)
        with named_as_arguments():
            client = open_cluster(cluster, config)
        with client:
            yield LiveCluster(client)
    else:
        yield cluster

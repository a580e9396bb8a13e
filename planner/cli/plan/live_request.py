"""Creation of planned partitions on the running cluster: tried, previewed, done."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.common.cluster_source import ClusterSource
from planner.cli.common.exit_codes import ExitCode
from planner.errors import InputProblem, raise_problems

if TYPE_CHECKING:
    from planner.execution.run.run import Job
    from planner.kafka.client.admin_client import ClusterClient
    from planner.kafka_files.creation import Creation


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """
    Outcome of a request to a cluster.

    Parameters
    ----------
    words
        Text on screen: the change that was made, or the reason why there is none.
    code
        Exit code of the command.
    """

    words: str
    code: ExitCode


@dataclass(slots=True, kw_only=True)
class LiveRequest:
    """
    Request of a command to a running cluster, to create planned partitions.

    Parameters
    ----------
    source
        The cluster.
    validate_only, apply, yes
        Options of the command.
    client
        Client of the cluster, once it is open.
    """

    source: ClusterSource
    validate_only: bool
    apply: bool
    yes: bool
    client: "ClusterClient | None" = None

    @property
    def is_any(self) -> bool:
        """Whether a request is sent at all."""
        return self.apply or self.validate_only

    @property
    def is_trial(self) -> bool:
        """Whether Kafka only tells whether it would do it."""
        return not (self.apply and self.yes)

    def open(self) -> None:
        """
        Open the client of the cluster, if a request is sent.

        Raises
        ------
        BadInputError, ClusterUnavailableError
            If an option is wrong, or the cluster cannot be reached.
        """
        self.client = self.source.open() if self.is_any else None

    def check(self) -> None:
        """
        Refuse options that contradict each other.

        Raises
        ------
        BadInputError
            If there are such options; has a problem for each.
        """
        problems = [
            InputProblem(
                file="command line", place=place, value="", rule=rule, remedy=remedy
            )
            for place, is_wrong, rule, remedy in self._rules()
            if is_wrong
        ]
        raise_problems("bad options", problems)

    def _rules(self) -> Iterator[tuple[str, bool, str, str]]:
        """Yield places, whether they are wrong, rules and remedies."""
        asks, reaches = self.is_any, self.source.is_live
        both = self.apply and self.validate_only
        server = "--bootstrap-server"
        yield "--apply", both, "contradicts --validate-only", "leave one of them out"
        yield server, asks and not reaches, "must name a broker", f"{server} HOST:PORT"
        more = "needs --apply or --validate-only"
        yield server, reaches and not asks, more, "add one"
        yield "--yes", self.yes and not self.apply, "needs --apply", "add --apply"

    def send(
        self, creation: "Creation | None", folder: Path | None, own: ExitCode
    ) -> Created | None:
        """
        Try the request on the cluster; with ``--apply --yes`` carry it out.

        Parameters
        ----------
        creation
            The planned partitions.
        folder
            Folder of the plan, which gets the journal; `None`: the request is one that
            Kafka carries out whole or not at all, and leaves no journal.
        own
            Exit code of the plan itself.

        Returns
        -------
        The outcome; `None` if no request is sent.

        Raises
        ------
        BadInputError, ClusterUnavailableError, AnswerUnknownError
            If Kafka refuses the request, is not reached, or its answer was lost.
        """
        from planner.kafka.actions.create_topics import request_creation

        if self.client is None or creation is None:
            return None
        if not self.is_trial and own != ExitCode.OK:
            words = "nothing was changed: the plan breaks rules, see above"
            return Created(words=words, code=own)
        what = "topic created" if creation.is_new_topic else "partitions added"
        with self.client as client:
            # A refusal ends here, in Kafka's words and with their exit code: no run
            # begins.
            is_trial = self.is_trial or folder is not None
            request_creation(client, creation, is_trial=is_trial)
            if not self.is_trial and folder is not None:
                return _carry_out(client, folder, what, self.source.connection)
        words = f"done: {what}"
        if self.is_trial:
            hint = "; add --yes to do it" if self.apply else ""
            words = f"the cluster accepts it ({what}); nothing was changed{hint}"
        return Created(words=words, code=own)


def _carry_out(
    client: "ClusterClient", folder: Path, what: str, connection: str
) -> Created:
    """Carry out the plan in a folder as `apply` does: with a journal, and verified."""
    from planner.cli.run.carry_out import answered
    from planner.cli.run.event_output import event_lines
    from planner.cli.run.event_output import exit_code as code_of
    from planner.cli.run.interruption import ended_by_signals, explained_interruption
    from planner.execution.cluster.live_cluster import LiveCluster
    from planner.execution.run.run import run
    from planner.execution.run.run_records import DoneEvent, FailedEvent

    job = _job(folder, connection)
    # Creation needs no partition that the user may not see.
    cluster = LiveCluster(client, allow_partial=True, note=lambda _: None)
    with (
        ended_by_signals(),
        explained_interruption(job.plan, job.journal, job.command, cluster),
    ):
        events = [*answered(job, run(job, cluster))]
    (last,) = (one for one in events if isinstance(one, DoneEvent | FailedEvent))
    code = code_of(last)
    words = f"done: {what}, as {job.journal} says"
    return Created(
        words=words if code == ExitCode.OK else "; ".join(event_lines(last)), code=code
    )


def _job(folder: Path, connection: str) -> "Job":
    from planner.execution.choices import read_choices
    from planner.execution.run.journal import journal_path
    from planner.execution.run.run import Job
    from planner.execution.run.run_choices import RunChoices
    from planner.plan.input.plan_input import read_plan

    return Job(
        plan=read_plan(folder),
        journal=journal_path(folder),
        choices=read_choices(None, (), allow_drift=False),
        run_choices=RunChoices(),
        command=f"kafka-planner apply {shlex.quote(str(folder))} {connection}",
        connection=connection,
    )

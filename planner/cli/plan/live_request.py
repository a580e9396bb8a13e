"""Creation of planned partitions on the running cluster: tried, previewed, done."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.common.cluster_source import ClusterSource
from planner.cli.common.exit_codes import ExitCode
from planner.errors import InputProblem, raise_problems
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
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
            InputProblem.of_option(place, "", rule, remedy)
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
        if self.client is None or creation is None:
            return None
        if not self.is_trial and own != ExitCode.OK:
            words = "nothing was changed: the plan breaks rules, see above"
            return Created(words=words, code=own)
        from planner.kafka.actions.create_topics import request_creation

        what = "topic created" if creation.is_new_topic else "partitions added"
        with self.client as client:
            # A refusal ends here, in Kafka's words and with their exit code: no run
            # begins.
            is_trial = self.is_trial or folder is not None
            request_creation(client, creation, is_trial=is_trial)
            if not self.is_trial and folder is not None:
                return _carry_out(client, folder, what, self.source)
        words = f"done: {what}"
        if self.is_trial:
            hint = "; add --yes to do it" if self.apply else ""
            words = f"the cluster accepts it ({what}); nothing was changed{hint}"
        return Created(words=words, code=own)


def _carry_out(
    client: "ClusterClient", folder: Path, what: str, source: ClusterSource
) -> Created:
    """Carry out the plan in a folder as `apply` does: with a journal, and verified."""
    from planner.cli.run.carry_out import answered
    from planner.cli.run.event_output import event_lines
    from planner.cli.run.event_output import exit_code as code_of
    from planner.cli.run.interruption import ended_by_signals, explained_interruption
    from planner.cli.run.read_job import read_job
    from planner.cli.run.run_options import RunOptions
    from planner.execution.cluster.live_cluster import LiveCluster
    from planner.execution.run.run import run
    from planner.execution.run.run_records import DoneEvent, FailedEvent

    inputs, options = Gatherer(), RunOptions()
    job = read_job(inputs, source, "apply", folder, options, ignore=None, journal=None)
    inputs.raise_problems()
    assert job is not None  # noqa: S101 - else there were problems
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

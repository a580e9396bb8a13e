"""Answers of the page: figures and plans of a state, from the code of `what-if`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from placement.model.cluster import ClusterState
from planner.errors import BadInputError
from planner.io.problems import problem
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.documents.scored_plan import Plan, elections
from planner.plan.folder.plan_folder import check_plan_output, write_plan
from planner.plan.run.make_plan import make
from planner.report.pages.certificate_words import certificate_rows
from planner.report.pages.plan_folder_facts import PlanFacts
from planner.report.pages.plan_page import verdict_lines
from planner.snapshot import Snapshot
from planner.ui.ui_picture import ClusterLoads, loads_of
from planner.ui.ui_play import AS_IT_IS, PLANNED, Play, validated
from planner.what_if.play_scenarios import Played, Player
from planner.what_if.scenario_folders import check_output

Heard = Callable[[str], None]
"""Called with the words of each stage; what it raises ends the work."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Side:
    """
    One cluster of the comparison: today's, after the changes, or after the plan.

    Parameters
    ----------
    row
        Figures, as the document of `what-if` has them.
    loads
        Loads of its brokers and log dirs.
    """

    row: Mapping[str, Any]
    loads: ClusterLoads


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FirstAnswer:
    """
    Answer that needs no plan.

    Parameters
    ----------
    today, changed
        Today's cluster, and the cluster after the changes with nothing moved.
    thresholds
        Usable fraction of each capacity, by resource.
    bands
        Half width of the band by resource, as a fraction of the target.
    """

    today: Side
    changed: Side
    thresholds: Mapping[str, float]
    bands: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlanAnswer:
    """
    Answer of the plan.

    Parameters
    ----------
    side
        The cluster after the plan.
    lines
        Label and text of each line that the screen of a plan has, too.
    proofs
        Subject, value, lower bound, gap and ground of each bound of the certificate.
    names_log_dirs
        Whether the plan was asked to choose log dirs as well.
    """

    side: Side
    lines: Sequence[tuple[str, str]]
    proofs: Sequence[tuple[str, ...]]
    names_log_dirs: bool


class Answerer:
    """
    Player of states of the page on one cluster.

    Parameters
    ----------
    snapshot
        Today's cluster.
    state
        Its columns.
    """

    def __init__(self, snapshot: Snapshot, state: ClusterState) -> None:
        self._snapshot = snapshot
        self._state = state
        self._checked: tuple[Play, Player] | None = None
        self._last: tuple[Play, Played] | None = None
        self._today: tuple[object, Side] | None = None

    def _player(self, play: Play, name: str) -> Player:
        """Return the player of one scenario, which alone is validated."""
        file, options = validated(play, name, self._snapshot, self._state)
        return Player(self._snapshot, self._state, file, options)

    def check(self, play: Play) -> None:
        """
        Check that a state can be played.

        Raises
        ------
        BadInputError
            If a change or an option is impossible; names every problem.
        """
        self._checked = (play, self._player(play, AS_IT_IS))

    def first(self, play: Play, heard: Heard = lambda _: None) -> FirstAnswer:
        """
        Return the figures of today and after the changes, without a plan.

        Parameters
        ----------
        play
            Scenarios and options.
        heard
            Called at the beginning of each stage.

        Raises
        ------
        BadInputError
            If a change or an option is impossible; names every problem.
        """
        checked = self._checked
        if checked is None or checked[0] != play:
            checked = play, self._player(play, AS_IT_IS)
        player = checked[1]
        assumed = player.assumptions(self._state)
        heard("measuring today")
        today = self._today_side(play, player)
        heard("measuring after the changes")
        changed = _side(player.played(player.scenario(0)))
        return FirstAnswer(
            today=today,
            changed=changed,
            thresholds={str(r): each for r, each in assumed.thresholds.items()},
            bands={str(r): each for r, each in assumed.bands.items()},
        )

    def _today_side(self, play: Play, player: Player) -> Side:
        """Return today's figures, which depend on the options and the growth alone."""
        key = (play.request, play.document.get("growth"))
        if self._today is None or self._today[0] != key:
            self._today = (key, _side(player.played_today()))
        return self._today[1]

    def plan(self, play: Play) -> PlanAnswer:
        """
        Return the figures after the plan.

        Raises
        ------
        BadInputError
            As for `first`.
        """
        played = self._planned(play)
        plan = played.plan
        assert plan is not None  # noqa: S101 - the play has a plan
        facts = _facts(plan, played)
        return PlanAnswer(
            side=_side(played),
            lines=tuple(verdict_lines(facts)),
            proofs=tuple(certificate_rows(facts.document["certificate"])),
            names_log_dirs=_names_log_dirs(played),
        )

    def _planned(self, play: Play) -> Played:
        if self._last is None or self._last[0] != play:
            player = self._player(play, PLANNED)
            self._last = (play, player.played(player.scenario(0)))
        return self._last[1]

    def write(self, play: Play, folder: Path) -> None:
        """
        Write the plan: today's as `plan rebalance` does, others as `what-if` does.

        Raises
        ------
        BadInputError
            If something other than a plan is in its place, or it cannot be written.
        """
        if not play.has_plan:
            rule, remedy = "there is no plan", "let the brokers be rebalanced first"
            found = problem(str(folder), "", None, rule, remedy)
            msg = "nothing to write"
            raise BadInputError(msg, [found])
        if play.is_of_today:
            self._write_today(play, folder)
            return
        player = self._player(play, PLANNED)
        check_output(folder, (player.scenario(0),))
        player.write(player.scenario(0), self._planned(play), folder)

    def _write_today(self, play: Play, folder: Path) -> None:
        check_plan_output(folder)
        request = PlanRequest(
            "rebalance",
            band=play.request.band,
            capacity_threshold=play.request.capacity_threshold,
            effort=play.request.effort,
            with_log_dirs=_names_log_dirs(self._planned(play)) or None,
        )
        planned = make(
            self._state,
            request,
            taken_at=self._snapshot.taken_at,
            resources=self._snapshot.topic_resources(),
        )
        write_plan(planned.plan, folder)


def written_plan(play: Play, folder: Path) -> Path:
    """Return the place of the plan folder inside the folder of `Answerer.write`."""
    return folder if play.is_of_today else folder / PLANNED / "plan"


def _names_log_dirs(played: Played) -> bool:
    """Return whether a plan was asked to choose log dirs as well."""
    placed = played.outcome.placed
    return placed is not None and bool(placed.draft.settings.names_log_dirs)


def _side(played: Played) -> Side:
    return Side(row=played.document, loads=loads_of(played.outcome.figures))


def _facts(plan: Plan, played: Played) -> PlanFacts:
    return PlanFacts(
        document=to_document(plan),
        moves=(),
        elected=int(elections(plan).sum()),
        findings=played.findings,
    )

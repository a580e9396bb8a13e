"""The page and its parts as HTML, by templates that escape every text."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from planner.errors import PlannerError
from planner.report.html_page import shown, style_text
from planner.snapshot import Snapshot
from planner.text.data_age import age_text
from planner.text.format import percent_text
from planner.ui.step_words import THEN, step_text
from planner.ui.ui_answer import FirstAnswer, PlanAnswer
from planner.ui.ui_cluster import SHOWN, Painter
from planner.ui.ui_facts import comparison
from planner.ui.ui_scenarios import plan_words, what_if_words
from planner.ui.ui_session import Answer
from planner.ui.ui_state import CAPS, EFFORTS, UiState
from planner.what_if.what_if_screen import reasons_of

if TYPE_CHECKING:
    from jinja2 import Environment

SLIDERS = (
    ("traffic", "Traffic, times today's", 0, 5, 0.05),
    ("growth", "Growth, % per month", -10, 50, 0.5),
    ("months", "Months from now", 0, 36, 1),
)
"""Setting, label, least and greatest value, and step of each slider."""
COLUMNS = ("Today", "After the changes, nothing moved", "After the plan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """
    Cluster of the page.

    Parameters
    ----------
    snapshot
        The cluster.
    name
        Snapshot as the command line names it.
    """

    snapshot: Snapshot
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """
    Contents of a page.

    Parameters
    ----------
    cluster
        Cluster of the page.
    state
        Steps of the operator.
    show
        Resource of the colours.
    answer
        Answer to the state; `None` where its steps are refused.
    error
        Refusal of the steps or of an action.
    """

    cluster: Cluster
    state: UiState
    show: str
    answer: Answer | None = None
    error: PlannerError | None = None

    @property
    def query(self) -> str:
        """Query of the address that restores the view."""
        given = {"steps": self.state.text()} if self.state.steps else {}
        return urlencode({**given, "show": self.show})


def page_html(view: View) -> str:
    """Return the whole page."""
    from importlib.metadata import version

    return _render("page.html", {**_facts(view), "version": version("kafka-planner")})


def main_html(view: View) -> str:
    """Return the part of the page that a change replaces."""
    return _render("main.html", _facts(view))


def answer_html(view: View) -> str:
    """Return what finished figures or a plan replace: the answer, and the picture."""
    return _render("answer.html", {**_facts(view), "is_swap": True})


def progress_html(view: View) -> str:
    """Return the line of progress of figures or a plan."""
    return _render("progress.html", _facts(view))


def problems_html(error: PlannerError) -> str:
    """Return problems with their remedies."""
    return _render("problems.html", {"error": error})


def written_html(place: str) -> str:
    """Return the message that a plan was written."""
    return _render("written.html", {"place": place})


def _render(name: str, facts: Mapping[str, Any]) -> str:
    text: str = _environment().get_template(name).render(**facts)
    return text


def _facts(view: View) -> dict[str, Any]:
    snapshot = view.cluster.snapshot
    return {
        "view": view,
        "error": view.error,
        "steps": view.state.text(),
        "step_texts": [step_text(step) for step in view.state.steps],
        "settings": view.state.settings,
        "sliders": SLIDERS,
        "caps": CAPS,
        "efforts": EFFORTS,
        "then": THEN,
        "shown": SHOWN,
        "name": snapshot.cluster_id or view.cluster.name,
        "age": age_text(snapshot.taken_at, datetime.now(UTC)).removeprefix(", "),
        "is_swap": False,
        **({} if view.answer is None else _answer_facts(view, view.answer)),
    }


def _answer_facts(view: View, answer: Answer) -> dict[str, Any]:
    drawn = answer.first or answer.earlier
    return {
        "answer": answer,
        "pending": answer.pending,
        "waits": "figures" if answer.first is None else "plan",
        "refused": answer.refused,
        "plan": answer.plan,
        "is_earlier": answer.first is None,
        "usual": _usual(drawn),
        "commands": _commands(view, answer, answer.plan),
        **({} if drawn is None else _picture_facts(view, answer, drawn)),
        **({} if answer.first is None else _figure_facts(answer, answer.first)),
    }


def _picture_facts(view: View, answer: Answer, drawn: FirstAnswer) -> dict[str, Any]:
    """Return the cluster as it is drawn: from the figures before until new ones are."""
    painter = Painter(drawn, answer.plan, view.state.steps, view.show)
    return {"racks": painter.racks(), "omits_log_dirs": painter.omits_log_dirs}


def _figure_facts(answer: Answer, first: FirstAnswer) -> dict[str, Any]:
    plan = answer.plan
    sides = [first.today, first.changed]
    rows = [*(side.row for side in sides), None if plan is None else plan.side.row]
    if not answer.play.has_plan:
        rows = rows[:2]
    return {
        "heads": COLUMNS[: len(rows)],
        "rows": comparison(rows),
        "verdict": _verdict([row for row in rows if row is not None]),
        "notes": list(dict.fromkeys(n for row in rows if row for n in row["notes"])),
        "shortfalls": [] if plan is None else plan.side.row["shortfalls"],
    }


def _verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    today, changed, *planned = map(_held, rows)
    changed = "the same" if changed == today else changed
    parts = [f"Today: {today}", f"after the changes, as it is: {changed}"]
    parts += [f"with the plan: {words}" for words in planned]
    return "; ".join(parts) + "."


def _held(row: Mapping[str, Any]) -> str:
    """Return whether a row holds, as text, with the first reason why it does not."""
    if row["holds"]:
        return "holds"
    reason = next(iter(reasons_of(row)), "")
    return f"does not hold ({reason})" if reason else "does not hold"


def _usual(first: FirstAnswer | None) -> dict[str, str]:
    """Return the values that hold, for bands and caps that no step sets."""
    if first is None:
        return dict.fromkeys((*CAPS, "band"), "")
    bands = set(first.bands.values())
    band = percent_text(bands.pop()) if len(bands) == 1 else ""
    caps = {name: percent_text(each) for name, each in first.thresholds.items()}
    return {**caps, "band": band}


def _commands(view: View, answer: Answer, plan: PlanAnswer | None) -> list[str]:
    name = view.cluster.name
    words = [what_if_words(answer.play, name)]
    if answer.play.is_of_today:
        names_log_dirs = plan is not None and plan.names_log_dirs
        words.append(plan_words(answer.play, name, names_log_dirs=names_log_dirs))
    return [shlex.join(each) for each in words]


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("planner.ui"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    # Sent as text of an attribute, which the template escapes.
    environment.filters["json"] = json.dumps
    return environment


@cache
def static_file(name: str) -> tuple[bytes, str] | None:
    """Return contents and media type of a file of the page; `None` for no such file."""
    if name == "page.css":
        own = files("planner.ui").joinpath("static", "page.css").read_bytes()
        return style_text().encode() + own, "text/css; charset=utf-8"
    if name in {"page.js", "htmx.min.js"}:
        found = files("planner.ui").joinpath("static", name).read_bytes()
        return found, "text/javascript; charset=utf-8"
    return None

"""The page's application: its addresses, each answered from one session."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from planner.errors import PlannerError
from planner.io.problems import problem
from planner.snapshot import write_snapshot
from planner.ui import ui_pages as pages
from planner.ui.ui_actions import Form, forms_of, next_state
from planner.ui.ui_answer import written_plan
from planner.ui.ui_cluster import SHOWN
from planner.ui.ui_pages import Cluster, View
from planner.ui.ui_play import Play, play_of
from planner.ui.ui_scenarios import scenarios_text
from planner.ui.ui_security import Guard
from planner.ui.ui_session import Answer, Session
from planner.ui.ui_state import PAGE, UiState, bad_state, parse_state
from planner.ui.ui_worker import Refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Names of folders that the page may write."""


class UiApp:
    """
    Application of the page.

    Parameters
    ----------
    session
        Answers for the cluster.
    name
        Snapshot as the command line names it.
    output
        Folder in which plan folders are written.
    """

    def __init__(self, session: Session, name: str, output: Path) -> None:
        self._session = session
        self._cluster = Cluster(snapshot=session.snapshot, name=name)
        self._output = output

    def guarded(self, token: str, port: int) -> Guard:
        """Return the application behind its guard."""
        from starlette.applications import Starlette
        from starlette.routing import Route

        addresses = {
            "": self.page,
            "change": self.change,
            "answer": self.answer,
            "stop": self.stop,
            "scenarios.toml": self.scenarios,
            "snapshot.json.gz": self.snapshot,
            "static/{name}": self.static,
        }
        # Plain functions: Starlette runs each in a thread, so that all stay alive.
        routes = [Route(f"/{{token}}/{path}", to) for path, to in addresses.items()]
        routes.append(Route("/{token}/write", self.write, methods=["POST"]))
        return Guard(Starlette(routes=routes), token, port)

    async def page(self, request: "Request") -> "Response":
        """Return the whole page of the steps in the address."""
        return await self._in_turn(self._page, request.query_params)

    async def _in_turn(
        self,
        answer: Callable[[Mapping[str, str], int], "Response"],
        given: Mapping[str, str],
    ) -> "Response":
        """Answer in a thread, which another one of a newer request may overtake."""
        from starlette.concurrency import run_in_threadpool

        return await run_in_threadpool(answer, given, self._session.turn())

    def _page(self, given: Mapping[str, str], turn: int) -> "Response":
        view = self._view(given, lambda play: self._session.answer(play, turn=turn))
        return _html(pages.page_html(view), status=200 if view.error is None else 400)

    async def change(self, request: "Request") -> "Response":
        """Return the page after actions; a refused action changes nothing."""
        return await self._in_turn(self._change, request.query_params)

    def _change(self, given: Mapping[str, str], turn: int) -> "Response":
        try:
            view = self._changed(given, turn)
        except PlannerError as error:
            target = {"HX-Retarget": "#messages", "HX-Reswap": "innerHTML"}
            return _html(pages.problems_html(error), target)
        return _html(pages.main_html(view), {"HX-Push-Url": f"./?{view.query}"})

    def _changed(self, given: Mapping[str, str], turn: int) -> View:
        """
        Return the view after the actions of a request, with what is refused of them.

        Raises
        ------
        PlannerError
            If all are refused.
        """
        shown, forms = parse_state(given.get("steps", "")), forms_of(given)
        state, refused = _applied(shown, forms)
        try:
            answer = self._session.answer(play_of(state), turn=turn)
        except PlannerError:
            # Each is tried by itself, to refuse none but those that are impossible.
            state, refused = _applied(shown, forms, self._session.check)
            answer = self._session.answer(play_of(state), turn=turn)
        return View(
            cluster=self._cluster,
            state=state,
            show=_show(given),
            answer=answer,
            error=_joined(refused) if refused else None,
        )

    def answer(self, request: "Request") -> "Response":
        """Return the progress, or the whole answer once what was awaited is there."""
        given = request.query_params
        view = self._view(given, self._present)
        answer = view.answer
        is_new = given.get("waits") == "figures" and answer and answer.first
        if answer is not None and answer.pending is not None and not is_new:
            return _html(pages.progress_html(view))
        target = {"HX-Retarget": "#answer", "HX-Reswap": "outerHTML"}
        return _html(pages.answer_html(view), target)

    def stop(self, request: "Request") -> "Response":
        """Stop what is being made, and return the answer without it."""
        self._session.stop()
        return self.answer(request)

    def scenarios(self, request: "Request") -> "Response":
        """Return the steps as a scenarios file."""
        from starlette.responses import Response

        view = self._view(request.query_params, self._checked)
        if view.answer is None:
            return _html(pages.page_html(view), status=400)
        text = scenarios_text(view.answer.play, self._cluster.name)
        return Response(text, media_type="application/toml")

    def snapshot(self, _: "Request") -> "Response":
        """Return the cluster of the page as a snapshot."""
        from starlette.responses import Response

        with TemporaryDirectory() as folder:
            path = Path(folder) / "snapshot.json.gz"
            write_snapshot(self._session.snapshot, path)
            return Response(path.read_bytes(), media_type="application/gzip")

    async def write(self, request: "Request") -> "Response":
        """Write the plan of the steps to a folder."""
        from starlette.concurrency import run_in_threadpool

        # Starlette's own reader of forms needs a further library.
        form = dict(parse_qsl((await request.body()).decode(errors="replace")))
        return await run_in_threadpool(self._write, form)

    def _write(self, form: Mapping[str, str]) -> "Response":
        try:
            folder = self._folder(form.get("folder", ""))
            play = play_of(parse_state(form.get("steps", "")))
            outcome = self._session.write(play, folder).outcome
        except PlannerError as error:
            return _html(pages.problems_html(error))
        if isinstance(outcome, Refused):
            return _html(
                pages.problems_html(PlannerError(outcome.message, outcome.problems))
            )
        return _html(pages.written_html(str(written_plan(play, folder))))

    def _folder(self, name: str) -> Path:
        if not FOLDER.fullmatch(name):
            rule = "must be a name of letters, digits, dots, _ and -, without slashes"
            remedy = f"enter such a name; the folder is written in {self._output}"
            raise bad_state([problem(PAGE, "folder", name, rule, remedy)])
        return self._output / name

    def static(self, request: "Request") -> "Response":
        """Return a file of the page."""
        from starlette.responses import PlainTextResponse, Response

        found = pages.static_file(request.path_params["name"])
        if found is None:
            return PlainTextResponse("There is no such file.\n", status_code=404)
        return Response(found[0], media_type=found[1])

    def _present(self, play: Play) -> Answer:
        """Return the answer as it is."""
        return self._session.answer(play, starts=False, waits=False)

    def _checked(self, play: Play) -> Answer:
        """Return the answer without figures, once the state is known to be possible."""
        self._session.check(play)
        return Answer(play)

    def _view(self, given: Mapping[str, str], found: Callable[[Play], Answer]) -> View:
        """Return the view of an address; without an answer where it is refused."""
        show, state = _show(given), UiState()
        try:
            state = parse_state(given.get("steps", ""))
            answer = found(play_of(state))
        except PlannerError as error:
            return View(cluster=self._cluster, state=state, show=show, error=error)
        return View(cluster=self._cluster, state=state, show=show, answer=answer)


def _applied(
    shown: UiState,
    forms: Sequence[Form],
    check: Callable[[Play], object] = lambda _: None,
) -> tuple[UiState, list[PlannerError]]:
    """
    Return the state after the forms that are not refused, and the refusals.

    Raises
    ------
    PlannerError
        If all are refused.
    """
    state, refused = shown, list[PlannerError]()
    for form in forms:
        try:
            changed = next_state(state, form, shown)
            check(play_of(changed))
        except PlannerError as error:
            refused.append(error)
        else:
            state = changed
    if len(refused) == len(forms):
        raise _joined(refused)
    return state, refused


def _joined(errors: Sequence[PlannerError]) -> PlannerError:
    """Return one error of several, with the problems of all."""
    return PlannerError(errors[0].message, [p for one in errors for p in one.problems])


def _show(given: Mapping[str, str]) -> str:
    show = given.get("show", "disk")
    return show if show in SHOWN else "disk"


def _html(
    text: str, headers: Mapping[str, str] | None = None, status: int = 200
) -> "Response":
    from starlette.responses import HTMLResponse

    return HTMLResponse(text, status_code=status, headers=headers)

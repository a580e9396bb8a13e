"""Controls of a run from another terminal: a small file beside the journal."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from planner.errors import InputProblem, raise_problems
from planner.options.declared.option import Problems
from planner.options.declared.value_readers import read_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """
    Settings that an operator has changed since the run began.

    Parameters
    ----------
    throttle_bytes_per_s
        Rate of copies; `None`: as the run chose it.
    is_paused
        Whether no copy may begin.
    is_stopped
        Whether the run ends: another command takes over.
    """

    throttle_bytes_per_s: int | None = None
    is_paused: bool = False
    is_stopped: bool = False


def control_path(journal: Path) -> Path:
    """Return the file of the controls that belongs to a journal."""
    return journal.with_name(f"{journal.name}.control")


class ControlFile:
    """
    File of the controls.

    Parameters
    ----------
    path
        Path of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Controls:
        """Return the controls; the defaults if there is no file."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return Controls(**found)
        except (OSError, ValueError, TypeError):
            return Controls()

    def write(self, controls: Controls) -> None:
        """Replace the controls as a whole."""
        fresh = self.path.with_name(f"{self.path.name}.new")
        fresh.write_text(json.dumps(asdict(controls)), encoding="utf-8")
        fresh.replace(self.path)

    def remove(self) -> None:
        """Forget the controls of an earlier run."""
        self.path.unlink(missing_ok=True)

    def set(self, texts: list[str]) -> Controls:
        """
        Change the controls: ``pause``, ``resume`` or ``throttle=80MB/s``.

        Raises
        ------
        BadInputError
            With every text that is none of these.
        """
        controls, problems = self.read(), list[InputProblem]()
        for text in texts:
            found = Problems("--set")
            controls = _changed(controls, text, found)
            problems += found.found
        raise_problems("bad options", problems)
        self.write(controls)
        return controls


def _changed(controls: Controls, text: str, problems: Problems) -> Controls:
    name, _, value = text.strip().partition("=")
    if name in {"pause", "resume"} and not value:
        return replace(controls, is_paused=name == "pause")
    if name == "throttle" and value:
        return replace(controls, throttle_bytes_per_s=read_rate(value, problems))
    rule = "must be pause, resume or throttle=RATE"
    problems.refuse(text, rule, "write throttle=80MB/s")
    return controls

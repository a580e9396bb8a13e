"""
Classification of lines of pasted text as data or noise.

Data takes precedence: a line that matches the format is never noise. Of the other
lines, those that are certainly not data and those that report the failure of a tool are
made blank, so that all lines keep their numbers. The remaining lines stay, and the
parser of the format rejects them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from planner.pasted_text.noise import (
    COMMAND,
    LOG,
    PROMPT,
    Noise,
    is_logged_setting,
    is_stack_trace,
    is_words,
    noise_of,
    tool_failure,
)
from planner.pasted_text.wrapping import unwrapped

_NEVER = re.compile(r"(?!)")
_CONTINUED = ("\\", "`", "^")
_LOGGED_SETTINGS = "values:"
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """
    Patterns of the lines of one format.

    Parameters
    ----------
    data
        Pattern of the start of a data line.
    marks
        Pattern of text that never occurs in noise; a line that contains it is data.
    hints
        Pattern of text that may be the remainder of a wrapped data line.
    has_words
        Whether sentences are noise. In YAML and CSV a sentence may be data, except
        outside of the fences around the data.
    """

    data: re.Pattern[str]
    marks: re.Pattern[str] = _NEVER
    hints: re.Pattern[str] = _NEVER
    has_words: bool = True

    def is_data(self, line: str) -> bool:
        """Return whether a line has the form of data."""
        return bool(self.data.match(line) or self.marks.search(line))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pasted:
    """
    Text without noise.

    Parameters
    ----------
    text
        Text with blank lines in place of noise, so that lines keep their numbers.
    body
        Text with noise, but without prefixes that tools put before every line.
    original
        Unchanged text.
    passed
        Numbers and kinds of the skipped lines.
    commands
        Command lines as typed, with their line numbers.
    failures
        Numbers of the lines that report the failure of a tool.
    """

    text: str
    body: str
    original: str
    passed: tuple[tuple[int, Noise], ...] = ()
    commands: tuple[tuple[int, str], ...] = ()
    failures: tuple[int, ...] = ()


def passed_note(
    file: str, count: int, first: tuple[int, Noise] | None
) -> tuple[str, ...]:
    """Return the note on the number of skipped lines, with the first as example."""
    if first is None:
        return ()
    number, noise = first
    lines = "1 line that is" if count == 1 else f"{count} lines that are"
    example = f"line {number}, {noise.kind}"
    if noise.shown:
        example += f": {noise.shown}"
    return (f"{file}: {lines} no data passed over (first {example})",)


def clean(text: str, form: Form) -> Pasted:
    """
    Return a text with blank lines in place of noise.

    Parameters
    ----------
    text
        Decoded text.
    form
        Patterns of the lines that are data.
    """
    wrapped = text.split("\n")
    lines = unwrapped(wrapped, form.is_data)
    is_unwrapped = lines is not wrapped
    body = "\n".join(lines) if is_unwrapped else text
    is_data = form.data.match
    outside = frozenset() if form.has_words else _outside_of_fences(lines)
    others = [
        at
        for at, line in enumerate(lines)
        if line and (at in outside or not is_data(line))
    ]
    sorter = _Sorter(form, outside)
    passed = list(sorter.sort(lines, others))
    blank = [at for at, _ in passed] + [number - 1 for number in sorter.failures]
    for at in blank:
        lines[at] = ""
    return Pasted(
        text="\n".join(lines) if blank else body,
        body=body,
        original=text,
        passed=tuple((at + 1, noise) for at, noise in passed),
        commands=tuple(sorter.commands),
        failures=tuple(sorter.failures),
    )


def _outside_of_fences(lines: list[str]) -> frozenset[int]:
    """Return the lines outside of all fences; none if a fence is unpaired."""
    fences = [at for at, line in enumerate(lines) if line.lstrip().startswith(_FENCES)]
    if not fences or len(fences) % 2:
        return frozenset()
    pairs = zip(fences[::2], fences[1::2], strict=True)
    inside = {at for first, last in pairs for at in range(first, last + 1)}
    return frozenset(range(len(lines))) - inside


class _Sorter:
    """
    Classifier of the lines that do not have the form of data.

    A command continues after a line that ends in a backslash, a back-tick or a caret; a
    log line continues with a stack trace, or with the settings of a client.
    """

    def __init__(self, form: Form, outside: frozenset[int]) -> None:
        self.form = form
        self._outside = outside
        self.commands: list[tuple[int, str]] = []
        self.failures: list[int] = []
        self._last = -2
        self._goes_on = ""

    def sort(self, lines: list[str], others: list[int]) -> Iterator[tuple[int, Noise]]:
        """Yield the index and the kind of each noise line."""
        for at in others:
            line = lines[at].rstrip()
            if not line:
                continue
            if at != self._last + 1:
                self._goes_on = ""
            # A last line without a line break may be cut off.
            noise = self._noise(at, line, is_whole=at < len(lines) - 1)
            if noise is not None:
                self._last = at
                yield at, noise

    def _noise(self, at: int, line: str, *, is_whole: bool) -> Noise | None:
        if self.form.marks.search(line):
            return None
        noise = self._continued(at, line) or noise_of(line)
        if noise is None and tool_failure(line):
            self.failures.append(at + 1)
            return None
        if noise is None and is_whole and self._is_words(at, line):
            noise = Noise("words", "")
        if noise is not None:
            self._remember(at, line, noise)
        return noise

    def _is_words(self, at: int, line: str) -> bool:
        form = self.form
        may_be = form.has_words or at in self._outside
        return may_be and is_words(line) and not form.hints.search(line)

    def _continued(self, at: int, line: str) -> Noise | None:
        """Return the kind of noise if the line continues the noise line above it."""
        if self._goes_on == COMMAND:
            number, command = self.commands[-1]
            self.commands[-1] = (number, f"{command[:-1]} {line.strip(' >')}")
            return Noise(COMMAND, "")
        if is_stack_trace(line):
            return Noise("a stack trace", "")
        if self._goes_on == LOG and tool_failure(line):
            return Noise("a stack trace", "")
        if self._goes_on == _LOGGED_SETTINGS and is_logged_setting(line):
            return Noise("a logged setting", "")
        return None

    def _remember(self, at: int, line: str, noise: Noise) -> None:
        if noise.kind in {PROMPT, COMMAND}:
            if self._goes_on != COMMAND:
                self.commands.append((at + 1, line.strip()))
            self._goes_on = COMMAND if line.endswith(_CONTINUED) else ""
        elif noise.kind == LOG:
            is_list = line.endswith(_LOGGED_SETTINGS)
            self._goes_on = _LOGGED_SETTINGS if is_list else LOG

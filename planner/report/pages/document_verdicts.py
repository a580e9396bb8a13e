"""Verdicts on documents of commands: the sentence that a reader needs first."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.failures.failures_screen import VERDICT_LABELS
from planner.report.pages.group_pages import assignment_verdict, group_what_if_verdict
from planner.score.score_summary import NOW
from planner.score.score_verdict import WRONG
from planner.text.format import plural
from planner.what_if.what_if_screen import (
    held_text,
    scenario_name,
    scenario_verdict,
    sweep_lines,
)

Document = Mapping[str, Any]


def verdicts_of(name: str, document: Document) -> list[str]:
    """
    Return the verdict of a document: one sentence, or one for each kind of loss.

    Parameters
    ----------
    name
        Name of its schema.
    document
        The document.
    """
    if document.get("summary"):
        lines = document["summary"]
        return [f"{x['label']}: {x['text']}" for x in lines if _is_verdict(name, x)]
    return [_VERDICTS[name](document)]


def lines_of(name: str, document: Document) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line of the screen below the verdict."""
    if name == "what-if":
        yield from scenario_lines(document)
    for line in document.get("summary", ()):
        if not _is_verdict(name, line):
            yield line["label"], line["text"]


def _is_verdict(name: str, line: Document) -> bool:
    """Return whether a line of a summary is the verdict, or one of them."""
    label: str = line["label"]
    if name == "failures":
        return label in VERDICT_LABELS.values()
    if name == "score":
        return label in {NOW, "Wrong"}
    return label == "Answer" or label.endswith(" lost")


def _what_if(document: Document) -> str:
    held = [row["name"] for row in document["scenarios"] if not row["holds"]]
    if held:
        return f"These scenarios do not hold: {', '.join(held)}."
    return "Every scenario holds."


def scenario_lines(document: Document) -> Iterator[tuple[str, str]]:
    """Yield name and verdict of each scenario and sweep, in the words of the screen."""
    rows = document["scenarios"]
    yield "all", held_text(rows)
    for row in rows:
        if row["sweep"] is None:
            yield scenario_name(row), scenario_verdict(row, document["today"])
    for name in dict.fromkeys(row["sweep"] for row in rows if row["sweep"]):
        points = [row for row in rows if row["sweep"] == name]
        text = " ".join(line.strip() for line in sweep_lines(name, points))
        yield name, text.removeprefix(f"{name}: ")


def _status(document: Document) -> str:
    return {
        "fine": "Nothing is wrong now.",
        "unknown": "Nothing is known to be wrong; some facts are unknown.",
        "wrong": "Something is wrong now: see below.",
    }[document["status"]]


def _score(document: Document) -> str:
    """Return the violations that a document without the screen's words counts."""
    counts = document["violations"]
    texts = [
        f"{plural(counts[rule], noun)} {words}"
        for rule, (noun, words) in WRONG.items()
        if counts[rule]
    ]
    return f"Wrong: {'; '.join(texts) or 'no rule that is counted'}"


def _skew(document: Document) -> str:
    factor = document["max_over_mean"]
    return f"The busiest partition has {factor:.3f} times the mean."


def _check(document: Document) -> str:
    if document["ok"]:
        return "The checker finds no broken rule."
    return f"The checker has {plural(len(document['findings']), 'finding')}."


def _verify(document: Document) -> str:
    counts = {
        key.replace("_", " "): value
        for key, value in document["partitions"].items()
        if value
    }
    parts = ", ".join(f"{count} {words}" for words, count in counts.items())
    state = document["status"].replace("-", " ")
    return f"The plan is {state}: {parts or 'no partition changes'}."


_VERDICTS: Mapping[str, Callable[[Document], str]] = {
    "what-if": _what_if,
    "status": _status,
    "check": _check,
    "verify": _verify,
    "keys-skew": _skew,
    "score": _score,
    "group-assignment": assignment_verdict,
    "group-what-if": group_what_if_verdict,
}

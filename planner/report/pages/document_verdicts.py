"""Verdicts on documents of commands: the sentence that a reader needs first."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.report.pages.group_pages import assignment_verdict, group_what_if_verdict
from planner.text.format import plural
from planner.what_if.what_if_screen import (
    held_text,
    scenario_name,
    scenario_verdict,
    sweep_lines,
)

Document = Mapping[str, Any]
_DAMAGE = {
    "offline": "partition {} offline",
    "under_min_isr": "partition {} under min ISR",
    "pushed_over_threshold": "survivor {} pushed over a threshold",
}
_NO_MAJORITY = "the controllers lose their majority"
_IF_MAJORITY = "if the controllers keep their majority"


def verdict_of(name: str, document: Document) -> str:
    """
    Return the verdict of a document.

    Parameters
    ----------
    name
        Name of its schema.
    document
        The document.
    """
    return _VERDICTS[name](document)


def _failures(document: Document) -> str:
    before = " and ".join(_damage(document["now"]))
    already = f"{before} already, with no loss. Of the others: " if before else ""
    return already + " ".join(
        _loss_sentence(kind, answer, document)
        for kind, answer in document["verdict"].items()
    )


def _loss_sentence(kind: str, answer: Document, document: Document) -> str:
    noun, survives = kind.replace("_", " "), answer["survives"]
    if survives is None:
        return f"Any one {noun}: unknown."
    if survives:
        # A log dir takes no controller along.
        is_known = answer["controllers_keep_majority"] is not None
        condition = "" if is_known or kind == "log_dir" else f", {_IF_MAJORITY}"
        return f"Any one {noun} may fail{condition}."
    worst = next(iter(document["single"][kind]), None)
    if worst is None:
        return f"Not every {noun} may fail: no {noun} is live."
    if worst["survives"]:
        return f"Not every {noun} may fail: {_NO_MAJORITY}."
    lost = ", ".join(map(str, worst["lost"]))
    damage = "; ".join(_damage(worst)) or "not survived"
    return f"Not every {noun} may fail: without {lost}, {damage}."


def _damage(loss: Document) -> Iterator[str]:
    for key, words in _DAMAGE.items():
        if count := loss.get(key):
            noun, _, rest = words.partition(" {} ")
            yield f"{plural(count, noun)} {rest}"


def _loss(document: Document) -> str:
    lost = ", ".join(document["lost"])
    caused = document["caused"]
    merged = {**caused, "pushed_over_threshold": document["pushed_over_threshold"]}
    hurt = [*_damage(merged)]
    if document["controllers_keep_majority"] is False:
        hurt.append(_NO_MAJORITY)
    if hurt:
        return f"Without {lost}: {'; '.join(hurt)}."
    at_min = plural(caused["at_min_isr"], "partition")
    return f"All partitions stay available without {lost}; {at_min} then at min ISR."


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


def _size(document: Document) -> str:
    if not document["fleet"]:
        return "No number of brokers was found that carries the load."
    fleet = ", ".join(f"{one['brokers']} {one['type']}" for one in document["fleet"])
    today = plural(document["today"], "broker")
    if document["status"] == "exact":
        return f"Needed: {fleet}. Nothing less will do. Today: {today}."
    bound = document["lower_bound"]
    return f"Needed: {fleet}. Proven: not less than {bound:g}. Today: {today}."


def _status(document: Document) -> str:
    return {
        "fine": "Nothing is wrong now.",
        "unknown": "Nothing is known to be wrong; some facts are unknown.",
        "wrong": "Something is wrong now: see below.",
    }[document["status"]]


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
    "failures": _failures,
    "failures-scenario": _loss,
    "what-if": _what_if,
    "size": _size,
    "status": _status,
    "check": _check,
    "verify": _verify,
    "keys-skew": _skew,
    "group-assignment": assignment_verdict,
    "group-what-if": group_what_if_verdict,
}

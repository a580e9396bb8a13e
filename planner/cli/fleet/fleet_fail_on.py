"""`--fail-on` of fleets: conditions on every cluster."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner.cli.fleet.fleet_lines import print_wrapped

if TYPE_CHECKING:
    from planner.score.fail_on import Condition

OVERVIEW = "ask for it with 'fleet overview --fail-on'"
NOT_ON_SPARK = {"min_bytes_to_balance": OVERVIEW, "num_hot_spots": OVERVIEW}
"""Figures of a score that Spark does not compute, with the command that does."""


def judged(
    documents: Sequence[dict[str, Any]],
    conditions: "Mapping[str, Condition]",
    figures_of: Callable[[dict[str, Any]], Mapping[str, Any]] = dict,
) -> list[str]:
    """
    Add the answers to the documents of clusters; return a sentence per failure.

    A cluster without figures fails every condition: a monitor without data must raise
    an alarm.

    Parameters
    ----------
    documents
        One per cluster, with `status`; those with ``ok`` have figures.
    conditions
        Conditions by their texts.
    figures_of
        Function that returns the figures of a document for the conditions.
    """
    from planner.score.fail_on import evaluate_known

    failing = []
    for document in documents if conditions else ():
        found = (
            evaluate_known(conditions, figures_of(document))
            if document["status"] == "ok"
            else [{"condition": c, "holds": None, "unknown": "all"} for c in conditions]
        )
        document["fail_on"] = found
        name = str(document["cluster_id"])
        failing += [f"{name}: {_words(each)}" for each in found if _fails(each)]
    return failing


def print_failing(failing: Sequence[str]) -> None:
    """Print a line for each condition that a cluster fails."""
    for text in failing:
        print_wrapped(text)


def _fails(answer: Mapping[str, Any]) -> bool:
    return answer["holds"] is not False


def _words(answer: Mapping[str, Any]) -> str:
    option = f"--fail-on {answer['condition']}"
    if answer["holds"]:
        return f"{option} holds"
    if answer["unknown"] == "all":
        return f"{option} is unknown: the last snapshot has no figures"
    return f"{option} is unknown: {answer['unknown']} is not known"

"""`--fail-on` of fleets: conditions asked of every cluster."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner.cli.fleet.fleet_lines import print_wrapped

if TYPE_CHECKING:
    from planner.score.fail_on import Condition

OVERVIEW = "ask for it with 'fleet overview --fail-on'"
NOT_ON_SPARK = {"min_bytes_to_balance": OVERVIEW, "num_hot_spots": OVERVIEW}
"""Figures of a score that Spark does not compute, and where they are."""


def judged(
    documents: Sequence[dict[str, Any]],
    conditions: "Mapping[str, Condition]",
    figures_of: Callable[[dict[str, Any]], Mapping[str, Any]] = dict,
) -> list[str]:
    """
    Put the answers into the documents of clusters; return what fails, in words.

    A cluster of which nothing is known fails every condition: a watch that cannot see
    must not stay quiet.

    Parameters
    ----------
    documents
        One per cluster, with `status`; those that are ``ok`` have figures.
    conditions
        By their texts.
    figures_of
        Returns a document as conditions ask it.
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
    said = f"--fail-on {answer['condition']}"
    if answer["holds"]:
        return f"{said} holds"
    if answer["unknown"] == "all":
        return f"{said} cannot be judged: nothing is known of its last snapshot"
    return f"{said} cannot be judged: {answer['unknown']} is not known"

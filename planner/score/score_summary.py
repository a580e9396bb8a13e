"""Verdict of a score in the words of its screen, for documents and pages."""

from collections.abc import Iterator

from planner.score.make_score import Scored
from planner.score.score_verdict import (
    assumed_text,
    balance_text,
    binding_text,
    wrong_text,
)
from planner.status.impossible_facts import impossible_texts
from planner.status.status_lines import moving_text, trouble_texts

NOW = "Wrong now"
"""Label of the line that names the troubles of the moment."""


def summary_lines(scored: Scored) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line of the verdict, the troubles first."""
    status = scored.status
    troubles = [] if status is None else list(trouble_texts(status))
    if status is not None and status.is_wrong and troubles:
        yield NOW, "; ".join(troubles)
    yield "Wrong", wrong_text(scored.score)
    yield "Balance", balance_text(scored.score)
    yield "Binds", binding_text(scored)
    yield "Assumed", assumed_text(scored)
    if status is None:
        return
    for text in impossible_texts(status.state, status.troubles.impossible):
        yield "Cannot be", text
    if len(status.troubles.moves.partition_idx):
        yield "Moving now", moving_text(status)

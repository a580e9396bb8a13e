"""Verdicts of pages on failures: what is unknown, lost, or refused already."""

from typing import Any

import pytest

from planner.report.pages.document_verdicts import verdict_of

FINE: dict[str, Any] = {"lost": [1], "survives": True, "offline": 0}
FINE |= {"under_min_isr": 0, "pushed_over_threshold": 0}


def failures(survives: bool, majority: bool | None, *, singles: Any, **now: int) -> Any:
    """Return the document of all failures, of brokers alone."""
    answer = {"survives": survives, "controllers_keep_majority": majority}
    return {
        "verdict": {"broker": answer},
        "single": {"broker": singles},
        "now": {"offline": 0, "under_min_isr": 0} | now,
    }


@pytest.mark.parametrize(
    ("document", "text"),
    [
        pytest.param(
            failures(True, True, singles=[FINE]), "Any one broker may fail.", id="fine"
        ),
        pytest.param(
            failures(True, None, singles=[FINE]),
            "Any one broker may fail, if the controllers keep their majority.",
            id="unknown-voters",
        ),
        pytest.param(
            failures(False, None, singles=[]),
            "Not every broker may fail: no broker is live.",
            id="no-broker",
        ),
        pytest.param(
            failures(False, False, singles=[FINE]),
            "Not every broker may fail: the controllers lose their majority.",
            id="majority",
        ),
        pytest.param(
            failures(True, True, singles=[FINE], under_min_isr=2),
            "2 partitions under min ISR already, with no loss. Of the others: Any one "
            "broker may fail.",
            id="refused-already",
        ),
    ],
)
def test_the_verdict_on_all_failures(document: Any, text: str):
    assert verdict_of("failures", document) == text


def test_a_lost_majority_is_no_loss_that_all_stays_available_in():
    caused = {"offline": 0, "under_min_isr": 0, "at_min_isr": 6}
    document = {"lost": ["rack a"], "caused": caused, "pushed_over_threshold": 0}
    document |= {"controllers_keep_majority": False}

    text = verdict_of("failures-scenario", document)

    assert text == "Without rack a: the controllers lose their majority."

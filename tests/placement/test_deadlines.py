"""Plans that a deadline ends."""

import time

import pytest

from benchmarks.small import planned

DEADLINE_S, MOST_S = 4.0, 12.0
"""Deadline of a plan, and what it may take on a loaded machine."""


@pytest.mark.slow
def test_proofs_and_roles_keep_to_a_deadline_too():
    # Trees of proofs alone would take a minute here, and roles a quarter of it.
    began = time.monotonic()

    small, _ = planned("6x60", "e", 2, "exact", DEADLINE_S)

    assert time.monotonic() - began < MOST_S
    assert small.num_findings == 0

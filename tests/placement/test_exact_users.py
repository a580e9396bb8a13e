"""Plans of tiny clusters against exact models that share no code with the core."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.exact_cases import CASES, has_nearer_drops

MANY = 25
"""Examples of each operation; `python -m fuzz.exact` makes as many as one likes."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
@settings(max_examples=MANY)
@given(number=st.integers(0, 10**9), effort=st.sampled_from(["normal", "exact"]))
def test_nothing_is_better_than_what_is_claimed_to_be_best(
    kind: str, number: int, effort: str
):
    CASES[kind](number, effort)


@pytest.mark.slow
def test_a_lower_factor_drops_the_copies_that_bring_brokers_nearest_to_their_bands():
    """Bands depend on the choice: where each of two calls for the other, one stays."""
    found = [has_nearer_drops(number, "normal") for number in range(100)]

    assert sum(found) <= 1

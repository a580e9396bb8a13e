"""How many examples of a property are drawn, and which cases are a sample."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.profile import sampled


@pytest.fixture
def rules(request):
    """Return the module of what holds for all tests."""
    plugins = request.config.pluginmanager.get_plugins()
    (found,) = (plugin for plugin in plugins if hasattr(plugin, "MOST_SLOW"))
    return found


def item_of(test):
    return SimpleNamespace(obj=test)


@pytest.mark.parametrize("profile", ["quick", "steady", "thorough"])
def test_a_profile_draws_no_more_than_it_says(rules, profile):
    drawn, most = [], rules.MOST[profile]

    @settings(max_examples=10 * most, database=None)
    @given(st.integers())
    def prove(number):
        drawn.append(number)

    rules._draw_at_most(item_of(prove), most)
    prove()

    assert 0 < len(drawn) <= most


@pytest.mark.parametrize("first", [0, 1, 2, 5])
@pytest.mark.parametrize("every", [1, 3])
def test_a_sample_is_some_of_the_cases_and_at_night_all(monkeypatch, every, first):
    monkeypatch.setattr("support.profile.EVERY", every)
    cases = list(range(7))

    found = sampled(cases, first)

    assert found == [n for n in cases if n % every == first % every]
    assert found

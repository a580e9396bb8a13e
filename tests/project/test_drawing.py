"""How many examples of a property are drawn, and during how many lines are counted."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture
def rules(request):
    """Return the module of what holds for all tests."""
    plugins = request.config.pluginmanager.get_plugins()
    (found,) = (plugin for plugin in plugins if hasattr(plugin, "COUNTED"))
    return found


class Cover:
    """Stands for what counts lines; notes when it does not."""

    def __init__(self):
        self.is_counting = True

    def pause(self):
        self.is_counting = False

    def resume(self):
        self.is_counting = True


def item_of(test, cover=None, *marks):
    plugin = None if cover is None else SimpleNamespace(cov_controller=cover)
    plugins = SimpleNamespace(getplugin={"_cov": plugin}.get)
    return SimpleNamespace(
        obj=test,
        config=SimpleNamespace(pluginmanager=plugins),
        get_closest_marker=lambda name: name in marks or None,
    )


def call(rules, item):
    """Call a test as pytest does."""
    hook = rules.pytest_runtest_call(item)
    next(hook)
    item.obj()
    with pytest.raises(StopIteration):
        hook.send(None)


@pytest.mark.parametrize("profile", ["quick", "steady"])
def test_a_profile_draws_no_more_than_it_says(rules, profile):
    drawn, most = [], rules.MOST[profile]

    @settings(max_examples=10 * most, database=None)
    @given(st.integers())
    def prove(number):
        drawn.append(number)

    rules._draw_at_most(item_of(prove), most)
    prove()

    assert 0 < len(drawn) <= most


def test_lines_are_counted_during_the_first_examples_of_each_run(rules):
    cover, counted = Cover(), []

    @settings(max_examples=2 * rules.COUNTED, database=None)
    @given(st.integers())
    def prove(_number):
        counted.append(cover.is_counting)

    for _ in range(2):
        call(rules, item_of(prove, cover))
        assert cover.is_counting

    assert counted == ([True] * rules.COUNTED + [False] * rules.COUNTED) * 2


@pytest.mark.parametrize("marks", [["no_cover"], []], ids=["unasked", "uncovered"])
def test_where_no_lines_are_counted_nothing_is_paused(rules, marks):
    cover, counted = Cover(), []

    @settings(max_examples=2 * rules.COUNTED, database=None)
    @given(st.integers())
    def prove(_number):
        counted.append(cover.is_counting)

    call(rules, item_of(prove, cover if marks else None, *marks))

    assert all(counted)

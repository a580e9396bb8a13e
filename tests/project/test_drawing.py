"""How many examples of a property are drawn, and during how many lines are counted."""

import os
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.profile import sampled


@pytest.fixture
def rules(request):
    """Return the module of what holds for all tests."""
    plugins = request.config.pluginmanager.get_plugins()
    (found,) = (plugin for plugin in plugins if hasattr(plugin, "COUNTED"))
    return found


def watch(*_arguments):
    """Stands for what counts lines."""


@contextmanager
def watched(tracer):
    """Have lines watched by this alone, or by nobody."""
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)


def item_of(test, *marks):
    return SimpleNamespace(
        obj=test, stash={}, get_closest_marker=lambda name: name in marks or None
    )


def call(rules, item):
    """Call a test as pytest does."""
    hook = rules.pytest_runtest_call(item)
    next(hook)
    item.obj()
    with pytest.raises(StopIteration):
        hook.send(None)


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


@pytest.fixture
def seen():
    """Return who watched each example."""
    return []


@pytest.fixture
def prove(rules, seen):
    """Return a property of twice as many examples as are watched."""

    @settings(max_examples=2 * rules.COUNTED, database=None)
    @given(st.integers())
    def prove(_number):
        seen.append(sys.gettrace())

    return prove


def test_lines_are_counted_during_the_first_examples_of_each_run(rules, prove, seen):
    with watched(watch):
        for _ in range(2):
            call(rules, item_of(prove))
            assert sys.gettrace() is watch

    assert seen == ([watch] * rules.COUNTED + [None] * rules.COUNTED) * 2


def test_no_line_is_counted_of_what_is_marked_so(rules, prove, seen):
    with watched(watch):
        call(rules, item_of(prove, "no_cover"))
        assert sys.gettrace() is watch

    assert seen == [None] * 2 * rules.COUNTED


@pytest.mark.parametrize(
    ("marks", "count", "counted"),
    [((), 1, 1), (("slow",), 1, 0), (("slow", "kafka"), 1, 1), ((), 1000, 30)],
)
def test_lines_of_slow_tests_and_of_most_of_many_cases_are_not_counted(
    rules, marks, count, counted
):
    items = [item_of(None, *marks) for _ in range(count)]
    for number, item in enumerate(items):
        item.nodeid = f"tests/test_it.py::test_it[{number}]"

    rules._choose_uncounted(items)

    chosen = [not item.stash[rules.UNCOUNTED] for item in items]
    assert 0.9 * counted <= sum(chosen) <= counted
    assert chosen[0] == (counted > 0)


def test_no_line_is_counted_of_what_is_chosen_so(rules, prove, seen):
    item = item_of(prove)
    item.stash[rules.UNCOUNTED] = True

    with watched(watch):
        call(rules, item)
        assert sys.gettrace() is watch

    assert seen == [None] * 2 * rules.COUNTED


@pytest.mark.parametrize(("marks", "given"), [((), "as here"), (("no_cover",), None)])
def test_no_line_is_counted_in_processes_of_what_is_not(
    rules, monkeypatch, marks, given
):
    monkeypatch.setenv(rules.COUNTS_PROCESSES, "as here")
    seen = []

    def test():
        seen.append(os.environ.get(rules.COUNTS_PROCESSES))

    call(rules, item_of(test, *marks))

    assert seen == [given]
    assert os.environ[rules.COUNTS_PROCESSES] == "as here"


def test_every_line_of_a_test_that_draws_nothing_is_counted(rules, seen):
    with watched(watch):
        call(rules, item_of(lambda: seen.append(sys.gettrace())))

    assert seen == [watch]


def test_without_a_profile_nothing_changes(rules, prove, seen):
    with watched(None):
        call(rules, item_of(prove))

    assert set(seen) == {None}


@pytest.mark.parametrize("first", [0, 1, 2, 5])
@pytest.mark.parametrize("every", [1, 3])
def test_a_sample_is_some_of_the_cases_and_at_night_all(monkeypatch, every, first):
    monkeypatch.setattr("support.profile.EVERY", every)
    cases = list(range(7))

    found = sampled(cases, first)

    assert found == [n for n in cases if n % every == first % every]
    assert found

import numpy as np
import pytest

from placement.core import ahead
from placement.core.ahead import load_ahead
from placement.core.arrangement import home_arrangement
from placement.core.effort import QUICK
from placement.core.search import STAGES, Searcher
from placement.core.value import evaluate


def test_the_tiny_problem_needs_every_stage_of_a_quick_search(monkeypatch):
    called = []
    problem = ahead._tiny_problem()
    start = home_arrangement(problem)
    searcher = Searcher(problem, QUICK, 1)
    call = searcher._call

    def noted(entry, *arguments):
        called.append(entry)
        return call(entry, *arguments)

    monkeypatch.setattr(searcher, "_call", noted)
    found, value = searcher.improve(start, evaluate(problem, start))

    assert {stage.__name__ for stage in called} >= {
        stage.__name__ for stage in STAGES if stage.__name__ != "shake"
    } | {"place"}
    assert not np.array_equal(found.bin_of, start.bin_of)
    assert value < evaluate(problem, start)


@pytest.mark.parametrize("fails", [False, True], ids=["loads", "fails"])
def test_what_goes_wrong_ahead_is_left_to_the_search_itself(monkeypatch, fails):
    done = []

    def load():
        done.append(True)
        if fails:
            raise OSError

    monkeypatch.setattr(ahead, "is_at_hand", lambda _stages: True)
    monkeypatch.setattr(ahead, "_search_compiled", load)

    load_ahead().join()

    assert done


def test_what_is_not_compiled_yet_is_not_compiled_ahead(monkeypatch):
    monkeypatch.setattr(ahead, "is_at_hand", lambda _stages: False)
    monkeypatch.setattr(ahead, "_search_compiled", lambda: pytest.fail("compiles"))

    load_ahead().join()

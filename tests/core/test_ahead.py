import pytest

from placement.core import ahead
from placement.core.ahead import load_ahead
from placement.core.compiling import STAGES
from placement.core.effort import NORMAL, QUICK
from placement.core.kernels import stages
from placement.core.kernels.jit import is_at_hand
from placement.core.search import Searcher


@pytest.mark.parametrize(
    ("effort", "spared"),
    [
        pytest.param(QUICK, {stages.shake}, id="quick"),
        pytest.param(NORMAL, set(), id="normal"),
    ],
)
def test_the_tiny_problem_needs_every_stage(monkeypatch, effort, spared):
    called = set()
    call = Searcher._call

    def noted(searcher, entry, *arguments):
        called.add(entry)
        return call(searcher, entry, *arguments)

    monkeypatch.setattr(Searcher, "_call", noted)

    ahead.search_compiled(effort)

    assert called >= {*STAGES, stages.place} - spared


def test_what_few_searches_need_is_compiled_where_asked_for():
    ahead.search_compiled(QUICK, with_rare=True)

    assert is_at_hand((stages.trade_roles,))


@pytest.mark.parametrize("fails", [False, True], ids=["loads", "fails"])
def test_what_goes_wrong_ahead_is_left_to_the_search_itself(monkeypatch, fails):
    done = []

    def load():
        done.append(True)
        if fails:
            raise OSError

    monkeypatch.setattr(ahead, "is_at_hand", lambda _stages: True)
    monkeypatch.setattr(ahead, "search_compiled", lambda _effort: load())

    load_ahead().join()

    assert done


def test_what_is_not_compiled_yet_is_not_compiled_ahead(monkeypatch):
    monkeypatch.setattr(ahead, "is_at_hand", lambda _stages: False)
    monkeypatch.setattr(ahead, "search_compiled", lambda _: pytest.fail("compiles"))

    load_ahead().join()

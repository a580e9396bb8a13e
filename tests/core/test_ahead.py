import pytest

from placement.core.model.search_budget import NORMAL, QUICK
from placement.core.search import preload
from placement.core.search.compilation import STAGES
from placement.core.search.kernels import stages
from placement.core.search.kernels.jit import is_at_hand
from placement.core.search.local_search import Searcher
from placement.core.search.preload import load_ahead


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

    preload.search_compiled(effort)

    assert called >= {*STAGES, stages.place} - spared


def test_what_few_searches_need_is_compiled_where_asked_for():
    preload.search_compiled(QUICK, with_rare=True)

    assert is_at_hand((stages.trade_roles,))


@pytest.mark.parametrize("fails", [False, True], ids=["loads", "fails"])
def test_what_goes_wrong_ahead_is_left_to_the_search_itself(monkeypatch, fails):
    done = []

    def load():
        done.append(True)
        if fails:
            raise OSError

    monkeypatch.setattr(preload, "is_at_hand", lambda _stages: True)
    monkeypatch.setattr(preload, "search_compiled", lambda _effort: load())

    load_ahead().join()

    assert done


def test_what_is_not_compiled_yet_is_not_compiled_ahead(monkeypatch):
    monkeypatch.setattr(preload, "is_at_hand", lambda _stages: False)
    monkeypatch.setattr(preload, "search_compiled", lambda _: pytest.fail("compiles"))

    load_ahead().join()

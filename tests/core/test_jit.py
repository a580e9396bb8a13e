from collections.abc import Callable
from typing import Any

import numba
import pytest

from placement.core.search.kernels import jit
from placement.core.search.kernels.jit import compiled, is_at_hand


def double(value: int) -> int:
    return 2 * value


@pytest.fixture
def no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba finds nowhere to keep compiled code."""
    real = numba.njit

    def without_a_place(*arguments: Any, **options: Any) -> Callable[..., Any]:
        if options.get("cache"):
            msg = "cannot cache function: no locator available"
            raise RuntimeError(msg)
        return real(*arguments, **options)

    monkeypatch.setattr(numba, "njit", without_a_place)


@pytest.mark.usefixtures("no_place")
def test_kernels_compile_where_there_is_no_place_for_their_cache():
    run = compiled(double)

    assert run(21) == 42
    assert run is not double


def triple(value: int) -> int:
    return 3 * value


@pytest.mark.usefixtures("no_place")
def test_what_this_process_has_compiled_is_at_hand_and_nothing_else():
    assert is_at_hand([])
    assert not is_at_hand([triple])

    compiled(triple)(1)

    assert is_at_hand([triple])


def quadruple(value: int) -> int:
    return 4 * value


def test_compiled_kernels_are_read_from_disk(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    compiled(quadruple)(1)
    compiled.cache_clear()

    assert is_at_hand([quadruple])
    assert list(tmp_path.rglob("*.nbi"))


@pytest.mark.parametrize(
    ("folder", "is_anew"),
    [
        pytest.param("kernels", True, id="kernels-call-each-other"),
        pytest.param("other", False, id="a-file-by-itself"),
    ],
)
def test_compiled_code_goes_stale_with_the_kernels_beside_it(
    tmp_path, folder: str, is_anew: bool
):
    (tmp_path / folder).mkdir()
    entry, beside = (tmp_path / folder / name for name in ("entry.py", "beside.py"))
    entry.write_text("")
    beside.write_text("")
    stamp_of = jit._sources_stamp.__wrapped__
    first = stamp_of(entry)

    beside.write_text("# changed")
    second = stamp_of(entry)
    entry.write_text("# changed too")

    assert (second != first) == is_anew
    assert stamp_of(entry) != second

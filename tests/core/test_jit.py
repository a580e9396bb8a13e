from collections.abc import Callable
from typing import Any

import numba
import pytest

from placement.core.kernels.jit import compiled


def double(value: int) -> int:
    return 2 * value


def test_kernels_compile_where_there_is_no_place_for_their_cache(
    monkeypatch: pytest.MonkeyPatch,
):
    real = numba.njit

    def without_a_place(*arguments: Any, **options: Any) -> Callable[..., Any]:
        if options.get("cache"):
            msg = "cannot cache function: no locator available"
            raise RuntimeError(msg)
        return real(*arguments, **options)

    monkeypatch.setattr(numba, "njit", without_a_place)

    run = compiled(double)

    assert run(21) == 42
    assert run is not double

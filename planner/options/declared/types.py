"""Types of the values of options, and values of Python fitted to them."""

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Annotated, Any, Literal, get_args, get_origin

BrokerId = Annotated[int, "32 bits"]
"""Id of a broker."""
ResourceName = Literal["disk", "in", "out", "cpu", "replicas", "leaders"]
Fractions = dict[ResourceName, float]
"""Fractions by resource."""
Prefer = Literal["bytes", "moves"]
Effort = Literal["quick", "normal", "thorough", "exact"]
CopyOrder = Literal["shortest", "under-replicated", "small", "large", "topic"]
RackRule = Literal["distribution", "strict", "off"]
Preset = Literal["cruise-control"]


Fitted = tuple[Any, str]
"""A value, and the rule that it breaks; empty: none."""


def fitted(value: Any, kind: Any, *, takes: type | None) -> Fitted:  # noqa: ANN401 - any value
    """
    Return a value as its reader expects it: one value of a list as a list of it.

    Parameters
    ----------
    value
        Value that Python, TOML or the command line gives.
    kind
        Type of the option.
    takes
        Type of its value on the command line; `None`: `kind`.

    Returns
    -------
    The value, and the rule that it breaks, if any.

    Examples
    --------
    >>> fitted(True, int, takes=None), fitted("a", tuple[str, ...], takes=None)
    ((True, 'must be a whole number'), (('a',), ''))
    """
    origin = get_origin(kind) or kind
    fit = _FITS.get(origin)
    return (value, "") if fit is None else fit(value, kind, takes)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _fit_switch(value: Any, kind: Any, takes: type | None) -> Fitted:  # noqa: ANN401
    del kind, takes
    return value, "" if isinstance(value, bool) else "must be true or false"


def _fit_whole(value: Any, kind: Any, takes: type | None) -> Fitted:  # noqa: ANN401
    del kind
    if takes is str:
        is_fit = isinstance(value, str) or _is_number(value)
        return value, "" if is_fit else "must be a number, or a text with a unit"
    return (int(value), "") if _is_whole(value) else (value, "must be a whole number")


def _fit_number(value: Any, kind: Any, takes: type | None) -> Fitted:  # noqa: ANN401
    del kind
    if isinstance(value, str) and takes is not None:
        return value, ""
    return (float(value), "") if _is_number(value) else (value, "must be a number")


def _fit_text(value: Any, kind: Any, takes: type | None) -> Fitted:  # noqa: ANN401
    """Return a text; of several expressions one that any of them matches."""
    del kind, takes
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return "|".join(f"(?:{one})" for one in value), ""
    return value, "" if isinstance(value, str) else "must be a text"


def _fit_list(value: Any, kind: Any, takes: type | None) -> Fitted:  # noqa: ANN401
    if isinstance(value, str):
        return (value if takes is str else (value,)), ""
    element = get_args(kind)[0]
    if _is_whole(value):
        value = (int(value),)
    if isinstance(value, Mapping) or get_origin(element) is tuple:
        return value, ""
    rule = "must be texts" if element is str else "must be numbers"
    if not isinstance(value, Iterable):
        return value, rule
    values = tuple(int(one) if _is_whole(one) else one for one in value)
    known = str if element is str else int | str
    return values, "" if all(isinstance(one, known) for one in values) else rule


def _fit_table(value: Any, kind: Any, takes: type | None) -> Fitted:  # noqa: ANN401
    del kind, takes
    if isinstance(value, bool):
        return value, "must be a number, or numbers by name"
    return (float(value) if _is_number(value) else value), ""


_FITS: Mapping[Any, Callable[[Any, Any, type | None], Fitted]] = {
    bool: _fit_switch,
    int: _fit_whole,
    float: _fit_number,
    str: _fit_text,
    tuple: _fit_list,
    dict: _fit_table,
}

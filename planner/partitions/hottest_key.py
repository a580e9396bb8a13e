"""Share of the hottest key of a topic, which is on one partition of any number."""

from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import Any

from planner.io.json_reader import JsonTextError, parse_json
from planner.options.declared.option import Problems

_REMEDY = "give what kafka-planner keys skew --format json prints"


def read_key_share(value: float, problems: Problems) -> float:
    """Return a share above 0 and at most 1; NaN if invalid."""
    if 0 < value <= 1:
        return float(value)
    problems.refuse(value, "must be above 0 and at most 1", "give 0.2 or 20%")
    return nan


def read_skew_document(value: str, problems: Problems) -> float:
    """
    Return the share of the hottest key in a document of `keys skew`.

    Parameters
    ----------
    value
        Path of the document.
    problems
        Receives the problem of a file that is none.

    Returns
    -------
    float
        The largest share of records that one partition has because of their key; 0 if
        keys decide no partition.
    """
    try:
        document = parse_json(Path(value).read_bytes())
    except OSError as error:
        problems.refuse(value, f"cannot be read: {error.strerror}", _REMEDY)
        return nan
    except JsonTextError as error:
        problems.refuse(value, error.rule, _REMEDY)
        return nan
    shares = _shares(document)
    if shares is None:
        problems.refuse(value, "must be a document of keys skew", _REMEDY)
        return nan
    return max(shares, default=0.0)


def _shares(document: Any) -> list[float] | None:  # noqa: ANN401 - any JSON value
    """Return shares that are on one partition; `None` if it is another document."""
    if not isinstance(document, Mapping):
        return None
    try:
        count = len(document["partitions"])
        # The hottest key may not be listed, with --top 0.
        least = float(document["least_max_over_mean"])
        hot = [
            float(key["share"])
            for key in document["hot_keys"]
            if key["partition"] is not None
        ]
    except (KeyError, TypeError, ValueError):
        return None
    if not count or not all(0 <= share <= 1 for share in hot):
        return None
    return [*hot, *([min(least / count, 1.0)] if least > 1 else [])]

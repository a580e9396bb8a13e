"""Costs of the cluster of a scenario, and of the copies that lead to it."""

import numpy as np

from placement.scenarios.cross_rack_load import cross_rack_rate, remote_bytes
from placement.scenarios.scenario_outcome import Outcome
from planner.text.document_numbers import rounded
from planner.what_if.changes.prices import GB, SECONDS, Prices
from planner.what_if.what_if_records import PriceRecord


def costs_record(outcome: Outcome, prices: Prices | None) -> PriceRecord | None:
    """
    Return the costs of a cluster for one period, and the one-time costs of copies.

    The result is `None` without prices. A part is null where its price is not given or
    its amount is unknown.
    """
    if prices is None:
        return None
    state = outcome.figures.state
    rate, crossed = cross_rack_rate(state), outcome.copying.cross_rack_bytes
    per_gb = prices.cross_rack_gb
    parts = {
        "brokers": _of_brokers(outcome, prices),
        "cross_rack": None
        if rate is None or per_gb is None
        else rate * SECONDS[prices.per] / GB * per_gb,
        "remote": None
        if prices.remote_gb is None
        else remote_bytes(state) / GB * prices.remote_gb,
    }
    known = [value for value in parts.values() if value is not None]
    return PriceRecord(
        **{name: None if v is None else rounded(v) for name, v in parts.items()},
        total=rounded(float(np.sum(known))) if known else None,
        copying=rounded(crossed / GB * per_gb)
        if per_gb is not None and outcome.is_copying_known
        else None,
    )


def _of_brokers(outcome: Outcome, prices: Prices) -> float | None:
    if not prices.has_brokers:
        return None
    brokers, types = outcome.figures.state.brokers, outcome.variant.types
    each = [
        prices.types[types[broker]] if broker in types else (prices.broker or 0.0)
        for broker in brokers.ids[brokers.is_live].tolist()
    ]
    return float(np.sum(each))

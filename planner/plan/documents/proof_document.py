"""Proofs of bounds in plan.json, with names instead of rows."""

from collections.abc import Mapping
from typing import Any

from placement.core.model.solution import Proof
from placement.planning.outcome.result import PlannedPlacement


def proof_document(
    placed: PlannedPlacement, proof: Proof | None
) -> dict[str, Any] | None:
    """Return a proof with brokers by id, and resources and partitions by name."""
    if proof is None:
        return None
    witness = dict(proof.witness)
    ids = placed.draft.state.brokers.ids
    if proof.kind == "water-fill":
        witness["resource"] = placed.columns[witness["resource"]]
        witness["brokers"] = [int(ids[b]) for b in witness.pop("bins")]
    elif "above" in witness:
        witness = _named_prices(placed, witness)
    elif "nodes" in witness:
        witness["nodes"] = [_named_case(placed, node) for node in witness["nodes"]]
        if "cuts" in witness:
            witness["cuts"] = [_named_cut(placed, cut) for cut in witness["cuts"]]
    elif "bins" in witness:
        witness["brokers"] = [
            {
                "broker": int(ids[b]),
                "multipliers": {
                    placed.columns[r]: [numerator, denominator]
                    for r, numerator in zip(pairs[::2], pairs[1::2], strict=True)
                },
            }
            for b, denominator, *pairs in witness.pop("bins")
        ]
    return {"kind": proof.kind, **_named_roles(placed, witness)}


def _named_prices(placed: PlannedPlacement, prices: dict[str, Any]) -> dict[str, Any]:
    """Return the prices of loads with brokers by id and resources by name."""
    ids = placed.draft.state.brokers.ids
    return prices | {
        side: [
            {"broker": int(ids[b]), "resource": placed.columns[r], "price": price}
            for b, r, price in prices[side]
        ]
        for side in ("above", "below")
    }


def _named_case(placed: PlannedPlacement, node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a branch-and-bound node with its partition and broker by name."""
    if "above" in node:
        return _named_prices(placed, dict(node))
    if "group" not in node:
        return dict(node)
    at, ids = int(node["group"]), placed.draft.state.brokers.ids
    name = {"bundle" if placed.draft.bundles else "partition": _name_of(placed, at)}
    return {
        **name,
        "broker": int(ids[node["bin"]]),
        "role": "leader" if node["role"] else "replica",
        "there": node["there"],
        "elsewhere": node["elsewhere"],
    }


def _named_cut(placed: PlannedPlacement, cut: Mapping[str, Any]) -> dict[str, Any]:
    """Return a valid inequality with brokers, resources and partitions by name."""
    return {
        "broker": int(placed.draft.state.brokers.ids[cut["bin"]]),
        "resource": placed.columns[cut["resource"]],
        "side": cut["side"],
        "divisor": cut["divisor"],
        "followers": [_name_of(placed, group) for group in cut["items"]],
        "leaders": [_name_of(placed, group) for group in cut["roles"]],
    }


def _name_of(placed: PlannedPlacement, group: int) -> str | int:
    # Aggregated partitions have one proof, and a number instead of a name.
    return group if placed.draft.bundles else placed.draft.state.name_of(group)


def _named_roles(placed: PlannedPlacement, witness: dict[str, Any]) -> dict[str, Any]:
    """Return a witness on leaders with brokers by id and the resource by name."""
    ids = placed.draft.state.brokers.ids
    if "prices" in witness:
        witness["brokers"] = [
            {"broker": int(ids[b]), "price": price}
            for b, price in witness.pop("prices")
        ]
    if "set" in witness:
        witness["brokers"] = [{"broker": int(ids[b])} for b in witness.pop("set")]
        witness["resource"] = placed.columns[witness.pop("column")]
    return witness

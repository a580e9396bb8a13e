"""Sentences on what the certificate of a plan proves, by whom, and how far."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from placement.core.model.solution import Bounded
from planner.plan.screen.plan_claims import gap_text
from planner.text.format import bytes_text, duration_text, percent_text, plural

PROOFS = {
    "forced": "what every plan must move",
    "count": "a count of what single brokers have too much of or lack",
    "cover": "what brokers must give away or receive to come into their bands",
    "water-fill": "the level to which the load fills the brokers at best",
    "heaviest": "the heaviest single replica",
    "flow-dual": "the dual solution of a network flow",
    "lambda": "prices on the loads of brokers",
    "milp-dual": "the dual solutions of a branch and bound",
    "wave-degree": "the copies of the busiest broker over its cap",
    "wave-bytes": "the bytes of the busiest broker over its bandwidth",
}
"""Witness of each kind of proof, in words."""


def _bytes(value: float) -> str:
    return bytes_text(value, 5, is_padded=True)


def _replicas(value: float) -> str:
    return plural(round(value), "replica")


def _leaders(value: float) -> str:
    return plural(round(value), "leader")


def _waves(value: float) -> str:
    return plural(round(value), "wave")


CLAIMS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "bytes": ("Copied bytes", _bytes),
    "replicas": ("Copied replicas", _replicas),
    "deviation": ("Largest distance outside a band, in shares", percent_text),
    "log_dir_bytes": ("Bytes moved between log dirs", _bytes),
    "leaders": ("Changed leaders", _leaders),
    "most_led": ("Leaders of the busiest broker above its share", percent_text),
    "waves": ("Waves of copies", _waves),
    "seconds": ("Time of copies that do not wait for waves", duration_text),
}
"""Subject and unit of each bound."""


def bounded_of(claim: Mapping[str, Any]) -> Bounded:
    """Return a value with its bounds from the record of a certificate."""
    return Bounded(
        value=claim["value"],
        lower_bound=claim["lower_bound"],
        solver_bound=claim.get("solver_bound"),
        solver=claim.get("solver"),
        is_spread=bool(claim.get("solver_keeps_spread")),
    )


def certificate_rows(certificate: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield subject, value, lower bound, gap and grounds of each bound."""
    for name, claim in certificate.items():
        subject, text = CLAIMS[name]
        bounded = bounded_of(claim)
        yield (
            subject,
            text(bounded.value),
            text(bounded.lower_bound) if bounded.lower_bound > 0 else "none above 0",
            "-" if bounded.gap is None else _gap(bounded),
            _grounds(bounded, claim.get("proof")),
        )


def _gap(bounded: Bounded) -> str:
    is_met = bounded.lower_bound and bounded.value == bounded.lower_bound
    return "least possible" if is_met else gap_text(bounded.gap or 0.0)


def _grounds(bounded: Bounded, proof: Mapping[str, Any] | None) -> str:
    """Return who proves the bound: separate code from a witness, or a solver alone."""
    grounds = "nothing: 0 is the bound of every plan"
    if proof is not None:
        kind = proof["kind"]
        grounds = f"checked by separate code: {PROOFS.get(kind, kind)} ({kind})"
    if bounded.solver is None or bounded.solver_bound is None:
        return grounds
    is_spread = ", for plans that keep topics spread" if bounded.is_spread else ""
    claim = "that nothing less is possible" if bounded.is_least else "a higher bound"
    return f"{grounds}; {bounded.solver} states {claim}{is_spread}, not checked again"

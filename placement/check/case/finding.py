"""Findings of a check, with their places."""

from dataclasses import asdict, dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Place of a finding, by Kafka's names; `None` where a field does not apply."""

    topic: str | None = None
    partition: int | None = None
    broker: int | None = None
    rack: str | None = None
    log_dir: str | None = None
    resource: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    Violation of one rule at one place.

    Parameters
    ----------
    rule
        Name of the rule: ``rack``, ``capacity``, ….
    where
        Place of the violation.
    message
        One sentence with the thing, its value and the limit.
    existing
        Whether the violation existed before the plan, which makes it no worse.
    soft
        Whether the rule is a soft constraint, met as far as possible.
    """

    rule: str
    where: Where
    message: str
    existing: bool = False
    soft: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether the finding counts against the plan: neither existing nor soft."""
        return not self.existing and not self.soft

    def to_dict(self) -> dict[str, object]:
        """Return the finding as an object of `--format json`."""
        return asdict(self)


class Missed(NamedTuple):
    """
    Goal missed at one place.

    Parameters
    ----------
    finding
        Finding with the place and the value.
    by
        Distance from the goal, in units of the goal; compared with the distance before
        the plan.
    """

    finding: Finding
    by: float

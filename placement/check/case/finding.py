"""What a check reports."""

from dataclasses import asdict, dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The place of a finding, by Kafka's names; `None` where it does not apply."""

    topic: str | None = None
    partition: int | None = None
    broker: int | None = None
    rack: str | None = None
    log_dir: str | None = None
    resource: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    One rule that is broken at one place.

    Parameters
    ----------
    rule
        Name of the rule: ``rack``, ``capacity``, ….
    where
        The place.
    message
        One sentence with the thing, its value and the limit.
    existing
        Whether it was so before, and the plan makes it no worse.
    soft
        Whether this is a goal, met as far as it can be, and no rule.
    """

    rule: str
    where: Where
    message: str
    existing: bool = False
    soft: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether it tells against the plan."""
        return not self.existing and not self.soft

    def to_dict(self) -> dict[str, object]:
        """Return the finding as it stands in `--format json`."""
        return asdict(self)


class Missed(NamedTuple):
    """
    A goal that is not met at one place.

    Parameters
    ----------
    finding
        The place and the value.
    by
        Distance from the goal, in units of the goal; compared with that of before.
    """

    finding: Finding
    by: float

"""What a check reports."""

from dataclasses import asdict, dataclass


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
        Whether it was so before and the plan neither causes nor touches it.
    """

    rule: str
    where: Where
    message: str
    existing: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return the finding as it stands in `--format json`."""
        return asdict(self)

"""Record of the document of `report`, for its JSON Schema."""

from planner.io.records import Record


class ReportRecord(Record):
    """
    Files that `report` wrote.

    `charts` are names of files in `folder`, which is null without --save.
    """

    file: str
    bytes: int
    folder: str | None
    charts: list[str]

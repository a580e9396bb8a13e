"""Record of the document of `ui`, for its JSON Schema."""

from planner.io.records import Record


class UiRecord(Record):
    """Address of the page, which has the token, and folder of the plans it writes."""

    url: str
    port: int
    folder: str

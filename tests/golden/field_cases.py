"""Cases on texts from the field, samples of Kafka's tools and impossible tasks."""

from collections.abc import Iterable
from pathlib import Path

from golden.case import Case, Source, cases_of_table

DATA = Path(__file__).parents[1] / "data"
CASES = DATA / "cases"
FOLDERS = (
    "c01", "c02", "c04", "c06", "c07", "c10", "c11", "c14", "c16", "c18", "c27",
    "c28", "c30", "c32", "c36", "c42", "impossible",
)  # fmt: skip


def field_cases() -> Iterable[Case]:
    """Yield the cases on bundled texts."""
    for name in FOLDERS:
        yield from cases_of_table(
            f"field/{name}", f"field-{name}", _files(CASES / name)
        )
    yield from cases_of_table("samples", "samples", _files(DATA / "samples"))


def _files(folder: Path) -> dict[str, Source]:
    return {path.name: path for path in sorted(folder.iterdir())}

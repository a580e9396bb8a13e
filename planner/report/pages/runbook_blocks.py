"""Blocks of a runbook: its paragraphs, and its commands with buttons that copy them."""

from collections.abc import Iterator

from planner.report.pages.blocks import Block, Command, Section, Words

FENCE = "```"
MOST_WAVES = 50
"""Largest number of sections of waves in a page."""


def runbook_sections(runbook: str) -> Iterator[tuple[str, list[Block]]]:
    """Yield heading and blocks of each section of RUNBOOK.md."""
    heading, blocks, lines = "", list[Block](), iter(runbook.splitlines())
    for line in lines:
        if line.startswith("#"):
            if blocks:
                yield heading, blocks
            heading, blocks = line.lstrip("# "), []
        elif line.startswith(FENCE):
            blocks.append(Command("\n".join(_code(lines))))
        elif line.strip():
            blocks.append(Words(line.replace("`", "")))
    if blocks:
        yield heading, blocks


def _code(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines up to the end of a fence."""
    for line in lines:
        if line.startswith(FENCE):
            return
        yield line


def command_sections(runbook: str) -> list[Section]:
    """Return the sections of a runbook as folded parts of a page."""
    parts = list(runbook_sections(runbook))
    kept = parts[:MOST_WAVES]
    sections = [
        Section(f"run-{number}", heading, blocks, is_folded=number > 0)
        for number, (heading, blocks) in enumerate(kept)
    ]
    if len(parts) > len(kept):
        rest = f"{len(parts) - len(kept)} more sections are in RUNBOOK.md."
        sections.append(Section("run-rest", "More of the runbook", [Words(rest)]))
    return sections

"""Files of reports: the page, and its charts as pictures."""

from pathlib import Path

from planner.errors import BadInputError
from planner.io.problems import refuse_output
from planner.io.replaced_file import replace_file
from planner.report.charts.vega_charts import png_of, svg_of
from planner.report.html_page import html_of
from planner.report.pages.blocks import Page

SUFFIX = ".html"


def check_page_output(path: Path) -> None:
    """
    Check that a page may be written to a place, before any work is done.

    Raises
    ------
    BadInputError
        If the name is not that of a page, or a folder is there.
    """
    if path.suffix != SUFFIX:
        rule = "a report is one HTML file"
        raise refuse_output(path, rule, f"end the name with {SUFFIX}")
    if path.is_dir():
        raise refuse_output(path, "a folder is there", "name another place with -o")


def write_page(page: Page, path: Path) -> int:
    """
    Write a page, in one step: an old one stands until the new one is complete.

    Returns
    -------
    Size of the file in bytes.

    Raises
    ------
    BadInputError
        If the file cannot be written.
    """
    written = html_of(page).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A link stays one: its target is replaced.
        replace_file(path.resolve(), written)
    except OSError as error:
        raise _unwritable(path, error) from error
    return len(written)


def write_charts(page: Page, folder: Path) -> list[str]:
    """
    Write the charts of a page as SVG and PNG.

    Returns
    -------
    The names of the files, in the order of the page.

    Raises
    ------
    BadInputError
        If a file cannot be written.
    """
    names = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for picture in page.pictures:
            names += [f"{picture.name}.svg", f"{picture.name}.png"]
            replace_file(folder / names[-2], svg_of(picture).encode())
            replace_file(folder / names[-1], png_of(picture))
    except OSError as error:
        raise _unwritable(folder, error) from error
    return names


def _unwritable(path: Path, error: OSError) -> BadInputError:
    reason = error.strerror or str(error)
    rule = f"the report cannot be written: {reason}"
    return refuse_output(path, rule, "name another place")

"""`--report` of commands: a page beside what `-o` writes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.input_problems import refuse_option
from planner.cli.common.output import print_words
from planner.io.plan_file_names import REPORT_NAME

if TYPE_CHECKING:
    from planner.report.pages.blocks import Page

Report = Annotated[
    bool,
    typer.Option(
        "--report", help="Also write report.html where -o writes: pip extra [report]."
    ),
]
AnswerFolder = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FOLDER",
        help="Folder for the JSON document and, with --report, its page.",
    ),
]


def check_report(
    output: Path | str | None, *, is_wanted: bool, metavar: str = "FOLDER"
) -> None:
    """
    Check that a report is possible, before any work is done.

    Parameters
    ----------
    output
        Value of `-o`.
    is_wanted
        Value of `--report`.
    metavar
        Value that `-o` takes, for the remedy.

    Raises
    ------
    BadInputError
        If the extra is not installed, or `-o` is not given.
    """
    if not is_wanted:
        return
    from planner.extras import REPORT

    REPORT.require()
    if output is None:
        rule = f"{REPORT_NAME} is written where -o writes"
        refuse_option("--report", "", rule, f"name the place with -o {metavar}")


def write_report(page: "Page", folder: Path, *, is_quiet: bool) -> None:
    """
    Write the report into a folder, and name the file on stderr.

    Raises
    ------
    BadInputError
        If the file cannot be written.
    """
    from planner.report.report_files import write_page

    path = folder / REPORT_NAME
    write_page(page, path)
    if not is_quiet:
        print_words(f"wrote {path}")


def check_fleet_report(output: str, *, is_wanted: bool) -> Path | None:
    """
    Check that a report of tables of a fleet is possible, before Spark is started.

    Parameters
    ----------
    output
        Value of `-o`: a folder, or ``table:CATALOG.SCHEMA``.
    is_wanted
        Value of `--report`.

    Returns
    -------
    The folder of the report; `None` without one.

    Raises
    ------
    BadInputError
        If the extra is not installed, or the tables are not in a folder of this
        machine.
    """
    if not is_wanted:
        return None
    from planner.fleet.fleet_places import folder_here

    check_report(output, is_wanted=True)
    folder = folder_here(output)
    if folder is None:
        rule = f"{REPORT_NAME} is made of tables in a folder of this machine"
        remedy = "name a folder with -o, or leave out --report"
        refuse_option("--report", "", rule, remedy)
    return folder


def write_fleet_report(folder: Path | None, *, is_quiet: bool) -> None:
    """
    Write the page of the tables of a fleet beside them; nothing without a folder.

    Raises
    ------
    BadInputError
        If the tables cannot be read, or the file cannot be written.
    """
    if folder is None:
        return
    from planner.report.fleet_tables import read_fleet_tables
    from planner.report.pages.fleet_page import fleet_page

    write_report(fleet_page(read_fleet_tables([folder])), folder, is_quiet=is_quiet)


def check_answer(output: Path | None, name: str, *, is_wanted: bool) -> None:
    """
    Check `-o` and `--report` of a command whose answer is one document.

    Parameters
    ----------
    output
        Value of `-o`: the folder of the answer.
    name
        Name of the schema of the document, and of its file.
    is_wanted
        Value of `--report`.

    Raises
    ------
    BadInputError
        If a report is not possible, or something else is in the folder.
    """
    check_report(output, is_wanted=is_wanted)
    if output is not None:
        from planner.io.answer_folder import check_answer_folder

        check_answer_folder(output, name)


def write_answer(
    output: Path | None,
    name: str,
    make: Callable[[], Mapping[str, Any]],
    *,
    has_report: bool,
    is_quiet: bool,
) -> None:
    """
    Write the document of an answer into its folder, and its page; nothing without `-o`.

    Parameters
    ----------
    output
        Value of `-o`: the folder of the answer.
    name
        Name of the schema of the document, and of its file.
    make
        Maker of the document, which may take longer than the answer.
    has_report
        Value of `--report`.
    is_quiet
        Whether the files are not named on stderr.

    Raises
    ------
    BadInputError
        If a file cannot be written.
    """
    if output is None:
        return
    from planner.io.answer_folder import write_document

    document = make()
    path = write_document(output, name, document)
    if not is_quiet:
        print_words(f"wrote {path}")
    if has_report:
        from planner.report.pages.document_page import document_page

        write_report(document_page(name, document), output, is_quiet=is_quiet)

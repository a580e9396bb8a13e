"""The report in a plan folder, made while the folder is written."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from placement.check import Finding
from planner.io.report_name import REPORT_NAME
from planner.plan.folder.plan_folder import MoreFiles
from planner.report.html_page import html_of
from planner.report.pages.plan_folder_facts import facts_of
from planner.report.pages.plan_page import plan_page


def report_maker(folder: Path, findings: Callable[[], Sequence[Finding]]) -> MoreFiles:
    """
    Return the maker of report.html from the other files of a plan folder.

    Parameters
    ----------
    folder
        The folder, for messages.
    findings
        Returns the findings of the checker once the check is done.
    """

    def make(texts: Mapping[str, str]) -> Mapping[str, str]:
        page = plan_page(facts_of(texts, folder, findings()))
        return {REPORT_NAME: html_of(page)}

    return make

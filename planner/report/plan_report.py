"""The report in a plan folder, made while the folder is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from placement.check import Finding
from placement.failures.controller_majority import Voter
from placement.model.cluster import ClusterState
from planner.io.json_reader import parse_json
from planner.io.plan_file_names import REPORT_NAME
from planner.kafka_files.reassignment_file import REASSIGNMENT_NAME, parse_reassignment
from planner.plan.folder.plan_folder import MoreFiles
from planner.report.html_page import html_of
from planner.report.pages.plan_folder_facts import facts_of
from planner.report.pages.plan_page import plan_page
from planner.report.plan_estimates import estimate_lines


@dataclass(frozen=True, slots=True, eq=False)
class PlannedCluster:
    """
    Cluster of a plan that is being made.

    Parameters
    ----------
    state
        The cluster before the plan.
    voters
        Its controllers.
    findings
        Returns the findings of the checker once the check is done.
    """

    state: ClusterState
    voters: Sequence[Voter]
    findings: Callable[[], Sequence[Finding]]


def report_maker(folder: Path, cluster: PlannedCluster) -> MoreFiles:
    """
    Return the maker of report.html from the other files of a plan folder.

    Parameters
    ----------
    folder
        The folder, for messages.
    cluster
        The cluster.
    """

    def make(texts: Mapping[str, str]) -> Mapping[str, str]:
        facts = facts_of(texts, folder, cluster.findings())
        lists = parse_reassignment(
            parse_json(texts[REASSIGNMENT_NAME]), file=REASSIGNMENT_NAME
        )
        estimates = estimate_lines(
            facts.document, lists, facts.waves, cluster.state, cluster.voters
        )
        page = plan_page(replace(facts, estimates=estimates))
        return {REPORT_NAME: html_of(page)}

    return make

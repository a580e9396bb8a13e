"""Values of the page of a plan: what is proven, why, when, and what a plan breaks."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from placement.check import Finding
from planner.cli.main import _run
from planner.demo import SNAPSHOT_FILE
from planner.plan.folder.moves_file import MoveRow
from planner.report.html_page import html_of
from planner.report.pages.certificate_words import certificate_rows
from planner.report.pages.move_blocks import HEADS, browsed_moves
from planner.report.pages.plan_folder_facts import read_facts
from planner.report.pages.plan_page import plan_page
from planner.text.format import duration_text
from support.report_pages import check_page, facts

MOVE = MoveRow(
    topic="t",
    partition=3,
    kind="replica",
    source=1,
    target=2,
    source_rack="a",
    target_rack="b",
    size_bytes=10,
    reason="over-band",
    resource="disk",
    undone="out-of-band",
    undone_broker=1,
    undone_resource="disk",
    undone_outside=0.125,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("planned") / "plan"
    words = ["plan", "rebalance", str(SNAPSHOT_FILE), "--waves", "--effort", "quick"]
    assert _run([*words, "-o", str(found)], as_json=False) == 0
    return found


def table_of(page, caption):
    """Return the rows of a table of a page, by its caption."""
    (block,) = [
        block
        for section in page.sections
        for block in section.blocks
        if getattr(block, "caption", "") == caption
    ]
    return block


def test_a_row_of_the_certificate_says_value_bound_gap_and_ground():
    claim = {
        "value": 120e9,
        "lower_bound": 100e9,
        "proof": {"kind": "cover"},
        "solver_bound": 110e9,
        "solver": "CP-SAT 9.15",
    }

    (row,) = certificate_rows({"bytes": claim})

    assert row == (
        "Copied bytes",
        "120.00 GB",
        "100.00 GB",
        "gap 20 %",
        "checked by separate code: what brokers must give away or receive to come into "
        "their bands (cover); CP-SAT 9.15 states a higher bound, not checked again",
    )


def test_the_certificate_of_a_page_has_the_numbers_of_plan_json(folder):
    document = json.loads((folder / "plan.json").read_text())["certificate"]
    page = plan_page(read_facts(folder))

    rows = {row[0]: row for row in table_of(page, "Certificate").rows}

    replicas = document["replicas"]
    assert rows["Copied replicas"][1] == f"{replicas['value']:.0f} replicas"
    assert rows["Copied replicas"][2] == f"{replicas['lower_bound']:.0f} replicas"


@pytest.mark.parametrize(
    ("changes", "because", "without"),
    [
        (
            {},
            "broker 1 was above its band around its share of disk",
            "broker 1 would be 12 % of its share further outside its band of disk",
        ),
        (
            {"reason": "rack", "undone": "rack"},
            "rack a held more of it than the rack rule allows",
            "the rack rule would be broken",
        ),
        (
            {"reason": "broker-leaves", "undone": "not-empty"},
            "broker 1 is to be emptied",
            "broker 1 would not be empty",
        ),
    ],
)
def test_each_move_says_because_of_what_and_what_is_without_it(
    changes, because, without
):
    table = browsed_moves([replace(MOVE, **changes)])

    (row,) = [dict(zip(HEADS, cells, strict=True)) for cells in table.rows]

    assert (row["Because"], row["Without it"]) == (because, without)
    assert (row["Topic"], row["Partition"], row["Kind"]) == ("t", 3, "copy")


def test_a_finding_that_a_plan_causes_is_apart_from_those_of_before(folder):
    findings = [
        Finding(rule="rack", where={}, message="t-0 breaks the rack rule"),
        Finding(rule="capacity", where={}, message="b4 was full", existing=True),
    ]
    read = replace(read_facts(folder), findings=findings)

    page = plan_page(read)

    caused, existing = (
        table_of(page, caption).rows
        for caption in ("Caused by the plan", "Existing before the plan")
    )
    assert caused == [("rack", "t-0 breaks the rack rule")]
    assert existing == [("capacity", "b4 was full")]
    assert facts(html_of(page))["checked"] == (
        "by separate code: not ok, 1 finding; first: t-0 breaks the rack rule"
    )


def test_each_wave_says_after_what_time_it_is_done(folder):
    waves = json.loads((folder / "waves/waves.json").read_text())["waves"]
    table = table_of(plan_page(read_facts(folder)), "Waves")
    done, expected = 0.0, []
    for wave in waves:
        done += wave["seconds"]
        expected.append(duration_text(done))

    found = [row[table.heads.index("Done after")] for row in table.rows]

    assert found == expected
    assert len(set(found)) > 1
    assert done == pytest.approx(
        json.loads((folder / "waves/waves.json").read_text())["seconds_wave_by_wave"]
    )


@pytest.fixture(scope="module")
def with_log_dirs(tmp_path_factory):
    """Return a plan of the demo that moves replicas between log dirs."""
    found = tmp_path_factory.mktemp("log-dirs") / "plan"
    words = ["plan", "rebalance", str(SNAPSHOT_FILE), "--with-log-dirs"]
    code = _run([*words, "--effort", "quick", "-o", str(found)], as_json=False)
    assert code in {0, 3}
    return found


def test_the_chart_of_log_dirs_has_their_bytes_before_and_after(with_log_dirs):
    dirs = json.loads((with_log_dirs / "plan.json").read_text())["log_dirs"]
    page = plan_page(read_facts(with_log_dirs))

    (picture,) = [each for each in page.pictures if each.name == "log-dirs-disk"]

    assert picture.places == [f"{each['broker']}:{each['log_dir']}" for each in dirs]
    for name, shown in (("after", picture.now), ("before", picture.before)):
        assert shown == [
            round(100 * each[name] / each["size_bytes"], 3) for each in dirs
        ]
    assert picture.now != picture.before
    check_page(html_of(page))


PAGES = """
import sys
from pathlib import Path
from planner.cli.main import _run
plan, snapshot, document, folder = sys.argv[1:]
for name, given in (("plan", plan), ("score", snapshot), ("document", document)):
    words = ["report", given, "-o", str(Path(folder) / f"{name}.html"), "--quiet"]
    assert _run(words, as_json=False) == 0
"""


@pytest.mark.slow
def test_the_bytes_of_reports_do_not_depend_on_the_seed_of_hashes(
    folder, tmp_path, capsys
):
    document = tmp_path / "failures.json"
    assert _run(["failures", str(SNAPSHOT_FILE), "--format", "json"], as_json=True) in {
        0,
        3,
    }
    document.write_text(capsys.readouterr().out)
    made = []
    for seed in ("1", "2"):
        place = tmp_path / seed
        place.mkdir()
        words = [sys.executable, "-c", PAGES, folder, SNAPSHOT_FILE, document, place]
        environment = {"PYTHONHASHSEED": seed, "PATH": str(Path(sys.executable).parent)}
        subprocess.run([*map(str, words)], check=True, env=environment)
        made.append({path.name: path.read_bytes() for path in place.iterdir()})

    assert made[0] == made[1]
    assert len(made[0]) == 3


def test_every_link_of_the_navigation_has_its_section(folder):
    page = html_of(plan_page(read_facts(folder)))

    check_page(page)
    links = re.findall(r'<a href="#([^"]+)"', page.partition("</nav>")[0])
    assert {"verdict", "brokers", "waves", "proof", "inputs"} <= set(links)
    # And one that leads nowhere is found.
    with pytest.raises(AssertionError):
        check_page(page.replace('<section id="proof"', '<section id="other"'))

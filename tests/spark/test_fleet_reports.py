"""`--report` of the commands of fleets: a page beside the tables that they write."""

import pytest

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from support.commands import run
from support.report_pages import check_page, verdict
from support.spark import snapshot

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAYS = ("2026-11-20", "2026-11-21", "2026-11-22")


@pytest.fixture(scope="module")
def made(spark, tmp_path_factory):
    """A folder with a fleet of two clusters at three times."""
    folder = tmp_path_factory.mktemp("reported")
    for cluster_id in ("eu", "us"):
        for day in DAYS:
            append(
                snapshot(cluster_id, f"{day}T08:00:00Z"), Store(str(folder / "fleet"))
            )
    return folder


def page_of(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    check_page(page)
    return page


def test_commands_of_a_fleet_write_a_page_of_their_tables(made, capsys):
    fleet = made / "fleet"
    commands = {
        "scores": ["score", fleet],
        "plans": ["plan", fleet, "--until", DAYS[1]],
        "trends": ["trends", made / "scores"],
        "changes": ["changes", fleet, "--plans", made / "plans"],
        "overview": ["overview", fleet, "--trends", made / "trends"],
    }
    for name, words in commands.items():
        done = run(capsys, "fleet", *words, "-o", made / name, "--report")

        assert done.code in {0, 3}, done.err
        assert f"wrote {made / name / 'report.html'}" in done.err
        page = page_of(made / name)
        assert "<title>Fleet: 2 clusters</title>" in page, name
        again = run(capsys, "report", made / name, "-o", made / "same.html")
        assert again.code == 0, again.err
        assert (made / "same.html").read_text(encoding="utf-8") == page
    assert "2 plans by now: " in verdict(page_of(made / "changes"))
    assert "copied since the snapshot before, in 2 clusters." in verdict(
        page_of(made / "changes")
    )


def test_a_page_of_scenarios_and_of_nothing_new(made, capsys, tmp_path):
    (tmp_path / "s.toml").write_text('[[scenarios]]\nname = "as it is"\nchanges = []\n')
    words = ["fleet", "plan", made / "fleet", "--scenarios", tmp_path / "s.toml"]
    words += ["-o", tmp_path / "played", "--report"]

    first = run(capsys, *words)
    page = page_of(tmp_path / "played")
    again = run(capsys, *words)

    assert "2 scenarios: " in verdict(page)
    assert first.code == 0, first.err
    assert "nothing new" in again.err
    assert page_of(tmp_path / "played") == page


def test_a_page_needs_a_folder_of_this_machine(capsys, made):
    place = "table:spark_catalog.default"

    done = run(capsys, "fleet", "score", made / "fleet", "-o", place, "--report")

    assert done.code == 2
    assert "report.html is made of tables in a folder of this machine" in done.err
    assert "name a folder with -o, or leave out --report" in done.err

"""The page on partitions shows what the commands print, and the figures of the code."""

import re
from pathlib import Path

import planner
from planner.snapshot.importers.hardware.msk_types import msk_type
from support.printed_page import check_page

PAGE = Path(__file__).parents[2] / "docs" / "partitions.md"
NEED = re.compile(r"^\| (producers|consumers|brokers): .* \| (\d+) \|$", re.MULTILINE)


def test_the_page_shows_what_is_printed(capsys):
    check_page(PAGE, capsys, 2)


def test_needs_of_the_example_are_those_of_the_command():
    text = PAGE.read_text(encoding="utf-8")
    example = {"throughput": "90MB/s", "producer_rate": "10MB/s", "brokers": 6}

    def least(**options):
        return planner.partitions_size(**example, **options).document["needed"]

    assert dict(NEED.findall(text)) == {
        "producers": str(least()),
        "consumers": str(least(consumer_rate="5MB/s")),
        "brokers": "6",
    }
    whole = planner.partitions_size(**example, consumer_rate="5MB/s", retention="1d")
    assert "meets them all, 36" in text
    assert whole.recommended == 36


def test_figures_of_msk_brokers_are_those_of_the_code():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    small, least, most = (
        msk_type(name)
        for name in ("kafka.t3.small", "express.m7g.large", "express.m7g.16xlarge")
    )

    assert f"`kafka.t3.small`, {small.replicas};" in text
    assert f"`express.m7g.large`, {least.replicas:,}," in text
    assert f"`express.m7g.16xlarge`, {most.replicas:,})" in text
    assert f"{least.written / 1e6:g} and {least.read / 1e6:g} MB/s" in text
    assert f"{most.written / 1e6:g} and {most.read / 1e6:,.0f} MB/s" in text

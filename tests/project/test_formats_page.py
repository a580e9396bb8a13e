"""The page on formats names every document, and its examples can be read."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from planner.schema import SCHEMAS, json_schema
from planner.snapshot import read_snapshot

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([\w-]+)` \| .* \| (.*) \|$", re.MULTILINE)
DOCUMENTS = dict(ROW.findall(PAGE.split("\n## Documents\n")[1]))
BLOCK = re.compile(r"^```(json|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_page_lists_every_document():
    assert set(DOCUMENTS) == set(SCHEMAS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_page_lists_the_keys_of_a_document(name):
    keys = list(json_schema(name).get("properties", {}))

    assert re.findall(r"`([^`]+)`", DOCUMENTS[name]) == keys


def test_the_examples_parse():
    readers = {"json": json.loads, "toml": tomllib.loads}

    read = [readers[kind](text) for kind, text in BLOCK.findall(PAGE)]

    assert len(read) >= 8


def test_the_example_of_a_snapshot_is_one(tmp_path):
    text = next(text for _, text in BLOCK.findall(PAGE) if "/snapshot" in text)
    path = tmp_path / "s.json"
    path.write_text(text, encoding="utf-8")

    assert read_snapshot(path).partitions.num_rows == 1

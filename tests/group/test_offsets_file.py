"""Kafka's file of offsets: written, read back, refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.group.offsets.offsets_file import format_offsets, read_offsets_file

LARGEST = 2**63 - 1


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.tuples(
            st.from_regex(r"[a-zA-Z0-9._-]{1,40}", fullmatch=True),
            st.integers(0, 2**31 - 1),
        ),
        st.integers(0, LARGEST),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_exported_is_read_back(tmp_path_factory, offsets):
    path = tmp_path_factory.mktemp("offsets") / "o.csv"
    path.write_text(format_offsets(offsets.items()))

    assert read_offsets_file(path, "g") == offsets


def test_long_names_are_quoted_as_kafkas_tool_does():
    names = ["abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwxy"]

    lines = format_offsets(((name, 0), 5) for name in names).splitlines()

    assert lines == [f"{names[0]},0,5", f'"{names[1]}",0,5']


def test_of_several_groups_one_is_read(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text("g,t,0,5\nh,t,0,9\n\ng,t,1,6\n")

    assert read_offsets_file(path, "g") == {("t", 0): 5, ("t", 1): 6}


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param("", [("", "must have a line for group g")], id="empty"),
        pytest.param("h,t,0,5\n", [("", "must have a line for group g")], id="others"),
        pytest.param(
            "t,0\nt,x,1\nt,0,y\n,0,1\nt,1,2\nt,1,2\n",
            [
                ("line 1", "must have three cells"),
                ("line 2", "must have a partition's number"),
                ("line 3", "must have an offset"),
                ("line 4", "must name a topic"),
                ("line 6", "must name a partition once"),
            ],
            id="every-line",
        ),
    ],
)
def test_files_that_are_refused(tmp_path, text, problems):
    path = tmp_path / "o.csv"
    path.write_text(text)

    with pytest.raises(BadInputError) as raised:
        read_offsets_file(path, "g")

    found = [(each.place, each.rule) for each in raised.value.problems]
    assert [place for place, _ in found] == [place for place, _ in problems]
    for (_, rule), (_, expected) in zip(found, problems, strict=True):
        assert expected in rule

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.kafka.auth.java_properties import parse_properties, read_properties


def parsed(text: str) -> dict[str, str]:
    return {k: entry.value for k, entry in parse_properties(text, "c").items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a=b", {"a": "b"}, id="equals"),
        pytest.param("a:b", {"a": "b"}, id="colon"),
        pytest.param("a b", {"a": "b"}, id="blank"),
        pytest.param("a \t=\f b ", {"a": "b "}, id="blanks-around-the-separator"),
        pytest.param("a==b", {"a": "=b"}, id="only-one-separator-is-taken"),
        pytest.param("a", {"a": ""}, id="key-alone"),
        pytest.param("=b", {"": "b"}, id="value-alone"),
        pytest.param("# a=b\n  ! c=d\n", {}, id="comments"),
        pytest.param("a=b # c", {"a": "b # c"}, id="no-comment-after-a-value"),
        pytest.param("a=b\\\n   c", {"a": "bc"}, id="continuation"),
        pytest.param("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}, id="escaped-backslash"),
        pytest.param("a=b\\\n# c", {"a": "b# c"}, id="no-comment-in-a-continuation"),
        pytest.param("# a\\\nb=c", {"b": "c"}, id="comments-do-not-continue"),
        pytest.param("a=b\\\n\nc=d", {"a": "b", "c": "d"}, id="continued-by-nothing"),
        pytest.param("a=b\\", {"a": "b"}, id="continuation-at-the-end"),
        pytest.param("a\\=b=c", {"a=b": "c"}, id="escaped-separator"),
        pytest.param("a=\\u00e9\\t\\q", {"a": "é\tq"}, id="escapes"),
        pytest.param("a=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}, id="line-ends"),
        pytest.param("a=b\na=c", {"a": "c"}, id="the-last-counts"),
    ],
)
def test_properties_are_read_as_java_reads_them(text: str, expected: dict[str, str]):
    assert parsed(text) == expected


def stored(text: str, *, is_key: bool) -> str:
    """Write as `java.util.Properties.store` does."""
    named = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}
    written = ""
    for position, letter in enumerate(text):
        if letter == " " and (is_key or position == 0):
            written += "\\ "
        elif letter in named:
            written += named[letter]
        elif letter in "\\=:#!":
            written += "\\" + letter
        elif not " " <= letter <= "~":
            written += f"\\u{ord(letter):04X}"
        else:
            written += letter
    return written


PLANE = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]))


@given(st.dictionaries(PLANE.filter(bool), PLANE))
def test_what_java_stores_is_read_back(entries: dict[str, str]):
    text = "".join(
        f"{stored(key, is_key=True)}={stored(value, is_key=False)}\n"
        for key, value in entries.items()
    )
    assert parsed(text) == entries


def test_every_malformed_escape_is_named():
    with pytest.raises(BadInputError) as refused:
        parse_properties("a=\\u12\nb=1\nc=\\\\u12\nd=\\uxyzw", "c.properties")

    places = [problem.place for problem in refused.value.problems]
    assert places == ["line 1", "line 4"]


def test_a_missing_file_is_bad_input(tmp_path):
    with pytest.raises(BadInputError, match="cannot be read"):
        read_properties(tmp_path / "none.properties")

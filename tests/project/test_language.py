"""Docstrings, comments, messages and names of tests are plain technical English."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest

# Files are parsed here and no line of theirs is run.

ROOT = Path(__file__).parents[2]
PACKAGES = ("placement", "assignment", "planner")
FIRST_WORDS = {
    "What",
    "Whose",
    "Who",
    "How",
    "Where",
    "Of",
    "Let",
    "Have",
    "Be",
    "Say",
    "Tell",
}
"""Words that no docstring starts with: a noun phrase or an imperative verb does."""
DIALECT = re.compile(
    r"\b(told|wish\w*|glance\w*|torn|heirs?|mend(s|ed|ing)?|lying|lies|somebody|nobody"
    r"|anybody|whoever|what is said|is said of|as it were|nothing of that"
    r"|tak(es?|ing) (no )?notice)\b",
    re.IGNORECASE,
)
NAMES = re.compile(r"(^|_)(told|wish(es|ed)?|heirs?)(_|$)", re.IGNORECASE)
"""Names of the dialect; the code that had them has names of the field."""
PARAMETERS = re.compile(r"\n {4,}\w[\w, *]*\n {8,}(\w+)")
"""A list of parameters, and the first word of their description."""
CODE = re.compile(r"``.*?``|`[^`]*`", re.DOTALL)
NODES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@lru_cache(maxsize=1)
def tokens_of(source: str) -> list[tokenize.TokenInfo]:
    """Return the tokens of a file, which take most of the time here."""
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


@lru_cache(maxsize=1)
def nodes_of(source: str) -> list[ast.AST]:
    """Return the nodes of the syntax tree of a file."""
    return list(ast.walk(ast.parse(source)))


def problems_of(source: str) -> list[str]:
    """Return the lines that break the rules of language, each with its reason."""
    found = []
    for line, text in [*docstrings_of(source), *comments_of(source)]:
        plain = CODE.sub("", text)
        found += [f"line {line}: {word[0]!r}" for word in DIALECT.finditer(plain)]
    for line, text in docstrings_of(source):
        first = re.match(r"\W*(\w+)", text)
        if first and first[1] in FIRST_WORDS:
            found.append(f"line {line}: starts with {first[1]!r}")
        described = PARAMETERS.findall(text)
        found += [f"line {line}: {one!r}" for one in described if one in FIRST_WORDS]
    return found + [f"line {line}: {name}" for line, name in dialect_names(source)]


def dialect_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each name of the dialect."""
    for token in tokens_of(source):
        if token.type == tokenize.NAME and NAMES.search(token.string):
            yield token.start[0], token.string


def docstrings_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring, those below constants included."""
    for node in nodes_of(source):
        body = getattr(node, "body", None)
        if not isinstance(node, NODES) or not isinstance(body, list):
            continue
        for statement in body:
            value = getattr(statement, "value", None)
            text = getattr(value, "value", None)
            if isinstance(statement, ast.Expr) and isinstance(text, str):
                yield statement.lineno, text


def comments_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comment."""
    for token in tokens_of(source):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def dialect_in_texts(source: str) -> list[str]:
    """Return the string constants with dialect words, docstrings excepted."""
    nodes = nodes_of(source)
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        f"line {node.lineno}: {word[0]!r}"
        for node in nodes
        if isinstance(node, ast.Constant) and id(node) not in docstrings
        if isinstance(node.value, str)
        for word in DIALECT.finditer(node.value)
    ]


def files_in(names: Iterable[str]) -> list[Path]:
    """Return the modules of some packages."""
    return sorted(file for name in names for file in (ROOT / name).rglob("*.py"))


@pytest.mark.parametrize(
    "file", files_in(PACKAGES), ids=lambda path: str(path.relative_to(ROOT))
)
def test_docstrings_comments_and_messages_are_plain(file: Path):
    source = file.read_text(encoding="utf-8")

    assert problems_of(source) + dialect_in_texts(source) == []


@pytest.mark.parametrize(
    "file", files_in(["tests"]), ids=lambda path: str(path.relative_to(ROOT))
)
def test_names_of_tests_are_plain(file: Path):
    names = re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))

    assert [name for name in names if DIALECT.search(name.replace("_", " "))] == []


def test_dialect_in_a_message_is_refused():
    assert dialect_in_texts('remedy = f"mend line {n}"') == ["line 1: 'mend'"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('"""What a broker holds."""', "starts with 'What'"),
        ('def f():\n    """Let items stay."""', "starts with 'Let'"),
        ('LIMIT = 3\n"""Of all brokers."""', "starts with 'Of'"),
        ("x = 1  # nobody has told us", "'told'"),
    ],
)
def test_dialect_is_refused(source: str, reason: str):
    assert any(reason in problem for problem in problems_of(source))


def test_names_of_code_are_no_dialect():
    assert problems_of('"""Number of `heirs` per broker."""') == []


def test_names_and_parameters_of_the_dialect_are_found():
    source = 'def f(wishes):\n    """Add.\n\n    wide\n        What is wide.\n    """\n'

    assert problems_of(source) == ["line 2: 'What'", "line 1: wishes"]

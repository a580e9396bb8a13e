"""Digests that ignore a rewording and detect a changed number."""

import gzip
import hashlib
import json
import re
from pathlib import PurePosixPath
from typing import Any

LENGTH = 12
"""Hexadecimal digits of the SHA-256 that are kept, 48 bits."""
NUMBER = re.compile(
    r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?(?:\s*(?:%|(?:[kKMGTPE]i?)?B(?:/s)?\b|min\b|[hds]\b))?"
)
"""A number, and its unit where one follows."""
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
"""A string of JSON."""
COMMAND = re.compile(r"kafka-|--")
"""Start of a string that is a command and has to stay as it is."""
MEASURED = re.compile(r'("peak_memory_bytes": )\d+')
"""A value that depends on the machine and the process."""
SETTING = re.compile(r"#? ?[\w\"-]+ = |#? ?\[")
"""Start of a line of TOML that is a table or a value, or one as a comment."""
FENCE = "```"


def sha(content: str | bytes) -> str:
    """Return the first digits of the SHA-256 of a text."""
    data = content if isinstance(content, bytes) else content.encode()
    return hashlib.sha256(data).hexdigest()[:LENGTH]


def numbers_of(text: str) -> list[str]:
    """Return the numbers of a screen with their units, in the order they appear."""
    return [re.sub(r"\s+", "", found) for found in NUMBER.findall(text)]


def screen_digest(text: str) -> str:
    """Return the digest of the numbers of a screen and their count."""
    numbers = numbers_of(text)
    return f"{sha(' '.join(numbers))}/{len(numbers)}"


def without_prose(text: str) -> str:
    """Replace each string of a JSON text that is a sentence by its numbers."""
    return LITERAL.sub(_literal, text)


def _literal(found: re.Match[str]) -> str:
    content = found.group(1)
    if " " not in content or COMMAND.match(content):
        return found.group(0)
    return json.dumps(f"({' '.join(numbers_of(content))})")


def runbook_text(text: str) -> str:
    """Keep the commands of a Markdown text, and of the rest the numbers."""
    kept, is_command = [], False
    for line in text.splitlines():
        if line.startswith(FENCE):
            is_command = not is_command
        kept.append(line if is_command else " ".join(numbers_of(line)))
    return "\n".join(filter(None, kept))


def toml_text(text: str) -> str:
    """Keep the settings of a TOML text, also those in comments, and other numbers."""
    return "\n".join(
        line if SETTING.match(line) else " ".join(numbers_of(line))
        for line in text.splitlines()
    )


def file_digest(path: str, content: bytes) -> str:
    """Return the digest of a file, in the format that its suffix names."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".gz":
        return file_digest(path.removesuffix(suffix), gzip.decompress(content))
    if suffix == ".parquet":
        return sha(parquet_text(content))
    if suffix == ".json":
        return sha(json_text(content.decode()))
    if suffix == ".md":
        return sha(runbook_text(content.decode()))
    if suffix == ".toml":
        return sha(toml_text(content.decode()))
    return sha(content)


def json_text(text: str) -> str:
    """Return a JSON document without prose and measurements, a schema without names."""
    text = MEASURED.sub(r"\1null", text)
    if '"$defs"' not in text:
        return without_prose(text)
    return json.dumps(_plain_schema(json.loads(text), {}))


def _plain_schema(node: Any, names: dict[str, str]) -> Any:
    """Drop titles and descriptions; number the definitions in order of their use."""
    if isinstance(node, list):
        return [_plain_schema(each, names) for each in node]
    if not isinstance(node, dict):
        return _plain_reference(node, names) if isinstance(node, str) else node
    rest = {k: v for k, v in node.items() if k != "$defs" and not _is_words(k, v)}
    plain = {key: _plain_schema(value, names) for key, value in rest.items()}
    definitions = node.get("$defs", {})
    done: dict[str, Any] = {}
    while todo := [name for name in names if name in definitions and name not in done]:
        done[todo[0]] = None
        done[todo[0]] = _plain_schema(definitions[todo[0]], names)
    return plain | ({"$defs": list(done.values())} if done else {})


def _is_words(key: str, value: Any) -> bool:
    return key in {"title", "description"} and isinstance(value, str)


def _plain_reference(text: str, names: dict[str, str]) -> str:
    prefix, _, name = text.partition("#/$defs/")
    return names.setdefault(name, str(len(names))) if name and not prefix else text


def parquet_text(content: bytes) -> str:
    """Return the columns and rows of a Parquet file as JSON."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(pa.BufferReader(content))
    columns = [f"{field.name} {field.type}" for field in table.schema]
    return without_prose(json.dumps([columns, table.to_pylist()], default=str))

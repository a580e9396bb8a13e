"""The corpus file, and the comparison of new records with it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from golden.record import Record

FOLDER = Path(__file__).parents[1] / "data" / "outputs"
CORPUS = FOLDER / "corpus.jsonl"
REMEDY = (
    "If the change is intended: `make golden WRITE=1` rewrites the corpus and prints "
    "what changed. `make golden SHOW=CASE` prints the outputs of one case."
)


def read_corpus(path: Path = CORPUS) -> dict[str, Record]:
    """Read the records, by the name of the case."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines]
    return {record["case"]: record for record in records}


def write_corpus(records: Iterable[Record], path: Path = CORPUS) -> None:
    """Write one record a line."""
    lines = [json.dumps(record, separators=(",", ":")) + "\n" for record in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


def differences(
    expected: Mapping[str, Record],
    found: Mapping[str, Record],
    commands: Mapping[str, str] | None = None,
) -> list[str]:
    """
    Compare records; return one paragraph for each case that differs.

    Parameters
    ----------
    expected, found
        Records by the name of the case. Only the cases of `expected` are compared
        that `found` has, and those that are new in `found`.
    commands
        The command of each case, for the message.
    """
    return [
        _paragraph(name, expected.get(name), record, (commands or {}).get(name, ""))
        for name, record in found.items()
        if record != expected.get(name)
    ]


def _paragraph(name: str, old: Record | None, new: Record, command: str) -> str:
    lines = [f"{name}: kafka-planner {command}"]
    if old is None:
        return "\n".join([*lines, "  new case, not in the corpus"])
    documents = [
        f"  {what}: {_text(old_digest)} became {_text(new_digest)}"
        for what, old_digest, new_digest in _changes(_documents(old), _documents(new))
    ]
    keys = _changes(old.get("key", {}), new.get("key", {}))
    numbers = [f"  {key}: {_text(a)} -> {_text(b)}" for key, a, b in keys]
    same = f"  key numbers unchanged: {new.get('key', 'none')}"
    return "\n".join([*lines, *documents, *(numbers or [same])])


def _documents(record: Record) -> dict[str, object]:
    """Return the exit code and the digest of each output, by the output's name."""
    names = {"code": "exit code", "json": "JSON document on stdout"}
    names |= {"out": "numbers on stdout", "err": "numbers on stderr"}
    found = {names[key]: record[key] for key in names if key in record}
    files: dict[str, object] = record.get("files", {})
    return found | files


def _changes(
    old: Mapping[str, object], new: Mapping[str, object]
) -> list[tuple[str, object, object]]:
    keys = [*old, *(key for key in new if key not in old)]
    return [(k, old.get(k), new.get(k)) for k in keys if old.get(k) != new.get(k)]


def _text(value: object) -> str:
    return "absent" if value is None else str(value)

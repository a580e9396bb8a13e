"""One line of the corpus: the digests and key numbers of one command."""

import json
from collections.abc import Mapping
from typing import Any

from golden.digest import file_digest, json_text, screen_digest, sha
from golden.sandbox import Observation

Record = dict[str, Any]
WAVES = "waves/"
"""Folder whose files share one digest."""
KEYS = {
    "status": ("status",),
    "copies": ("moves", "replicas"),
    "bytes": ("moves", "bytes"),
    "leaders": ("moves", "leaders"),
    "dirs": ("moves", "log_dirs"),
    "bytes_bound": ("certificate", "bytes", "lower_bound"),
    "copies_bound": ("certificate", "replicas", "lower_bound"),
    "deviation": ("certificate", "deviation", "value"),
}
"""Key numbers of a plan, and where its document has them."""
SCALARS = 6
"""Most key numbers taken from any other document."""
LONGEST = 24
"""Longest text that counts as a key number, in characters."""


def to_record(name: str, found: Observation) -> Record:
    """Return the record of one command."""
    record: Record = {"case": name, "code": found.code}
    numbers = key_numbers(found)
    if numbers:
        record["key"] = numbers
    if found.files:
        record["files"] = _file_digests(found.files)
    if found.is_json:
        record["json"] = sha(json_text(found.out))
    elif found.out:
        record["out"] = screen_digest(found.out)
    if found.err:
        record["err"] = screen_digest(found.err)
    return record


def _file_digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the digest of each file; those of all waves together as one."""
    digests = {path: file_digest(path, content) for path, content in files.items()}
    waves = {path: text for path, text in digests.items() if WAVES in path}
    rest = {path: text for path, text in digests.items() if path not in waves}
    if waves:
        folder = next(iter(waves)).split(WAVES)[0] + WAVES
        rest[folder] = f"{sha(json.dumps(waves))}/{len(waves)}"
    return rest


def key_numbers(found: Observation) -> Record:
    """Return the key numbers of a command, in clear."""
    plans = [path for path in found.files if path.endswith("plan.json")]
    if plans:
        return plan_numbers(json.loads(found.files[plans[0]]))
    if not found.is_json or not found.out:
        return {}
    document = json.loads(found.out)
    if not isinstance(document, dict):
        return {}
    is_plan = {"goal", "moves", "certificate"} <= document.keys()
    return plan_numbers(document) if is_plan else _scalars(document)


def plan_numbers(document: Mapping[str, Any]) -> Record:
    """Return the key numbers of a plan that are known and not zero."""
    found = {name: _at(document, path) for name, path in KEYS.items()}
    return {name: value for name, value in found.items() if value}


def _at(document: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _scalars(document: Mapping[str, Any]) -> Record:
    """Return the first short values of a document."""
    short = {
        key: value
        for key, value in document.items()
        if isinstance(value, (bool, int, float, str)) and len(str(value)) <= LONGEST
    }
    skipped = {"format", "version", "taken_at", "peak_memory_bytes"}
    kept = [(key, value) for key, value in short.items() if key not in skipped]
    return dict(kept[:SCALARS])

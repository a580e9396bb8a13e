"""What Kafka's own classes answered, as vectors: one JSON object a line."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

BUNDLED = Path(__file__).parents[1] / "data" / "golden"


def golden_folder() -> Path:
    """The folder of the vectors: ``GOLDEN_DIR`` where it is set, else the bundled."""
    return Path(os.environ.get("GOLDEN_DIR") or BUNDLED)


def golden_lines(name: str) -> list[dict[str, Any]]:
    """The vectors of one file, each with `case`, `input`, and `output` or `error`."""
    path = golden_folder() / f"{name}.jsonl.gz"
    with gzip.open(path, mode="rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]

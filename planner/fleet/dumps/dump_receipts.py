"""Receipts of ingested dumps, so that no dump is read twice."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from planner.fleet.commit_markers import Key
from planner.fleet.fleet_store import Store
from planner.io.json_reader import parse_json
from planner.io.problems import refusal

FOLDER = "ingested"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """
    Result of the ingestion of one dump.

    Parameters
    ----------
    dump, signature
        Name of the dump, and hash of the names, sizes and times of its files.
    cluster_id, taken_at
        Key of the dump's snapshot; `None` if the dump was rejected.
    content
        Hash of the snapshot's content; `None` if the dump was rejected.
    rejects
        Number of the dump's rows in the table of rejects.
    """

    dump: str
    signature: str
    cluster_id: str | None
    taken_at: str | None
    content: str | None
    rejects: int

    @property
    def key(self) -> Key | None:
        """Key of the snapshot in the fleet; `None` if the dump was rejected."""
        if self.cluster_id is None or self.taken_at is None:
            return None
        return self.cluster_id, self.taken_at


def read_receipts(store: Store) -> dict[str, Receipt]:
    """
    Return the last receipt of every dump.

    Raises
    ------
    BadInputError
        If a file of receipts is invalid.
    """
    receipts: dict[str, Receipt] = {}
    for name in store.list(FOLDER):
        try:
            lines = store.read(name).decode().splitlines()
            found = [Receipt(**parse_json(line)) for line in lines]
        except (ValueError, TypeError) as error:
            file = f"{store.folder}/{name}"
            msg = f"{file} is not a file of receipts"
            rule = "must be receipts of dumps, one JSON object per line"
            remedy = "remove it: its dumps are then read again"
            raise refusal(msg, file, rule, remedy) from error
        receipts |= {receipt.dump: receipt for receipt in found}
    return receipts


def write_receipts(store: Store, receipts: Iterable[Receipt]) -> None:
    """Write receipts, which take precedence over earlier ones of the same dumps."""
    number = len(store.list(FOLDER))
    lines = [json.dumps(asdict(each), ensure_ascii=False) for each in receipts]
    store.write(f"{FOLDER}/{number:08}.jsonl", ("\n".join(lines) + "\n").encode())

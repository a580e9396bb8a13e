"""Receipts: which dumps a fleet has taken in, so that none is read twice."""

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
    What became of one dump.

    Parameters
    ----------
    dump, signature
        Its name, and what its files were.
    cluster_id, taken_at
        The snapshot it came to; `None` where it was refused.
    content
        Hash of the snapshot's content, or `None`.
    rejects
        Rows in the table of rejects.
    """

    dump: str
    signature: str
    cluster_id: str | None
    taken_at: str | None
    content: str | None
    rejects: int

    @property
    def key(self) -> Key | None:
        """What names the snapshot in the fleet."""
        if self.cluster_id is None or self.taken_at is None:
            return None
        return self.cluster_id, self.taken_at


def read_receipts(store: Store) -> dict[str, Receipt]:
    """
    Return the last receipt of every dump.

    Raises
    ------
    BadInputError
        If a file of receipts is none.
    """
    receipts: dict[str, Receipt] = {}
    for name in store.list(FOLDER):
        try:
            lines = store.read(name).decode().splitlines()
            found = [Receipt(**parse_json(line)) for line in lines]
        except (ValueError, TypeError) as error:
            file = f"{store.folder}/{name}"
            msg = f"{file} holds no receipts"
            rule = "must be receipts of dumps, a JSON object in each line"
            remedy = "remove it: its dumps are then read again"
            raise refusal(msg, file, rule, remedy) from error
        receipts |= {receipt.dump: receipt for receipt in found}
    return receipts


def write_receipts(store: Store, receipts: Iterable[Receipt]) -> None:
    """Write receipts; later ones outrank earlier ones of the same dump."""
    number = len(store.list(FOLDER))
    lines = [json.dumps(asdict(each), ensure_ascii=False) for each in receipts]
    store.write(f"{FOLDER}/{number:08}.jsonl", ("\n".join(lines) + "\n").encode())

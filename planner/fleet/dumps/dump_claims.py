"""Origins of the snapshots of a fleet, and detection of new dumps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from planner.errors import InputProblem
from planner.fleet.commit_markers import Key
from planner.fleet.dumps.dump_finder import Dump
from planner.fleet.dumps.dump_receipts import Receipt
from planner.fleet.dumps.dump_rejects import Reject, Scope, reject_table
from planner.snapshot.tables.snapshot_columns import ArrowTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    Decision on one dump that was read.

    Parameters
    ----------
    receipt
        Receipt to keep.
    is_new
        Whether the rows of the dump are to be made visible.
    reject
        Row with the reason why another dump takes precedence; `None`: none does.
    """

    receipt: Receipt
    is_new: bool = False
    reject: ArrowTable | None = None


class Claims:
    """
    Receipts and contents of a fleet, compared with dumps that were read.

    Parameters
    ----------
    receipts
        Receipts by dump.
    contents
        Hash of the content of each snapshot of the fleet.
    """

    def __init__(
        self, receipts: Mapping[str, Receipt], contents: Mapping[Key, str]
    ) -> None:
        self._receipts = dict(receipts)
        self._known = dict(contents)
        self._holder = {
            receipt.key: dump
            for dump, receipt in sorted(receipts.items())
            if receipt.key is not None
        }

    def new(self, dumps: Iterable[Dump]) -> list[Dump]:
        """Return the dumps that are new, or that changed since they were ingested."""
        known = {name: receipt.signature for name, receipt in self._receipts.items()}
        return [dump for dump in dumps if known.get(dump.name) != dump.signature]

    def had_rejects(self, dumps: Iterable[str]) -> bool:
        """Return whether any of some dumps had rejects when last read."""
        before = (self._receipts.get(dump) for dump in dumps)
        return any(receipt is not None and receipt.rejects for receipt in before)

    def settle(self, receipts: Iterable[Receipt]) -> list[Decision]:
        """
        Decide on dumps that were read, by their receipts.

        If two dumps claim the same cluster and time, the one ingested first is kept, or
        the first by name; the other is rejected.
        """
        return [self._settle(r) for r in sorted(receipts, key=lambda r: r.dump)]

    def _settle(self, receipt: Receipt) -> Decision:
        key, content = receipt.key, receipt.content
        settled = Decision(receipt=receipt)
        if key is not None and content is not None:
            first = self._holder.setdefault(key, receipt.dump)
            if first != receipt.dump:
                settled = _reject_duplicate(receipt, first)
            elif self._known.get(key) != content:
                self._known[key] = content
                settled = Decision(receipt=receipt, is_new=True)
        self._receipts[receipt.dump] = settled.receipt
        return settled


def _reject_duplicate(receipt: Receipt, first: str) -> Decision:
    """Reject a dump with the cluster and time of another dump."""
    rule = f"another dump has this cluster and time: {first}"
    moment = datetime.fromisoformat(str(receipt.taken_at))
    refused = replace(
        receipt,
        cluster_id=None,
        taken_at=None,
        content=None,
        rejects=receipt.rejects + 1,
    )
    table = reject_table(
        [dump_refused(receipt.dump, rule, "remove one of the two")],
        dump=receipt.dump,
        cluster_id=receipt.cluster_id,
        taken_at=moment,
    )
    return Decision(receipt=refused, reject=table)


def dump_refused(dump: str, rule: str, remedy: str) -> Reject:
    """Return the reject of a whole dump."""
    problem = InputProblem(file=dump, place="", value="", rule=rule, remedy=remedy)
    return Reject(scope=Scope.SNAPSHOT, problem=problem)

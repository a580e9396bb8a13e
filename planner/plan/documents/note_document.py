"""Notes on plans and scores, as in their documents."""

from typing import Any

from placement.draft.draft import Note

KEYS_MOVE = "keys-move"
"""Name of the note on keys that more partitions move."""


def note_document(note: Note) -> dict[str, Any]:
    """Return a note as in plan.json."""
    return {
        "what": note.what,
        "have": note.have,
        "need": note.need,
        "where": dict(note.where),
        "message": note.message,
        "existing": note.is_existing,
    }

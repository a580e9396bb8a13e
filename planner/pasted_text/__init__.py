"""
Pasted text: encoding, noise around data, and JSON documents in it.

Importers of snapshots and of groups read their files with this package. It imports
nothing else of the planner.
"""

from planner.pasted_text.cleaning import Form, Pasted, clean, passed_note
from planner.pasted_text.encoding import EncodingProblemError, decode_bytes, head_of
from planner.pasted_text.json_documents import Piece, json_form, split_documents
from planner.pasted_text.noise import Noise, noise_of, tool_failure
from planner.pasted_text.outputs import Output, recognise

__all__ = [
    "EncodingProblemError",
    "Form",
    "Noise",
    "Output",
    "Pasted",
    "Piece",
    "clean",
    "decode_bytes",
    "head_of",
    "json_form",
    "noise_of",
    "passed_note",
    "recognise",
    "split_documents",
    "tool_failure",
]

"""
JSON Schemas of every document.

Imports the records of every package of `planner`.
"""

from planner.schema.document_schemas import SCHEMAS, json_schema, misfits

__all__ = ["SCHEMAS", "json_schema", "misfits"]

import pytest

from planner.schema import json_schema


@pytest.mark.parametrize("name", ["check", "verify", "reassignment"])
def test_each_document_has_a_schema(name: str):
    schema = json_schema(name)

    assert schema["type"] == "object"
    assert set(schema["required"]) <= set(schema["properties"])

"""A Spark that is too old is refused in one line."""

import pytest

from planner.errors import BadInputError
from planner.spark.versions import require_new_spark
from support.commands import run


@pytest.mark.parametrize("version", ["3.5.7", "3.5.0-amzn-1", "2.4.8"])
def test_spark_3_is_refused(monkeypatch, tmp_path, capsys, version):
    (tmp_path / "commits").mkdir()
    monkeypatch.setattr("pyspark.__version__", version)

    found = run(capsys, "fleet", "score", tmp_path, "-o", tmp_path / "out")

    assert (found.code, found.out) == (2, "")
    line = found.err.splitlines()[0]
    assert f"PySpark {version} is too old: fleets need Spark 4.0 or newer" in line
    assert "3.5 takes and gives no Arrow tables" in line
    assert "Traceback" not in found.err


def test_names_of_the_package_are_refused_as_well(monkeypatch):
    import planner.spark

    monkeypatch.setattr("pyspark.__version__", "3.5.7")

    with pytest.raises(BadInputError, match="Spark 4"):
        planner.spark.scores  # noqa: B018 - it is looked up


@pytest.mark.parametrize("version", ["4.0.0", "4.3.0.dev1", "5.0", "preview"])
def test_newer_ones_pass(version):
    require_new_spark(version)

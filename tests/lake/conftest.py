"""
The tests on Delta Lake and Iceberg, in a process of their own.

Neither runs on the Spark of the other tests. So pytest runs these tests once more, in a
process that has another PySpark on its path, and here each test reports what came of it
there.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from support.lake.parts import PYSPARK, lake_jars, missing_prerequisite
from support.other_spark import outcomes_on
from support.spark import JVM

INSIDE = "KAFKA_PLANNER_LAKE"
"""Names the folder for the warehouses, in the environment of the process inside."""
IS_INSIDE = INSIDE in os.environ
FORMATS = {"delta": "spark_catalog", "iceberg": "ice"}
"""Catalogs by the format of their tables."""
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
)
UNVERIFIED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""To verify all classes that are loaded takes a good part of so short a session."""
OUTCOMES = pytest.StashKey[dict[str, str | None]]()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Report what came of a test inside, instead of running it here."""
    if IS_INSIDE:
        return None
    outcomes = _outcomes(pyfuncitem.session)
    trouble = outcomes.get(_id_of(pyfuncitem), "it was not run")
    if trouble is not None:
        pytest.fail(trouble, pytrace=False)
    return True


def _outcomes(session: pytest.Session) -> dict[str, str | None]:
    """Return by test what failed in it; `None`: nothing did."""
    if OUTCOMES not in session.stash:
        if missing := missing_prerequisite():
            pytest.fail(missing, pytrace=False)
        names = [_id_of(item) for item in session.items if _is_lake(item)]
        session.stash[OUTCOMES] = _run_inside(names, session.config.rootpath)
    return session.stash[OUTCOMES]


def _id_of(item: pytest.Item) -> str:
    """Return the id of a test, without the group that xdist puts behind it."""
    return item.nodeid.partition("@")[0]


def _is_lake(item: pytest.Item) -> bool:
    return item.get_closest_marker("lake") is not None


def _run_inside(names: list[str], root: Path) -> dict[str, str | None]:
    with tempfile.TemporaryDirectory() as warehouse:
        return outcomes_on(PYSPARK, names, root, {INSIDE: warehouse})


@pytest.fixture(scope="session")
def lake():
    """The one session of the tests on Delta Lake and Iceberg; outside there is none."""
    if not IS_INSIDE:
        yield None
        return
    from planner.spark.session import start_session

    warehouse = Path(os.environ[INSIDE])
    catalog = f"spark.sql.catalog.{FORMATS['iceberg']}"
    session = start_session(
        master="local[1]",
        conf={
            "spark.jars": ",".join(map(str, lake_jars())),
            "spark.sql.extensions": ",".join(EXTENSIONS),
            "spark.sql.catalog.spark_catalog": (
                "org.apache.spark.sql.delta.catalog.DeltaCatalog"
            ),
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            f"{catalog}.type": "hadoop",
            f"{catalog}.warehouse": str(warehouse / "iceberg"),
            "spark.sql.warehouse.dir": str(warehouse / "delta"),
            "spark.databricks.delta.snapshotPartitions": "1",
            # Nor are statistics of a few rows of use.
            "spark.databricks.delta.stats.collect": "false",
            "spark.databricks.delta.writeChecksumFile.enabled": "false",
            "spark.sql.shuffle.partitions": "1",
            # Compiling queries takes longer than running them on a few rows.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.memory": "1g",
            "spark.driver.defaultJavaOptions": f"{JVM} {UNVERIFIED}",
        },
    )
    yield session
    session.stop()


@pytest.fixture(params=FORMATS)
def schema(request, lake):
    """A schema for the tables of one test, in each of both formats."""
    return _made(lake, request.param, request.node.originalname.removeprefix("test_"))


@pytest.fixture(scope="module", params=FORMATS)
def shared_schema(request, lake):
    """A schema for the tables of all tests of a module, in each of both formats."""
    return _made(lake, request.param, request.module.__name__.rpartition(".")[2])


def _made(lake: Any, kind: str, name: str) -> str:
    if lake is None:
        return ""
    schema = f"{FORMATS[kind]}.{name}"
    lake.sql(f"CREATE SCHEMA {schema}")
    return schema

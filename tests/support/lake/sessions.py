"""Settings of sessions that have Delta Lake and Iceberg."""

from collections.abc import Sequence
from pathlib import Path

from support.lake.parts import lake_jars
from support.profile import sampled
from support.spark import JVM, free_port

INSIDE = "KAFKA_PLANNER_LAKE"
"""Names the folder for the warehouses, in the environment of the process inside."""
FORMATS = {"delta": "spark_catalog", "iceberg": "ice"}
"""Catalogs by the format of their tables."""
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
)
PORT = "spark.connect.grpc.binding.port"
UNVERIFIED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""To verify all classes that are loaded takes a good part of so short a session."""

ROOM = "-Xms1500m -Xmn500m"
"""A heap that grows is searched for garbage whole each time."""


def in_formats(cases: Sequence[str], first: int = 0) -> Sequence[tuple[str, str]]:
    """Return cases by format, those of a sample from one of them on; at night all."""
    return sampled([(case, kind) for case in cases for kind in FORMATS], first)


def lake_conf(warehouse: Path) -> dict[str, str]:
    """Return the settings of a session on small tables below one folder."""
    catalog = f"spark.sql.catalog.{FORMATS['iceberg']}"
    return {
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
        "spark.connect.grpc.binding.address": "127.0.0.1",
        PORT: str(free_port()),
        # Plans of many tests stay: 1.5 GB were full, and the JVM left.
        "spark.driver.memory": "4g",
        "spark.driver.defaultJavaOptions": f"{JVM} {UNVERIFIED} {ROOM}",
    }

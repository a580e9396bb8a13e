"""The jars of Delta Lake and Iceberg, fetched once into the cache."""

import hashlib
import shutil
from pathlib import Path

from support.other_spark import CACHE, fetched

POM = Path(__file__).parent / "pom.xml"
PYSPARK = "4.1.4"
"""The newest one that both have a release for; the other tests run on a newer one."""


def lake_jars() -> list[Path]:
    """Return the jars of Delta Lake and Iceberg."""
    return jars_of(POM)


def jars_of(pom: Path) -> list[Path]:
    """Return the jars that a file of Maven's names, without what they depend on."""
    digest = hashlib.sha256(pom.read_bytes()).hexdigest()[:16]
    maven = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    folder = fetched(
        CACHE / pom.parent.name / digest,
        lambda target: [*maven, "-DexcludeTransitive", f"-DoutputDirectory={target}"],
    )
    return sorted(folder.glob("*.jar"))


def missing_prerequisite() -> str | None:
    """Return the one line that names what this machine lacks, or `None`."""
    if shutil.which("java") is None:
        return "tests marked lake need Java 17 or newer: no java on PATH"
    if shutil.which("mvn") is None and not (CACHE / "lake").exists():
        return "tests marked lake need Maven for their jars: no mvn on PATH"
    return None

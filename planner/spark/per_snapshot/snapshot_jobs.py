"""Jobs on the snapshots of a fleet, and the sizes of snapshots."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.whole_snapshots import snapshot_sizes

JOB_REPLICAS = 15_000
"""Fixed cost of a job, in replicas: 0.05 s for a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    Work on one snapshot of a cluster, or on several together.

    Parameters
    ----------
    cluster_id
        Id of the cluster.
    times
        Times of the snapshots, in microseconds since 1970; the resulting rows have the
        last one.
    name
        Name of the job.
    replicas
        Size of the job: number of replicas.
    """

    cluster_id: str
    times: tuple[int, ...]
    name: str
    replicas: int

    @property
    def cost(self) -> int:
        """Approximate cost of the job, in replicas."""
        return self.replicas + JOB_REPLICAS


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSize:
    """
    Key and size of a snapshot of a fleet.

    Parameters
    ----------
    cluster_id, micros
        Key of the snapshot; time in microseconds since 1970.
    replicas
        Number of replicas.
    """

    cluster_id: str
    micros: int
    replicas: int

    def job(self, name: str) -> Job:
        """Return a job on this snapshot alone."""
        return Job(
            cluster_id=self.cluster_id,
            times=(self.micros,),
            name=name,
            replicas=self.replicas,
        )


def sizes_of(fleet: Fleet) -> list[SnapshotSize]:
    """Return every snapshot of a fleet and its size, by cluster and time."""
    if fleet.files is not None:
        return [
            SnapshotSize(cluster_id=key[0] or "", micros=key[1], replicas=replicas)
            for key, replicas in sorted(snapshot_sizes(fleet.files).items())
        ]
    micros = F.unix_micros("taken_at").alias("micros")
    is_list = isinstance(fleet.partitions.schema["replicas"].dataType, T.ArrayType)
    listed = F.coalesce(F.array_size("replicas"), F.lit(0)) if is_list else F.lit(0)
    counted = fleet.partitions.groupBy("cluster_id", micros).agg(
        F.sum(listed).alias("replicas")
    )
    named = fleet.clusters.select("cluster_id", micros).distinct().dropna()
    rows = named.join(counted, on=["cluster_id", "micros"], how="left").collect()
    sizes = [
        SnapshotSize(
            cluster_id=row["cluster_id"],
            micros=row["micros"],
            replicas=int(row["replicas"] or 0),
        )
        for row in rows
    ]
    sized = {(size.cluster_id, size.micros) for size in sizes}
    sizes += [
        SnapshotSize(cluster_id=key[0] or "", micros=key[1], replicas=0)
        for key in fleet.flaws
        if key not in sized
    ]
    return sorted(sizes, key=lambda size: (size.cluster_id, size.micros))


def latest(sizes: Sequence[SnapshotSize]) -> list[SnapshotSize]:
    """Return the last snapshot of every cluster."""
    last = {size.cluster_id: size for size in sizes}
    return list(last.values())

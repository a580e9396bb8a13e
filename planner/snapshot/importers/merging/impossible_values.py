"""
Capacities in files that measured loads exceed: of a disk or a link.

The bytes of replicas and the rates of partitions are measured; capacities are written
by hand, or are defaults. The capacity is therefore the value that is likely wrong.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import Resource
from placement.status import Impossible, find_impossible
from planner.errors import InputProblem
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.merging.ledger import Origin, RecordLedger
from planner.text.format import brokers_text, bytes_text

_CAPACITIES = {
    Resource.DISK: "disk_bytes",
    Resource.IN: "in_bytes_per_s",
    Resource.OUT: "out_bytes_per_s",
}
_MEASURES = {
    Resource.DISK: ("size_bytes", {"size", "all-sizes", "weight"}),
    Resource.IN: ("in_bytes_per_s", {"in"}),
    Resource.OUT: ("out_bytes_per_s", {"in", "out"}),
}
_OVERRIDE = "--allow-partial makes such capacities unknown"


class ExceededCapacities:
    """
    Capacities that measured loads exceed.

    Parameters
    ----------
    state
        The cluster of the merged files.
    sources
        The files.
    brokers, log_dirs
        Ledgers of brokers and log dirs.
    """

    def __init__(
        self,
        state: ClusterState,
        sources: Sequence[Source],
        brokers: RecordLedger,
        log_dirs: RecordLedger,
    ) -> None:
        self.state = state
        self.sources = sources
        self.brokers = brokers
        self.log_dirs = log_dirs
        self.found = find_impossible(state)

    def problems(self) -> Iterator[InputProblem]:
        """Yield a problem for each place with a capacity that a load exceeds."""
        found = sorted(self.found, key=self._capacity_place)
        for place_of_capacity, group in groupby(found, key=self._capacity_place):
            resource, file, place = place_of_capacity
            yield self._problem(Resource(resource), Origin(file, place), list(group))

    def clear(self) -> None:
        """Make the capacities of places with an exceeded capacity unknown."""
        for resource, file, place in set(map(self._capacity_place, self.found)):
            origin, name = Origin(file, place), _CAPACITIES[Resource(resource)]
            for broker, values in self.brokers.values.items():
                if name in values and self.brokers.origin(broker, name) == origin:
                    del values[name]
            for key, values in self.log_dirs.values.items():
                has_size = "size_bytes" in values and resource == Resource.DISK
                if has_size and self.log_dirs.origin(key, "size_bytes") == origin:
                    del values["size_bytes"]
                    values.pop("usable_bytes", None)

    def notes(self) -> Iterator[str]:
        """Yield notes on the capacities that were made unknown."""
        for problem in self.problems():
            yield f"made unknown: {problem.place} of {problem.file}: {problem.rule}"

    def _broker(self, one: Impossible) -> int:
        return int(self.state.brokers.ids[one.broker_idx])

    def _capacity_place(self, one: Impossible) -> tuple[str, str, str]:
        """Return the resource, and the file and place of its capacity."""
        origin = self._origin(one)
        return str(one.resource), origin.file, origin.place

    def _origin(self, one: Impossible) -> Origin:
        broker, name = self._broker(one), _CAPACITIES[one.resource]
        if one.log_dir_idx != ABSENT:
            path = self.state.log_dirs.paths[one.log_dir_idx]
            return self.log_dirs.origin((broker, path), "size_bytes")
        if name in self.brokers.values.get(broker, {}):
            return self.brokers.origin(broker, name)
        dirs = [key for key in self.log_dirs.values if key[0] == broker]
        return self.log_dirs.origin(dirs[0], "size_bytes")

    def _problem(
        self, resource: Resource, origin: Origin, found: list[Impossible]
    ) -> InputProblem:
        ids = sorted({self._broker(one) for one in found})
        worst = max(found, key=lambda one: one.load / max(one.capacity, 1))
        name = _CAPACITIES[resource]
        brokers = brokers_text(ids)
        return InputProblem(
            file=origin.file,
            place=f"{origin.place}, {name} of {brokers}".removeprefix(", "),
            value=f"{worst.capacity:.0f}",
            rule=self._rule(resource, worst),
            remedy=self._remedy(origin, len(ids)),
        )

    def _rule(self, resource: Resource, worst: Impossible) -> str:
        files = ", ".join(self._measuring_files(resource)) or "the other files"
        broker = self._broker(worst)
        unit = "" if resource is Resource.DISK else "/s"
        load = f"{bytes_text(worst.load, 4)}{unit}"
        capacity = f"{bytes_text(worst.capacity, 4)}{unit}"
        if resource is Resource.DISK:
            place = "a disk"
            if worst.log_dir_idx != ABSENT:
                place = f"log dir {self.state.log_dirs.paths[worst.log_dir_idx]}"
            return (
                f"a disk must hold its replicas: {files} lists {load} of replicas on "
                f"{place} of broker {broker}, which has {capacity}"
            )
        way = "in" if resource is Resource.IN else "out"
        return (
            f"a link must carry its load: {files} lists {load} {way} at broker "
            f"{broker}, whose link carries {capacity}"
        )

    def _remedy(self, origin: Origin, count: int) -> str:
        is_default = any(
            source.file == origin.file
            and source.default_broker is not None
            and source.default_broker.place == origin.place
            for source in self.sources
        )
        what = "this capacity"
        if is_default:
            what = "the default for brokers that are not listed"
        elif count > 1:
            what = "these capacities"
        verb = "are" if what.startswith("these") else "is"
        return (
            f"likely {what} {verb} wrong, not the measured load: correct the capacity, "
            f"or leave it out; {_OVERRIDE}"
        )

    def _measuring_files(self, resource: Resource) -> list[str]:
        column, measures = _MEASURES[resource]
        return [
            source.file
            for source in self.sources
            if (resource is Resource.DISK and source.replicas is not None)
            or (source.partitions is not None and column in source.partitions.values)
            or any(series.measure in measures for series in source.series)
        ]

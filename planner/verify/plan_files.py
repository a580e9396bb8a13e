"""Names of the files of a plan that the commands for what is left name."""

from dataclasses import dataclass
from pathlib import Path

from planner.io.json_reader import parse_json
from planner.plan.documents.wave_records import WaveRecord
from planner.plan.input.plan_input import PlanInput
from planner.plan.input.wave_input import WavesInput

PARTS = "[0-9]" * 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFiles:
    """
    Files of a plan, as a shell names them.

    Parameters
    ----------
    plan
        The plan, for our own commands.
    whole
        The reassignment file with every partition.
    parts
        The files that Kafka takes one after the other; the whole where it takes that.
    election
        The file of elections; `None` where the plan names none.
    folder
        Where the names of waves start.
    waves
        What waves.json says of each wave.
    """

    plan: str = "PLAN"
    whole: str = "PLAN/reassignment.json"
    parts: tuple[str, ...] = ("PLAN/reassignment.json",)
    election: str | None = None
    folder: Path = Path("PLAN")
    waves: tuple[WaveRecord, ...] = ()

    def wave_files(self, number: int) -> tuple[str, ...]:
        """Return the files of a wave, one after the other."""
        wave = self.waves[number - 1]
        return tuple(str(self.folder / name) for name in wave.parts or [wave.file])


def files_of(plan: PlanInput, waves: WavesInput | None) -> PlanFiles:
    """Return the files of a plan that was read."""
    folder = plan.path
    if not folder.is_dir():
        name = str(folder)
        return PlanFiles(plan=name, whole=name, parts=(name,), election=name)
    whole = folder / "reassignment.json"
    parts = sorted(folder.glob(f"reassignment-{PARTS}.json"))
    return PlanFiles(
        plan=str(folder),
        whole=str(whole),
        parts=tuple(map(str, parts or [whole])),
        election=_election(folder / "preferred-election.json"),
        folder=folder,
        waves=() if waves is None else waves.records,
    )


def _election(path: Path) -> str | None:
    """Return the file of elections where it names any."""
    try:
        document = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return None
    listed = document.get("partitions") if isinstance(document, dict) else None
    return str(path) if listed else None

"""Names of the files of a plan, for the commands of the remaining steps."""

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
    Paths of the files of a plan, for commands.

    Parameters
    ----------
    plan
        The plan, for commands of kafka-planner.
    whole
        The reassignment file with every partition.
    parts
        Files that Kafka's tool takes in turn; only `whole` where it is small enough.
    election
        File of elections; `None` for a plan without elections.
    folder
        Folder that holds the files of waves.
    waves
        Record of each wave in waves.json.
    """

    plan: str = "PLAN"
    whole: str = "PLAN/reassignment.json"
    parts: tuple[str, ...] = ("PLAN/reassignment.json",)
    election: str | None = None
    folder: Path = Path("PLAN")
    waves: tuple[WaveRecord, ...] = ()

    def wave_files(self, number: int) -> tuple[str, ...]:
        """Return the files of a wave, in the order of their execution."""
        wave = self.waves[number - 1]
        return tuple(str(self.folder / name) for name in wave.parts or [wave.file])


def files_of(plan: PlanInput, waves: WavesInput | None) -> PlanFiles:
    """Return the paths of the files of a plan."""
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
    """Return the path of the file of elections; `None` if it lists none."""
    try:
        document = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return None
    listed = document.get("partitions") if isinstance(document, dict) else None
    return str(path) if listed else None

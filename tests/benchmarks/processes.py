"""What this process and those below it take: seconds of CPU, and memory."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def spent(work: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds of wall and of CPU that work takes."""
    began, used = time.perf_counter(), cpu_s()
    work()
    return time.perf_counter() - began, cpu_s() - used


def cpu_s() -> float:
    """Return the seconds of CPU of this process and all below it, ended ones too."""
    ticks = 0
    for process in (str(os.getpid()), *descendants()):
        try:
            stat = Path("/proc", process, "stat").read_text()
        except OSError:
            continue
        # Fields 14 to 17 of proc(5): its own time, and that of its ended children.
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def peak(process: str) -> int:
    """Return the high-water mark of a process, in bytes."""
    status = Path("/proc", process, "status").read_text().splitlines()
    found = [line.split()[1] for line in status if line.startswith("VmHWM:")]
    return int(found[0]) * 1024 if found else 0


def peaks() -> tuple[int, int]:
    """Return the high-water marks of Spark's JVM and of the largest of its workers."""
    jvm, workers = 0, 0
    for process in descendants():
        try:
            here = peak(process)
            name = Path("/proc", process, "comm").read_text().strip()
        except OSError:
            continue
        jvm, workers = (
            (max(jvm, here), workers) if name == "java" else (jvm, max(workers, here))
        )
    return jvm, workers


def descendants() -> list[str]:
    """Return the processes below this one, by their ids."""
    parents: dict[str, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[path.parent.name] = path.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
    found = [str(os.getpid())]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]

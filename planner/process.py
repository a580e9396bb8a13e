"""What this process has used."""

import resource
import sys
from pathlib import Path


def peak_memory_bytes() -> int:
    """Return the high-water mark of this process's resident memory (VmHWM)."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0

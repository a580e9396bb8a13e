"""JVMs that stay for all of a run, with Kafka's tools and nodes: see `Tools.java`."""

import atexit
import functools
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from integration.kafka.jars import java_environment

SOURCE = Path(__file__).with_name("Tools.java")
NUMBER = struct.Struct(">i")
LENGTH = struct.Struct(">H")


class Tools:
    """
    A JVM that runs Java main classes one after the other.

    A tool takes half a second of processor time to start, and hardly any to do what it
    is asked for; here each main class is loaded once.

    Parameters
    ----------
    java
        Command that runs a source file, which is to follow, with Kafka's jars.
    """

    def __init__(self, java: Sequence[str]) -> None:
        self._jvm = subprocess.Popen(
            [*java, str(SOURCE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=java_environment(),
        )
        # The end of the requests ends it, also where this process is killed.
        atexit.register(self._close)

    def run(self, main: str, args: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a main class to its end; stdin is not there for it."""
        words = [word.encode() for word in (main, *args)]
        sized = [LENGTH.pack(len(word)) + word for word in words]
        self._jvm.stdin.write(NUMBER.pack(len(words)) + b"".join(sized))
        self._jvm.stdin.flush()
        status = self._number()
        out, err = self._text(), self._text()
        return subprocess.CompletedProcess([main, *args], status, out, err)

    def _number(self) -> int:
        return int(NUMBER.unpack(self._read(NUMBER.size))[0])

    def _text(self) -> str:
        return self._read(self._number()).decode()

    def _read(self, size: int) -> bytes:
        told = self._jvm.stdout.read(size)
        if len(told) < size:
            msg = f"the JVM of Kafka's tools has ended with {self._jvm.wait()}"
            raise RuntimeError(msg)
        return bytes(told)

    def _close(self) -> None:
        self._jvm.stdin.close()
        self._jvm.wait()
        self._jvm.stdout.close()


def can_stay() -> bool:
    """Whether a JVM can be kept: it compiles its source when it starts."""
    return shutil.which("javac") is not None


def run_tool(
    java: tuple[str, ...], main: str, args: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Run a main class by a JVM that stays, or by its own without Java's compiler."""
    if can_stay():
        return _staying(java).run(main, args)
    return subprocess.run(
        [*java, main, *args],
        check=False,
        capture_output=True,
        text=True,
        env=java_environment(),
    )


@functools.cache
def _staying(java: tuple[str, ...]) -> Tools:
    return Tools(java)

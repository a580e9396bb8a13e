"""JVMs that stay for all of a run, with Kafka's tools and nodes: see `Tools.java`."""

import atexit
import functools
import hashlib
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from integration.kafka.jars import java_environment, kafka_jars
from support.made_once import made_once

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
        Command that runs a main class, which is to follow, with jars of Kafka.
    """

    def __init__(self, java: Sequence[str]) -> None:
        self._jvm = subprocess.Popen(
            [*java, "Tools"],
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
    """Whether a JVM can be kept: its source is compiled once."""
    return shutil.which("javac") is not None


def run_tool(
    java: tuple[str, ...], main: str, args: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """
    Run a main class by a JVM that stays, or by its own without Java's compiler.

    `java`: command up to and including the class path.
    """
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
    *options, class_path = java
    return Tools([*options, f"{class_path}:{_classes()}"])


def _classes() -> Path:
    """Return the folder with the compiled source."""
    libs = kafka_jars()
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    return made_once(libs.parent / f"tools-{digest}", _compile)


def _compile(folder: Path) -> None:
    jars = ":".join(map(str, sorted(kafka_jars().glob("*.jar"))))
    done = subprocess.run(
        ["javac", "-proc:none", "-d", str(folder), "-cp", jars, str(SOURCE)],
        check=False,
        capture_output=True,
        text=True,
        env=java_environment(),
    )
    if done.returncode:
        raise RuntimeError(done.stderr)

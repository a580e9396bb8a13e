"""A fleet's folder on any file system that pyarrow reaches: local, S3, GCS, HDFS."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, Protocol
from uuid import uuid4

from planner.errors import BadInputError
from planner.fleet.commit_markers import FOLDER, Commit, Visible, resolve
from planner.io.json_reader import parse_json
from planner.io.problems import refusal

_SCHEMES = {"s3a": "s3", "s3n": "s3"}
"""Scheme of a file system in pyarrow by its scheme in Spark."""


def _from_uri(uri: str) -> tuple[Any, str]:
    """Return a file system, and the path on it."""
    from pyarrow import fs

    found: tuple[Any, str] = fs.FileSystem.from_uri(uri)
    return found


class FileSink(Protocol):
    """Files that are written and removed by name."""

    def write(self, name: str, content: bytes) -> None:
        """Write one file atomically."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing files are ignored."""
        ...


class MemoryFiles:
    """Files in memory, by name."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def write(self, name: str, content: bytes) -> None:
        """Store one file."""
        self.contents[name] = content

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing files are ignored."""
        for name in names:
            self.contents.pop(name, None)


class Store:
    """
    Files below one folder, by their paths inside it.

    Parameters
    ----------
    folder
        A local path, or a URI: ``s3://…``, ``gs://…``, ``hdfs://…``.

    Raises
    ------
    BadInputError
        If there is no such file system.
    """

    def __init__(self, folder: str) -> None:
        from pyarrow import fs

        self.folder = folder
        scheme, is_uri, rest = folder.partition("://")
        try:
            if is_uri:
                uri = f"{_SCHEMES.get(scheme, scheme)}://{rest}"
                self._files, self._root = _from_uri(uri)
            else:
                path = os.path.abspath(folder.removeprefix("file:"))  # noqa: PTH100
                self._files, self._root = fs.LocalFileSystem(), path
        except (OSError, ValueError) as error:
            raise self._refusal(error) from error
        self._is_local = self._files.type_name == "local"

    def path(self, name: str) -> str:
        """Return the path of a file on the store's file system."""
        return f"{self._root}/{name}"

    @property
    def files(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """The file system."""
        return self._files

    def write(self, name: str, content: bytes) -> None:
        """Write one file atomically."""
        try:
            self._make_folder(name)
            if not self._is_local:
                self._put(name, content)
                return
            # Object stores write objects atomically; a disk needs a rename.
            draft = f"{name.rpartition('/')[0]}/.{uuid4().hex}"
            self._put(draft, content)
            self._files.move(self.path(draft), self.path(name))
        except OSError as error:
            raise self._refusal(error) from error

    def _make_folder(self, name: str) -> None:
        if self._is_local:
            self._files.create_dir(self.path(name).rpartition("/")[0], recursive=True)

    def _put(self, name: str, content: bytes) -> None:
        with self._files.open_output_stream(self.path(name)) as stream:
            stream.write(content)

    def read(self, name: str) -> bytes:
        """Return the content of one file."""
        with self._files.open_input_stream(self.path(name)) as stream:
            content: bytes = stream.read()
            return content

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing files are ignored."""
        for name in names:
            try:
                self._files.delete_file(self.path(name))
            except FileNotFoundError:
                continue

    def infos(self, folder: str) -> list[tuple[str, Any]]:
        """Return the files in a folder and below, each with size and time."""
        from pyarrow import fs

        selector = fs.FileSelector(
            self.path(folder), recursive=True, allow_not_found=True
        )
        start = len(self._root) + 1
        return [
            (info.path[start:], info)
            for info in self._files.get_file_info(selector)
            if info.type == fs.FileType.File
            and not info.base_name.startswith((".", "_"))
        ]

    def list(self, folder: str) -> list[str]:
        """Return the sorted paths of the files in a folder and below."""
        return sorted(name for name, _ in self.infos(folder))

    def commits(self) -> Iterator[Commit]:
        """
        Yield the commit markers.

        Raises
        ------
        BadInputError
            If a marker is invalid, or the folder cannot be read.
        """
        try:
            for name in self.list(FOLDER):
                file = f"{self.folder}/{name}"
                try:
                    document = parse_json(self.read(name))
                except ValueError:
                    document = None
                yield Commit.from_document(document, file=file)
        except OSError as error:
            raise self._refusal(error) from error

    def visible(self) -> Visible:
        """Return the visible markers and snapshots of the fleet."""
        return resolve(self.commits())

    def commit(self, commit: Commit) -> None:
        """Make the files of a commit visible by writing its marker."""
        self.write(f"{FOLDER}/{commit.name}.json", commit.to_text().encode())

    def _refusal(self, error: Exception) -> BadInputError:
        reason = getattr(error, "strerror", None) or str(error)
        remedy = "check the path, and the permissions on it"
        if self.folder.startswith("hdfs:"):
            remedy += "; JAVA_HOME, HADOOP_HOME and CLASSPATH must point to libhdfs"
        # For a missing library, the loader lists each path it tried on a line.
        rule = f"the fleet cannot be reached: {reason.partition(chr(10))[0]}"
        msg = f"cannot use the fleet {self.folder}"
        return refusal(msg, self.folder, rule, remedy)

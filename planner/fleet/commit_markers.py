"""
Commit markers, which decide the visible files of a fleet folder.

The rows of a snapshot are written first, into files of their own. Then one small marker
names these files, and only files named by a marker are read. A write that is killed
before its marker leaves nothing visible. This also holds on object stores without an
atomic rename, because a marker is one object. The name of a marker is a hash of the
snapshot's key, so a snapshot that is written again replaces its marker.

`fleet compact` writes the rows of many snapshots into few files, and a marker that
`replaces` the markers of these snapshots. A replaced marker is ignored, even if it
still exists, unless its snapshot was written again with other content. In that case the
compacted rows of the snapshot are ignored instead.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

from planner.io.problems import refusal

FORMAT = "kafka-planner/fleet-commit"
VERSION = 1
FOLDER = "commits"
TABLES = ("clusters", "brokers", "log_dirs", "topics", "partitions")

Key = tuple[str, str]
"""Cluster id, and time of the snapshot in ISO 8601 and UTC, to the microsecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """
    Files that became visible together.

    Parameters
    ----------
    name
        Name of the marker, without its suffix.
    snapshots
        Hash of the content of each snapshot in these files.
    files
        Paths inside the fleet's folder, by table.
    replaces
        Names of the markers whose rows this one contains.
    """

    name: str
    snapshots: Mapping[Key, str]
    files: Mapping[str, Sequence[str]]
    replaces: Sequence[str] = field(default=())

    def to_text(self) -> str:
        """Return the marker's text."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "snapshots": [
                {"cluster_id": cluster_id, "taken_at": taken_at, "content": content}
                for (cluster_id, taken_at), content in sorted(self.snapshots.items())
            ],
            "files": {table: sorted(self.files.get(table, ())) for table in TABLES},
            "replaces": sorted(self.replaces),
        }
        return json.dumps(document, ensure_ascii=False) + "\n"

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, file: str) -> Self:
        """
        Read a marker.

        Raises
        ------
        BadInputError
            If the document is not a commit marker.
        """
        try:
            _require_format(document)
            return cls(
                name=document["name"],
                snapshots={
                    (each["cluster_id"], each["taken_at"]): each["content"]
                    for each in document["snapshots"]
                },
                files={table: tuple(document["files"][table]) for table in TABLES},
                replaces=tuple(document["replaces"]),
            )
        except (KeyError, TypeError) as error:
            msg = f"{file} is not a commit marker"
            rule = f"must be a commit marker of a fleet, version {VERSION}"
            remedy = "remove it, and write its snapshots again"
            raise refusal(msg, file, rule, remedy) from error


def _require_format(document: Mapping[str, Any]) -> None:
    if (document["format"], document["version"]) != (FORMAT, VERSION):
        raise KeyError


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """
    Visible markers and snapshots of a fleet.

    Parameters
    ----------
    commits
        The valid markers, by name.
    hidden
        Snapshots whose rows in compacted files are superseded, by marker.
    """

    commits: Mapping[str, Commit]
    hidden: Mapping[str, frozenset[Key]]

    @property
    def snapshots(self) -> dict[Key, str]:
        """Hash of the content of every visible snapshot."""
        return {
            key: content
            for name, commit in self.commits.items()
            for key, content in commit.snapshots.items()
            if key not in self.hidden.get(name, ())
        }

    def files(self, table: str) -> list[str]:
        """Return the visible files of one table, sorted."""
        return sorted(
            file
            for commit in self.commits.values()
            for file in commit.files.get(table, ())
        )


def resolve(commits: Iterable[Commit]) -> Visible:
    """Determine the valid markers, and the snapshots hidden in compacted ones."""
    all_commits = {commit.name: commit for commit in commits}
    merged = [commit for commit in all_commits.values() if commit.replaces]
    gone: set[str] = set()
    for commit in merged:
        gone |= {
            name
            for name in commit.replaces
            if name in all_commits and _is_contained(all_commits[name], commit)
        }
    kept = {name: commit for name, commit in all_commits.items() if name not in gone}
    single = {
        key
        for commit in kept.values()
        if not commit.replaces
        for key in commit.snapshots
    }
    hidden = {
        name: keys
        for name, commit in kept.items()
        if commit.replaces and (keys := frozenset(single & commit.snapshots.keys()))
    }
    return Visible(commits=kept, hidden=hidden)


def _is_contained(commit: Commit, merged: Commit) -> bool:
    """Return whether a compacted marker has all snapshots of another, unchanged."""
    return bool(commit.replaces) or all(
        merged.snapshots.get(key) == content
        for key, content in commit.snapshots.items()
    )


def time_text(moment: datetime) -> str:
    """Return a time as text, in the format of markers."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def commit_name(key: Key) -> str:
    """Return the name of the marker of one snapshot."""
    return hashlib.sha256("\x00".join(key).encode()).hexdigest()[:32]

"""Writes the commit into wheels and sdists, so that `--version` can tell it."""

import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):
    """
    Puts `planner/commit.txt` into what is built from a checkout.

    What is built from an sdist has the file of the sdist, and what is built from any
    other folder has none. An editable install asks git each time.
    """

    PLUGIN_NAME = "custom"
    _folder: str | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the commit beside the checkout, which stays as it is."""
        if version == "editable":
            return
        root = Path(self.root)
        told = runpy.run_path(str(root / "planner" / "version.py"))
        commit = told["read_commit"](root)
        if commit is None:
            return
        self._folder = tempfile.mkdtemp(prefix="kafka-planner-")
        written = Path(self._folder) / told["COMMIT_FILE"]
        written.write_text(f"{commit}\n", encoding="utf-8")
        build_data["force_include"][str(written)] = f"planner/{written.name}"

    def finalize(
        self,
        version: str,
        build_data: dict[str, Any],
        artifact_path: str,
    ) -> None:
        """Remove what was written."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

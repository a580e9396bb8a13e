"""
Puts pages and files outside `docs/` on the site, and links to them there.

On the site all pages are below one root, where in the repository some lie beside
`docs/`. Links are written for the repository, and changed for the site here.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent
PAGES = {
    "README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "how-to-contribute.md",
    "SECURITY.md": "security.md",
    "tests/data/golden/README.md": "golden.md",
}
"""Pages outside `docs/`, and what they are called on the site."""
FOLDERS = {"examples": "python.md"}
"""Folders that pages link to, and the page of the site that describes each."""
LINK = re.compile(r"(?<=\]\()(?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?(?=\))")


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401 - MkDocsConfig
    """Add the pages outside `docs/`, and the files that any page links to."""
    for source, target in PAGES.items():
        files.append(_file(config, source, target))
    pages = [Path(str(file.abs_src_path)) for file in files.documentation_pages()]
    for source in sorted({path for page in pages for path in _linked_files(page)}):
        files.append(_file(config, source, source))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:  # noqa: ANN401
    """Change the links of a page to what they are on the site."""
    source = Path(page.file.abs_src_path)
    folder = posixpath.dirname(page.file.src_uri)

    def on_site(link: re.Match[str]) -> str:
        target = _site_path(_repository_path(source, link["path"]))
        return posixpath.relpath(target, folder or ".") + (link["anchor"] or "")

    return LINK.sub(on_site, markdown)


def _file(config: Any, source: str, target: str) -> File:  # noqa: ANN401
    return File.generated(config, target, abs_src_path=str(ROOT / source))


def _linked_files(page: Path) -> Iterator[str]:
    """Yield the files outside `docs/` that a page links to and that are no pages."""
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        path = _repository_path(page, link["path"])
        is_inside = path.startswith("docs/") or path in PAGES
        if not is_inside and (ROOT / path).is_file():
            yield path


def _repository_path(page: Path, link: str) -> str:
    """Return what a link of a page leads to, from the root of the repository."""
    folder = page.parent.relative_to(ROOT).as_posix()
    return posixpath.normpath(posixpath.join(folder, link))


def _site_path(path: str) -> str:
    """Return where a path of the repository is on the site."""
    return PAGES.get(path) or FOLDERS.get(path) or path.removeprefix("docs/")

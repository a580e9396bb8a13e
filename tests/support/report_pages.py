"""Reports as the text of their pages: tags, facts, and what a page may not have."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import planner.report

TABULATOR = Path(planner.report.__file__).parent / "templates/tabulator.min.js"
"""The library of browsed tables, as it was published."""


class Tags(HTMLParser):
    """Tags of a page with their attributes, and the text of its style and scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.sources = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in {"style", "script"}:
            self.sources.append((tag, dict(attrs), ""))

    def handle_data(self, data):
        if self.cdata_elem:
            *one, text = self.sources[-1]
            self.sources[-1] = (*one, text + data)


def facts(page):
    """Return label and text of each line of the facts of a page."""
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    return {label: text.replace("&#39;", "'") for label, text in pairs}


def verdict(page):
    """Return the first strong sentence of a page."""
    return re.search(r'<p class="strong">(.*?)</p>', page)[1]


def verdicts(page):
    """Return every strong sentence in the first section of a page."""
    first = page.split("</section>")[0]
    return re.findall(r'<p class="strong">(.*?)</p>', first)


def library_text():
    """Return the text of the library in a page, without the name of its source map."""
    return TABULATOR.read_text(encoding="utf-8").partition("\n//# source")[0]


def without_library(page):
    """Return a page without the text of the library."""
    return page.replace(library_text(), "")


def scripts(page):
    """Return the texts of the scripts that a page runs."""
    return [
        text
        for tag, attrs, text in Tags(page).sources
        if tag == "script" and attrs.get("type") != "application/json"
    ]


def check_page(page):
    """
    Check that a page runs its own style and scripts alone, and loads nothing.

    Every link leads to a place of the page, and every place has a name of its own.
    """
    found = Tags(page)
    policy = next(
        attrs["content"]
        for tag, attrs in found.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    (style,) = [text for tag, _, text in found.sources if tag == "style"]
    own = scripts(page)
    browses = 'class="browsed"' in page
    assert own[:-1] == [library_text()] * browses
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {hash_source(style)}",
        f"script-src {' '.join(map(hash_source, own))}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    for _, attrs in found.tags:
        assert not any(name.startswith("on") or name == "style" for name in attrs)
        for name in ("src", "href", "action", "data", "srcset"):
            assert attrs.get(name, "#").startswith("#")
    # A function of the library has a name that ends so.
    assert "url(" not in without_library(page).replace("url(#", "")
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {attrs["href"] for tag, attrs in found.tags if tag == "a"}
    assert links <= {f"#{name}" for name in ids}


def hash_source(text):
    """Return the source of a policy that allows one text."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"

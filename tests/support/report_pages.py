"""Reports as the text of their pages: tags, facts, and what a page may not have."""

import base64
import hashlib
import re
from html.parser import HTMLParser


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


def check_page(page):
    """Check that a page runs its own style and script alone, and loads nothing."""
    found = Tags(page)
    policy = next(
        attrs["content"]
        for tag, attrs in found.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    run_by_browsers = [
        (tag, text)
        for tag, attrs, text in found.sources
        if attrs.get("type") != "application/json"
    ]
    assert [tag for tag, _ in run_by_browsers] == ["style", "script"]
    for tag, text in run_by_browsers:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for _, attrs in found.tags:
        assert not any(name.startswith("on") or name == "style" for name in attrs)
        for name in ("src", "href", "action", "data", "srcset"):
            assert attrs.get(name, "#").startswith("#")
    assert "url(" not in page.replace("url(#", "")
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))

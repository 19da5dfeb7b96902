"""Checks the built site: every link leads somewhere, and no page asks another host for anything.

python tools/site/check_links.py site

mkdocs checks the links that pages are written with. Here it is the HTML that counts: what
the theme adds, and anchors too. Links to other hosts are not followed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_STYLE_URL = re.compile(r"(?:url\(|@import\s+)[\"']?(https?:|//)")


class Page(HTMLParser):
    """What one page links to, what it loads, and the anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what matters of one element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in _FETCHED and given.get("rel") not in ("canonical", "prev", "next"):
            self.loads += [given[_FETCHED[tag]]] if _FETCHED[tag] in given else []


def faults(site: Path) -> Iterator[str]:
    """What is wrong in the site, one line each."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        name = file.relative_to(site)
        for address in page.loads:
            if _is_elsewhere(address):
                yield f"{name}: loads {address}"
            elif _target(site, file, address) is None:
                yield f"{name}: loads {address}, which is not there"
        for address in page.links:
            if not _is_elsewhere(address):
                fault = _link_fault(site, file, address, pages)
                if fault:
                    yield f"{name}: {fault}"
    for file in sorted(site.rglob("*.css")):
        if _STYLE_URL.search(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(site)}: loads from another host"


def _link_fault(site: Path, file: Path, address: str, pages: dict[Path, Page]) -> str:
    """What is wrong with a link inside the site; "" for nothing."""
    target = _target(site, file, address)
    if target is None:
        return f"links to {address}, which is not there"
    fragment = unquote(urlsplit(address).fragment)
    # The theme's own script answers these.
    known = pages[target].anchors | {"__search", "__tabbed"} if target in pages else {fragment}
    return "" if fragment in known else f"links to {address}, which has no such place"


def _is_elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.scheme or parts.netloc)


def _target(site: Path, file: Path, address: str) -> Path | None:
    """The file that an address in `file` means; None where there is none."""
    path = unquote(urlsplit(address).path)
    base = site if path.startswith("/") else file.parent
    found = (base / path.lstrip("/")).resolve() if path else file
    found = found / "index.html" if found.is_dir() else found
    return found if found.is_file() and found.is_relative_to(site.resolve()) else None


def main(arguments: list[str]) -> int:
    """Print what is wrong. Returns the exit code."""
    site = Path(*arguments).resolve()
    found = list(faults(site))
    for line in found:
        print(line, file=sys.stderr)
    if not (site / "index.html").is_file():
        print(f"no site in {site}", file=sys.stderr)
        return 2
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

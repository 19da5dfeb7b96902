"""The site's front page: README.md, its links seen from docs/. A hook of mkdocs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

README = Path(__file__).parents[2] / "README.md"
_LINK = re.compile(r"(?<=\]\()(?!https?://|#)([^)\s]+)(?=\))")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the page to those of docs/."""
    text = front_page(README.read_text(encoding="utf-8"))
    files.append(File.generated(config, "index.md", content=text))
    return files


def front_page(readme: str) -> str:
    """The README as a page that lies in docs/."""
    return _LINK.sub(lambda link: _seen_from_docs(link[1]), readme)


def _seen_from_docs(path: str) -> str:
    return path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}"

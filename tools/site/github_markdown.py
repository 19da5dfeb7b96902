"""GitHub's Markdown as mkdocs reads it, and links out of docs/ as links to the repository.

A hook of mkdocs. On GitHub a list may follow a paragraph's line at once; here an
empty line has to stand between them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError

from cudalint.rulepage import HOME

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
_FENCED = re.compile(r"(^ *(`{3,})[^`\n]*\n.*?^ *\2 *$)", re.DOTALL | re.MULTILINE)
_LIST_AFTER_TEXT = re.compile(r"^((?![ \-*|>#\d]|<!--)[^\n]+\n)(?=(?:-|\d+\.) )", re.MULTILINE)
_LINK_OUT = re.compile(r"(?<=\]\()\.\./([^)#\s]+)")


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page's text as mkdocs is to read it."""
    try:
        return for_mkdocs(markdown)
    except FileNotFoundError as error:
        raise PluginError(f"{page.file.src_uri}: links to {error}, which is not there") from None


def for_mkdocs(text: str) -> str:
    """The text with its lists set apart and its links outward. Raises FileNotFoundError."""
    parts = _FENCED.split(text)
    # Of each fence there are two groups; between them stands what is none.
    for at in range(0, len(parts), 3):
        parts[at] = _LINK_OUT.sub(_in_repository, _LIST_AFTER_TEXT.sub(r"\1\n", parts[at]))
    return "".join(part for at, part in enumerate(parts) if at % 3 != 2)


def _in_repository(link: re.Match[str]) -> str:
    path = ROOT / link[1]
    if not path.exists():
        raise FileNotFoundError(link[1])
    return f"{HOME}/{'tree' if path.is_dir() else 'blob'}/main/{link[1]}"

"""Draws docs/pictures/: the text output as it looks on a terminal, and the HTML page in a browser.

python tools/pictures.py [--check]

Both show the first kernel of docs/tutorial.md. The SVG is made by rich and names no font
of another host; the PNG takes a Chromium. `--check` only compares, and the SVG alone: a
browser draws with the fonts of its machine.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
TERMINAL = PICTURES / "terminal.svg"
PAGE = PICTURES / "page.png"
COLUMNS = 110

_FILE = re.compile(r"<!-- file: (kernels/\S+) -->\n```cuda\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FONT_FACES = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
_OPTIONS = ("--isolated", "--no-cache", "--compile", "never")


def printed(folder: Path, *arguments: str) -> str:
    """What cudalint prints of a folder with the tutorial's first kernel in it."""
    shown = _FILE.search((ROOT / "docs/tutorial.md").read_text(encoding="utf-8"))
    assert shown, "the tutorial has no kernel"
    file = folder / shown[1]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(shown[2], encoding="utf-8")
    command = [sys.executable, "-m", "cudalint", ".", *_OPTIONS, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    return done.stdout


def terminal() -> str:
    """The SVG of a terminal in which `cudalint .` was run."""
    with tempfile.TemporaryDirectory() as folder:
        output = printed(Path(folder), "--color", "always")
    console = Console(
        record=True, width=COLUMNS, file=StringIO(), force_terminal=True, highlight=False
    )
    console.print(Text.from_ansi("$ cudalint .\n" + output), soft_wrap=False)
    form = _FONT_FACES.sub("", CONSOLE_SVG_FORMAT)
    form = form.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
    return console.export_svg(
        title="cudalint", theme=DIMMED_MONOKAI, code_format=form, unique_id="cudalint"
    )


def draw_page(file: Path) -> None:
    """Write the PNG of the HTML page, as wide as a column of documentation."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT / "tests"))
    from browser import find_browser

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        printed(Path(folder), "--output", "html:page.html")
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=["--no-sandbox"], timeout=120_000
        )
        window = browser.new_page(
            viewport={"width": 1000, "height": 640}, device_scale_factor=1.5, color_scheme="light"
        )
        window.goto((Path(folder) / "page.html").as_uri())
        window.screenshot(path=str(file), full_page=True)
        browser.close()


def main() -> int:
    """Write or compare. Returns the exit code."""
    if "--check" in sys.argv[1:]:
        fresh = TERMINAL.is_file() and TERMINAL.read_text(encoding="utf-8") == terminal()
        if not fresh:
            name = os.path.relpath(TERMINAL, ROOT)
            print(f"{name} is not what is printed: run `make pictures`", file=sys.stderr)
        return int(not fresh)
    PICTURES.mkdir(exist_ok=True)
    TERMINAL.write_text(terminal(), encoding="utf-8")
    draw_page(PAGE)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

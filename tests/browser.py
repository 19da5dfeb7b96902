"""A real headless Chromium for pages that the tests make; skips where there is none.

Playwright drives a browser that is installed: `chromium` or `google-chrome` on
PATH, or the one that CUDALINT_BROWSER names. Pages are opened from files, and
any request for something else fails the test.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str:
    """The browser's program; skips the test where there is none."""
    named = os.environ.get("CUDALINT_BROWSER")
    if named:
        if not Path(named).is_file():
            pytest.fail(f"CUDALINT_BROWSER names no file: {named}")
        return named
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser on PATH ({', '.join(NAMES)}), and CUDALINT_BROWSER names none")
    return found


@contextmanager
def opened(file: Path, scheme: Literal["light", "dark"] = "light") -> Iterator[Page]:
    """The page in `file`, in a window of 1280 by 900; what its console complains of fails."""
    from playwright.sync_api import sync_playwright

    complaints: list[str] = []
    asked: list[str] = []
    with sync_playwright() as playwright:
        # In a container there are no privileges for the browser's own sandbox.
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=["--no-sandbox"], timeout=120_000
        )
        try:
            context = browser.new_context(
                color_scheme=scheme, viewport={"width": 1280, "height": 900}
            )
            page = context.new_page()
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("request", lambda request: asked.append(request.url))
            page.goto(file.absolute().as_uri())
            yield page
        finally:
            browser.close()
    assert complaints == []
    assert asked == [file.absolute().as_uri()]

"""Notifications: each kind has a meaning, which the log and the documentation tell."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sample_runs import run_of

import cudalint
from cudalint.finding import Level
from cudalint.reporters.sarif import sarif
from cudalint.run import Notification, Skip
from cudalint.sarif.notification import MEANINGS

PACKAGE = Path(cudalint.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "notifications.md"


def test_every_id_in_the_package_has_a_meaning() -> None:
    ids = set()
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        ids |= set(re.findall(r'"([a-z]+(?:-[a-z]+)+)",\s*Level\.', text))
    assert len(ids) >= 8
    assert ids <= set(MEANINGS)


def test_the_page_has_them_all() -> None:
    page = PAGE.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\S+)\n\n(.+)$", page, re.MULTILINE))
    assert sections == MEANINGS
    assert list(sections) == sorted(sections)


def test_settings_and_steps_are_told_apart() -> None:
    notes = (
        Notification("invalid-settings", Level.ERROR, "No such key."),
        Notification("cache-unusable", Level.WARNING, "Disk full."),
    )
    run = run_of({}, notifications=notes, skips=(Skip("CU5", "no nvcc"),), exit_code=2)
    (invocation,) = json.loads(sarif(run))["runs"][0]["invocations"]
    (configuration,) = invocation["toolConfigurationNotifications"]
    assert configuration["message"]["text"] == "No such key."
    execution = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert execution == ["Disk full.", "CU5 skipped (no nvcc)."]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 2

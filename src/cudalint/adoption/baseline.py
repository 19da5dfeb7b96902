"""The baseline file: findings that are known and put up with for now.

A multiset of fingerprints, one entry a line in a fixed order, so that git can
merge it. Paths are relative to the file's own folder, whatever the root of a
run is. Which findings of a run stand in it is `cudalint.adoption.standing`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from cudalint.namedfile import read_named
from cudalint.settings.origin import SettingsError

VERSION = 1
DEFAULT = "cudalint-baseline.json"
"""Where `cudalint baseline write` writes if nothing else is said."""


class Entry(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """`count` findings that have one `fingerprint`; the rest is for people.

    `function` is the one around, "" for none.
    """

    path: str
    code: str
    function: str
    fingerprint: str
    count: int = 1


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it, as it stands in the file."""

    findings: tuple[Entry, ...]
    version: int = VERSION


def read_baseline(file: Path, shown: str) -> Baseline:
    """Read a baseline. Raises SettingsError with one line, which calls the file `shown`."""
    try:
        data = read_named(file, pipes=True)
    except FileNotFoundError:
        hint = f"'cudalint baseline write --baseline {shown}' makes one"
        raise SettingsError(f"there is no baseline {shown}: {hint}") from None
    except OSError as error:
        raise SettingsError(f"cannot read {shown}: {error.strerror}") from None
    try:
        baseline = msgspec.json.decode(data, type=Baseline)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SettingsError(f"{shown} is no baseline of cudalint: {error}") from None
    if baseline.version != VERSION:
        said = f"version {baseline.version}, where this cudalint knows {VERSION}"
        raise SettingsError(f"{shown} is a baseline of {said}")
    return baseline


def baseline_text(entries: Iterable[Entry]) -> bytes:
    """The content of a file with these entries, equal ones put together."""
    counts: Counter[Entry] = Counter()
    for entry in entries:
        counts[msgspec.structs.replace(entry, count=0)] += entry.count
    made = [
        msgspec.json.format(
            msgspec.json.encode(msgspec.structs.replace(entry, count=count)), indent=0
        )
        for entry, count in sorted(counts.items())
        if count > 0
    ]
    body = b",\n    ".join(made)
    body = b"\n    " + body + b"\n  " if made else b""
    return b'{\n  "version": %d,\n  "findings": [%b]\n}\n' % (VERSION, body)


def path_from(folder: Path, root: Path, path: str) -> str:
    """A run's path (relative to its `root`) as seen from the baseline's `folder`."""
    return Path(os.path.relpath(root / path, folder)).as_posix()

"""What changed between two resource tables, as text, JSON and Markdown: the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.reporters.visible import visible
from cudalint.resources.formats.json import clean
from cudalint.resources.formats.markdown import escaped

if TYPE_CHECKING:
    from cudalint.resources.difference import Difference
    from cudalint.resources.model import ResourceRow

FORMATS = ("text", "markdown", "json")
SCHEMA_VERSION = 1
"""Counts up when a key goes or means something else; new keys may come at any time."""


def written(name: str, found: Difference, revision: str) -> str:
    """The difference from `revision` (as the user named it) to now, in the format `name`."""
    makers = {"text": _text, "markdown": _markdown, "json": _json}
    return makers[name](found, revision)


def _lines(found: Difference) -> Iterator[tuple[str, ResourceRow, str]]:
    """A word, the kernel, and what there is to say, for each that is not as it was."""
    for one in found.changed:
        yield one.word, one.after, ", ".join(map(str, one.changes))
    for word, rows in (("new", found.new), ("gone", found.gone)):
        for row in rows:
            spills = row.spill_stores or row.spill_loads
            said = f"{row.registers} registers, stack {row.stack} bytes"
            yield word, row, said + (", spills" if spills else "")


def _text(found: Difference, revision: str) -> str:
    lines = [
        f"{word:<8}{visible(row.kernel)} ({visible(row.path)}, {row.arch}): {said}"
        for word, row, said in _lines(found)
    ]
    return "\n".join((*lines, _counted(found, revision))) + "\n"


def _counted(found: Difference, revision: str) -> str:
    words = [one.word for one in found.changed]
    counts = [(words.count(word), word) for word in ("worse", "changed", "better")]
    counts += [(len(found.new), "new"), (len(found.gone), "gone")]
    counts += [(found.unchanged, "unchanged")]
    said = ", ".join(f"{count} {word}" for count, word in counts if count) or "no kernels"
    return f"{said} since {visible(revision)}"


def _markdown(found: Difference, revision: str) -> str:
    lines = ["| | kernel | file | arch | figures |", "| --- | --- | --- | --- | --- |"]
    for word, row, said in _lines(found):
        cells = (word, row.kernel, row.path, row.arch, said)
        lines.append(f"| {' | '.join(escaped(visible(cell)) for cell in cells)} |")
    table = "\n".join(lines) + "\n\n" if len(lines) > 2 else ""
    return f"{table}{escaped(_counted(found, revision))}\n"


def _json(found: Difference, revision: str) -> str:
    document = {
        "version": SCHEMA_VERSION,
        "since": revision,
        "changed": [
            {
                **_named(one.after),
                "became": one.word,
                "changes": [msgspec.to_builtins(change) for change in one.changes],
            }
            for one in found.changed
        ],
        "new": [_named(row) for row in found.new],
        "gone": [_named(row) for row in found.gone],
        "unchanged": found.unchanged,
        "failures": [msgspec.to_builtins(failure) for failure in found.failures],
        "failed_before": [msgspec.to_builtins(failure) for failure in found.failed_before],
    }
    data = msgspec.json.encode(clean(document))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def _named(row: ResourceRow) -> dict[str, Any]:
    return {
        "path": row.path,
        "kernel": row.kernel,
        "symbol": row.symbol,
        "arch": row.arch,
        "nvcc": row.nvcc,
        "targets": row.targets,
    }

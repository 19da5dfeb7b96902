"""`cudalint resources --write-baseline`: record what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cudalint.cli.main import complain

if TYPE_CHECKING:
    from cudalint.resources.baseline import Recorded
    from cudalint.resources.measure import Measured


def record(measured: Measured, file: str, *, keep_other_nvcc: bool) -> int:
    """Write the baseline to `file`, and say what it holds; the exit code.

    The lines of files that were not measured now stay, as far as the files exist.
    Nothing is written when a compile failed: its kernels would be lost.
    """
    from cudalint.resources.baseline import read_baseline, write_baseline
    from cudalint.settings.origin import SettingsError
    from cudalint.writing import write_named

    if measured.table.failures:
        complain(f"{file} is left as it is: not everything compiles")
        return 1
    path = Path(file)
    try:
        before = read_baseline(path, file).lines if path.exists() else ()
        others = _others(before, measured)
        keep = before if keep_other_nvcc else ()
        text = write_baseline(measured.table.rows, others, keep)
        write_named(path, text.encode())
    except (SettingsError, ValueError) as error:
        complain(str(error))
        return 2
    except OSError as error:
        complain(f"cannot write {file}: {error.strerror}")
        return 2
    print(_said(file, text, before, path))
    return 0


def _others(before: tuple[Recorded, ...], measured: Measured) -> list[Recorded]:
    """The lines of files that are there and were not asked for now."""
    asked = {path for path, source in measured.sources.items() if source.requested}
    return [
        line for line in before if line.path not in asked and (measured.root / line.path).is_file()
    ]


def _said(file: str, text: str, before: tuple[Recorded, ...], path: Path) -> str:
    from cudalint.resources.baseline import read_baseline

    now = read_baseline(path, file).lines
    old, new = ({(line.key, line.nvcc) for line in lines} for lines in (before, now))
    changed = len({(line.key, line.nvcc) for line in set(now) - set(before)} & old)
    counts = ((changed, "changed"), (len(new - old), "new"), (len(old - new), "gone"))
    more = ", ".join(f"{count} {word}" for count, word in counts if count) or "nothing changed"
    total = "1 line" if len(now) == 1 else f"{len(now)} lines"
    return f"{file}: {total}, {more}"

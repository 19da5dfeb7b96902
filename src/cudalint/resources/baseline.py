"""The recorded figures of kernels: a TOML file with a line for each kernel, arch and nvcc.

What is worse than they are is told by `cudalint.resources.compare`; reporting it
is rule CU506's business.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from cudalint.compile.archs import arch_order
from cudalint.namedfile import read_named
from cudalint.resources.compare import Figures, figures_of
from cudalint.resources.model import ResourceRow
from cudalint.settings.load import convert, parse_toml
from cudalint.settings.origin import Origin, SettingsError
from cudalint.source import is_utf8

_HEAD = """\
# What nvcc makes of each kernel. Rule CU506 reports what is worse than this.
# Written by `cudalint resources --write-baseline`.
"""


class Recorded(
    msgspec.Struct,
    frozen=True,
    rename="kebab",
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
):
    """The line of one kernel, on one arch, compiled by one nvcc.

    `path` is the compiled file, relative to the folder of the settings; `symbol`
    is the name in the cubin where it is not `kernel`. `targets` are there where
    one kernel is compiled in several ways. `threads` is the block size
    that `warps` (of an SM) are for; sizes are bytes.
    """

    path: str
    kernel: str
    symbol: str = ""
    targets: tuple[str, ...] = ()
    arch: str
    nvcc: str
    registers: int
    spill_stores: int = 0
    spill_loads: int = 0
    stack: int = 0
    static_shared: int = 0
    threads: int | None = None
    warps: int | None = None

    @property
    def figures(self) -> Figures:
        """What was measured."""
        return Figures(
            registers=self.registers,
            spill_stores=self.spill_stores,
            spill_loads=self.spill_loads,
            stack=self.stack,
            static_shared=self.static_shared,
            warps=self.warps,
        )

    @property
    def key(self) -> tuple[str, str, str]:
        """The kernel and its arch: file, symbol, arch."""
        return self.path, self.symbol or self.kernel, self.arch


class _File(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """The whole document; `version` is that of its form."""

    version: Literal[1]
    kernels: tuple[Recorded, ...] = ()


class Baseline:
    """The recorded lines; `label` is how messages name the file."""

    def __init__(self, label: str, lines: Iterable[Recorded]) -> None:
        self.label = label
        self.lines = tuple(lines)
        self._by_key: dict[tuple[str, str, str], list[Recorded]] = {}
        for line in self.lines:
            self._by_key.setdefault(line.key, []).append(line)

    def of(self, row: ResourceRow) -> list[Recorded]:
        """The lines to hold a row to, empty for a kernel that has none.

        Those of its nvcc, else of the newest one; of its targets, one for each
        way that the kernel was compiled for them.
        """
        same = self._by_key.get((row.path, row.symbol, row.arch), [])
        for_targets = [
            line for line in same if not line.targets or set(line.targets) & set(row.targets)
        ]
        # A target that is new, or a file that came into a tree: it is still that kernel.
        chosen = for_targets or same
        versions = {line.nvcc for line in chosen}
        if versions:
            version = row.nvcc if row.nvcc in versions else max(versions, key=version_order)
            chosen = [line for line in chosen if line.nvcc == version]
        return chosen


def recorded(row: ResourceRow) -> Recorded:
    """The line of a row."""
    figures = figures_of(row)
    return Recorded(
        path=row.path,
        kernel=row.kernel,
        symbol="" if row.symbol == row.kernel else row.symbol,
        targets=row.targets,
        arch=row.arch,
        nvcc=row.nvcc,
        registers=figures.registers,
        spill_stores=figures.spill_stores,
        spill_loads=figures.spill_loads,
        stack=figures.stack,
        static_shared=figures.static_shared,
        threads=row.shape.threads if figures.warps is not None else None,
        warps=figures.warps,
    )


def read_baseline(path: Path, label: str) -> Baseline:
    """The baseline in the file. Raises SettingsError, with the place of what is wrong."""
    try:
        data = read_named(path)
    except OSError as error:
        raise SettingsError(f"cannot read {label}: {error.strerror}") from None
    origin = Origin(label, data)
    document: _File = convert(parse_toml(origin), _File, (), origin)
    return Baseline(label, document.kernels)


def configured_baseline(name: str, root: Path, cwd: Path, origin: Origin | None) -> Baseline:
    """The baseline that the setting `name` (relative to `root`) stands for.

    Raises SettingsError; it must lie below the root, for settings come with a tree
    and have no business elsewhere.
    """
    place = f"{origin.place(('resource-baseline',), value=True)}: " if origin else ""
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()):
        raise SettingsError(f"{place}resource-baseline: '{name}' is not below the project root")
    if not path.is_file():
        hint = "`cudalint resources --write-baseline` makes it"
        raise SettingsError(f"{place}resource-baseline: there is no file '{name}'; {hint}")
    return read_baseline(path, os.path.relpath(path, cwd))


def write_baseline(
    rows: Iterable[ResourceRow],
    others: Iterable[Recorded] = (),
    before: Iterable[Recorded] = (),
) -> str:
    """The text of a baseline of `rows` and `others`: sorted, a line for each.

    Of the lines `before` those of other versions of nvcc stay, for the kernels
    that are still there. Raises ValueError for a file name that TOML can't hold.
    """
    lines = _told_apart(set(map(recorded, rows)))
    keys = {line.key for line in lines}
    versions = {line.nvcc for line in lines}
    stay = (line for line in before if line.key in keys and line.nvcc not in versions)
    ordered = sorted((*lines, *others, *stay), key=_order)
    texts = "".join(f"  {_table(line)},\n" for line in ordered)
    return f"{_HEAD}version = 1\nkernels = [\n{texts}]\n"


def _told_apart(lines: set[Recorded]) -> set[Recorded]:
    """The lines without the targets of kernels that are compiled in one way only."""
    ways = Counter((line.key, line.nvcc) for line in lines)
    return {
        msgspec.structs.replace(line, targets=()) if ways[line.key, line.nvcc] == 1 else line
        for line in lines
    }


def version_order(version: str) -> tuple[int, ...]:
    """A sort key that puts nvcc 12.9.1 before 13.0.0."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _order(line: Recorded) -> tuple[object, ...]:
    version = version_order(line.nvcc)
    return line.path, line.kernel, line.symbol, line.targets, arch_order(line.arch), version


def _table(line: Recorded) -> str:
    fields = msgspec.to_builtins(line)
    return "{ " + ", ".join(f"{key} = {_value(value)}" for key, value in fields.items()) + " }"


def _value(value: object) -> str:
    if isinstance(value, str):
        if not is_utf8(value):
            raise ValueError(f"a name that is no UTF-8 can't stand in a baseline: {value!a}")
        # JSON's strings are TOML's, but for the one control character that TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value)

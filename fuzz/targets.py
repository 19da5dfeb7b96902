"""What is fuzzed: each reader of text that cudalint did not write, by name.

A target takes any bytes, and may raise only what its documentation allows, which
it catches here. What else comes out is a defect.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cudalint.adoption.baseline import read_baseline as read_finding_baseline
from cudalint.compile.demangle import demangle
from cudalint.compile.depfile import read_dependencies
from cudalint.compile.frontend import read_complaints
from cudalint.compile.ptx import read_bounds, read_local_arrays
from cudalint.compile.ptxas import read_ptxas
from cudalint.compile.sass import read_spill_lines
from cudalint.compiledb.error import DatabaseError
from cudalint.compiledb.read import Database
from cudalint.reporters.json import json
from cudalint.reporters.sarif import sarif
from cudalint.reporters.text import text
from cudalint.resources.baseline import read_baseline as read_resource_baseline
from cudalint.runner import Request, run
from cudalint.sarif.merge import MergeError, merge
from cudalint.settings.load import parse_settings
from cudalint.settings.origin import Origin, SettingsError
from cudalint.settings.select import Overrides

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"

KERNEL = b'extern "C" __global__ void k(int* p) { p[0] = 1; }\n'


def source(folder: Path, data: bytes) -> None:
    """A source file, through every rule and three reporters; suppressions are among it."""
    (folder / "a.cu").write_bytes(data)
    _lint(folder)


def manifest(folder: Path, data: bytes) -> None:
    """A leaf's KERNEL.toml."""
    for path in ("hw/common/k.cu", "hw/m/q/k.cu"):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(KERNEL)
    (folder / "hw/m/q/KERNEL.toml").write_bytes(data)
    _lint(folder)


def settings(folder: Path, data: bytes) -> None:
    """A cudalint.toml."""
    try:
        parse_settings(Origin("cudalint.toml", data))
    except SettingsError as error:
        _is_one_line(error)


def tools(folder: Path, data: bytes) -> None:
    """What nvcc, ptxas and nvdisasm print, and the files that they write."""
    said = data.decode("utf-8", "replace")
    read_ptxas(said, "sm_121")
    read_complaints(said)
    read_bounds(said)
    read_spill_lines(said, read_local_arrays(said))
    read_dependencies(said)


def symbol(folder: Path, data: bytes) -> None:
    """A mangled name."""
    demangle(data.decode("utf-8", "replace"))


def database(folder: Path, data: bytes) -> None:
    """A compile_commands.json."""
    try:
        found = Database("compile_commands.json", data, "/root", ("/root",))
        found.commands("a.cu")
    except DatabaseError as error:
        _is_one_line(error)


def baselines(folder: Path, data: bytes) -> None:
    """Recorded findings and recorded resources."""
    file = folder / "baseline"
    file.write_bytes(data)
    for read in (read_finding_baseline, read_resource_baseline):
        try:
            read(file, "baseline")
        except SettingsError as error:
            _is_one_line(error)


def shards(folder: Path, data: bytes) -> None:
    """A shard's log, to be merged."""
    try:
        merge({"a.sarif": data})
    except MergeError as error:
        _is_one_line(error)


def _is_one_line(error: Exception) -> None:
    assert "\n" not in str(error), error


def _lint(folder: Path) -> None:
    finished = run(
        Request((".",), folder, isolated=True, overrides=Overrides(("ALL",)), compile="never")
    )
    failed = [n.detail for n in finished.notifications if n.id in ("file-failed", "rule-failed")]
    assert not failed, failed[0]
    for report in (text, sarif, json):
        report(finished)


TARGETS: dict[str, tuple[Callable[[Path, bytes], None], tuple[str, ...]]] = {
    "source": (source, ("cases/**/*.cu", "cases/**/*.cuh", "cases/**/*.cpp")),
    "manifest": (manifest, ("cases/**/*.toml",)),
    "settings": (settings, ("cases/**/cudalint.toml",)),
    "tools": (tools, ("ptxas/*.txt", "ptxas/*.sass", "ptxas/*.ptx", "toolkits/**/*.*")),
    "symbol": (symbol, ()),
    "database": (database, ()),
    "baselines": (baselines, ()),
    "shards": (shards, ()),
}
"""By name: the target, and patterns of the fixtures that it starts from."""

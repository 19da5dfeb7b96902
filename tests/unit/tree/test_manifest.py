"""KERNEL.toml: which rows count, and which faults are told where."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import write_files
from cudalint.rules.cu406_invalid_manifest import InvalidManifest
from cudalint.tree.folders import Folders
from cudalint.tree.manifest import read_manifest
from cudalint.tree.model import Manifest

PLACE = "gb10/m/fp8/KERNEL.toml"


def manifest_of(root: Path, text: str) -> Manifest:
    write_files(root, {PLACE: text})
    return read_manifest(PLACE, "", Folders(root))


def faults_of(root: Path, text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    data = text.encode()
    return [
        (data[f.span.start : f.span.end].decode(), f.kind, f.arguments)
        for f in manifest_of(root, text).faults
    ]


def test_a_whole_manifest(tmp_path: Path) -> None:
    manifest = manifest_of(
        tmp_path,
        """\
[build]
extra_nvcc_flags = ["-Xptxas", "-v", "-DX"]
[modules]
a = "ops"
[sources]
use = ["common/b.cu"]
[shadow]
a = "two warps"
"t.cuh" = "wide"
[shadow_exempt]
ops = ["a_b", "a_c"]
""",
    )
    assert manifest.faults == ()
    assert [row.value for row in manifest.flags] == [("-Xptxas", "-v"), ("-DX",)]
    assert {key: row.value for key, row in manifest.modules.items()} == {"a": "ops"}
    assert [row.value for row in manifest.use] == ["common/b.cu"]
    assert {key: row.value for key, row in manifest.shadow.items()} == {
        "a": "two warps",
        "t.cuh": "wide",
    }
    assert [name.value for name in manifest.shadow_exempt["ops"].value] == ["a_b", "a_c"]
    assert manifest.shadow_table is not None


@pytest.mark.parametrize("text", ['shadow.a = "x"', 'shadow = { a = "x" }', '"shadow".a = "x"'])
def test_other_spellings_of_a_table_have_no_header(tmp_path: Path, text: str) -> None:
    manifest = manifest_of(tmp_path, text)
    assert manifest.shadow["a"].value == "x"
    assert manifest.shadow_table is None
    assert manifest.faults == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[shadows]", ("shadows", "unknown-table-near", ("[shadows]", "[shadow]"))),
        ("[Shadow]", ("Shadow", "unknown-table-near", ("[Shadow]", "[shadow]"))),
        ("[module]", ("module", "unknown-table-near", ("[module]", "[modules]"))),
        ("[deploy]", ("deploy", "unknown-table", ("[deploy]",))),
        ("[[shadow]]\na = 'x'", ("shadow", "wrong-type", ("shadow", "a table", "an array"))),
        ("deploy = 1", ("deploy", "unknown-key", ("deploy",))),
        ("use = []", ("use", "misplaced-key", ("use", "[sources]"))),
        (
            "extra_nvcc_flag = []",
            (
                "extra_nvcc_flag",
                "misplaced-key-near",
                ("extra_nvcc_flag", "extra_nvcc_flags", "[build]"),
            ),
        ),
        (
            "[build]\nextra_nvcc_flag = []",
            (
                "extra_nvcc_flag",
                "unknown-key-near",
                ("extra_nvcc_flag", "[build]", "extra_nvcc_flags"),
            ),
        ),
        ("[build]\nuse = []", ("use", "misplaced-key", ("use", "[sources]"))),
        ("[build]\nopt = 3", ("opt", "unknown-key-in", ("opt", "[build]"))),
        ("build = 3", ("3", "wrong-type", ("build", "a table", "an integer"))),
        (
            "[build]\nextra_nvcc_flags = 'x'",
            ("'x'", "wrong-type", ("extra_nvcc_flags", "an array of strings", "a string")),
        ),
        (
            "[build]\nextra_nvcc_flags = [1.5]",
            ("1.5", "wrong-type", ("extra_nvcc_flags", "an array of strings", "a float")),
        ),
        ("[modules]\na = true", ("true", "wrong-type", ("a", "a string", "a boolean"))),
        ("[modules]\na = ' '", ("' '", "blank-module", ("a",))),
        ("[shadow]\nt.cuh = 'x'", ("t", "unquoted-file-name", ("t.cuh",))),
        (
            "[shadow_exempt]\na = 'k'",
            ("'k'", "wrong-type", ("a", "an array of strings", "a string")),
        ),
        (
            "[build]\nextra_nvcc_flags = ['-ccbin', 'x']",
            ("'-ccbin'", "flag-not-allowed", ("-ccbin",)),
        ),
        (
            "[build]\nextra_nvcc_flags = ['-I/etc']",
            ("'-I/etc'", "include-not-in-tree", ("-I/etc",)),
        ),
        (
            "[build]\nextra_nvcc_flags = ['-I../../../..']",
            ("'-I../../../..'", "include-not-in-tree", ("-I../../../..",)),
        ),
    ],
)
def test_faults(tmp_path: Path, text: str, expected: tuple[str, str, tuple[str, ...]]) -> None:
    found = faults_of(tmp_path, text)[0]
    assert found == expected
    _, kind, arguments = found
    message = InvalidManifest.messages[kind]
    assert all(f"'{{{n}}}'" in message for n in range(len(arguments)))


@pytest.mark.parametrize(
    ("text", "unjudged"),
    [
        ("[shadow]\na = 3", {"a"}),
        ("[shadow]\nt.cuh = 'x'", {"t.cuh"}),
        ("[shadows]\na = 'x'\nb = 'y'", {"a", "b"}),
        ("[modules]\na = 3", set()),
    ],
)
def test_rows_with_a_fault_are_judged_by_no_other_rule(
    tmp_path: Path, text: str, unjudged: set[str]
) -> None:
    manifest = manifest_of(tmp_path, text)
    assert manifest.unjudged == unjudged
    assert manifest.shadow == {}


def test_flags_that_are_not_allowed_are_not_passed_on(tmp_path: Path) -> None:
    manifest = manifest_of(
        tmp_path, "[build]\nextra_nvcc_flags = ['-O3', '--run', '-I.', '-Igone', '-lineinfo']"
    )
    assert [row.value for row in manifest.flags] == [("-O3",), ("-lineinfo",)]
    assert manifest.includes == ("gb10/m/fp8",)
    assert [fault.arguments for fault in manifest.faults] == [("--run",), ("-Igone",)]

"""The launch tables agree with the sources they describe; no GPU is needed."""

from __future__ import annotations

import re

import pytest

from .build import modules
from .expressions import evaluate
from .launch import KERNELS, Launch, read_launches

LAUNCHES = read_launches()
_INCLUDE = re.compile(r'^#include "(\.\./\.\./common/[\w.]+\.cu)"$', re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def source_text(launch: Launch) -> str:
    """The code that declares the entry, a wrapper leaf's include followed, comments away."""
    path = KERNELS / launch.file
    text = path.read_text(encoding="utf-8")
    wrapped = _INCLUDE.search(text)
    if wrapped:
        text += (path.parent / wrapped[1]).read_text(encoding="utf-8")
    return _COMMENT.sub(" ", text)


def parameters(launch: Launch) -> list[tuple[str, str]]:
    """(name, C type without const, restrict and the bf16 alias) of each parameter."""
    head = re.search(rf"\b{launch.entry}\s*\(([^)]*)\)\s*\{{", source_text(launch))
    assert head, f"{launch.file} defines no {launch.entry}"
    found = []
    for parameter in head[1].split(","):
        name = re.findall(r"\w+", parameter)[-1]
        found.append((name, plain(parameter[: parameter.rindex(name)])))
    return found


def plain(ctype: str) -> str:
    ctype = re.sub(r"\b(const|__restrict__)\b", "", ctype)
    return re.sub(r"\s+", "", re.sub(r"\bbf16\b", "__nv_bfloat16", ctype))


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=lambda t: f"{t.leaf}:{t.entry}")
def test_table_matches_source(launch: Launch) -> None:
    assert [(name, plain(ctype)) for name, ctype in launch.args] == parameters(launch)


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=lambda t: f"{t.leaf}:{t.entry}")
def test_table_names_a_module_of_its_target(launch: Launch) -> None:
    assert modules(launch.leaf)[launch.module].source == KERNELS / launch.file


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=lambda t: f"{t.leaf}:{t.entry}")
def test_table_evaluates(launch: Launch) -> None:
    """A size is a scalar argument, or a name that the grid alone needs; never a pointer."""
    assert not set(launch.sizes) & {name for name, ctype in launch.args if "*" in ctype}
    geometry = launch.geometry(dict.fromkeys(launch.sizes, 4096))
    assert min(geometry.grid) >= 1
    threads = geometry.block[0] * geometry.block[1] * geometry.block[2]
    assert threads % 32 == 0
    assert 32 <= threads <= 1024
    assert 0 <= geometry.shared <= 99 * 1024


def test_every_kernel_has_a_table() -> None:
    described = {KERNELS / launch.file for launch in LAUNCHES.values()}
    sources = {*KERNELS.glob("common/*.cu"), *KERNELS.glob("*/*/*.cu")}
    assert sources == described


def test_entries_are_unique_within_a_layer() -> None:
    tables = [*(KERNELS / "launch").glob("*.toml")]
    assert len(tables) == len(LAUNCHES)


@pytest.mark.parametrize(
    ("expression", "value"),
    [("ceil_div(n, 8)", 13), ("max(n // 8, 1) * 2 - 1", 23), ("n % 7", 2), (3, 3)],
)
def test_expressions(expression: str | int, value: int) -> None:
    assert evaluate(expression, {"n": 100}) == value


@pytest.mark.parametrize(
    "expression", ["m", "__import__('os')", "n / 2", "n.real", "n if n else 1"]
)
def test_expressions_outside_the_grammar_are_errors(expression: str) -> None:
    with pytest.raises(ValueError, match="cannot evaluate"):
        evaluate(expression, {"n": 100})

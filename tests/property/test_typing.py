"""What an editor is shown as one types is what is found in the same text read afresh."""

from __future__ import annotations

import random
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from conftest import write_files
from cudalint.lsp.session import Document, Linted, lint
from cudalint.syntax.grammar import _SHORT
from cudalint.syntax.lastread import LastRead

KERNELS = Path(__file__).parents[2] / "kernels" / "gb10" / "common"
PIECES = (
    *("{", "}", "(", ")", ";", "x", "\n", "//", "/*", "*/", '"', "<", "<<<", "é", "#if 0\n"),
    *("#endif\n", "#define M(x) x\n", "int y = 3;\n", "cudaDeviceSynchronize();\n"),
    *("template <typename T>\n", "__global__ void q(const void* p) { printf(p); }\n"),
)


def _long_text() -> str:
    """Real code that is long enough to be parsed from its last tree."""
    text = ""
    for file in sorted(KERNELS.glob("*.cu")):
        text += file.read_text()
        if len(text) > _SHORT * 1.1:
            return text
    raise AssertionError("there are too few kernels")


TEXT = _long_text()


class Typist:
    """Two open files, linted after each change from what they were and afresh."""

    def __init__(self, root: Path) -> None:
        write_files(root, {"cudalint.toml": 'targets = ["sm_121"]\n', "a.cu": "", "b.cu": ""})
        self._root = root
        self._last = LastRead()
        self.texts = {"a.cu": TEXT, "b.cu": "void step(cudaStream_t s) { k<<<1, 1, 0, s>>>(); }\n"}

    def lint(self, last: LastRead) -> Linted:
        documents = {
            name: Document(self._root / name, name, 1, text) for name, text in self.texts.items()
        }
        return lint(documents, self._root, None, "utf-16", last, compiled=False)

    def check(self) -> None:
        typed, afresh = self.lint(self._last), self.lint(LastRead())
        assert typed.published() == afresh.published()
        assert typed.run.models == afresh.run.models


@pytest.fixture(scope="module")
def typist_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("typing")


@given(st.integers(0, 2**32))
@settings(max_examples=2, derandomize=True)
def test_after_any_edits(typist_root: Path, seed: int) -> None:
    chance = random.Random(seed)
    typist = Typist(typist_root)
    typist.check()
    for _ in range(5):
        name = chance.choice(("a.cu", "a.cu", "a.cu", "b.cu"))
        text = typist.texts[name]
        at = chance.randrange(len(text) + 1)
        kind = chance.random()
        if kind < 0.5:
            typed = chance.choice(PIECES)
            typist.texts[name] = text[:at] + typed + text[at:]
        elif kind < 0.8:
            typist.texts[name] = text[:at] + text[at + chance.choice((1, 2, 9, 200)) :]
        else:
            start = chance.randrange(len(text) + 1)
            typist.texts[name] = text[:at] + text[start : start + 300] + text[at:]
        typist.check()


def test_once_settled_only_what_was_typed_is_read_again(tmp_path: Path) -> None:
    typist = Typist(tmp_path)
    last = LastRead()
    read = typist.lint(last).run.models
    # A parser that starts in the midst of this mends it in another way.
    for typed in ("}", "(", "{ x"):
        half = len(TEXT) // 2
        typist.texts["a.cu"] = TEXT[:half] + typed + TEXT[half:]
        typist.lint(last)
        last.settle()
        assert last.afresh
        settled, afresh = typist.lint(last), typist.lint(LastRead())
        assert settled.published() == afresh.published()
        assert settled.run.models == afresh.run.models
        assert settled.run.models["b.cu"] is read["b.cu"]
        assert not last.afresh


def test_what_changed_on_the_disk_is_seen_once_settled(tmp_path: Path) -> None:
    typist = Typist(tmp_path)
    last = LastRead()
    write_files(tmp_path, {"c.h": "#define THREADS 100\n"})
    typist.texts["b.cu"] = '#include "c.h"\n__global__ __launch_bounds__(THREADS) void f() {}\n'

    def bounds(last: LastRead) -> list[str]:
        return [f.message for f in typist.lint(last).run.findings if f.code == "CU109"]

    (warps,) = bounds(last)
    assert "100" in warps
    write_files(tmp_path, {"c.h": "#define THREADS 2000\n"})
    typist.texts["b.cu"] += "\n"
    assert bounds(last) == [warps]
    last.settle()
    (threads,) = bounds(last)
    assert "2000" in threads
    assert bounds(LastRead()) == [threads]


def test_an_include_that_is_typed_is_seen_at_once(tmp_path: Path) -> None:
    typist = Typist(tmp_path)
    last = LastRead()
    write_files(tmp_path, {"c.h": "#define THREADS 100\n"})
    kernel = "__global__ __launch_bounds__(THREADS) void f() {}\n"
    for include, expected in (("", 0), ('#include "c.h"\n', 1), ('#include "d.h"\n', 0)):
        typist.texts["b.cu"] = include + kernel
        found = typist.lint(last).run.findings
        assert sum(finding.code == "CU109" for finding in found) == expected


def test_an_include_that_moves_is_where_it_is(tmp_path: Path) -> None:
    typist = Typist(tmp_path)
    last = LastRead()
    typist.texts["c.h"] = "__global__ __launch_bounds__(THREADS) void f() {}\n"
    include = '#define THREADS 100\n#include "c.h"\n'
    for above in ("", "// moved\n"):
        typist.texts["b.cu"] = above + include
        typed = typist.lint(last)
        (found,) = (one for one in typed.run.findings if one.code == "CU109")
        line = (above + include).count("\n") - 1
        places = typed.published()["c.h"]
        related = [r for d in places if d.code == "CU109" for r in d.related_information or ()]
        assert "compiled with this" in [one.label for one in found.related]
        assert line in [one.location.range.start.line for one in related]
        assert typed.published() == typist.lint(LastRead()).published()


def test_a_manifest_that_is_typed_is_seen_at_once(tmp_path: Path) -> None:
    typist = Typist(tmp_path)
    last = LastRead()
    kernel = "__global__ void f(float* p) { p[0] = 1; }\n"
    folder = "kernels/gb10"
    files = {f"{folder}/common/KERNEL.toml": "", f"{folder}/common/f.cu": kernel}
    write_files(tmp_path, {**files, f"{folder}/HARDWARE.toml": '[hardware]\narch = "sm_121"\n'})
    typist.texts[f"{folder}/HARDWARE.toml"] = '[hardware]\narch = "sm_121"\n'
    typist.texts[f"{folder}/common/f.cu"] = kernel
    before = typist.lint(last)
    typist.texts[f"{folder}/HARDWARE.toml"] = '[hardware\narch = "sm_121"\n'
    typed, afresh = typist.lint(last), typist.lint(LastRead())
    assert typed.published() == afresh.published() != before.published()


def test_what_is_typed_is_not_kept_on_the_disk(tmp_path: Path) -> None:
    typist = Typist(tmp_path)
    cache = tmp_path / "cache"
    last = LastRead()

    def lint_typed() -> list[Path]:
        document = Document(tmp_path / "a.cu", "a.cu", 1, typist.texts["a.cu"])
        lint({"a.cu": document}, tmp_path, cache, "utf-16", last, compiled=False)
        return sorted((cache / "models").glob("*/*"))

    kept = lint_typed()
    assert kept
    typist.texts["a.cu"] += "int more;\n"
    assert lint_typed() == kept

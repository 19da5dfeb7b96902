"""What the tools print may be cut off, mixed, mutilated or made up: the rules still say
something, and nothing raises."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_compile_rules import Case, K

from cudalint.compile.command import Command
from cudalint.compile.leavings import Leavings
from cudalint.compile.model import Compilation, CompiledFile
from cudalint.compile.process import Outcome
from cudalint.compile.request import CompileRequest
from cudalint.compile.toolchain import Toolchain
from cudalint.finding import Finding
from cudalint.registry import all_rules
from cudalint.reporters.shownplaces import ShownPlaces
from cudalint.resources.formats import FORMATS, written
from cudalint.resources.measure import Measured
from cudalint.resources.order import sorted_groups
from cudalint.resources.rows import resource_table
from cudalint.rule import CompileRule
from projects import context_of

TEXTS = Path(__file__).parents[2] / "fixtures"
WORDS = sorted([*(TEXTS / "ptxas").glob("*.txt"), *(TEXTS / "toolkits").glob("*.txt")])
SASS = (TEXTS / "toolkits" / "12.4.sass").read_text()
PTX = (TEXTS / "toolkits" / "columns.ptx").read_text()
TOOL = Toolchain("/usr/bin/nvcc", "13.0.88", (13, 0), frozenset({90}))
CONTEXT = context_of({"a.cu": K, "columns.cu": (TEXTS / "toolkits" / "columns.cu").read_text()})
NINES = "9" * 5000


def compiled(words: str, sass: str = "", ptx: str = "", code: int = 0) -> Compilation:
    """What becomes of these words, with the cubin that nvcc leaves and the PTX that it keeps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = Command((), folder, (), ())
        command.output.write_bytes(b"")
        (folder / "k.ptx").write_text(ptx, errors="replace")
        request = CompileRequest("columns.cu", "/project", "sm_90")
        outcome = Outcome("exit", code, words)
        return Leavings(request, TOOL, command, outcome, 60, lambda cubin: sass).compilation()


def judged(compilation: Compilation) -> list[Finding]:
    """The findings of every rule CU5, and every format of the resource table on the way."""
    file = CompiledFile("columns.cu", (compilation,))
    table = resource_table([file], CONTEXT)
    found = Measured(Path("/project"), table, dict(CONTEXT.sources), ())
    shown = ShownPlaces(found.sources, "/project", "/project")
    for name in FORMATS:
        text = written(name, sorted_groups(table.rows), found, shown)
        assert not any(ord(char) < 32 and char not in "\n\r\t" for char in text), name
        assert text.encode("utf-8")
    return [finding for rule in rules() for finding in rule.check(file, CONTEXT, rule.options())]


def rules() -> Iterator[CompileRule]:
    for rule in all_rules():
        if issubclass(rule, CompileRule):
            yield rule()


def told(compilation: Compilation) -> bool:
    """Whether all kernels of the PTX are told of in full, or the failure is said."""
    return bool(compilation.failure) or {f.symbol for f in compilation.functions if f.entry} >= {
        "columns",
        "walk",
    }


@pytest.mark.parametrize("path", WORDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_words_raise_nothing(path: Path) -> None:
    judged(compiled(path.read_text(), SASS, PTX))


@given(st.sampled_from(WORDS), st.data())
@settings(max_examples=150)
def test_words_with_a_hole(path: Path, data: st.DataObject) -> None:
    text = path.read_text()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    compilation = compiled(text[:start] + text[end:], SASS[: data.draw(st.integers(0, len(SASS)))])
    judged(compilation)


@given(st.integers(0, 800))
def test_words_that_are_cut_off_are_a_failure(cut: int) -> None:
    """A kernel that ptxas did not speak of, or not in full, is no kernel in order."""
    words = (TEXTS / "toolkits" / "12.9.txt").read_text()
    compilation = compiled(words[:cut], SASS, PTX)
    assert told(compilation)
    findings = judged(compilation)
    assert ("CU508" in {finding.code for finding in findings}) is bool(compilation.failure)
    if cut < words.index("Used 40"):
        assert compilation.failure.startswith("ptxas did not tell, or not in full, what kernel ")


@given(st.lists(st.integers(0, 20), min_size=2, max_size=12), st.text(max_size=30))
def test_words_of_two_runs_that_are_mixed(turns: list[int], between: str) -> None:
    first = (TEXTS / "toolkits" / "12.9.txt").read_text().splitlines()
    second = (TEXTS / "ptxas" / "callees.txt").read_text().splitlines()
    mixed: list[str] = []
    for turn, count in enumerate(turns):
        lines = (first, second)[turn % 2]
        mixed += [*lines[:count], between]
        del lines[:count]
    judged(compiled("\n".join([*mixed, *first, *second]), SASS, PTX))


@pytest.mark.parametrize(
    "words",
    [
        f"ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
        f"ptxas info    : Function properties for k\n"
        f"    {NINES} bytes stack frame, {NINES} bytes spill stores, {NINES} bytes spill loads\n"
        f"ptxas info    : Used {NINES} registers, used {NINES} barriers, {NINES} bytes smem\n",
        f"columns.cu({NINES}): error: too long\n",
        f"/project/columns.cu:{NINES}:{NINES}: error: too long\n",
        f"ptxas x.ptx, line {NINES}; error   : too long\n",
        "ptxas info    : Compiling entry function '\x1b[31mk\x07' for 'sm_90\x1b]0;'\n",
        "ptxas Info    : Eintrittsfunktion 'columns' wird für 'sm_90' übersetzt\n"
        "ptxas Info    : 40 Register benutzt\n",
        "ptxas info    : Used ٤٠ registers\n",
        "\x00" * 1000,
        "ptxas info : " * 100_000,
        "(" * 100_000 + "a.cu(1): error: deep\n",
        "a.cu(1): error: \x1b[2J\x9b31m\u202eevil\n",
    ],
    ids=lambda words: repr(words[:24]),
)
@pytest.mark.parametrize("code", [0, 1])
def test_made_up_words(words: str, code: int) -> None:
    compilation = compiled(words, words, words + PTX, code)
    codes = {finding.code for finding in judged(compilation)}
    assert "CU508" in codes
    assert "\n" not in compilation.failure


@given(st.text(), st.text(), st.text(), st.integers(0, 3))
def test_any_words_at_all(words: str, sass: str, ptx: str, code: int) -> None:
    compilation = compiled(words, sass, ptx, code)
    assert bool(code) <= bool(compilation.failure)
    judged(compilation)


def test_a_file_whose_words_are_not_understood_fails_the_run(case: Case) -> None:
    (case.folder / "k.ptx").write_text(".visible .entry k()\n{\n}\n")
    run = case.run({"a.cu": K}, "ptxas: fertig, 40 Register\n", ending=f"cp {case.folder}/k.ptx .")
    assert [(f.code, f.message) for f in run.findings] == [
        (
            "CU508",
            "nvcc fails for 'sm_121': 'ptxas did not tell, or not in full, what kernel k takes'.",
        )
    ]
    assert run.exit_code == 1


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(tmp_path, monkeypatch)

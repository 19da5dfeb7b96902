"""The mutation check: what it changes, how a change gets into loaded code, what it tells."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "mutants"
TEXT = """\
LIMIT = 3
WORDS = ("a", "b")


def few(count: int, spare: "int | None" = None) -> bool:
    return count < LIMIT and not spare


class Box:
    size = 1

    def holds(self, count: int) -> bool:
        return count == self.size
"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the tool by its name."""
    monkeypatch.syspath_prepend(str(TOOL))
    return importlib.import_module


def loaded(tool: Any, path: Path) -> ModuleType:
    module = ModuleType("few")
    exec(tool("inplace").compiled(path, TEXT), vars(module))
    return module


def test_the_body_of_a_function_is_replaced_where_it_is(tool: Any, tmp_path: Path) -> None:
    inplace, path = tool("inplace"), tmp_path / "few.py"
    module = loaded(tool, path)
    held = module.few
    assert isinstance(held, FunctionType)
    after = inplace.compiled(path, TEXT.replace("count < LIMIT", "count <= LIMIT"))
    changed = inplace.changed_bodies(inplace.compiled(path, TEXT), after)
    assert [name for name, _ in changed] == ["few"]
    assert not held(3)
    assert inplace.put_in(path, changed, inplace.loaded_functions())
    assert held(3)
    assert not module.Box().holds(2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ('"a", ', ""),
        ("size = 1", "size = 2"),
        ("= None", "= 1"),
    ],
)
def test_what_is_made_at_the_import_is_not(tool: Any, old: str, new: str) -> None:
    inplace, path = tool("inplace"), Path("few.py")
    after = inplace.compiled(path, TEXT.replace(old, new))
    assert inplace.changed_bodies(inplace.compiled(path, TEXT), after) is None


def test_a_mutant_is_of_one_text_alone(tool: Any) -> None:
    mutant = tool("mutant")
    one = mutant.Mutant("few.py", mutant.digest_of(TEXT), "NumberReplacer", 8, 1, "3", "4")
    assert one.apply(TEXT).startswith("LIMIT = 4\n")
    with pytest.raises(AssertionError, match=r"few\.py has changed"):
        one.apply(TEXT + "\n")


def test_a_trial_ends_in_one_of_three_ways(tool: Any) -> None:
    trial = tool("trial")

    def endless() -> str:
        while True:
            pass

    assert trial.forked(lambda: "", 5) == ("survived", "")
    assert trial.forked(lambda: "tests/test_a.py::test_b", 5) == (
        "killed",
        "tests/test_a.py::test_b",
    )
    assert trial.forked(lambda: str(1 // 0), 5) == ("killed", "(the process ended)")
    assert trial.forked(endless, 0.2) == ("timeout", "")


def test_the_table_and_what_is_lacking(tool: Any, tmp_path: Path) -> None:
    mutant, results, table = tool("mutant"), tool("results"), tool("table")
    file = tmp_path / "results.jsonl"
    for number, (operator, outcome) in enumerate(
        [("NegateCondition", "survived"), ("NumberReplacer", "killed"), ("DropCase", "timeout")]
    ):
        one = mutant.Mutant("src/cudalint/rules/cu101_x.py", "d", operator, number, 1, "a", "b")
        results.add_result(file, results.Result(one, outcome, ""))
    found = list(results.read_results(file).values())
    row = "| rules/cu101_x.py | 3 | 1 | 1 | 1 | 66.7 % |"
    assert row in table.table(found).splitlines()
    assert table.kill_rate(found) == pytest.approx(2 / 3)
    assert table.rules_with_no_negation_killed(found) == ["CU101"]


def test_mutants_of_a_text(tool: Any) -> None:
    pytest.importorskip("cosmic_ray", reason="cosmic-ray is not installed (the extra mutants)")
    found = tool("generate").mutants_of("few.py", TEXT)
    said = {one.apply(TEXT).splitlines()[one.line - 1].strip() for one in found}
    assert said >= {
        "return count <= LIMIT and not spare",
        "return count >= LIMIT and not spare",
        "return count < LIMIT or not spare",
        "return count != self.size",
        'WORDS = ( "b")',
        'WORDS = ("a",)',
    }
    assert not any("&" in line for line in said), "annotations are left as they are"


def test_what_is_no_python_any_more_is_no_mutant(tool: Any) -> None:
    """A starred value alone in parentheses is none; beside another one it is."""
    pytest.importorskip("cosmic_ray")
    text = 'MORE = ("c", "d")\nNAMES = ("a", *MORE)\nALL = ("a", "b", *MORE)\n'
    found = [mutant.apply(text) for mutant in tool("generate").mutants_of("names.py", text)]
    assert len(found) == 4
    for mutated in found:
        compile(mutated, "names.py", "exec")

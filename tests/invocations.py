"""Which command lines the tests run, read out of their syntax trees.

A command line counts when it is given to something that runs cudalint: a list with
the program in it, or a call of a function that (through others, if need be) does so
with its arguments. Names are followed to what they are bound to in the module, the
function, its loops and its parameters by `pytest.mark.parametrize`; what can't be
told is a placeholder. Comments, texts that are looked for in an output, and lines
that click would not take for a command line of ours are none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import click

UNKNOWN = "x"
_PROGRAM = "cudalint.cli.main import main; main()"
_RUNNERS = frozenset(("_run", "main", "run_cudalint", "run_cudalint_text"))
_ALTERNATIVES = 40

Line = list[str]
Bindings = dict[str, list[ast.expr]]


class Runner(NamedTuple):
    """A function that runs cudalint with its arguments.

    `skip` parameters come before these; each of `before` may stand before them.
    """

    skip: int
    before: tuple[Line, ...]


Runners = dict[str, Runner]


def option_uses(root: click.Group, files: Iterable[Path]) -> set[tuple[str, str]]:
    """Every option that a command line of these files gives, as (command, option as written)."""
    found: set[tuple[str, str]] = set()
    modules = {file.stem: ast.parse(file.read_text()) for file in files}
    runners: dict[str, Runners] = {name: {} for name in modules}
    for _ in range(3):  # as far as functions call one another through modules
        for name, module in modules.items():
            _add_imported(module, runners[name], runners)
            _add_own(module, runners[name])
    lines = {
        tuple(line) for name, module in modules.items() for line in _lines(module, runners[name])
    }
    for line in lines:
        found.update(_options(root, list(line)))
    return found


def _add_imported(module: ast.Module, runners: Runners, every: dict[str, Runners]) -> None:
    for node in module.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                runner = every.get(node.module or "", {}).get(alias.name)
                if runner is not None:
                    runners[alias.asname or alias.name] = runner


def _add_own(module: ast.Module, runners: Runners) -> None:
    outer = _bindings(module)
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef) and function.args.vararg is not None:
            mark = f"*{function.args.vararg.arg}"
            own = _bindings(function, outer)
            bindings = {**outer, **own, mark[1:]: [ast.Constant(mark)]}
            lines = [line for line in _lines_in(function, bindings, runners) if mark in line]
            if lines:
                names = [argument.arg for argument in function.args.args]
                skip = len(names) - (names[:1] == ["self"])
                before = tuple(line[: line.index(mark)] for line in lines)
                runners[_class_of(module, function) or function.name] = Runner(skip, before)


def _class_of(module: ast.Module, function: ast.FunctionDef) -> str | None:
    """The class whose `__init__` a function is: calling it is calling the class."""
    if function.name != "__init__":
        return None
    return next(
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef) and function in node.body
    )


def _options(root: click.Group, line: Line) -> Iterator[tuple[str, str]]:
    """The options of a line and the command they are given to; nothing if click refuses it."""
    command: click.Command = root
    context = click.Context(root, info_name="cudalint")
    path: list[str] = []
    rest = line
    while isinstance(command, click.Group):
        name = next((word for word in rest if word in command.list_commands(context)), None)
        if rest and rest[0] != name:
            # Without a command it is `check`, and its options may come first.
            name = "check" if command is root else None
        else:
            rest = rest[1:]
        if name is None:
            return
        found = command.get_command(context, name)
        assert found is not None
        command, context = found, click.Context(found, info_name=name, parent=context)
        path.append(name)
    try:
        command.make_parser(context).parse_args(list(rest))
    except click.ClickException:
        return
    known = {spelt for option in command.params for spelt in (*option.opts, *option.secondary_opts)}
    for word in rest:
        spelt = word.partition("=")[0]
        if spelt in known and spelt.startswith("-"):
            yield " ".join(path), spelt


def _lines(module: ast.Module, runners: Runners) -> Iterator[Line]:
    outer = _bindings(module)
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            yield from _lines_in(node, {**outer, **_bindings(node, outer)}, runners)
    yield from _lines_in(
        ast.Module([n for n in module.body if isinstance(n, ast.Assign)], []), outer, runners
    )


def _lines_in(tree: ast.AST, bindings: Bindings, runners: Runners) -> Iterator[Line]:
    """The command lines in one function."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.BinOp)):
            for line in _values(node, bindings):
                yield from _after_program(line)
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if getattr(getattr(node.func, "value", None), "id", "") == "subprocess":
            continue
        given = ast.Tuple(node.args)
        if name == "invoke" or name in _RUNNERS:
            given = ast.Tuple(node.args[name == "invoke" :])
            yield from _values(given, bindings)
            continue
        for line in _values(given, bindings):
            yield from _after_program(line)
        if name in runners:
            runner = runners[name]
            lines = _values(ast.Tuple(node.args[runner.skip :]), bindings)
            yield from ([*first, *line] for first in runner.before for line in lines)


def _after_program(line: Line) -> Iterator[Line]:
    for at, word in enumerate(line):
        if word.endswith(_PROGRAM) or line[at : at + 2] == ["-m", "cudalint"]:
            yield line[at + 1 + (word == "-m") :]


def _bindings(tree: ast.AST, outer: Bindings | None = None) -> Bindings:
    """What names are bound to: by assignments, loops over literals, and parametrize.

    `outer` are the names around.
    """
    outer = outer or {}
    found: Bindings = {}
    for node in tree.body if isinstance(tree, ast.Module) else ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _bind(target, node.value, found)
        elif isinstance(node, (ast.For, ast.comprehension)):
            for value in _elements(node.iter, outer):
                _bind(node.target, value, found)
    for decorator in getattr(tree, "decorator_list", ()):
        named = outer.get(getattr(decorator, "id", ""), [decorator])
        if isinstance(named[0], ast.Call) and getattr(named[0].func, "attr", "") == "parametrize":
            _bind_parameters(named[0], outer, found)
    return found


def _bind_parameters(parametrize: ast.Call, outer: Bindings, found: Bindings) -> None:
    words = [word for line in _values(parametrize.args[0], {}) for word in line]
    names = [name.strip() for word in words for name in word.split(",")]
    for row in _elements(parametrize.args[1], outer):
        values = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [])
        if len(names) == 1 and not isinstance(row, ast.Call):
            values = [row]
        for name, value in zip(names, values, strict=False):
            found.setdefault(name, []).append(value)


def _elements(node: ast.expr, outer: Bindings) -> list[ast.expr]:
    """The elements of a literal, or of what a name or a comprehension takes from one."""
    if isinstance(node, ast.Name):
        return [part for value in outer.get(node.id, ()) for part in _elements(value, {})]
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _elements(node.generators[0].iter, outer)
    return list(getattr(node, "elts", ()))


def _bind(target: ast.expr, value: ast.expr, found: Bindings) -> None:
    if isinstance(target, ast.Name):
        found.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Tuple):
        for one, part in zip(target.elts, getattr(value, "elts", ()), strict=False):
            _bind(one, part, found)


def _values(node: ast.expr, bindings: Bindings, depth: int = 0) -> list[Line]:
    """The words that an expression may come to, one list for each way that it may."""
    if depth > 12:
        return [[UNKNOWN]]
    below = depth + 1
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [[node.value]]
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else UNKNOWN for part in node.values)
        return [["".join(map(str, parts))]]
    if isinstance(node, ast.Name) and node.id in bindings:
        values = bindings[node.id]
        return [line for value in values for line in _values(value, bindings, below)][
            :_ALTERNATIVES
        ]
    if isinstance(node, ast.Starred):
        return _values(node.value, bindings, below)
    if isinstance(node, ast.IfExp):
        return _values(node.body, bindings, below) + _values(node.orelse, bindings, below)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined([_values(side, bindings, below) for side in (node.left, node.right)])
    if isinstance(node, (ast.Tuple, ast.List)):
        return _joined([_values(part, bindings, below) for part in node.elts])
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("list", "tuple"):
        return _joined([_values(part, bindings, below) for part in node.args])
    return [[UNKNOWN]]


def _joined(parts: list[list[Line]]) -> list[Line]:
    """One after the other; what has fewer ways keeps its last one for the others."""
    if not parts:
        return [[]]
    ways = max(len(part) for part in parts)
    padded = [part + [part[-1] if part else []] * (ways - len(part)) for part in parts]
    return [[word for part in row for word in part] for row in zip_longest(*padded)]

"""Puts a mutant into the code that is loaded, by the code objects of its functions.

Most mutants change the body of a function or method. Its code object is replaced in
the functions that are there, whoever holds them: nothing is imported again. What
else there is in a module (tables, messages, class attributes, defaults) is made
when the module is loaded, and a mutant of it can only be loaded anew.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator
from inspect import CO_NEWLOCALS, CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType

Place = tuple[str, int]
_OF_A_FUNCTION = CO_NEWLOCALS | CO_OPTIMIZED


def compiled(path: Path, text: str) -> CodeType:
    """The code of a module with this text, as an import makes it."""
    return compile(text, str(path), "exec", dont_inherit=True)


def loaded_functions() -> dict[tuple[str, Place], list[FunctionType]]:
    """The functions that are there, by their file and place."""
    found = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            code = thing.__code__
            found[code.co_filename, (code.co_name, code.co_firstlineno)].append(thing)
    return found


def changed_bodies(before: CodeType, after: CodeType) -> dict[Place, CodeType] | None:
    """The functions that a mutant changes, and how; None if it changes something else too."""
    if _shell(before) != _shell(after):
        return None
    old, new = dict(_bodies(before)), dict(_bodies(after))
    if old.keys() != new.keys():
        return None
    changed = {place: code for place, code in new.items() if code != old[place]}
    if any(code.co_freevars != old[place].co_freevars for place, code in changed.items()):
        return None
    return changed or None


def put_in(
    path: Path,
    changed: dict[Place, CodeType],
    functions: dict[tuple[str, Place], list[FunctionType]],
) -> bool:
    """Replace the code of the functions; False if one of them is nowhere to be found."""
    found = {place: functions.get((str(path), place), []) for place in changed}
    if not all(found.values()):
        return False
    for place, code in changed.items():
        for function in found[place]:
            function.__code__ = code
    return True


def _shell(code: CodeType) -> list[object]:
    """What runs when a module or class is made, without the bodies of its functions."""
    parts: list[object] = [code.co_code, code.co_names]
    for const in code.co_consts:
        if not isinstance(const, CodeType):
            parts.append((type(const), repr(const)))
        elif const.co_flags & _OF_A_FUNCTION != _OF_A_FUNCTION:
            parts += _shell(const)
        else:
            parts.append((const.co_name, const.co_firstlineno))
    return parts


def _bodies(code: CodeType) -> Iterator[tuple[Place, CodeType]]:
    """The functions of a module and of its classes; those in functions are part of these."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if const.co_flags & _OF_A_FUNCTION == _OF_A_FUNCTION:
                yield (const.co_name, const.co_firstlineno), const
            else:
                yield from _bodies(const)

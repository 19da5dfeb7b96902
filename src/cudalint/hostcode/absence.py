"""Reads conditions: does a branch, or what follows one, find a resource absent or too small?

Names out of a condition's text. Whether the branch then makes that resource is
`cudalint.hostcode.coldregions`' to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from cudalint.hostcode.predicates import peeled, split
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.syntax.model import Branch

_ABSENT = regex(
    r"^!\s*\(?\s*((?:[\w.>\[\]-]|\(\))+?)(?:\.has_value\(\))?\s*\)?$"
    r"|^((?:[\w.>\[\]-]|\(\))+)\s*==\s*(?:nullptr|NULL|0|false)$"
    r"|^(?:nullptr|NULL|0|false)\s*==\s*([\w.>\[\]-]+)$"
    r"|^([\w.>\[\]-]+)\.empty\(\)$"
)
_IS_THERE = regex(r"!=\s*(?:nullptr|NULL|0|false)$|^(?:nullptr|NULL)\s*!=")
_SMALL = regex(r"^(.+?)\s*(?:<=?|(?<!-)>=?|!=)\s*(.+)$")
_PRESENT = regex(r"^([\w.>-]+)(?:\s*!=\s*(?:nullptr|NULL|0|false))?$")
_FOUND = regex(
    r"^(?:(?:nullptr|NULL)\s*!=\s*)?((?:[\w.\[\]]|->|\(\))+?)(?:\s*!=\s*(?:nullptr|NULL|0))?$"
)
_STATUS = regex(r"(?i)err|fail|success|stat(?:us)?_?\b|\b(?:st|rc|ret|res(?:ult)?|ok|code)_?\b")
_COMPARED = regex(r"[<>=]=|(?<!-)>|<")
_PLACE = regex(r"(?:[\w.\[\]]|->|::)+")
_INDEX = regex(r"\[[^\[\]]*\]|\w+\(\)")
_COMMON = frozenset({"this", "std", "sizeof", "static_cast", "size_t", "float"})
_WORD = regex(r"[A-Za-z_]\w*")


class Held(NamedTuple):
    """What is there, or large enough, where a condition is true.

    `handles` are names of resources. `sizes` are names of what is compared and
    found no smaller; `compared` are all the names in those comparisons.
    """

    handles: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()


def names(text: str) -> frozenset[str]:
    """The identifiers in a text."""
    return frozenset(_WORD.findall(text))


def missing(branch: Branch) -> frozenset[str]:
    """The names of what a branch finds absent or too small; empty for another test."""
    condition = branch.condition
    if branch.keyword == "else":
        present = _PRESENT.match(condition)
        return names(present[1]) if present else frozenset()
    if branch.keyword != "if":
        return frozenset()
    absent = _ABSENT.match(condition)
    if absent:
        named = next(group for group in absent.groups() if group)
        return names(_INDEX.sub("", named))
    small = None if _IS_THERE.search(condition) else _SMALL.match(condition)
    counted = small and (small[1].isdigit() or small[2].isdigit())
    if small and not counted and "&&" not in condition:
        return names(condition)
    return frozenset()


def held(condition: str) -> Held:
    """What has to be absent or too small for a condition to be false; empty for another test.

    Every operand of `&&` has to test that, and one operand of `||`. A status or
    an error code is no resource.
    """
    text = peeled(condition.strip())
    either = split(text, "||")
    if len(either) > 1:
        return _joined([held(operand) for operand in either])
    both = split(text, "&&")
    if len(both) > 1:
        tests = [held(operand) for operand in both]
        return _joined(tests) if all(map(any, tests)) else Held()
    if _STATUS.search(text):
        return Held()
    if found := _FOUND.match(text):
        return Held(handles=_last_name(found[1]))
    sizes = frozenset().union(*_no_smaller(text))
    return Held(sizes=sizes, compared=names(text) - _COMMON) if sizes else Held()


def _joined(tests: list[Held]) -> Held:
    return Held(*(frozenset().union(*parts) for parts in zip(*tests, strict=True)))


def _last_name(place: str) -> frozenset[str]:
    """`cap_` of `this->pool.cap_[i]`."""
    return frozenset(_WORD.findall(_INDEX.sub("", place))[-1:])


def _no_smaller(text: str) -> Iterator[frozenset[str]]:
    """The last names of those sides of a comparison that are no smaller than the other."""
    for mark in _COMPARED.finditer(text):
        left, right = text[: mark.start()].strip(), text[mark.end() :].strip()
        if left.isdigit() or right.isdigit():
            continue
        for side, larger in ((left, ">="), (right, "<=")):
            if mark.group()[0] in larger and _PLACE.fullmatch(side):
                yield _last_name(side)

"""The classes of a run: their members, what they derive from, what types and aliases name them.

Names decide, without their namespaces; where two classes of one name say
different things of a member, nothing is known of it. What an expression's type
is, `cudalint.project.receivers` finds out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments

if TYPE_CHECKING:
    from cudalint.source import SourceFile
    from cudalint.syntax.model import FileModel, RecordType

_WRAPPED = regex(
    r"(?:unique_ptr|shared_ptr|weak_ptr|optional|reference_wrapper|atomic)\s*<(.*)>\s*[&*]*$"
)
_NOT_NAMES = regex(
    r"\b(?:const|volatile|struct|class|typename|static|mutable|inline|extern|constexpr)\b|[&*]"
)
_ACCESS = regex(r"\b(?:public|protected|private|virtual|typename)\b|\.\.\.")
_MAPS = regex(r"(?:^|::)(?:unordered_)?(?:multi)?map\s*<")
_COMMENT = regex(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ALIASES = 6

WRAPPER_METHODS = frozenset(
    {
        *("reset", "release", "swap", "get", "get_deleter", "use_count", "unique", "owner_before"),
        *("lock", "expired", "value", "value_or", "has_value", "emplace", "load", "store"),
        *("exchange", "compare_exchange_weak", "compare_exchange_strong", "wait", "notify_one"),
        *("notify_all",),
    }
)
"""Methods that smart pointers, optionals and atomics have themselves."""


class Classes:
    """Answers about the classes of `models`; the files in `sources` tell what they derive from."""

    def __init__(self, models: Mapping[str, FileModel], sources: Mapping[str, SourceFile]) -> None:
        self._members: dict[tuple[str, str], str] = {}
        self._bases: dict[str, dict[str, None]] = {}
        self._derived: dict[str, dict[str, None]] = {}
        self._aliases: dict[str, set[str]] = {}
        self._names: set[str] = set()
        for path in sorted(models):
            model = models[path]
            for alias in model.aliases:
                self._aliases.setdefault(alias.name, set()).add(alias.target)
            for record in model.structs:
                name = class_name(record.name)
                self._names.add(name)
                for member in record.members:
                    known = self._members.setdefault((name, member.name), member.type)
                    if known != member.type:
                        self._members[name, member.name] = "auto"
                source = sources.get(path)
                for base in _bases(record, source.data) if source else ():
                    self._bases.setdefault(name, {})[base] = None
                    self._derived.setdefault(base, {})[name] = None

    def member(self, owner: str, name: str) -> str | None:
        """The type of a data member, inherited ones too; None for what is none."""
        for class_ in self.with_bases(owner):
            found = self._members.get((class_, name))
            if found is not None:
                return found
        return None

    def is_known(self, name: str) -> bool:
        """Whether a class of this name is defined in the files of the run."""
        return name in self._names

    def members_of(self, owners: frozenset[str]) -> frozenset[str]:
        """The names of the data members that are of one of these classes."""
        return frozenset(
            name
            for (_, name), type_text in self._members.items()
            if class_name(type_text) in owners
        )

    def with_bases(self, name: str) -> Iterator[str]:
        """The class and all that it derives from, nearest first."""
        yield from _closure(name, self._bases)

    def derived(self, name: str) -> Iterator[str]:
        """All classes that derive from this one, nearest first, itself left out."""
        found = _closure(name, self._derived)
        next(found)
        yield from found

    def of_type(self, type_text: str) -> str | None:
        """The class that a value, pointer or smart pointer of a type leads to, aliases followed.

        "" or a foreign name for a type that is no class of the run; None where
        nothing can be known (`auto`, a type with several meanings).
        """
        for _ in range(_ALIASES):
            name = class_name(type_text)
            if name in ("auto", "decltype"):
                return None
            targets = self._aliases.get(name, set()) if name not in self._names else set()
            if not targets:
                return name
            if len(targets) > 1:
                return None
            type_text = next(iter(targets))
        return None

    def is_wrapper(self, type_text: str, followed: int) -> bool:
        """Whether a smart pointer or the like is reached through so many pointers to it."""
        for _ in range(_ALIASES):
            followed -= type_text.count("*", type_text.rfind(">") + 1)
            if _WRAPPED.search(type_text):
                return followed == 0
            targets = self._aliases.get(class_name(type_text), set())
            if len(targets) != 1:
                break
            type_text = next(iter(targets))
        return False

    def element(self, type_text: str) -> str:
        """The type of what a container, array or pointer of a type holds; a map's values."""
        for _ in range(_ALIASES):
            plain = type_text.rstrip("& ")
            if plain.endswith("*"):
                return plain[:-1].rstrip()
            bare = _NOT_NAMES.sub(" ", type_text).strip() if "<" in type_text else ""
            if bare.endswith(">"):
                inner = bare[bare.index("<") + 1 : -1].encode()
                ranges = split_arguments(inner)
                start, end = ranges[1 if _MAPS.search(bare) and len(ranges) > 1 else 0]
                return inner[start:end].decode().strip().removesuffix("[]")
            targets = self._aliases.get(class_name(type_text), set())
            if len(targets) != 1:
                break
            type_text = next(iter(targets))
        return "auto"


def class_name(type_text: str) -> str:
    """The class that a value, reference, pointer or smart pointer of this type leads to."""
    return class_text(type_text).rpartition("::")[2].strip()


@lru_cache(maxsize=4096)
def class_text(type_text: str) -> str:
    """The class like `class_name`, with what is written before its name."""
    wrapped = _WRAPPED.search(type_text)
    bare = _NOT_NAMES.sub(" ", wrapped[1] if wrapped else type_text).strip()
    if wrapped and _WRAPPED.search(bare):
        return class_text(bare)
    return bare.split("<")[0].strip().removesuffix("[]")


def _closure(name: str, table: Mapping[str, Mapping[str, None]]) -> Iterator[str]:
    seen = {name: None}
    for one in (pending := [name]):
        yield one
        for other in table.get(one, ()):
            if other not in seen:
                seen[other] = None
                pending.append(other)


def _bases(record: RecordType, data: bytes) -> Iterator[str]:
    """The names of the classes that a class derives from."""
    opening = data.find(b"{", record.span.start, record.span.end)
    head = _COMMENT.sub(b" ", data[record.span.start : max(opening, record.span.start)])
    _, colon, bases = head.replace(b"::", b"\0\0").partition(b":")
    if colon:
        text = bases.replace(b"\0\0", b"::")
        for start, end in split_arguments(text):
            name = class_name(_ACCESS.sub(" ", text[start:end].decode("utf-8", "replace")))
            if name:
                yield name

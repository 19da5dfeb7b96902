"""Pointers cut from shared memory: `float* v = reinterpret_cast<float*>(pool + 64);`."""

from __future__ import annotations

from bisect import bisect_left

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.model import Function, SharedDeclaration, normal
from cudalint.syntax.raw import Range

_POINTER = regex(
    rb"\s*([A-Za-z_][\w:<>,\s]*(?:\*|\(\s*[&*])\s*)"
    rb"(?:(?:const|__restrict__|__restrict)\b\s*)*([A-Za-z_]\w*)\s*\)?\s*(?:\[[^\]]*\]\s*)*=\s*"
)
_AUTO = regex(rb"\s*((?:const\s+)?auto(?:\s+const)?[\s*&]*)(?<!\w)([A-Za-z_]\w*)\s*=\s*")
_POINTER_VALUE = regex(rb"^\s*&|reinterpret_cast\s*<[^;]{0,400}\*|\(\s*[\w:]+\s*\*+\s*\)")
_WORD = regex(rb"[A-Za-z_]\w*")


def pointer_aliases(
    path: str,
    code: bytes,
    bare: bytes,
    statements: list[Range],
    functions: list[Function],
    shared: list[SharedDeclaration],
) -> list[SharedDeclaration]:
    """The aliases in functions that declare shared memory, direct or through one another."""
    names_of: dict[int, set[bytes]] = {}
    for record in shared:
        if record.function >= 0:
            names_of.setdefault(record.function, set()).add(record.name.encode())
    starts = [start for start, _ in statements]
    found: list[SharedDeclaration] = []
    for home, names in sorted(names_of.items()):
        body = functions[home].body
        if body is None:
            continue
        low, high = bisect_left(starts, body.start), bisect_left(starts, body.end)
        for start, end in statements[low:high]:
            if end > body.end or bare.find(b"=", start, end) < 0:
                continue
            text = bare[start:end].rstrip()
            if not text.endswith(b";"):
                continue
            match = _POINTER.match(text) or _AUTO.match(text)
            if match is None:
                continue
            value = text[match.end() : -1].rstrip()
            # What a bare `auto` stands for, the value says.
            known = b"*" in match.group(1) or b"(" in match.group(1)
            if not known and not _POINTER_VALUE.search(value):
                continue
            if not any(w in names for w in _WORD.findall(value)):
                continue
            names.add(match.group(2))
            name_at, name_end = match.span(2)
            found.append(
                SharedDeclaration(
                    span=Span(path, start, end),
                    name_span=Span(path, start + name_at, start + name_end),
                    statement=Span(path, start, end),
                    name=match.group(2).decode(),
                    type=normal(match.group(1).replace(b"(", b" ")),
                    kind="alias",
                    dimensions=(),
                    initializer=normal(
                        code[start + match.end() : start + match.end() + len(value)]
                    ),
                    function=home,
                )
            )
    return found

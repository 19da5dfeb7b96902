"""Uses of macros as statements, at equal length.

The grammar takes a use for a call. A `;` is put behind one that stands alone without, types
among its arguments become names, one behind a string a string, and a use that begins a block
in a function, `LOOP(i, a * b) {`, becomes a statement of its own.
"""

from __future__ import annotations

from collections.abc import Collection

from cudalint.regex import regex
from cudalint.syntax.attributes import blank
from cudalint.syntax.brackets import after_space, close_of, split_arguments
from cudalint.syntax.effort import spend

_CALLED = regex(rb"[ \t]*\(")
_CONTROL_BEFORE = regex(rb"\b(?:if|while|switch|for)\s*(?:constexpr\s*)?$")
_ELSE_BEFORE = regex(rb"\b(?:else|do)$")
_BEGINS = regex(rb"[\w}~]")
_BRACE = regex(rb"[{}]")
_OPENED = regex(rb"\w*[ \t\n]*\(")
_BEGUN = regex(rb"[ \t\n]*\{")
_GOES_ON = regex(rb"\s*[.,;)]")
_AFTER_STRING = regex(rb'"\s{1,200}(?P<name>[A-Za-z_]\w+)\s{0,9}(?P<opened>\(?)')
_NO_STRING = regex(rb'\b(?:extern|operator)\s*"[^"]*\Z')
_KEYWORD = (
    rb"(?:unsigned|signed|short|long|int|char|bool|float|double|void|auto|"
    rb"wchar_t|char(?:8|16|32)_t|s?size_t|ptrdiff_t|u?int(?:8|16|32|64|ptr)_t|nullptr_t)\b"
)
_QUALIFIER = rb"(?:const|volatile|struct|class|typename)\b\s*"
_NAME = rb"[A-Za-z_][\w:]*"
_TYPE = regex(
    rb"(?:" + _QUALIFIER + rb")*(?:"
    rb"(?:" + _KEYWORD + rb"\s*)+(?:const\b\s*)?[*&\s]*"
    rb"|" + _NAME + rb"\s*(?:const\b\s*)?[*&][*&\s]*)"
)
_QUALIFIED = regex(rb"(?:" + _QUALIFIER + rb")+" + _NAME + rb"[*&\s]*")
_MAY_BE_TYPE = regex(_KEYWORD + rb"|[*&]\s*[,)]|const\b|typename\b|struct\b")
_HEAD_END = regex(rb"(?:[){};]|\b(?:else|do|try|const|noexcept|override|final|mutable))\s*\Z")
_USE_UNITS = 70
"""What looks like a use takes."""

Range = tuple[int, int]


def mask_types(bare: bytes | bytearray, parse: bytearray, shouted: list[Range]) -> None:
    """Make names of the types that macros are given: `SHARED(unsigned char, s)`."""
    for _, end in shouted:
        opened = _OPENED.match(bare, end)
        if opened is None:
            continue
        open_at = opened.end() - 1
        close = close_of(bare, open_at)
        if close < 0 or _MAY_BE_TYPE.search(bare, open_at, close + 1) is None:
            continue
        for low, high in split_arguments(bytes(bare[open_at + 1 : close])):
            start, stop = open_at + 1 + low, open_at + 1 + high
            is_type = _TYPE.fullmatch(bare, start, stop) or _QUALIFIED.fullmatch(bare, start, stop)
            if is_type and bare.find(b"\n", start, stop) < 0:
                parse[start:stop] = b"_" * (stop - start)


def end_before_blocks(
    bare: bytes | bytearray, parse: bytearray, shouted: list[Range], known: Collection[int]
) -> None:
    """Make statements of the uses that begin a block inside a function.

    A use without arguments is taken away. `known` are the places of uses whose macro
    is defined in the file.
    """
    begun: list[tuple[int, int, int, int]] = []
    for start, end in shouted:
        opened = _OPENED.match(bare, end)
        if start in known or not (opened or _BEGUN.match(bare, end)):
            continue
        close = close_of(bare, opened.end() - 1) if opened else end - 1
        after = after_space(bare, close + 1)
        if close < 0 or bare[after : after + 1] != b"{":
            continue
        if opened is None and _GOES_ON.match(bare, close_of(bare, after) + 1):
            continue
        if bare[max(0, start - 400) : start].rstrip()[-1:] in (b";", b"{", b"}"):
            begun.append((start, opened.end() if opened else start, close, after))
    blocks = _blocks_around(bare, [start for start, *_ in begun])
    for (start, inside, close, after), block in zip(begun, blocks, strict=True):
        if block < 0 or _HEAD_END.search(bare, max(0, block - 200), block) is None:
            continue
        if inside == start:
            blank(parse, start, close + 1)
        elif after == close + 1:
            blank(parse, start, inside)
            parse[close] = ord(";")
        else:
            parse[close + 1] = ord(";")


def join_strings(bare: bytes | bytearray, parse: bytearray) -> None:
    """Make strings of the macros that follow one, `"a" PRIu64 TEXT(b)`; statements are cut off."""
    for match in _AFTER_STRING.finditer(bare):
        start, end = match.span("name")
        if _NO_STRING.search(bare, max(0, match.start() - 40), match.start()):
            continue
        if match["opened"]:
            close = close_of(bare, match.end() - 1)
            if close < 0:
                continue
            if bare.find(b";", end, close) >= 0:
                parse[match.start() + 1] = ord(";")
                continue
            end = close + 1
        parse[start:end] = b'"%b"' % (b"_" * (end - start - 2))


def _blocks_around(bare: bytes | bytearray, places: list[int]) -> list[int]:
    """Where the block around each of the sorted `places` begins, −1 for none; in one pass."""
    found: list[int] = []
    blocks: list[int] = []
    braces = _BRACE.finditer(bare) if places else iter(())
    brace = next(braces, None)
    for place in places:
        while brace is not None and brace.start() < place:
            if brace.group() == b"{":
                blocks.append(brace.start())
            elif blocks:
                blocks.pop()
            brace = next(braces, None)
        found.append(blocks[-1] if blocks else -1)
    return found


def end_statements(
    bare: bytearray,
    parse: bytearray,
    shouted: list[Range],
    known: dict[int, tuple[int, int]],
) -> None:
    """Put a `;` after macro uses that stand as statements without one, in both texts.

    `known`: where the parentheses of uses of the file's own macros are, by their place;
    (−1, the last byte) for a use without any.
    """
    candidates = {
        start: (opened.end() - 1, -1)
        for start, end in shouted
        if (opened := _CALLED.match(bare, end))
    }
    spend(_USE_UNITS * len(candidates))
    for start, (open_at, close) in sorted((candidates | known).items()):
        before = bytes(bare[max(0, start - 400) : start]).rstrip()
        begins = not before or before[-1] in b";{}:" or _is_controlled(before)
        if not begins or not parse[start : start + 1].strip():
            continue
        close = close if close >= 0 else close_of(bare, open_at)
        if close < 0:
            continue
        after = after_space(bare, close + 1)
        following = bare[after : after + 1]
        if (
            after > close + 1
            and (start in known or b"\n" in bare[close + 1 : after])
            and (not following or _BEGINS.match(following) or _ended(parse, after))
        ):
            parse[close + 1] = bare[close + 1] = ord(";")


def _ended(parse: bytearray, at: int) -> bool:
    """Whether something that was cut out of `parse` ends there."""
    return parse[at : at + 1] == b" "


def _is_controlled(before: bytes | bytearray) -> bool:
    """Whether what follows this text is the statement of an `if`, `else` or loop."""
    if before.endswith(b")"):
        depth = 0
        for at in range(len(before) - 1, -1, -1):
            depth += (before[at] == 0x29) - (before[at] == 0x28)
            if depth == 0:
                return _CONTROL_BEFORE.search(before, 0, at) is not None
    return _ELSE_BEFORE.search(before) is not None

"""Function heads, read as text: specifiers, execution space, linkage, bounds, parameters.

The grammar says where a head's parts lie; what they say is read here, from the
unmasked text, with the file's macros expanded.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.brackets import after_space, close_of, split_arguments
from cudalint.syntax.known import known
from cudalint.syntax.macros import Expander
from cudalint.syntax.model import LaunchBounds, Parameter, normal

_WORD = regex(rb"[A-Za-z_]\w*")
_BOUNDS = regex(rb"\b__launch_bounds__\s*\(")
_ATTRIBUTE_CALL = regex(
    rb"\b(?:__launch_bounds__|__align__|alignas|__attribute__|__declspec|__cluster_dims__|"
    rb"__maxnreg__|__block_size__|decltype|noexcept|requires|explicit)\s*\("
)
_LITERAL_OR_ATTRIBUTE = regex(rb'"[^"]*"|\[\[.*?\]\]')
_SPECIFIERS = (
    b"static inline extern constexpr consteval virtual explicit friend template typename "
    b"__global__ __device__ __host__ __forceinline__ __noinline__ __restrict__ "
    b"__launch_bounds__ __attribute__ __cluster_dims__ __maxnreg__ public private protected "
    b"__inline__ __grid_constant__ __block_size__ override final noexcept".split()
)
_SPECIFIER = regex(rb"\b(?:" + b"|".join(_SPECIFIERS) + rb")\b")
_TYPE_WORDS = frozenset(
    b"const volatile unsigned signed long short int char bool float double void struct class enum "
    b"union typename auto wchar_t char8_t char16_t char32_t __restrict__ __restrict restrict "
    b"__grid_constant__".split()
)
_DROPPED = regex(
    rb"\b(?:__restrict__|__restrict|restrict|__grid_constant__|register|typename|"
    rb"(?:__align__|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\))(?!\w)"
    rb"|\[\[[^\]]*\]\]"
)
_LAST_CALL = regex(
    rb"([A-Za-z_]\w*)((?:\s*\[[^\]]*\])*)\s*(?<=[\s\]])[A-Za-z_]\w*"
    rb"\s*\((?:[^()]|\([^()]*\))*\)$"
)
# What most parameters look like: `const float* __restrict__ x`, `unsigned n`.
_PLAIN_PARAMETER = regex(
    rb"((?:const\s+|unsigned\s+)?(?!(?:const|volatile|struct|class|enum|typename|__restrict__)\b)"
    rb"[A-Za-z_][\w:]*(?:\s*[*&]|(?=\s)))\s*(?:__restrict__\s+)?"
    rb"(?<!\w)([A-Za-z_]\w*)"
)
_NAME_AT_END = regex(rb"([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$")
_FUNCTION_POINTER = regex(rb"\(\s*(?:[\w:]+::)?[*&]+\s*(?:const\s*)?([A-Za-z_]\w*)?")
_C_LINKAGE = regex(rb'\bextern\s*"C"')
_QUALIFIER = regex(
    r"(?<!\w)(?:[A-Za-z_]\w* ?(?:<[^<>]*(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>[^<>]*)*> ?)?:: ?)+$"
)
_LONGEST_QUALIFIER = 400
_LONG_HEAD = 400
_LONG_PARAMETER = 200
"""What is longer is not kept to be looked up again."""
_ACCESS = regex(rb"\s*(?:public|private|protected)\s*:(?!:)")


class Head(msgspec.Struct):
    """What a head says; `start` is where it begins."""

    start: int
    words: tuple[str, ...]
    space: Literal["global", "device", "host", "host device"]
    c_linkage: bool
    static: bool
    template: str | None
    bounds: LaunchBounds | None
    return_type: str


def head_start(bare: bytes, at: int) -> int:
    """Where the declaration whose first parsed token is at `at` begins."""
    low = max(0, at - 8000)
    start = max(bare.rfind(b";", low, at) + 1, low)
    start = max(bare.rfind(b"}", start, at) + 1, start)
    start = max(bare.rfind(b"{", start, at) + 1, start)
    while access := _ACCESS.match(bare, start, at):
        start = access.end()
    return min(after_space(bare, start), at)


def read_head(
    path: str,
    code: bytes,
    start: int,
    name: tuple[int, int],
    tail: tuple[int, int],
    macros: Expander,
) -> Head:
    """Read the head that begins at `start`; `tail` is what follows the parameters.

    Bounds that come out of a macro are placed at the name.
    """
    before = code[start : name[0]]
    after = code[tail[0] : tail[1]]
    said = _said(before, after) if len(before) + len(after) < _LONG_HEAD else _say(before, after)
    if macros.by_name and not macros.by_name.keys().isdisjoint(said.mentions):
        said = _say(before, after, macros)
    bounds = _bounds(path, code, start, name, tail, said.text) if said.bounded else None
    return Head(
        start=start,
        words=said.words,
        space=said.space,
        c_linkage=said.c_linkage,
        static="static" in said.words,
        template=said.template,
        bounds=bounds,
        return_type=said.return_type,
    )


class _Said(msgspec.Struct, frozen=True, gc=False):
    """What the words of a head say, wherever it stands.

    `text` is without `template <…>`, macros expanded; `mentions` are the words as written.
    """

    text: bytes
    mentions: tuple[bytes, ...]
    words: tuple[str, ...]
    space: Literal["global", "device", "host", "host device"]
    c_linkage: bool
    template: str | None
    return_type: str
    bounded: bool


def _say(before: bytes, after: bytes, macros: Expander | None = None) -> _Said:
    text, template = _strip_templates(before)
    whole = text + b" \x00 " + after
    mentions = tuple(_WORD.findall(whole))
    if macros is not None:
        whole = macros.expand(whole)
    plain = _without_calls(whole)
    words = tuple(w.decode() for w in _WORD.findall(plain))
    if macros is not None:
        written = (w.decode() for w in _WORD.findall(_without_calls(text)))
        words += tuple(w for w in written if w not in words)
    return _Said(
        whole,
        mentions,
        words,
        _space(words, whole),
        b'"C"' in whole and _C_LINKAGE.search(whole) is not None,
        template,
        _return_type(plain.split(b"\x00")[0]),
        b"__launch_bounds__" in whole,
    )


# Most heads of a tree, parameters aside, are ones that were there before.
_said = known(4096)(_say)


def read_macro_head(
    path: str, text: bytes, use: tuple[int, int]
) -> tuple[Head, str, tuple[Parameter, ...]] | None:
    """A whole head that a macro's use at `use` expands to: head, name and parameters.

    None when `text` is no function head. Everything is placed at the use.
    """
    text = text.rstrip()
    open_at = text.rfind(b"(")
    while open_at >= 0 and close_of(text, open_at) != len(text) - 1:
        open_at = text.rfind(b"(", 0, open_at)
    name = _NAME_AT_END.search(text, 0, max(open_at, 0))
    if open_at < 0 or name is None:
        return None
    nothing = Expander([])
    end = len(text)
    read = read_head(path, text, 0, name.span(1), (end, end), nothing)
    span = Span(path, *use)
    if read.bounds is not None:
        read.bounds = msgspec.structs.replace(read.bounds, span=span)
    parameters = read_parameters(path, text, open_at + 1, end - 1, nothing)
    placed = tuple(msgspec.structs.replace(p, span=span) for p in parameters)
    return read, name.group(1).decode("utf-8", "replace"), placed


def read_parameters(
    path: str, code: bytes, start: int, end: int, macros: Expander
) -> tuple[Parameter, ...]:
    """The parameters in `code[start:end]`, the text between the parentheses."""
    text = code[start:end]
    ranges = split_arguments(text)
    if macros.by_name and any(w in macros.by_name for w in _WORD.findall(text)):
        text = macros.without_empty(text)
        expanded = macros.expand(text)
        expanded_ranges = split_arguments(expanded)
        if len(expanded_ranges) != len(ranges):
            last = len(ranges) - 1
            return tuple(
                read_parameter(
                    Span(path, start + ranges[min(i, last)][0], start + ranges[min(i, last)][1]),
                    expanded[s:e],
                )
                for i, (s, e) in enumerate(expanded_ranges)
            )
    if len(ranges) == 1 and text.strip() == b"void":
        return ()
    return tuple(read_parameter(Span(path, start + s, start + e), text[s:e]) for s, e in ranges)


def read_parameter(span: Span, text: bytes) -> Parameter:
    """One parameter or variable declarator with its type, as `model.Parameter` says."""
    return Parameter(span, *(_declared if len(text) < _LONG_PARAMETER else _declare)(text))


def _declare(text: bytes) -> tuple[str, str, str | None]:
    """The type, the name and the default of a parameter."""
    if text == b"...":
        return "...", "", None
    plain = _PLAIN_PARAMETER.fullmatch(text)
    if plain is not None and plain.group(2) not in _TYPE_WORDS:
        return normal(plain.group(1)), plain.group(2).decode(), None
    default = None
    equals = _top_level_equals(text)
    if equals >= 0:
        default = normal(text[equals + 1 :])
        text = text[:equals]
    text = _DROPPED.sub(b" ", text).strip()
    pointer = _FUNCTION_POINTER.search(text)
    if pointer is not None:
        name = (pointer.group(1) or b"").decode()
        return normal(text), name, default
    # A macro with arguments after the name brings attributes; `int done(int)` is named done.
    called = _LAST_CALL.search(text) if text.endswith(b")") else None
    if called is not None and _names_a_parameter(text[: called.start()], called.group(1)):
        text = text[: called.end(2)]
    match = _NAME_AT_END.search(text)
    if match is None or not _names_a_parameter(text[: match.start()], match.group(1)):
        return normal(text), "", default
    stars = b"*" * match.group(2).count(b"[")
    return normal(text[: match.start()] + stars), match.group(1).decode(), default


# `int n` and `cudaStream_t stream` are in every file.
_declared = known(8192)(_declare)


def _names_a_parameter(before: bytes, name: bytes) -> bool:
    """Whether the last word is a name and not (the last word of) the type."""
    if name in _TYPE_WORDS:
        return False
    before = before.rstrip()
    if before.endswith((b"*", b"&", b">")):
        return True
    if before.endswith(b"::"):
        return False
    words = _WORD.findall(before)
    return any(w not in (b"const", b"volatile", b"struct", b"class", b"enum") for w in words)


def _top_level_equals(text: bytes) -> int:
    at = text.find(b"=")
    while at >= 0:
        around = text[at - 1 : at] + text[at + 1 : at + 2]
        if not any(c in b"=<>!" for c in around):
            inside = text[:at].count(b"(") - text[:at].count(b")")
            if inside <= 0 and text[:at].count(b"<") <= text[:at].count(b">"):
                return at
        at = text.find(b"=", at + 1)
    return -1


def _strip_templates(text: bytes) -> tuple[bytes, str | None]:
    """The head without its `template <…>` parts, and the innermost one's insides."""
    template = None
    while True:
        at = text.find(b"template")
        if at < 0:
            return text, template
        open_at = after_space(text, at + 8)
        if text[open_at : open_at + 1] != b"<":
            return text, template
        close = _angle_close(text, open_at)
        template = normal(text[open_at + 1 : close - 1])
        text = text[:at] + b" " + text[close:]


def _angle_close(text: bytes, open_at: int) -> int:
    depth = round_depth = 0
    for at in range(open_at, len(text)):
        char = text[at]
        if char == 0x28:
            round_depth += 1
        elif char == 0x29:
            round_depth -= 1
        elif round_depth == 0 and char == 0x3C:
            depth += 1
        elif round_depth == 0 and char == 0x3E:
            depth -= 1
            if depth == 0:
                return at + 1
    return len(text)


def _bounds(
    path: str,
    code: bytes,
    start: int,
    name: tuple[int, int],
    tail: tuple[int, int],
    expanded: bytes,
) -> LaunchBounds | None:
    match = _BOUNDS.search(expanded)
    if match is None:
        return None
    close = close_of(expanded, match.end() - 1)
    inside = expanded[match.end() : close if close >= 0 else len(expanded)]
    arguments = tuple(normal(inside[s:e]) for s, e in split_arguments(inside))
    for low, high in ((start, name[0]), tail):
        written = _BOUNDS.search(code, low, high)
        if written is not None:
            end = close_of(code, written.end() - 1)
            return LaunchBounds(
                Span(path, written.start(), end + 1 if end >= 0 else high), arguments
            )
    return LaunchBounds(Span(path, *name), arguments)


def _without_calls(text: bytes) -> bytes:
    """`text` without the parentheses of attributes (their names stay)."""
    if b"(" not in text:
        return text
    at = 0
    pieces = []
    while match := _ATTRIBUTE_CALL.search(text, at):
        close = close_of(text, match.end() - 1)
        pieces.append(text[at : match.end() - 1])
        at = close + 1 if close >= 0 else len(text)
    pieces.append(text[at:])
    return b"".join(pieces)


def _space(
    words: tuple[str, ...], text: bytes
) -> Literal["global", "device", "host", "host device"]:
    if "__global__" in words or b"__attribute__((global))" in text.replace(b" ", b""):
        return "global"
    if "__device__" in words:
        return "host device" if "__host__" in words else "device"
    return "host"


def _return_type(text: bytes) -> str:
    if b'"' in text or b"[" in text:
        text = _LITERAL_OR_ATTRIBUTE.sub(b" ", text)
    kept = normal(_SPECIFIER.sub(b" ", text))
    if not kept.endswith("::"):
        return kept
    qualifier = _QUALIFIER.search(kept, max(0, len(kept) - _LONGEST_QUALIFIER))
    return kept if qualifier is None else kept[: qualifier.start()].rstrip()

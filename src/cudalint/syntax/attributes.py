"""Same-length masking of what the grammar can't take: attributes and their macros.

CUDA's execution spaces and every attribute are blanked for the parse; function
heads are read from the unmasked text (`cudalint.syntax.heads`). Offsets never
change.
"""

from __future__ import annotations

from cudalint.regex import regex
from cudalint.syntax.brackets import after_space, close_of

_WORDS = (
    rb"__global__|__device__|__host__|__shared__|__constant__|__managed__|__grid_constant__|"
    rb"__forceinline__|__noinline__|__inline_hint__|__inline__|__forceinline|__restrict__|"
    rb"__restrict|__nv_pure__|__stdcall|__cdecl|__extension__|__device_builtin__|"
    rb"__cudart_builtin__|__device_builtin_texture_type__|__device_builtin_surface_type__"
)
_CALLS = (
    rb"__launch_bounds__|__align__|__attribute__|__declspec|__cluster_dims__|__maxnreg__|"
    rb"__block_size__|__local_maxnreg__|__pragma|__builtin_align__|_Pragma"
)
_OTHER_WORDS = rb"CUDART_CB|CUDARTAPI|CUDAAPI|CUDA_CB"
# Each pattern begins with a literal, so that the search skips plain text at the
# speed of C; what stands before it is looked at afterwards.
_ATTRIBUTE = regex(
    rb"__(?<!\w__)(?:("
    + b"|".join(word[2:] for word in _CALLS.split(b"|") if word.startswith(b"__"))
    + rb")\s*\(|(?:"
    + b"|".join(word[2:] for word in _WORDS.split(b"|"))
    + rb")\b)"
)
_PRAGMA = regex(rb"_Pragma(?<!\w_Pragma)(\s*)\(")
_ALIGNAS = regex(rb"alignas(?<!\walignas)(\s*)\(")
_CALLBACK = regex(rb"CUDA(?<!\wCUDA)(?:RT_CB|RTAPI|API|_CB)\b")
_STANDARD = regex(rb"\[\[\s{0,99}[A-Za-z_][\w:,\s]{0,999}(?:\([^()\[\]]{0,999}\))?\s{0,99}\]\]")
_TEMPLATE_CLASS = regex(rb"template(?<!\wtemplate)(?=\s+(?:class|struct|union)\b)")
_EXTERN_BEFORE = regex(rb"\bextern\s*\Z")
# Two names in a row: the first, of this form, is a macro.
_UNDERSCORED = regex(rb"__(?<!\w__)[A-Z][A-Z0-9_]*__(?=\s+(?!(?:and|or|xor)\b)[A-Za-z_])")
_EMPTY_DEFAULT = regex(rb"=(\s*)\{(\s*)\}")
_TYPEID = regex(rb"typeid\s*\(([^()]*)\)")
_TYPENAME = regex(rb"typename(?<!\wtypename)(?=\s+[A-Za-z_]\w*\s*(?:<|::))")
# In text whose bytes stand for their kinds.
_SHOUTED = regex(rb" A[A0]{2,}")
_KINDS = bytes(
    ord(
        "A"
        if chr(i).isupper()
        else "a"
        if chr(i).islower()
        else "0"
        if chr(i) in "0123456789_"
        else " "
    )
    if i < 128
    else ord(" ")
    for i in range(256)
)
_SHOUTED_WORD = regex(
    rb"[A-Z](?<!\w[A-Z])[A-Z0-9_]{3,}(?=[ \t]*\n|[ \t]+(?:for|while|do|void|static|inline|"
    rb"template|constexpr|auto|bool|int|float|double|unsigned|struct|class|explicit|operator|"
    rb"const(?![ \t]+\w+\s*[;=,)(\[{])|extern|virtual|"
    rb"friend|using)\b)"
)
# Before two names in a row: `API Tensor f(`, `API std::tuple<A, B> f(`.
_SHOUTED_BEFORE_NAMES = regex(
    rb"[A-Z](?<!\w[A-Z])[A-Z0-9_]{3,}[ \t]+(?!(?:const|volatile|and|or|xor|not)\b)"
    rb"(?![A-Z][A-Z0-9_]*_(?:API|EXPORT|CALL|CALLBACK)[ \t]+\w+\s*\()"
    rb"[A-Za-z_][\w:]*(?:<[^;(){}]*>)?[\s*&]+(?!(?:const|and|or|xor)\b)[A-Za-z_]"
)
_BEFORE_NAME = regex(rb"[ \t\n]\s*[A-Za-z_]")
_CLASS_BEFORE = regex(rb"\b(?:class|struct)\s*\Z")
_SHOUTED_BEFORE_CLASS = regex(
    rb"[A-Z][A-Z0-9_]*[ \t\n]+[A-Za-z_][\w:]*\s*(?:<[^;(){}]*>\s*)?(?:final\s*)?[:{]"
)
# Between a return type and a function's name.
_SHOUTED_CONVENTION = regex(
    rb"[A-Z][A-Z0-9_]*_(?:API|EXPORT|CALL|CALLBACK)[ \t]+(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*\s*\("
)
_SPECIFIER_ALONE = regex(rb"\b(?:static|inline|virtual|constexpr|friend|explicit)\s*\Z")
_SPECIFIER_BEFORE = regex(
    rb"\b(?:const|static|inline|extern|virtual|constexpr|typename|struct|class|return|else|new)\s*\Z"
)
# Such a word before any name: what it ends in says that it is one.
_SHOUTED_SPECIFIER = regex(
    rb"[A-Z](?<!\w[A-Z])[A-Z0-9_]*_(?:DEVICE|HOST|HD|HOSTDEVICE|INLINE|FORCEINLINE|API|EXPORT)"
    rb"(?=[ \t]+[A-Za-z_])"
)
# Between a pointer's `*` and its name: two names side by side are no product.
_SHOUTED_QUALIFIER = regex(rb"([A-Z][A-Z0-9_]{3,})[ \t]+(?=[A-Za-z_]\w*\s*[=;,)\[])")
# Before a qualified name in an expression or an alias, and no type before `A::*p`.
_SHOUTED_PREFIX = regex(rb"[A-Z][A-Z0-9_]{2,}[ \t]+(?:[A-Za-z_]\w*::)+\w+(?!\w|::)")
_TAKES_NAME = regex(rb"(?:[=(,<!]|\b(?:typedef|return))\s*\Z")
_GLOBAL = regex(rb"__global__(?<!\w__global__)\b")
_NAME = regex(rb"[A-Za-z_]\w*")
_ANY_ATTRIBUTE_WORD = regex(
    rb"\b(?:" + _WORDS + rb"|" + _CALLS + rb"|" + _OTHER_WORDS + rb"|alignas)\b"
)
_KEPT = {b"void", b"static", b"inline", b"extern", b"constexpr", b"template", b"typename", b"auto"}
_KNOWN_CALLS = frozenset(_CALLS.split(b"|")) | {b"alignas"}
_LAST_NAME = regex(rb"[A-Za-z_]\w*$")
_BLANK = bytes(10 if i == 10 else 32 for i in range(256))


def blank(text: bytearray, start: int, end: int) -> None:
    """Replace `text[start:end]` by spaces, line ends kept."""
    text[start:end] = text[start:end].translate(_BLANK)


def is_attribute_text(body: bytes) -> bool:
    """Whether a macro body holds an attribute or an execution space."""
    return _ANY_ATTRIBUTE_WORD.search(body) is not None


def ends_in_parameters(body: bytes) -> bool:
    """Whether a macro's body ends in the parameter list of a function's head."""
    body = body.rstrip()
    if not body.endswith(b")"):
        return False
    at, depth = len(body) - 1, 0
    while at >= 0:
        depth += (body[at] == 0x29) - (body[at] == 0x28)
        if depth == 0:
            break
        at -= 1
    name = _LAST_NAME.search(body[: max(at, 0)].rstrip())
    return name is not None and name.group() not in _KNOWN_CALLS


def mask_attributes(bare: bytes, text: bytearray) -> None:
    """Blank the attributes of `bare` (literals blanked) in `text`, in place.

    Also an empty `{}` default, which the grammar takes for a body: it becomes 0; the
    `template` of instances of classes, `template class A<int>;`; and `__HD__` before a name.
    """
    patterns = [_ATTRIBUTE]
    if b"_Pragma" in bare:
        patterns.append(_PRAGMA)
    if b"alignas" in bare:
        patterns.append(_ALIGNAS)
    if b"CUDA" in bare:
        patterns.append(_CALLBACK)
    for pattern in patterns:
        for match in pattern.finditer(bare):
            end = match.end()
            if match.lastindex is not None:
                close = close_of(bare, end - 1)
                if close < 0:
                    continue
                end = close + 1
            blank(text, match.start(), end)
    if b"[[" in bare:
        for match in _STANDARD.finditer(bare):
            blank(text, *match.span())
    if b"typeid" in bare:
        for match in _TYPEID.finditer(bare):
            start, end = match.span(1)
            text[start:end] = b"_" * (end - start)
    for pattern in (_TYPENAME, _UNDERSCORED):
        for match in pattern.finditer(bare):
            blank(text, *match.span())
    if b"template class" in bare or b"template struct" in bare or b"template union" in bare:
        for match in _TEMPLATE_CLASS.finditer(bare):
            extern = _EXTERN_BEFORE.search(bare, max(0, match.start() - 40), match.start())
            blank(text, match.start() if extern is None else extern.start(), match.end())
    for match in _EMPTY_DEFAULT.finditer(bare):
        text[match.start() + 1 : match.end()] = b" 0".ljust(match.end() - match.start() - 1)


def shouted_words(bare: bytes | bytearray) -> list[tuple[int, int]]:
    """Where words that look like macros stand; each ends with its capitals, digits and `_`."""
    kinds = b" " + bare.translate(_KINDS)
    return [(match.start(), match.end() - 1) for match in _SHOUTED.finditer(kinds)]


def mask_shouted_words(bare: bytes, text: bytearray, shouted: list[tuple[int, int]]) -> None:
    """Blank those of the `shouted_words` that stand before a statement or a declaration.

    `PRAGMA_UNROLL` on a line of its own before a loop, `API_EXPORT void f();`,
    `float* MY_RESTRICT x = y;`, `typedef PREFIX_NS cub::Sum Sum;`, `class API_EXPORT A : B {`,
    `void MY_API f(`.
    """
    masked = -1
    for start, end in shouted:
        if _BEFORE_NAME.match(bare, end) is None:
            continue
        low = max(0, start - 400)
        preceding = bare[low:start].rstrip()
        before = preceding[-1:]
        if before in (b"*", b"&"):
            qualifier = _SHOUTED_QUALIFIER.match(bare, start)
            if qualifier is not None:
                blank(text, *qualifier.span(1))
            continue
        if before and before not in b";{}:)>" and low + len(preceding) != masked:
            if _is_macro_inside(bare, start, preceding):
                blank(text, start, end)
            continue
        if not (
            _SHOUTED_WORD.match(bare, start)
            or _SHOUTED_SPECIFIER.match(bare, start)
            or _SHOUTED_BEFORE_NAMES.match(bare, start)
        ):
            continue
        blank(text, start, end)
        masked = end


def _is_macro_inside(bare: bytes, start: int, preceding: bytes) -> bool:
    """Whether a shouted word in the middle of a declaration or an expression is a macro."""
    if _SHOUTED_PREFIX.match(bare, start) and _TAKES_NAME.search(preceding):
        return True
    if _CLASS_BEFORE.search(preceding):
        return _SHOUTED_BEFORE_CLASS.match(bare, start) is not None
    if _SPECIFIER_ALONE.search(preceding):
        return _SHOUTED_BEFORE_NAMES.match(bare, start) is not None
    return (
        _SHOUTED_CONVENTION.match(bare, start) is not None
        and _SPECIFIER_BEFORE.search(preceding) is None
        and preceding[-1:].isalnum()
    )


def mask_kernel_heads(bare: bytes, text: bytearray) -> dict[int, int]:
    """Blank unknown attribute macros in kernel heads; join names made by macros.

    `__global__ BOUNDS(N) void k(` loses `BOUNDS(N)`. A name that is a macro's
    use, `CONCAT(k, _64)(float* x)`, becomes one identifier of the same length;
    returns the ranges of those names (start to end).
    """
    names: dict[int, int] = {}
    for match in _GLOBAL.finditer(bare):
        at = match.end()
        for _ in range(16):
            at = after_space(bare, at)
            word = _NAME.match(bare, at)
            if word is None or word.group() == b"__global__":
                break
            after = after_space(bare, word.end())
            if bare[after : after + 1] == b"(":
                close = close_of(bare, after)
                if close < 0:
                    break
                following = after_space(bare, close + 1)
                if bare[following : following + 1] == b"(":
                    _join_name(text, at, close + 1)
                    names[at] = close + 1
                    break
                if _NAME.match(bare, following) is None:
                    break
                if word.group() not in _KNOWN_CALLS and _ATTRIBUTE.match(bare, following):
                    break  # the kernel's own name, with attributes after its parameters
                blank(text, at, close + 1)
                at = close + 1
                continue
            if (
                word.group() not in _KEPT
                and word.group().upper() == word.group()
                and bare[after : after + 1].isalpha()
            ):
                blank(text, at, word.end())
            at = word.end()
    return names


def _join_name(text: bytearray, start: int, end: int) -> None:
    for i in range(start, end):
        if not (chr(text[i]).isalnum() and text[i] < 128):
            text[i] = ord("_")

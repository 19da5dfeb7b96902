"""From a file's bytes to texts that the grammar can take, offsets unchanged.

Everything is blanked at equal length: byte order mark, comments, preprocessor
lines, dead branches, attributes, uses of attribute macros. Nothing is parsed
here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator

import msgspec

from cudalint.regex import regex
from cudalint.syntax import attributes, conditionals, macrouses
from cudalint.syntax.attributes import blank
from cudalint.syntax.blocks import open_blocks
from cudalint.syntax.brackets import after_space, close_of, refuse_depth
from cudalint.syntax.effort import spend
from cudalint.syntax.lexer import Directive, Lexed, lex, splice
from cudalint.syntax.macros import Definition, read_definitions
from cudalint.syntax.sweep import covered

_BOM = b"\xef\xbb\xbf"
_VOID = regex(rb"\bvoid\b")
_CUT = regex(rb"\\\r?\n\w")
_CUT_NAME = regex(rb"(?<!\w)\w+(?:\\\r?\n\w+)+")
_CONTROL = regex(rb"\s*(?:else\b\s*)?(?:if|for|while|switch)\b|\s*else\b")
_CONTROL_BEFORE = regex(rb"\b(?:if|while|switch|for)\s*(?:constexpr\s*)?$")
_TYPEOF = regex(rb"(?:__typeof__|__typeof|typeof)(?<!\wtypeof)\s*\(")
# Spaces between the parentheses, which the grammar takes for those of parameters.
_CALL_OPERATOR = regex(rb"operator(?<!\woperator)\s*\(\s+\)")
# Such a cast is none to the grammar where an initialiser in braces begins.
_SIZED_CAST = regex(rb"\b(?:unsigned|long|short)(?=\((?!\s*[*&]))")
_TRY = regex(rb"try(?<!\wtry)\s*\{")
_HANDLERS = regex(rb"\s*(?!\s|catch\b)(?P<name>\w*)\s*(?P<more>[;(]?)")
_DECLTYPE = regex(rb"decltype(?<!\wdecltype)\s*\(")
# The grammar knows no `const` and no `*` in a new type.
_NEW_POINTERS = regex(
    rb"new(?<!\wnew)\b\s*(?:\([^(){};]*\)\s*)?(?P<const>(?:const\s+)?)(?:unsigned\s+)?"
    rb"[A-Za-z_][\w:]*(?:<[^<>(){};]*>)?\s*(?P<stars>\*[*\s]*)"
)
_BRACES = regex(rb"[,<]\s*(\{[^{};]*\})")
_CASE_RANGE = regex(rb"\bcase\b[^:;{}?]{0,120}?(\.\.\.[^:;{}?]{0,120}):")
_WORD_BYTE = regex(rb"\w")
_WORD = regex(rb"[A-Za-z_](?<!\w[A-Za-z_])\w*")
_MANY_NAMES = 40
"""To search a text for more names than that takes longer than to look at each of its words."""


_USE_UNITS = 70
_RANGE_UNITS = 20
"""What the use of a macro takes, or what looks like one, and what a range that is left out does."""


class Text(msgspec.Struct):
    """One way to read the file, of equal length throughout.

    `code` has comments, directives and dead branches blanked, `bare` the insides
    of literals too; `parse` is what the grammar is given. `blanked` are the
    ranges that this reading leaves out.
    """

    code: bytes
    bare: bytes
    parse: bytes
    blanked: list[tuple[int, int]]
    joined_names: dict[int, int]


class Prepared(msgspec.Struct):
    """A file before the parse. `code` and `bare` are those of no variant in particular."""

    data: bytes
    code: bytes
    bare: bytes
    comments: list[tuple[int, int]]
    loose_comments: list[tuple[int, int]]
    directives: list[Directive]
    groups: list[conditionals.Group]
    dead: list[tuple[int, int]]
    definitions: list[Definition]


class Use(msgspec.Struct, frozen=True, gc=False):
    """A use of a macro; `open_at` and `close_at` are its parentheses, −1 for none."""

    name: bytes
    start: int
    end: int
    open_at: int
    close_at: int


def prepare(data: bytes) -> Prepared:
    """Blank what is no code, and read the `#define`s."""
    lexed = lex(data)
    work = bytearray(_names_joined(data, lexed).replace(b"\r", b" "))
    if work.startswith(_BOM):
        blank(work, 0, 3)
    for start, end in lexed.comments:
        blank(work, start, end)
    groups = conditionals.read_groups(data, lexed.directives)
    dead = conditionals.dead_ranges(groups)
    definitions = [
        definition
        for definition in read_definitions(bytes(work), lexed.directives)
        if not covered(definition.start, dead)
    ]
    for directive in lexed.directives:
        blank(work, directive.start, directive.end)
    for start, end in dead:
        blank(work, start, end)
    code = bytes(work)
    for start, end in lexed.literals:
        blank(work, start, end)
    if b"operator" in work and _CALL_OPERATOR.search(work) is not None:
        code = _operators_joined(code, work)
    return Prepared(
        data=data,
        code=code,
        bare=bytes(work),
        comments=_alive(lexed.comments, dead),
        loose_comments=_alive(lexed.loose_comments, dead),
        directives=[d for d in lexed.directives if not dead or not covered(d.start, dead)],
        groups=groups,
        dead=dead,
        definitions=definitions,
    )


def _operators_joined(code: bytes, bare: bytearray) -> bytes:
    """`code` without spaces in `operator( )`; these follow it, in `bare` too."""
    joined = bytearray(code)
    for match in _CALL_OPERATOR.finditer(bytes(bare)):
        name = b"operator()".ljust(len(match.group()))
        joined[match.start() : match.end()] = bare[match.start() : match.end()] = name
    return bytes(joined)


def _names_joined(data: bytes, lexed: Lexed) -> bytes:
    """`data` with names whole that a line splice cuts; the splice follows the name as spaces."""
    if _CUT.search(data) is None:
        return data
    kept = sorted([*lexed.literals, *lexed.comments, *((d.start, d.end) for d in lexed.directives)])

    def join(match: re.Match[bytes]) -> bytes:
        at = bisect_right(kept, (match.start(), len(data))) - 1
        if at >= 0 and kept[at][1] > match.start():
            return match.group()
        return splice(match.group()).ljust(len(match.group()))

    return _CUT_NAME.sub(join, data)


def texts(prepared: Prepared, uses: list[Use], definers: set[bytes]) -> list[Text]:
    """The texts to parse: one, or several where branches exclude each other.

    `uses` are the uses of the file's macros; those of `definers` (macros that
    define functions or types) are blanked, attribute macros are taken away.
    """
    attribute_macros = {
        d.name: d for d in prepared.definitions if is_attribute_macro(d) and d.name not in definers
    }
    structural = {d.name: d for d in prepared.definitions if is_structural(d)}
    configurations = {d.name for d in prepared.definitions if is_configuration(d)}
    stating = {d.name for d in prepared.definitions if d.parameters is None and b";" in d.body}
    found = []
    for blanked in conditionals.exclusive_choices(prepared.bare, prepared.groups):
        code, bare = prepared.code + b"\n", bytearray(prepared.bare + b"\n")
        if blanked:
            code = _without(code, blanked)
            bare = bytearray(_without(bytes(bare), blanked))
        refuse_depth(bare)
        parse = bytearray(code)
        for start, end in _alive(prepared.loose_comments, blanked):
            # The grammar reads a comment faster than as many spaces.
            parse[start:end] = prepared.data[start:end]
        for use in uses:
            if use.name in attribute_macros:
                _mask_attribute_use(parse, use, attribute_macros[use.name])
            elif use.name in definers:
                _cut_out(parse, bare, use)
            elif use.name in configurations:
                blank(parse, use.start, use.end)
            elif use.name in structural:
                _keep_braces(parse, use, structural[use.name])
            elif use.open_at >= 0 and _CONTROL_BEFORE.search(
                bare, max(0, use.start - 40), use.start
            ):
                blank(parse, use.start, use.open_at)
        shouted = attributes.shouted_words(bare)
        open_blocks(bare, parse, shouted)
        ended = {u.start: (u.open_at, u.close_at) for u in uses if u.open_at >= 0}
        macrouses.end_before_blocks(bare, parse, shouted, ended.keys())
        ended |= {u.start: (-1, u.end - 1) for u in uses if u.open_at < 0 and u.name in stating}
        macrouses.end_statements(bare, parse, shouted, ended)
        macrouses.mask_types(bare, parse, shouted)
        macrouses.join_strings(bare, parse)
        _mask_extensions(bytes(bare), parse)
        attributes.mask_attributes(bytes(bare), parse)
        attributes.mask_shouted_words(bytes(bare), parse, shouted)
        joined = attributes.mask_kernel_heads(_as_masked(bytes(bare), parse, uses), parse)
        found.append(Text(code, bytes(bare), bytes(parse), blanked, joined))
    return found


def _as_masked(bare: bytes, parse: bytearray, uses: list[Use]) -> bytes:
    """`bare` as kernel heads are searched in: masked macro uses are gone there too."""
    if not uses:
        return bare
    work = bytearray(bare)
    for use in uses:
        if not parse[use.start : use.end].strip():
            blank(work, use.start, use.end)
    return bytes(work)


def is_attribute_macro(definition: Definition) -> bool:
    """Whether a macro only adds attributes or specifiers to a declaration's head."""
    body = definition.body
    if not attributes.is_attribute_text(body) or any(c in body for c in b"{;[="):
        return False
    if definition.parameters is None:
        return True
    return b"__shared__" not in body and not is_head_macro(definition)


def is_structural(definition: Definition) -> bool:
    """Whether a macro stands for no statement or expression: nothing, braces, a loop's head."""
    body = definition.body
    if not body.strip():
        return definition.parameters is None
    if attributes.is_attribute_text(body):
        return False
    opened = body.count(b"{") != body.count(b"}")
    return opened or (_CONTROL.match(body) is not None and body.rstrip()[-1:] not in (b"}", b";"))


def is_configuration(definition: Definition) -> bool:
    """Whether a macro stands for a launch's configuration: `<<<grid, block, 0, stream>>>`."""
    body = definition.body.strip()
    return body.startswith(b"<<<") and body.endswith(b">>>") and body.count(b"<<<") == 1


def is_head_macro(definition: Definition) -> bool:
    """Whether a use is a whole function head, `KERNEL(name, T) { … }`, parameters included."""
    body = definition.body
    return (
        definition.parameters is not None
        and not any(c in body for c in b"{;[=")
        and attributes.is_attribute_text(body)
        and attributes.ends_in_parameters(body)
    )


def find_uses(bare: bytes, definitions: list[Definition]) -> list[Use]:
    """Every use of `definitions` in code, outermost first, in file order."""
    kinds: dict[bytes, set[bool]] = {}
    for definition in definitions:
        kinds.setdefault(definition.name, set()).add(definition.parameters is not None)
    found: dict[int, Use] = {}
    for at, name in _occurrences(bare, kinds):
        spend(_USE_UNITS)
        for with_arguments in kinds[name]:
            use = _use(bare, name, at, at + len(name), with_arguments)
            if use is not None and (at not in found or found[at].end < use.end):
                found[at] = use
    return [found[at] for at in sorted(found)]


def _occurrences(bare: bytes, names: Collection[bytes]) -> Iterator[tuple[int, bytes]]:
    """Where `names` stand as whole words."""
    if len(names) > _MANY_NAMES:
        for word in _WORD.finditer(bare):
            if word.group() in names:
                yield word.start(), word.group()
        return
    for name in names:
        at = bare.find(name)
        while at >= 0:
            end = at + len(name)
            if not (at and _WORD_BYTE.match(bare, at - 1)) and not _WORD_BYTE.match(bare, end):
                yield at, name
            at = bare.find(name, end)


def _use(bare: bytes, name: bytes, start: int, end: int, with_arguments: bool) -> Use | None:
    if not with_arguments:
        return Use(name, start, end, -1, -1)
    after = after_space(bare, end)
    if bare[after : after + 1] != b"(":
        return None
    close = close_of(bare, after)
    return None if close < 0 else Use(name, start, close + 1, after, close)


def _mask_attribute_use(parse: bytearray, use: Use, definition: Definition) -> None:
    blank(parse, use.start, use.end)
    if _VOID.search(definition.body) and use.end - use.start >= 4:
        parse[use.start : use.start + 4] = b"void"


def _keep_braces(parse: bytearray, use: Use, definition: Definition) -> None:
    """A use that is no statement becomes the braces that its body leaves open or closes."""
    blank(parse, use.start, use.end)
    change = definition.body.count(b"{") - definition.body.count(b"}")
    braces = (b"{" * change or b"}" * -change)[: use.end - use.start]
    parse[use.start : use.start + len(braces)] = braces


def _mask_extensions(bare: bytes, parse: bytearray) -> None:
    """What compilers take and the grammar does not.

    typeof, ranges of cases, `decltype(x){}`, `<<<grid, {32, 4}>>>`, and blocks with a `try`
    whose handlers a macro brings.
    """
    if b"try" in bare:
        for match in _TRY.finditer(bare):
            close = close_of(bare, match.end() - 1)
            handlers = _HANDLERS.match(bare, close + 1) if close >= 0 else None
            if handlers is not None:
                blank(parse, match.start(), match.start() + len(b"try"))
                if not handlers["more"]:
                    blank(parse, *handlers.span("name"))
    if b"decltype" in bare:
        for match in _DECLTYPE.finditer(bare):
            close = close_of(bare, match.end() - 1)
            following = after_space(bare, close + 1)
            if close >= 0 and bare[following : following + 1] == b"{":
                parse[match.end() - 1 : close + 1] = b"_" * (close + 2 - match.end())
    if any(word in bare for word in (b"unsigned(", b"long(", b"short(")):
        for match in _SIZED_CAST.finditer(bare):
            if bare[max(0, match.start() - 100) : match.start()].rstrip()[-1:] in (b"{", b","):
                parse[slice(*match.span())] = b"_" * len(match.group())
    if b"typeof" in bare:
        for match in _TYPEOF.finditer(bare):
            close = close_of(bare, match.end() - 1)
            if close >= 0:
                blank(parse, match.start(), close + 1)
                parse[match.start() : match.start() + 4] = b"auto"
    if b"new" in bare:
        for match in _NEW_POINTERS.finditer(bare):
            for start, end in (match.span("const"), match.span("stars")):
                blank(parse, start, end)
    if b"<<<" in bare:
        for configuration in _configurations(bare):
            for braces in _BRACES.finditer(bare, *configuration):
                start, end = braces.span(1)
                empty = not bare[start + 1 : end - 1].strip()
                inside = bytes(parse[start + 1 : end - 1])
                parse[start:end] = b"0".ljust(end - start) if empty else b"(%b)" % inside
    if b"..." in bare:
        for match in _CASE_RANGE.finditer(bare):
            blank(parse, *match.span(1))


def _configurations(bare: bytes) -> Iterator[tuple[int, int]]:
    """From each `<<<` to the next `>>>`, where no `;` is between."""
    at, close = bare.find(b"<<<"), -1
    while at >= 0:
        if close < at + 3:
            close = bare.find(b">>>", at + 3)
        if close < 0:
            return
        semicolon = bare.find(b";", at, close)
        if semicolon < 0:
            yield at, close + 3
        at = bare.find(b"<<<", close + 3 if semicolon < 0 else semicolon)


def _cut_out(parse: bytearray, bare: bytearray, use: Use) -> None:
    """Take a use that defines functions out of the text; what follows begins anew."""
    for text in (parse, bare):
        blank(text, use.start, use.end)
        at = after_space(text, use.end)
        if text[at : at + 1] == b";":
            text[at] = ord(" ")
    bare[use.end - 1] = ord(";")


def _without(text: bytes, ranges: list[tuple[int, int]]) -> bytes:
    spend(_RANGE_UNITS * len(ranges))
    work = bytearray(text)
    for start, end in ranges:
        blank(work, start, end)
    return bytes(work)


def _alive(found: list[tuple[int, int]], left_out: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of `found` that start in no text that is left out."""
    return [one for one in found if not covered(one[0], left_out)] if left_out else found

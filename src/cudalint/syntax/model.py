"""FileModel: all that rules, the cache and other processes see of a file's syntax.

Offsets are bytes of the file on disk. Texts are decoded UTF-8 with comments and
line splices replaced by one space and runs of white space made one space.
Nothing here knows tree-sitter.

Macros. Records that come out of a function-like macro's body carry
`via_macro`. They appear once with `use=None`, at their own place in the
`#define` ("template" records, parameters unsubstituted), and once for each use
of the macro in the same file, with arguments substituted and `##` pasted, `use`
being the span of the use; `span` and `name_span` stay in the `#define` in both.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from cudalint.finding import Span
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.effort import spend
from cudalint.syntax.known import known

_LONG = 200
"""Argument lists that are longer are not kept to be looked up again."""


class Parameter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function's parameter: `const float* __restrict__ x` has type `const float*` and name `x`.

    `type` keeps const, `*`, `&` and `[]` (as `*`) and drops restrict words,
    attributes and the default; `default` is None when there is none. For a
    function pointer `type` is the whole declarator text. A C variadic `...` is a
    parameter of that type.
    """

    span: Span
    type: str
    name: str
    default: str | None = None


class LaunchBounds(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`__launch_bounds__(arguments…)`; `span` is the attribute with its parentheses."""

    span: Span
    arguments: tuple[str, ...]


class Function(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function's declaration, definition or explicit instantiation.

    `index` is its place in `FileModel.functions`. `kind`: "definition",
    "declaration" or "instantiation". `space`: "global" (a kernel), "device",
    "host", "host device". `words` are the specifiers and attribute names of the
    head in source order, macros among them as written and as expanded.
    `head` runs from the first specifier (`template`, `extern`, …) to the body
    or `;`. `scope` is the enclosing namespaces and classes, "" for an anonymous
    namespace. `owner` is the class of a member, else "". `linkage` is "C" when
    the function or an enclosing block says so. `lambda_` functions have the name
    "" and their body also belongs to `parent` (index, −1 for none).
    `comment` is the comment block directly before the head, "" if none.
    `template` is the text between `<` and `>` of the innermost template head,
    None for a function that is no template.
    """

    index: int
    span: Span
    head: Span
    name_span: Span
    body: Span | None
    name: str
    kind: Literal["definition", "declaration", "instantiation"]
    space: Literal["global", "device", "host", "host device"]
    words: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    scope: tuple[str, ...]
    owner: str
    linkage: Literal["C", "C++"]
    static: bool
    template: str | None
    bounds: LaunchBounds | None
    return_type: str = ""
    lambda_: bool = False
    parent: int = -1
    comment: str = ""
    via_macro: str = ""
    use: Span | None = None


class Argument(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One argument of a call, as written."""

    span: Span
    text: str


class Call(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call of a function, method or function-like macro.

    `callee` is the text before `(` with template arguments kept
    (`std::max<int>`, `api.record`); `name` is its last identifier ("" when it has
    none, as in `(*f)(x)`); `receiver` is what stands before `.` or `->`, "" for
    none. `name_span` is the last identifier. `statement` is the statement or
    declaration that holds it. `function` is the index of the innermost function
    (lambdas count), −1 at file scope. `expression_statement`: the call is the
    whole statement, bar `(void)`. `argument_text` is what stands between the
    parentheses, from `arguments_at` on.
    """

    span: Span
    name_span: Span
    statement: Span
    callee: str
    name: str
    receiver: str
    argument_text: bytes
    arguments_at: int
    function: int
    expression_statement: bool = False
    via_macro: str = ""
    use: Span | None = None

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments, split at top-level commas (at each access: keep the result)."""
        return read_arguments(self.span.path, self.argument_text, self.arguments_at)


def read_arguments(path: str, text: bytes, at: int) -> tuple[Argument, ...]:
    """Split the text of an argument list that stands at offset `at` of the file."""
    if len(text) < _LONG:
        spend(len(text) >> 1)
        pieces = _pieces_before(text)
    else:
        pieces = _pieces(text)
    return tuple(
        Argument(Span(path, at + start, at + end), written) for start, end, written in pieces
    )


def _pieces(text: bytes) -> tuple[tuple[int, int, str], ...]:
    return tuple((start, end, normal(text[start:end])) for start, end in split_arguments(text))


# Rules ask for the arguments of a call again and again, each for its own ends.
_pieces_before = known(4096)(_pieces)


def normal(text: bytes) -> str:
    """Decoded, with runs of white space made one space."""
    return " ".join(text.decode("utf-8", "replace").split())


class Launch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A `kernel<<<grid, block, shared, stream>>>(arguments)`.

    `kernel` is the text before `<<<`, `name` its last identifier without
    template arguments; `configuration` the texts between the chevrons.
    API launches (`cudaLaunchKernel` …) are calls; `Project` adds them.
    """

    span: Span
    name_span: Span
    statement: Span
    kernel: str
    name: str
    configuration: tuple[Argument, ...]
    arguments: tuple[Argument, ...]
    function: int
    via_macro: str = ""
    use: Span | None = None


class SharedDeclaration(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A `__shared__` variable, or a pointer or reference cut from one.

    `kind`: "static", "extern" (the dynamic pool) or "alias" (a pointer whose
    initialiser reaches a shared variable of the same function, directly or
    through other aliases). `dimensions` are the texts between brackets ("" for
    `[]`), empty for a scalar or a pointer. `initializer` is an alias' right side.
    """

    span: Span
    name_span: Span
    statement: Span
    name: str
    type: str
    kind: Literal["static", "extern", "alias"]
    dimensions: tuple[str, ...]
    initializer: str
    function: int
    via_macro: str = ""
    use: Span | None = None


class Variable(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A local, member or global variable whose type is a stream (`cudaStream_t`, `CUstream`, …)."""

    span: Span
    name: str
    type: str
    function: int


class Include(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`#include <path>` (`system`) or `"path"`; `span` is the directive's line without its end."""

    span: Span
    path: str
    system: bool


class Macro(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A `#define`. `parameters` is None for an object-like macro; `body` keeps `#` and `##`."""

    span: Span
    name_span: Span
    name: str
    parameters: tuple[str, ...] | None
    body: str


class Region(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One branch of a preprocessor conditional that is analysed.

    `condition` is its own (`defined(X)`, `!defined(X)`, `X > 2`, "else");
    `span` runs from after its directive to before the next one of the group.
    `group` is the same number for all branches of one `#if … #endif`.
    """

    span: Span
    condition: str
    group: int = -1


class Comment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A comment with its markers. `alone`: nothing but white space before it on its line."""

    span: Span
    text: str
    alone: bool


class Branch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A statement that an `if`, loop or `switch` controls.

    An "else" has the condition of its `if`; a "for" all the text in its
    parentheses. `span` is the controlled statement, braces included; `head` runs
    from the keyword to it. `exits`: the statement, or the last one of its block,
    is a return, throw, goto, break or continue, or calls abort, exit or terminate.
    """

    span: Span
    head: Span
    keyword: Literal["if", "else", "for", "while", "do", "switch"]
    condition: str
    exits: bool
    function: int


class Flag(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A local `bool` or `auto` variable with its initialiser's text."""

    span: Span
    name: str
    value: str
    function: int


class Identifier(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A use of `cout`, `cerr` or `clog`; `name` is as written (`std::cout`)."""

    span: Span
    statement: Span
    name: str
    function: int
    expression_statement: bool = False
    via_macro: str = ""
    use: Span | None = None


class Assembly(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An `asm` statement, the `;` after it included; `name_span` is the word `asm`.

    `text` is its string literals joined, without PTX comments; `operands` is
    what follows the first colon, as written.
    """

    span: Span
    name_span: Span
    text: str
    operands: str
    function: int
    via_macro: str = ""
    use: Span | None = None


class Alias(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`typedef target name;` or `using name = target;` (`template` for alias templates)."""

    span: Span
    name_span: Span
    name: str
    target: str
    template: bool
    function: int


class Constant(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A `constexpr`, `const` or enumerator integer with its initialiser's text."""

    span: Span
    name: str
    value: str


class RecordType(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A class or struct definition with its data members (name and type as parameters have)."""

    span: Span
    name: str
    scope: tuple[str, ...]
    members: tuple[Parameter, ...]


class Broken(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A region that the parser could not read.

    `matters`: it lies in a kernel or launcher, or hides a kernel, launch or
    shared declaration. Others are only counted.
    """

    span: Span
    matters: bool


class FileModel(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one source file says. Every tuple is in file order (by start)."""

    path: str
    size: int
    functions: tuple[Function, ...] = ()
    calls: tuple[Call, ...] = ()
    launches: tuple[Launch, ...] = ()
    shared: tuple[SharedDeclaration, ...] = ()
    variables: tuple[Variable, ...] = ()
    includes: tuple[Include, ...] = ()
    macros: tuple[Macro, ...] = ()
    regions: tuple[Region, ...] = ()
    comments: tuple[Comment, ...] = ()
    aliases: tuple[Alias, ...] = ()
    constants: tuple[Constant, ...] = ()
    structs: tuple[RecordType, ...] = ()
    branches: tuple[Branch, ...] = ()
    console: tuple[Identifier, ...] = ()
    flags: tuple[Flag, ...] = ()
    statics: tuple[Span, ...] = ()
    """Function-local `static` declarations with an initialiser."""
    broken: tuple[Broken, ...] = ()
    dead: tuple[Span, ...] = ()
    """`#if 0` branches: never code."""
    assembly: tuple[Assembly, ...] = ()

    @property
    def kernels(self) -> tuple[Function, ...]:
        """The `__global__` functions: definitions, declarations and instantiations."""
        return tuple(f for f in self.functions if f.space == "global")

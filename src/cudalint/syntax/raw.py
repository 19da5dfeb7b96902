"""What one parse yields, before the readings of a file are joined.

Plain records with offsets; the fields that need the whole file (the enclosing
function, the index) are filled in by `cudalint.syntax.assemble`.
"""

from __future__ import annotations

import msgspec

from cudalint.syntax.heads import Head
from cudalint.syntax.model import Parameter

Range = tuple[int, int]


class RawFunction(msgspec.Struct, gc=False):
    """A function as the grammar and its head say; `qualifier` is `A::B` of `A::B::f`."""

    kind: str
    span: Range
    head: Range
    name_range: Range
    body: Range | None
    name: str
    qualifier: str
    read: Head
    parameters: tuple[Parameter, ...]
    lambda_: bool = False


class RawCall(msgspec.Struct, gc=False):
    """A call or launch; `open_at` is its parenthesis, `configuration` that of `<<<`.

    A launch that is a macro's argument has no parenthesis: `open_at` is its last byte.
    `written` is the text between the chevrons where a macro brings them.
    """

    span: Range
    open_at: int
    statement: Range
    whole: bool
    configuration: Range | None = None
    written: bytes | None = None


class RawShared(msgspec.Struct, gc=False):
    """One declarator of a `__shared__` declaration, or of a pointer that may alias one."""

    span: Range
    statement: Range
    name_range: Range
    type: str
    dimensions: tuple[str, ...]
    kind: str
    initializer: str


class RawBranch(msgspec.Struct, gc=False):
    """A controlled statement; see `model.Branch`."""

    span: Range
    head: Range
    keyword: str
    condition: str
    exits: bool


class RawScope(msgspec.Struct, gc=False):
    """A namespace ("namespace"), class ("class") or `extern "C"` block ("linkage")."""

    kind: str
    span: Range
    body: Range
    name: str
    members: tuple[Parameter, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The names that it stands for: `namespace a::b {` opens two."""
        if self.kind != "namespace":
            return (self.name,)
        return tuple(part.split()[-1] if part.strip() else "" for part in self.name.split("::"))


class RawAlias(msgspec.Struct, gc=False):
    """A `typedef` or `using`."""

    span: Range
    name_range: Range
    target: str
    template: bool


class RawConstant(msgspec.Struct, gc=False):
    """An enumerator with a value."""

    span: Range
    name: str
    value: str


class Raw(msgspec.Struct):
    """Everything that one text holds, in offsets of the file."""

    functions: list[RawFunction] = []
    calls: list[RawCall] = []
    shared: list[RawShared] = []
    branches: list[RawBranch] = []
    scopes: list[RawScope] = []
    aliases: list[RawAlias] = []
    constants: list[RawConstant] = []
    statements: list[Range] = []
    errors: list[Range] = []
    defines: bool = False

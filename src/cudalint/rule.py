"""The base classes of rules, and the examples that document and test them.

A rule is one file in `cudalint/rules/`, named `<code>_<name>.py` in lower case
with underscores, holding one class derived from one of the five kinds below.
What a kind's `check` is given is all that the rule may look at. The registry
that finds the rules is `cudalint.registry`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from cudalint.finding import Confidence, Finding, Fix, Level, Related, Span
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.compile.model import CompiledFile
    from cudalint.context import Context
    from cudalint.project.project import Project
    from cudalint.settings.model import Settings
    from cudalint.suppress.model import FileSuppressions
    from cudalint.syntax.model import FileModel
    from cudalint.tree.model import KernelTree

_PLACEHOLDER = regex(r"\{\{|\}\}|\{(\d+)\}")


class FixSafety(str, Enum):
    """Whether a rule offers fixes, and of which kind."""

    NONE = "none"
    SAFE = "safe"
    UNSAFE = "unsafe"


class Example(msgspec.Struct, frozen=True):
    """A piece of source that a rule is shown with, and tested on.

    `code` is one file. In an INVALID example, a line of `~` under a line of code
    marks the exact span of one finding, in the order of the file (the marker
    lines are taken out before linting; a marker in the very first line marks a
    finding on the whole file). For a fault that spans no visible text (an empty
    span) write `^`. `files` are further files, path to text; when it is given,
    `code` is the file at `path`. `message` is part of the first finding's text.
    `fixed` is the whole file after all fixes. `settings` is TOML, as in
    cudalint.toml. `also` names rules that a VALID example is not held to.
    """

    code: str
    path: str = "example.cu"
    files: dict[str, str] = {}
    message: str = ""
    fixed: str | None = None
    settings: str = ""
    also: tuple[str, ...] = ()


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a rule that has none."""


class Rule:
    """What every rule says of itself; derive from one of the five kinds instead.

    The class's docstring is its public page: the headings `What it does`,
    `Why it matters`, `Example`, `How to fix` and `Sources`, each followed by text.
    `messages` maps a message id to a template: plain sentences that end in a
    period, with placeholders `'{0}'`, `'{1}'`, …, each in single quotes.
    `options` is a frozen msgspec Struct with a default for each field (keys are
    kebab-case in the settings: use `rename="kebab"`). `by_arch` goes with
    `lacks_arch`: which part of the rule that is (" for blocks per SM"), "" for all.
    `url` is where a plugin's rule is documented on the web; ours are in docs/rules.md.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    level: ClassVar[Level]
    messages: ClassVar[dict[str, str]]
    fix: ClassVar[FixSafety] = FixSafety.NONE
    preview: ClassVar[bool] = False
    default: ClassVar[bool] = True
    since: ClassVar[str] = "0.1.0"
    options: ClassVar[type[msgspec.Struct]] = NoOptions
    by_arch: ClassVar[str] = ""
    url: ClassVar[str] = ""
    VALID: ClassVar[Sequence[Example]] = ()
    INVALID: ClassVar[Sequence[Example]] = ()

    @classmethod
    def lacks_arch(cls, file: FileModel, context: Context) -> bool:
        """Whether `file` holds what the rule judges by arch, and no arch is known for it."""
        return False

    @classmethod
    def is_idle(cls, settings: Settings) -> bool:
        """Whether the rule judges nothing at all under these settings."""
        return False

    @classmethod
    def report(
        cls,
        message_id: str,
        span: Span,
        *arguments: object,
        level: Level | None = None,
        related: Sequence[Related] = (),
        confidence: Confidence = Confidence.HIGH,
        fix: Fix | None = None,
        extents: Sequence[Span] = (),
        flow: Sequence[Related] = (),
        **properties: int | float | str,
    ) -> Finding:
        """Make a finding from the template `message_id`.

        `level` is for a message that the catalogue gives a level of its own;
        a level from the settings replaces the rule's own level only.
        """
        texts = tuple(str(argument) for argument in arguments)
        return Finding(
            code=cls.code,
            level=cls.level if level is None else level,
            message=fill(cls.messages[message_id], texts),
            span=span,
            message_id=message_id,
            arguments=texts,
            related=tuple(related),
            confidence=confidence,
            fix=fix,
            extents=tuple(extents),
            properties=dict(properties),
            flow=tuple(flow),
        )


class FileRule(Rule, ABC):
    """Judges one file by what it says itself; what it finds, extents included, lies in it.

    `unreadable`: it is given the files that could not be read, and only those.
    """

    unreadable: ClassVar[bool] = False

    @abstractmethod
    def check(self, file: FileModel, context: Context, options: Any) -> Iterator[Finding]:
        """Yield the findings of `file`; it also runs when other files are broken."""


class ProjectRule(Rule, ABC):
    """Judges the joined files: entry names, calls, launch paths."""

    @abstractmethod
    def check(self, project: Project, context: Context, options: Any) -> Iterator[Finding]:
        """Yield the findings of the whole project, for whichever file."""


class TreeRule(Rule, ABC):
    """Judges a kernel tree: its layers, shadows and manifests."""

    @abstractmethod
    def check(self, tree: KernelTree, context: Context, options: Any) -> Iterator[Finding]:
        """Yield the findings of one tree (a run may hold several)."""


class CompileRule(Rule, ABC):
    """Judges what nvcc and ptxas said of one source file, for all its archs.

    `left_to` names those of its messages that are dropped where another rule says
    the same at the same place: a message's id, and the other's code and id.
    """

    left_to: ClassVar[Mapping[str, tuple[str, str]]] = {}

    @abstractmethod
    def check(self, compiled: CompiledFile, context: Context, options: Any) -> Iterator[Finding]:
        """Yield the findings of one compiled file."""


class SuppressionRule(Rule, ABC):
    """Judges the suppressions of one file, after every other rule has run."""

    @abstractmethod
    def check(self, file: FileSuppressions) -> Iterator[Finding]:
        """Yield the findings on the suppressions of `file`."""


def fill(template: str, arguments: Sequence[str]) -> str:
    """Put `arguments` into the placeholders of a SARIF message template.

    Single pass, so that braces inside an argument stay as they are; `{{` and
    `}}` stand for literal braces (SARIF 2.1.0, 3.11.5).
    """

    def value(place: re.Match[str]) -> str:
        number = place.group(1)
        return arguments[int(number)] if number else place.group()[0]

    return _PLACEHOLDER.sub(value, template)

"""A rule's public page, made from its docstring, options, messages and examples.

`cudalint rule CU302` prints it, docs/rules.md holds all of them, and tests hold
every rule to the form that is read here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from cudalint.rule import Example, Rule

HOME = "https://github.com/cudalint/cudalint"

HEADINGS = ("What it does", "Why it matters", "Example", "How to fix", "Options", "Sources")
"""The headings of a rule's docstring, in their order; only `Options` may be absent."""


class Page(msgspec.Struct, frozen=True):
    """What a docstring says: the one-sentence summary, then text by heading."""

    summary: str
    sections: dict[str, str]


def read_page(rule: type[Rule]) -> Page:
    """Take a rule's docstring apart. Raises ValueError if it has another form."""
    lines = inspect.cleandoc(rule.__doc__ or "").split("\n")
    summary, _, rest = "\n".join(lines).partition("\n\n")
    sections: dict[str, str] = {}
    heading = ""
    for line in rest.split("\n"):
        if line in HEADINGS:
            heading = line
            sections[heading] = ""
        elif heading:
            sections[heading] += f"{line}\n"
        elif line.strip():
            raise ValueError(f"{rule.code}: text before the first heading: {line!r}")
    wanted = [name for name in HEADINGS if name != "Options" or name in sections]
    if list(sections) != wanted:
        raise ValueError(f"{rule.code}: headings are {list(sections)}, should be {wanted}")
    texts = {name: _undented(text) for name, text in sections.items()}
    empty = [name for name, text in texts.items() if not text.strip()]
    if empty or "\n" in summary or not summary.endswith("."):
        raise ValueError(f"{rule.code}: summary of one line with a period, no empty {empty}")
    return Page(summary, texts)


def page_of(rule: type[Rule]) -> Page:
    """A rule's page; of a plugin's rule whose docstring has no such form, its first sentence."""
    try:
        return read_page(rule)
    except ValueError:
        summary, _, _ = inspect.cleandoc(rule.__doc__ or "").partition("\n\n")
        return Page(" ".join(summary.split()) or f"{rule.code} {rule.name}.", {})


def markdown(rule: type[Rule], *, depth: int = 1) -> str:
    """The page in Markdown, its title a heading of the given depth."""
    page = page_of(rule)
    title = f"{'#' * depth} {rule.code} {rule.name}"
    parts = [title, page.summary, _facts(rule)]
    for heading, text in page.sections.items():
        parts += [f"{'#' * (depth + 1)} {heading}", _fenced(text)]
    shown = _shown_examples(rule)
    if shown:
        parts += [f"{'#' * (depth + 1)} From its tests", shown]
    return "\n\n".join(parts) + "\n"


def text(rule: type[Rule]) -> str:
    """The page for a terminal: as the docstring has it, code indented."""
    page = page_of(rule)
    parts = [f"{rule.code} {rule.name}", page.summary, _facts(rule)]
    for heading, section in page.sections.items():
        parts += [heading.upper(), section]
    for word, example in _shown(rule):
        parts += [f"{word.upper()} (FROM THE RULE'S TESTS)", indent(example.rstrip("\n"), "    ")]
    return "\n\n".join(parts) + "\n"


class JsonRule(msgspec.Struct, frozen=True):
    """A rule for programs.

    `sections` are the page's texts by heading, `options` the defaults by key.
    """

    code: str
    name: str
    level: str
    fix: str
    preview: bool
    default: bool
    since: str
    summary: str
    page: str
    sections: dict[str, str]
    options: dict[str, Any]


def record(rule: type[Rule]) -> JsonRule:
    """The page as data."""
    page = page_of(rule)
    return JsonRule(
        code=rule.code,
        name=rule.name,
        level=rule.level.value,
        fix=rule.fix.value,
        preview=rule.preview,
        default=rule.default,
        since=rule.since,
        summary=page.summary,
        page=address(rule),
        sections=page.sections,
        options=msgspec.to_builtins(rule.options()),
    )


def anchor(rule: type[Rule]) -> str:
    """The fragment of the rule's section in docs/rules.md, as GitHub makes it."""
    return f"{rule.code.lower()}-{rule.name}"


def address(rule: type[Rule]) -> str:
    """Where the rule's page is to be read on the web; "" for a plugin's that doesn't say."""
    if rule.url or not rule.__module__.startswith("cudalint.rules."):
        return rule.url
    return f"{HOME}/blob/main/docs/rules.md#{anchor(rule)}"


def _facts(rule: type[Rule]) -> str:
    fix = {"none": "no fix", "safe": "safe fix", "unsafe": "unsafe fix"}[rule.fix.value]
    facts = [f"Level: {rule.level.value}", fix, f"since {rule.since}"]
    if rule.preview:
        facts.append("preview: runs with `--preview`, or when selected by its full code or name")
    if not rule.default:
        facts.append("off by default: select it by code, name or prefix")
    return "; ".join(facts) + "."


def _undented(text: str) -> str:
    """A section's text; what is indented further than its sentences stays so, it is code."""
    lines = (line[4:] if line.startswith("    ") else line for line in text.split("\n"))
    return "\n".join(lines).strip("\n")


def _fenced(text: str) -> str:
    """Indented blocks as fenced ones, with their language."""
    blocks = re.split(r"((?:^ {4}.*\n?(?:\n(?= {4}))?)+)", text, flags=re.MULTILINE)
    return "".join(_fence(b) if b.startswith("    ") else b for b in blocks).rstrip("\n")


def _fence(text: str) -> str:
    code = dedent(text).strip("\n")
    language = "toml" if code.startswith("[") else "cuda" if ";" in code or "#" in code else "text"
    return f"```{language}\n{code}\n```\n"


def _shown_examples(rule: type[Rule]) -> str:
    return "\n\n".join(f"{word}:\n\n```cuda\n{code.rstrip()}\n```" for word, code in _shown(rule))


def _shown(rule: type[Rule]) -> Iterator[tuple[str, str]]:
    """The first invalid example with its markers, and the first valid one."""
    for word, examples in (("Reported", rule.INVALID), ("Not reported", rule.VALID)):
        simple = next(iter(_simple(examples)), None)
        if simple is not None:
            yield word, simple.code


def _simple(examples: Sequence[Example]) -> Iterator[Example]:
    """Those that are understood without anything else."""
    return (e for e in examples if not e.files and not e.settings and e.path.endswith("u"))

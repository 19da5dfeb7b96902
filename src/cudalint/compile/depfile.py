"""Dependency files in make's syntax, as nvcc's -MD writes them."""

from __future__ import annotations


def read_dependencies(text: str) -> tuple[str, ...]:
    """The prerequisites of the first rule, in order, each once.

    A backslash joins lines and escapes white space and `#`; `$$` is a dollar.
    The target ends at the first colon that is followed by white space.
    """
    _, _, rest = text.replace("\\\r\n", " ").replace("\\\n", " ").partition(": ")
    rule = rest.split("\n", 1)[0]
    found: dict[str, None] = {}
    word: list[str] = []
    at = 0
    while at < len(rule):
        char = rule[at]
        if char == "\\" and rule[at + 1 : at + 2] in (" ", "\t", "#"):
            word.append(rule[at + 1])
            at += 2
        elif rule[at : at + 2] == "$$":
            word.append("$")
            at += 2
        elif char in " \t":
            if word:
                found["".join(word)] = None
                word.clear()
            at += 1
        else:
            word.append(char)
            at += 1
    if word:
        found["".join(word)] = None
    return tuple(found)

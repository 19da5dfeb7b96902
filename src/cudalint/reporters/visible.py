"""Makes text safe and true to show: no character acts on the terminal or hides.

Control characters, escape sequences, direction overrides, invisible characters
and what UTF-8 can't hold are shown by their names, so that neither a source
line nor a file name can move the cursor, forge a line of output or disguise code.
"""

from __future__ import annotations

_HIDING = {
    0x00AD,
    0x061C,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    0xFFFE,
    0xFFFF,
}


def visible(text: str) -> str:
    """`text` with each character that acts or hides replaced by a name for it.

    C0 controls become their control pictures (`␛`), others `<U+202E>`. Tabs are
    kept, as only the caller knows the column.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def encodable(text: str) -> str:
    """`text` with a replacement character for each thing that UTF-8 can't hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def width(char: str) -> int:
    """How many columns a character takes up in a terminal: 0, 1 or 2."""
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def _shown(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return char if char == "\t" else chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code < 0xA0 or code in _HIDING or 0xD800 <= code < 0xE000 or code >= 0xE0000:
        return f"<U+{code:04X}>"
    return char

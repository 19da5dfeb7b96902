"""One HTML file that needs nothing else and can load nothing else."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files

from cudalint.reporters.visible import visible


def framed(title: str, body: str, *, script: str) -> str:
    """The document around `body`, with the shared style and the script of that file name.

    Its policy allows that style and that script and nothing more, so that even
    what slipped through the escaping could not run or be fetched.
    """
    style, code = _asset("style.css"), _asset(script)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(code)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n{body}<script>{code}</script>\n</body>\n</html>\n"
    )


def text(shown: str) -> str:
    """`shown` as HTML text or the value of an attribute: escaped, and nothing hidden in it."""
    return escape(visible(shown))


def _asset(name: str) -> str:
    return files("cudalint.reporters.page").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = sha256(content.encode("utf-8")).digest()
    return f"'sha256-{b64encode(digest).decode()}'"

"""Names of kernels and device functions out of Itanium-mangled symbols.

Covers what a function's name and template arguments are made of; parameters
are counted, not shown. A symbol beyond that (or one that is not mangled, such as
an `extern "C"` kernel's) is its own name. No process is started for it.
"""

from __future__ import annotations

import msgspec

from cudalint.compile.declarator import array_of, function_of, pointer_to, qualified, shown

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char",
    "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int",
    "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float",
    "d": "double", "e": "long double", "g": "__float128", "z": "...",
}  # fmt: skip
_BUILTIN_D = {
    "Dh": "half", "Ds": "char16_t", "Di": "char32_t", "Du": "char8_t", "Da": "auto",
    "Dc": "decltype(auto)", "Dn": "decltype(nullptr)",
}  # fmt: skip
_STANDARD = {
    "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string",
    "Si": "std::istream", "So": "std::ostream", "Sd": "std::iostream",
}  # fmt: skip
_LITERAL_SUFFIX = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_OPERATORS = {
    "nw": "new", "dl": "delete", "cl": "()", "ix": "[]", "pl": "+", "mi": "-", "ml": "*",
    "dv": "/", "rm": "%", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=",
    "ge": ">=", "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=", "nt": "!",
    "aa": "&&", "oo": "||", "ls": "<<", "rs": ">>", "pp": "++", "mm": "--", "pt": "->",
    "an": "&", "or": "|", "eo": "^", "co": "~", "ps": "+", "ng": "-", "ad": "&", "de": "*",
}  # fmt: skip
_DIGITS = frozenset("0123456789")
_DEEPEST = 64
_LONGEST = 8192
_MOST_TEXT = 4_000_000
"""So many characters of parts are put together for one name: substitutions can double it."""


class Name(msgspec.Struct, frozen=True):
    """A function's qualified name with template arguments; `arity` −1 when it is not told."""

    text: str
    arity: int = -1


class _BeyondError(Exception):
    """The symbol uses something that this demangler does not read."""


def demangle(symbol: str) -> Name:
    """The name of `symbol` without its parameters: `_ZN1n1kILi4EEEvPf` is `n::k<4>`."""
    if not symbol.startswith("_Z") or len(symbol) > _LONGEST:
        return Name(symbol)
    try:
        return _Demangler(symbol).encoding()
    except _BeyondError:
        return Name(symbol)


def without_arguments(name: str) -> str:
    """A demangled name with its template arguments taken out: `n::k<4>` is `n::k`."""
    kept: list[str] = []
    depth = 0
    for char in name:
        if char == "<":
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(char)
    return "".join(kept)


class _Demangler:
    """A recursive descent over one symbol, with the ABI's table of substitutions."""

    def __init__(self, symbol: str) -> None:
        self.text = symbol
        self.at = 2
        self.depth = 0
        self.left = _MOST_TEXT
        self.seen: list[str] = []
        self.arguments: list[str] = []

    def encoding(self) -> Name:
        """`<name> <bare-function-type>`: a template's has its return type first."""
        name, template = self.name()
        if self.at >= len(self.text) or self.text[self.at] == ".":
            return Name(name)
        if template:
            self.type()
        arity = 0
        while self.at < len(self.text) and self.text[self.at] not in "E.":
            if self.type() != "void":
                arity += 1
        return Name(name, arity)

    def peek(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def need(self, text: str) -> None:
        if not self.take(text):
            raise _BeyondError

    def spend(self, text: str) -> str:
        self.left -= len(text)
        if self.left < 0:
            raise _BeyondError
        return text

    def remember(self, text: str) -> str:
        self.seen.append(self.spend(text))
        return text

    def number(self) -> int:
        start = self.at
        while self.text[self.at : self.at + 1] in _DIGITS:
            self.at += 1
        if start == self.at:
            raise _BeyondError
        return int(self.text[start : self.at])

    def name(self) -> tuple[str, bool]:
        """A function's name, and whether it ends in template arguments."""
        if self.peek("N"):
            return self.nested()
        if self.take("Z"):
            outer = _joined(self.encoding().text, "")
            self.need("E")
            if self.take("s"):
                raise _BeyondError
            inner, template = self.name()
            self.discriminator()
            return _joined(outer, inner), template
        substituted = self.peek("S") and not self.peek("St")
        name = self.substitution() if substituted else self.unscoped()
        if self.peek("I"):
            if not substituted:
                self.remember(name)
            return _instance(name, self.template_arguments()), True
        return name, False

    def discriminator(self) -> None:
        if self.take("__"):
            self.number()
            self.need("_")
        elif self.take("_"):
            self.at += 1

    def unscoped(self) -> str:
        return "std::" + self.unqualified() if self.take("St") else self.unqualified()

    def unqualified(self) -> str:
        if self.text[self.at : self.at + 1] in _DIGITS:
            return self.source_name()
        if self.take("L"):
            return self.unqualified()
        if self.take("Ul"):
            while not self.take("E"):
                self.type()
            self.ordinal()
            return "{lambda}"
        if self.take("Ut"):
            self.ordinal()
            return "{unnamed}"
        operator = _OPERATORS.get(self.text[self.at : self.at + 2])
        if operator is None:
            raise _BeyondError
        self.at += 2
        return "operator" + (" " + operator if operator.isalpha() else operator)

    def ordinal(self) -> None:
        if not self.take("_"):
            self.number()
            self.need("_")

    def source_name(self) -> str:
        length = self.number()
        word = self.text[self.at : self.at + length]
        if not word or len(word) < length:
            raise _BeyondError
        self.at += length
        if word.startswith("_GLOBAL__N_"):
            return "(anonymous namespace)"
        return "" if word.startswith("_INTERNAL_") else word

    def nested(self) -> tuple[str, bool]:
        """`N <qualifiers> <prefix>* <name> E`."""
        self.need("N")
        while self.text[self.at : self.at + 1] in ("r", "V", "K", "R", "O"):
            self.at += 1
        name, plain, template = "", "", False
        while not self.take("E"):
            template = False
            if self.peek("I"):
                plain = name
                name = _instance(name, self.template_arguments())
                template = True
            elif self.peek("St"):
                self.at += 2
                name = "std"
                continue
            elif self.peek("S"):
                name = self.substitution()
                continue
            elif self.peek("T"):
                name = self.template_parameter()
            elif self.peek("C") or self.peek("D"):
                kind = self.text[self.at]
                self.at += 2
                last = (plain or name).rsplit("::", 1)[-1].split("<", 1)[0]
                name = _joined(name, last if kind == "C" else "~" + last)
            else:
                name, plain = _joined(name, self.unqualified()), ""
            if not self.peek("E"):
                self.remember(name)
        return name, template

    def substitution(self) -> str:
        standard = _STANDARD.get(self.text[self.at : self.at + 2])
        if standard is not None:
            self.at += 2
            return standard
        self.need("S")
        return self.spend(_pick(self.seen, self.sequence(36)))

    def sequence(self, base: int) -> int:
        """`_` is 0, `0_` is 1, …; the ABI counts in upper-case base 36, parameters in 10."""
        if self.take("_"):
            return 0
        end = self.text.find("_", self.at)
        digits = self.text[self.at : end] if end > 0 else ""
        if not digits.isalnum() or digits != digits.upper() or not digits.isascii():
            raise _BeyondError
        self.at = end + 1
        try:
            return int(digits, base) + 1
        except ValueError as error:
            raise _BeyondError from error

    def template_parameter(self) -> str:
        self.need("T")
        return self.spend(_pick(self.arguments, self.sequence(10)))

    def template_arguments(self) -> str:
        self.need("I")
        found: list[str] = []
        while not self.take("E"):
            found.extend(self.template_argument())
        self.arguments = found
        inside = shown(found)
        return f"<{inside} >" if inside.endswith(">") else f"<{inside}>"

    def template_argument(self) -> list[str]:
        """One argument, or all those of a pack."""
        self.deeper()
        try:
            if self.take("J"):
                pack: list[str] = []
                while not self.take("E"):
                    pack.extend(self.template_argument())
                return pack
            if self.take("L"):
                return [self.literal()]
            if self.peek("X"):
                raise _BeyondError
            return [self.type()]
        finally:
            self.depth -= 1

    def literal(self) -> str:
        """`L <type> <value> E`; or `L _Z <encoding> E`, the address of a function."""
        if self.take("_Z"):
            name = self.encoding().text
            self.need("E")
            return "&" + name
        code = self.text[self.at : self.at + 1]
        kind = self.type()
        end = self.text.find("E", self.at)
        value = self.text[self.at : end] if end >= 0 else ""
        if not value:
            raise _BeyondError
        self.at = end + 1
        value = "-" + value[1:] if value.startswith("n") else value
        if code == "b":
            return "true" if value == "1" else "false"
        return (
            value + _LITERAL_SUFFIX[code]
            if code in _LITERAL_SUFFIX
            else f"({shown([kind])}){value}"
        )

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _BeyondError

    def type(self) -> str:
        self.deeper()
        try:
            return self.plain_type()
        finally:
            self.depth -= 1

    def plain_type(self) -> str:
        code = self.text[self.at : self.at + 1]
        if code in _BUILTIN:
            self.at += 1
            return _BUILTIN[code]
        if self.text[self.at : self.at + 2] in _BUILTIN_D:
            self.at += 2
            return _BUILTIN_D[self.text[self.at - 2 : self.at]]
        if code in ("r", "V", "K"):
            return self.qualified_type()
        for mark, sign in (("P", "*"), ("R", "&"), ("O", "&&")):
            if self.take(mark):
                return self.remember(pointer_to(self.type(), sign))
        if self.take("Dp"):
            return self.type()
        if self.take("F"):
            return self.function_type()
        if self.take("A"):
            size = "" if self.peek("_") else str(self.number())
            self.need("_")
            return self.remember(array_of(self.type(), size))
        if code == "T":
            return self.maybe_template(self.remember(self.template_parameter()))
        if code == "S" and not self.peek("St"):
            return self.maybe_template(self.substitution())
        return self.class_type()

    def maybe_template(self, name: str) -> str:
        if self.peek("I"):
            kept = self.arguments
            name = self.remember(_instance(name, self.template_arguments()))
            self.arguments = kept
        return name

    def class_type(self) -> str:
        """A class or enum; its own template arguments are not those that `T_` means."""
        kept = self.arguments
        name, _ = self.name()
        self.arguments = kept
        return self.remember(name)

    def qualified_type(self) -> str:
        qualifiers = ""
        for mark, word in (("r", " restrict"), ("V", " volatile"), ("K", " const")):
            if self.take(mark):
                qualifiers = word + qualifiers
        return self.remember(qualified(self.type(), qualifiers))

    def function_type(self) -> str:
        self.take("Y")
        result = self.type()
        parameters: list[str] = []
        while not self.take("E"):
            parameters.append(self.type())
        return self.remember(function_of(result, [] if parameters == ["void"] else parameters))


def _instance(name: str, arguments: str) -> str:
    """A template's name with its arguments: `operator< <int>` has a space to tell them apart."""
    return f"{name} {arguments}" if name.endswith("<") else name + arguments


def _joined(scope: str, name: str) -> str:
    return f"{scope}::{name}" if scope and name else scope or name


def _pick(table: list[str], index: int) -> str:
    if index >= len(table):
        raise _BeyondError
    return table[index]

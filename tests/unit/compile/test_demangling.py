"""Demangling: names of kernels, held to c++filt where it is found."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compile.demangle import Name, demangle, without_arguments

NAMES = [
    ("kernel", "kernel", -1),
    ("_Z1kPf", "k", 1),
    ("_Z1kv", "k", 0),
    ("_ZN2ns7spill_tIfLi96EEEvPKT_PS1_i", "ns::spill_t<float, 96>", 3),
    ("_Z4gemmI13__nv_bfloat16Lb1ELj4EEvPKT_S3_Pf", "gemm<__nv_bfloat16, true, 4u>", 3),
    ("_ZN37_GLOBAL__N__e4275154_5_w2_cu__Z3bigPi4anonEPi", "(anonymous namespace)::anon", 1),
    ("_ZN35_INTERNAL_e4275154_5_w2_cu__Z3bigPi2anEi", "an", 1),
    ("_Z1fPFviE", "f", 1),
    ("_ZN1a1bIJifEE1cEv", "a::b<int, float>::c", 0),
    ("_Z1kILin3EEvv", "k<-3>", 0),
    ("_Z3runI4PackIiLm2EEEvT_", "run<Pack<int, 2ul> >", 1),
    ("_Z1kILN1n4KindE1EEvv", "k<(n::Kind)1>", 0),
    ("_Z1kDv4_f", "_Z1kDv4_f", -1),
    ("_Z", "_Z", -1),
    ("_ZN", "_ZN", -1),
    ("_Z99k", "_Z99k", -1),
    ("_ZS5_v", "_ZS5_v", -1),
]


@pytest.mark.parametrize(("symbol", "name", "arity"), NAMES)
def test_names(symbol: str, name: str, arity: int) -> None:
    found = demangle(symbol)
    assert (found.text, found.arity) == (name, arity)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("k", "k"),
        ("n::k<4, m::T<int> >", "n::k"),
        ("a<int>::b<2>", "a::b"),
        ("S::operator()", "S::operator()"),
    ],
)
def test_names_without_template_arguments(name: str, plain: str) -> None:
    assert without_arguments(name) == plain


@given(st.text(max_size=60))
def test_any_symbol_has_a_name(text: str) -> None:
    demangle("_Z" + text)


@given(st.text(alphabet="NIEPKLST_0123456789ivfbZJXFAD", max_size=200))
def test_any_text_of_mangling_letters_has_a_name(text: str) -> None:
    demangle("_Z" + text)


def test_deep_nesting_ends() -> None:
    symbol = "_Z1k" + "P" * 5000 + "i"
    assert demangle(symbol).text == symbol


def test_library_symbols_are_named_as_by_cxxfilt() -> None:
    tools = [shutil.which(tool) for tool in ("g++", "nm", "c++filt")]
    if None in tools:
        pytest.skip("needs g++, nm and c++filt")
    compiler, nm, cxxfilt = (str(tool) for tool in tools)
    library = subprocess.run(
        [compiler, "-print-file-name=libstdc++.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(library).is_file():
        pytest.skip("there is no libstdc++.so")
    listed = subprocess.run([nm, "-D", library], capture_output=True, text=True, check=True).stdout
    # Constructors of classes that have short names (Ss) are spelt out by c++filt, and
    # tables, guards and transaction clones are no functions.
    symbols = sorted(
        {
            word
            for word in re.findall(r" [TW] (_Z\w+)", listed)
            if not re.match(r"_Z(T|GV|GT|G)|_ZN?K?S[absiod][CD]|_ZNK?Sb", word)
        }
    )
    assert len(symbols) > 1000
    shown = subprocess.run(
        [cxxfilt, "-p", "-i"], input="\n".join(symbols), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    wrong = [
        (symbol, demangle(symbol).text, name)
        for symbol, name in zip(symbols, shown, strict=True)
        if demangle(symbol).text not in (symbol, name)
    ]
    assert wrong == []
    unread = sum(demangle(symbol).text == symbol for symbol in symbols)
    assert unread < len(symbols) / 20


# The Itanium C++ ABI, "Builtin types", "Compression", and "Operator Encodings".
# fmt: off
TYPES = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char",
    "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int",
    "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float",
    "d": "double", "e": "long double", "g": "__float128", "z": "...",
    "Dh": "half", "Ds": "char16_t", "Di": "char32_t", "Du": "char8_t", "Da": "auto",
    "Dc": "decltype(auto)", "Dn": "decltype(nullptr)",
    "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string",
    "Si": "std::istream", "So": "std::ostream", "Sd": "std::iostream",
}
OPERATORS = {
    "nw": " new", "dl": " delete", "cl": "()", "ix": "[]", "pl": "+", "mi": "-", "ml": "*",
    "dv": "/", "rm": "%", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=",
    "ge": ">=", "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=", "nt": "!",
    "aa": "&&", "oo": "||", "ls": "<<", "rs": ">>", "pp": "++", "mm": "--", "pt": "->",
    "an": "&", "or": "|", "eo": "^", "co": "~", "ps": "+", "ng": "-", "ad": "&", "de": "*",
}
# fmt: on
LITERALS = {"i": "3", "j": "3u", "l": "3l", "m": "3ul", "x": "3ll", "y": "3ull"}


@pytest.mark.parametrize("code", TYPES)
def test_each_type_by_its_letters(code: str) -> None:
    assert demangle(f"_Z1kI{code}Evv").text == f"k<{TYPES[code]}>"


@pytest.mark.parametrize("code", OPERATORS)
def test_each_operator_by_its_letters(code: str) -> None:
    assert demangle(f"_ZN1a{code}Ev").text == f"a::operator{OPERATORS[code]}"


@pytest.mark.parametrize("code", LITERALS)
def test_each_literal_by_the_letter_of_its_type(code: str) -> None:
    assert demangle(f"_Z1kIL{code}3EEvv").text == f"k<{LITERALS[code]}>"


def test_a_symbol_is_read_up_to_a_length() -> None:
    inner = 8192 - len("_Z8185v")
    name = "k" * inner
    longest = f"_Z{inner}{name}v"
    assert len(longest) == 8192
    assert demangle(longest).text == name
    assert demangle(f"_Z{inner + 1}{name}kv").text == f"_Z{inner + 1}{name}kv"


# Names as by c++filt -p, but for lambdas, local names and addresses of functions, which
# are shown without the parameters of what they are in; arity by the whole symbol.
PARTS = [
    ("_ZSt4swapIiEvRT_S1_", "std::swap<int>", 2),
    ("_Z3getIiET_S0_", "get<int>", 1),
    ("_ZN1n3getIiEET_S1_", "n::get<int>", 1),
    ("_ZZ1fvE1k", "f::k", -1),
    ("_ZZ1fvE1k_0", "f::k", -1),
    ("_ZZ1fvE1k__12_", "f::k", -1),
    ("_ZZ1fvE1k_0.local", "f::k", -1),
    ("_ZZ1fvENKUlvE_clEv", "f::{lambda}::operator()", 0),
    ("_ZZ1fvENKUlifE0_clEif", "f::{lambda}::operator()", 2),
    ("_ZN1aUt_1bEv", "a::{unnamed}::b", 0),
    ("_ZN1aUt0_1bEi", "a::{unnamed}::b", 1),
    ("_ZNVK1a1bEv", "a::b", 0),
    ("_ZNr1a1bEv", "a::b", 0),
    ("_ZNKR1a1bEv", "a::b", 0),
    ("_ZNO1a1bEv", "a::b", 0),
    ("_ZN1aC1Ev", "a::a", 0),
    ("_ZN1n1aIN1m1bEEC2Ei", "n::a<m::b>::a", 1),
    ("_ZN1n1aD0Ev", "n::a::~a", 0),
    ("_ZN1n1b1cIS_EEvv", "n::b::c<n>", 0),
    ("_Z1kI1a1b1c1d1e1f1g1h1i1j1k1l1mSA_Evv", "k<a, b, c, d, e, f, g, h, i, j, k, l, m, k>", 0),
    ("_Z1kIL_Z1fvEEvv", "k<&f>", 0),
    ("_Z1kIVKiEvv", "k<int const volatile>", 0),
    ("_Z1kIrPiEvv", "k<int* restrict>", 0),
    ("_Z1kIOiEvv", "k<int&&>", 0),
    ("_Z1kIA3_iEvv", "k<int [3]>", 0),
    ("_Z1kIA_iEvv", "k<int []>", 0),
    ("_Z1kISt4pairIiiEEvv", "k<std::pair<int, int> >", 0),
    ("_Z1kISaIcES0_Evv", "k<std::allocator<char>, std::allocator<char> >", 0),
    ("_Z1kIFviEEvv", "k<void (int)>", 0),
    ("_Z1kIFvvEEvv", "k<void ()>", 0),
    ("_Z1kIFvifEEvv", "k<void (int, float)>", 0),
    ("_Z1kIPFviEEvv", "k<void (*)(int)>", 0),
    ("_Z1kIP1aIFviEEEvv", "k<a<void (int)>*>", 0),
    ("_ZN1nlsIiEEvv", "n::operator<< <int>", 0),
]


@pytest.mark.parametrize(("symbol", "name", "arity"), PARTS)
def test_parts_of_names(symbol: str, name: str, arity: int) -> None:
    found = demangle(symbol)
    assert (found.text, found.arity) == (name, arity)


# A text in a function, an index past what was seen, something mangled after two letters
# that say it isn't.
BEYOND = ["_ZZ1fvEs", "_Z1fS_", "_Z1kIiEvT0_", "xx1kv", "_Z1kILiE", "_Z1kILi3", "_ZN1a"]


@pytest.mark.parametrize("symbol", BEYOND)
def test_what_is_beyond_has_the_symbol_for_its_name(symbol: str) -> None:
    assert demangle(symbol) == Name(symbol)


@pytest.mark.parametrize("index", ["a", "0a", "+0", " 0", "-0", "\u0661", "0", ""])
def test_an_index_is_written_in_digits_and_capitals(index: str) -> None:
    symbol = f"_Z1kI1a1b1c1d1e1f1g1h1i1j1k1l1mS{index}_Evv"
    assert (demangle(symbol).arity == 0) is (index in ("0", ""))


def test_the_last_of_many_that_were_seen() -> None:
    """S_, S0_, ... count in 36 digits: after SZ_ comes S10_."""
    names = [f"t{number:02}" for number in range(60)]
    written = "".join(f"3{name}" for name in names)
    for index, name in (("8", "t08"), ("9", "t09"), ("A", "t10"), ("Z", "t35"), ("10", "t36")):
        assert demangle(f"_Z1kI{written}S{index}_Evv").text == f"k<{', '.join([*names, name])}>"


def test_template_parameters_are_counted_in_tens() -> None:
    twelve = f"{'i' * 10}vf"
    assert [demangle(f"_Z1kI{twelve}EvT{n}_").arity for n in ("", "8", "9", "10")] == [1, 1, 0, 1]


def test_the_nesting_that_is_read() -> None:
    """64 levels, however many types stand side by side."""
    assert demangle("_Z1k" + "P" * 63 + "i").arity == 1
    for many in ("", "i" * 100, "PPi" * 100):
        assert demangle(f"_Z1k{many}" + "P" * 63 + "i").text == "k"
        assert demangle(f"_Z1k{many}" + "P" * 64 + "i").arity == -1
        assert demangle(f"_Z1kI{many}{'P' * 62}iEvv").arity == 0
        assert demangle(f"_Z1kI{many}{'P' * 63}iEvv").arity == -1


# As by c++filt -p: what stands around the name of a pointer, an array or a function.
DECLARED = {
    "PPFviE": "void (**)(int)",
    "RPFviE": "void (*&)(int)",
    "OFviE": "void (&&)(int)",
    "PA3_i": "int (*) [3]",
    "RA3_Ki": "int const (&) [3]",
    "KA3_i": "int const [3]",
    "A2_A3_i": "int [2][3]",
    "PA2_A3_i": "int (*) [2][3]",
    "A3_PFviE": "void (* [3])(int)",
    "PA3_PFviE": "void (* (*) [3])(int)",
    "FPFvvEiE": "void (*(int))()",
    "PFPFvvEiE": "void (*(*)(int))()",
    "PFPA3_ivE": "int (*(*)()) [3]",
    "KPFviE": "void (* const)(int)",
    "PKPFviE": "void (* const*)(int)",
    "PKFvvE": "void (*)() const",
    "PF1aIFviEEiE": "a<void (int)> (*)(int)",
    "PF1aIA3_iEiE": "a<int [3]> (*)(int)",
    "FvPFviEA3_iE": "void (void (*)(int), int [3])",
    "LPFvvE0E": "(void (*)())0",
    "FvvEPS0_PS1_": "void (), void (*)(), void (**)()",
}


@pytest.mark.parametrize("written", DECLARED)
def test_declarators(written: str) -> None:
    assert demangle(f"_Z1kI{written}Evv").text == f"k<{DECLARED[written]}>"


def index_of(number: int) -> str:
    """The index of a substitution, as the ABI counts: `_`, `0_`, … `Z_`, `10_`."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if number == 0:
        return "_"
    high, low = divmod(number - 1, 36)
    return (digits[high] if high else "") + digits[low] + "_"


@pytest.mark.parametrize(
    ("doublings", "is_read"), [(10, True), (15, True), (30, False), (500, False)]
)
def test_names_that_double_with_each_part_end(doublings: int, is_read: bool) -> None:
    """A kernel with C linkage may have any name: 200 letters of it can mean 600 million."""
    doubled = "".join(f"FS{index_of(n)}S{index_of(n)}E" for n in range(1, doublings))
    symbol = f"_Z1kIFivE{doubled}Evv"
    found = demangle(symbol)
    assert (found.text.startswith("k<int ()"), found.arity == 0) == (is_read, is_read)
    assert (found.text == symbol) is not is_read


def test_arguments_that_double_with_each_part_end() -> None:
    arguments = "".join(f"1aI{'S0_' * 200}E" for _ in range(3))
    inner = "FivE" + "".join(f"FS{index_of(n)}S{index_of(n)}E" for n in range(1, 14))
    assert demangle(f"_Z1kI{inner}Evv").arity == 0
    many = f"_Z1kI{inner}{f'S{index_of(14)}' * 200}Evv"
    assert demangle(many) == Name(many)
    assert demangle(f"_Z1kI1b{arguments}Evv").arity == 0

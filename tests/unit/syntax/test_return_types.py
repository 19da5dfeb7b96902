"""What functions return, by their heads, where a class or a namespace stands before the name."""

from __future__ import annotations

import pytest

from cudalint.syntax.read import read_model


@pytest.mark.parametrize(
    ("head", "returned", "owner"),
    [
        ("cudaStream_t E::f()", "cudaStream_t", "E"),
        ("std::vector<int> ns::E<float>::f()", "std::vector<int>", "E"),
        (
            "const std::map<int, std::vector<float>>& a::b::f(int x)",
            "const std::map<int, std::vector<float>>&",
            "b",
        ),
        ("template <typename T> typename A<T>::type A<T>::f()", "A<T>::type", "A"),
        ("auto X::f() -> int", "auto", "X"),
        ("unsigned long long f()", "unsigned long long", ""),
        ("E::E()", "", "E"),
        ("int a::b::D<std::pair<int, int>>::f(int n)", "int", "D"),
        ("A<x::B<c::D>>::type A<x::B<c::D>>::f()", "A<x::B<c::D>>::type", "A"),
        ("C f()", "C", ""),
        ("const C& C::f(C c)", "const C&", "C"),
        ('extern "C" C* f()', "C*", ""),
        ("ns::E::~E()", "", "E"),
    ],
)
def test_a_qualifier_is_no_part_of_the_type(head: str, returned: str, owner: str) -> None:
    function = read_model("a.cu", f"{head} {{}}\n".encode()).functions[-1]
    assert (function.return_type, function.owner) == (returned, owner)

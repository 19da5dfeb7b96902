"""The chains that `cudalint graph` tells of, on programs made at random."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.hostcode.chain import Chain
from cudalint.hostcode.explanation import ON_PATH, Explanation, Explanations
from cudalint.project.project import Project
from projects import project_of

KERNEL = "__global__ void k(float* o) { *o = 1; }\n"
FAR = 100


class Program:
    """Who calls whom, in a debugging branch or not; who launches; who is cold."""

    def __init__(
        self, calls: list[dict[int, bool]], launchers: dict[int, bool], cold: set[int]
    ) -> None:
        self.calls = calls
        self.launchers = launchers
        self.cold = cold

    def project(self) -> Project:
        source = "".join(
            ("// cudalint: cold\n" if n in self.cold else "")
            + f"void f{n}(float* o) {{ "
            + "".join(guarded(f"f{callee}(o);", cut) for callee, cut in sorted(called.items()))
            + (guarded("k<<<1, 1>>>(o);", self.launchers[n]) if n in self.launchers else "")
            + "}\n"
            for n, called in enumerate(self.calls)
        )
        return project_of({"a.cu": KERNEL + source})

    def fewest_cuts(self) -> list[int]:
        """By function the fewest cuts of any way from a launch to it; FAR for no way."""
        down = [FAR] * len(self.calls)
        for launcher, cut in self.launchers.items():
            down[launcher] = cut + (launcher in self.cold)
        for _ in self.calls:
            for n, called in enumerate(self.calls):
                ways = (down[c] + cut + (n in self.cold) for c, cut in called.items())
                down[n] = min([down[n], *ways])
        for _ in self.calls:
            for n, called in enumerate(self.calls):
                for callee, cut in called.items():
                    down[callee] = min(down[callee], down[n] + cut + (callee in self.cold))
        return down


def guarded(statement: str, cut: bool) -> str:
    return f"if (debug) {{ {statement} }} " if cut else f"{statement} "


@st.composite
def programs(draw: st.DrawFn) -> Program:
    count = draw(st.integers(1, 6))
    ids = st.integers(0, count - 1)
    calls = [draw(st.dictionaries(ids, st.booleans(), max_size=3)) for _ in range(count)]
    launchers = draw(st.dictionaries(ids, st.booleans(), max_size=2))
    return Program(calls, launchers, draw(st.sets(ids, max_size=2)))


def explained(project: Project, count: int) -> list[Explanation]:
    explanations = Explanations(project, 100)
    return [explanations.of(f"f{n}")[0] for n in range(count)]


def check_links(chain: Chain, function: str) -> None:
    """Each hop starts where the one before it went, and the last one goes to the function."""
    *down, launch = chain.down
    at = chain.root
    for hop in (*down, launch):
        assert hop.caller == at
        at = hop.callee
    assert launch.kind == "launch"
    at = chain.root
    for hop in chain.below:
        assert (hop.caller, hop.kind) == (at, "call")
        at = hop.callee
    assert at.name == function


def length(chain: Chain) -> int:
    return len(chain.down) + len(chain.below)


@settings(max_examples=60, deadline=None)
@given(programs())
def test_chains_are_whole_and_the_shortest_comes_first(program: Program) -> None:
    project = program.project()
    nodes = {node.function.name: node for node in project.graph.nodes}
    for n, explanation in enumerate(explained(project, len(program.calls))):
        witness = project.launch_paths.witness(nodes[f"f{n}"])
        assert (explanation.verdict in ON_PATH) == (witness is not None)
        if witness is None:
            continue
        lengths = [length(chain) for chain in explanation.chains]
        assert lengths == sorted(lengths)
        assert lengths[0] == len(witness.down) + len(witness.below) + 1
        assert explanation.total == len(explanation.chains)
        ends = {(chain.root, chain.down[-1].span) for chain in explanation.chains}
        assert len(ends) == explanation.total
        for chain in explanation.chains:
            check_links(chain, f"f{n}")
            assert chain.cold == ()
            assert not any(hop.cut for hop in (*chain.down, *chain.below))


@settings(max_examples=60, deadline=None)
@given(programs())
def test_the_way_that_is_cut_has_the_fewest_cuts(program: Program) -> None:
    cuts = program.fewest_cuts()
    for n, explanation in enumerate(explained(program.project(), len(program.calls))):
        if explanation.verdict in ON_PATH:
            assert cuts[n] == 0
        elif cuts[n] >= FAR:
            assert explanation.chains == ()
            assert explanation.verdict in ("apart", "cold")
        else:
            [chain] = explanation.chains
            check_links(chain, f"f{n}")
            hops = (*chain.down, *chain.below)
            assert len(chain.cold) + sum(bool(hop.cut) for hop in hops) == cuts[n] > 0
            assert all(why == "a comment says 'cudalint: cold'" for _, why in chain.cold)
            assert explanation.verdict == ("cold" if n in program.cold else "cut")

"""One instruction for each entry of the instruction table, and the PTX around them."""

from __future__ import annotations

PROBES = {
    "tcgen05": "tcgen05.fence::before_thread_sync;",
    "wgmma": "wgmma.fence.sync.aligned;",
    "setmaxnreg": "setmaxnreg.inc.sync.aligned.u32 64;",
    "tensormap.replace": "tensormap.replace.tile.global_address.global.b1024.b64 [%l0], %l1;",
    "block-scaled mma": "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X"
    ".f32.e2m1.e2m1.f32.ue8m0 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3},"
    "%r0,{0,0},%r1,{0,0};",
    "narrow mma": "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "narrow cvt": "cvt.rn.satfinite.e2m1x2.f32 %b8, %f0, %f1;",
    "stochastic cvt": "cvt.rs.bf16x2.f32 %r0, %f0, %f1, %r1;",
    "redux.sync.f32": "redux.sync.max.f32 %f0, %f1, 0xffffffff;",
    "ldmatrix.b8": "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r0}, [%r1];",
    "bulk copy of a CTA pair": "cp.async.bulk.tensor.1d.shared::cluster.global"
    ".mbarrier::complete_tx::bytes.cta_group::1 [%r0], [%l0, {%r1}], [%r2];",
    "f32x2": "fma.rn.f32x2 %l0, %l1, %l2, %l0;",
    "256-bit access": "ld.global.v8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%l0];",
    "clusterlaunchcontrol": "clusterlaunchcontrol.try_cancel.async.shared::cta"
    ".mbarrier::complete_tx::bytes.b128 [%r0], [%r1];",
    "st.bulk": "st.bulk.shared::cta [%l0], 16, 0;",
    "gather4": "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4"
    ".mbarrier::complete_tx::bytes [%r0], [%l0, {%r1,%r1,%r1,%r1,%r1}], [%r2];",
    "cp.async.bulk": "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r0], [%l0], 16, [%r1];",
    "prefetch.tensormap": "prefetch.tensormap [%l0];",
    "stmatrix": "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r0};",
    "elect.sync": "elect.sync _|%p0, 0xffffffff;",
    "griddepcontrol": "griddepcontrol.wait;",
    "barrier.cluster": "barrier.cluster.arrive.aligned;",
    "mapa": "mapa.shared::cluster.u32 %r0, %r1, 0;",
    "st.async": "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];",
    "mbarrier.try_wait": "mbarrier.try_wait.shared.b64 %p0, [%r0], %l0;",
    "fence.proxy": "fence.proxy.async;",
    "multimem": "multimem.ld_reduce.relaxed.gpu.global.add.f32 %f0, [%l0];",
    "cluster registers": "mov.u32 %r0, %clusterid.x;",
    "bf16 arithmetic": "add.rn.bf16x2 %r0, %r1, %r2;",
    "bf16 atomics": "atom.global.add.noftz.bf16x2 %r0, [%l0], %r1;",
    "vector atomics": "red.relaxed.gpu.global.add.v2.f32 [%l0], {%f0,%f1};",
    "fp8 cvt": "cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;",
    "fp8 mma": "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "bf16 and tf32 mma": "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "bf16 and tf32 cvt": "cvt.rn.bf16x2.f32 %r0, %f0, %f1;",
    "bf16 fma": "fma.rn.bf16x2 %r0, %r1, %r2, %r0;",
    "cp.async": "cp.async.ca.shared.global [%r0], [%l0], 16;",
    "mbarrier": "mbarrier.init.shared.b64 [%r0], 1;",
    "redux.sync": "redux.sync.add.s32 %r0, %r1, 0xffffffff;",
    "createpolicy": "createpolicy.fractional.L2::evict_last.b64 %l0, 1.0;",
    "discard": "discard.global.L2 [%l0], 128;",
}

COMMON = (
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1];",
    "mov.u32 %r0, %laneid;",
    "tanh.approx.f32 %f0, %f1;",
    "ld.global.v4.f32 {%f0,%f1,%f2,%f3}, [%l0];",
    "red.global.add.f32 [%l0], %f0;",
    "fma.rn.f16x2 %r0, %r1, %r2, %r0;",
    "cvt.rn.f16.f32 %h0, %f0;",
)
"""Instructions that every arch of the table has."""


def module(arch: str, instructions: list[str]) -> tuple[str, int]:
    """A PTX module with one instruction to a line, and the line of the first."""
    head = f"""\
.version 9.0
.target {arch}
.address_size 64
.visible .entry k() {{
.reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b16 %h<4>; .reg .b64 %l<4>; .reg .pred %p<4>; .reg .b8 %b8;
"""
    return head + "\n".join((*instructions, "ret;", "}", "")), head.count("\n") + 1

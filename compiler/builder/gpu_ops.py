"""Machine instructions of NVIDIA GPUs (sm_80 and later; wgmma and bulk tensor copies: sm_90a) for ``kc.builder.gpu``.

Every function emits one ``nvvm`` op, or inline PTX where the dialect has no op that does the thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kc.bindings import arith, llvm, nvvm, vector
from kc.builder.gpu import Value, asm, attribute, const, lift, mlir_type, struct_of

PARK_NANOSECONDS = 0x989680  # how long a try_wait may park a thread before it polls again


# ------------------------------------------------------------------------------------------------ who am I


def thread_id() -> Value:
    """threadIdx.x"""
    return Value(nvvm.read_ptx_sreg_tid_x())


def block_id(axis: str = "x") -> Value:
    """blockIdx.<axis>"""
    return Value(getattr(nvvm, f"read_ptx_sreg_ctaid_{axis}")())


def grid_size() -> Value:
    """gridDim.x"""
    return Value(nvvm.read_ptx_sreg_nctaid_x())


def shared_memory(name: str = "shared") -> Value:
    """Pointer to the dynamic shared memory: the module's external global ``name`` (see ``device_module``)."""
    return Value(llvm.mlir_addressof(mlir_type("!llvm.ptr<3>"), name))


def address(pointer: Value) -> Value:
    """A shared-memory pointer as a 32-bit address."""
    return Value(llvm.ptrtoint(mlir_type("i32"), pointer.ssa))


def broadcast_lane0(value: Value) -> Value:
    """``value`` of lane 0, so that ptxas knows it is uniform in the warp."""
    return Value(
        nvvm.shfl_sync(const(-1).ssa, value.ssa, const(0).ssa, const(31).ssa, attribute("#nvvm<shfl_kind idx>"))
    )


def butterfly(value: Value, distance: int) -> Value:
    """``value`` of lane ``lane ^ distance`` (32-bit or 64-bit types)."""
    kind = value.kind
    if kind in ("f64", "i64"):
        words = Value(llvm.bitcast(mlir_type("vector<2xi32>"), value.ssa))
        halves = [butterfly(Value(llvm.extractelement(words.ssa, const(number).ssa)), distance) for number in (0, 1)]
        pair = vector.from_elements(mlir_type("vector<2xi32>"), [half.ssa for half in halves])
        return Value(llvm.bitcast(mlir_type(kind), pair))
    return Value(
        nvvm.shfl_sync(const(-1).ssa, value.ssa, const(distance).ssa, const(31).ssa, attribute("#nvvm<shfl_kind bfly>"))
    )


def elect() -> Value:
    """True in exactly one lane of a converged warp."""
    return Value(nvvm.elect_sync())


def registers(count: int, grow: bool) -> None:
    """setmaxnreg: give registers back (producer) or take them (consumer); all threads of a warpgroup."""
    nvvm.setmaxregister(count, attribute(f"#nvvm<action {'increase' if grow else 'decrease'}>"))


# ------------------------------------------------------------------------------------------------ barriers


def barrier(number: Value | int | None = None, threads: int | None = None) -> None:
    """bar.sync of the block, or of ``threads`` threads on the named barrier ``number``."""
    if number is None:
        nvvm.barrier()
    else:
        nvvm.barrier(barrier_id=lift(number).ssa, number_of_threads=const(threads or 0).ssa)


def barrier_arrive(number: Value | int, threads: int) -> None:
    """bar.arrive: counts towards the named barrier without waiting."""
    nvvm.barrier_arrive(const(threads).ssa, barrier_id=lift(number).ssa)


def mbarrier_init(pointer: Value, count: int) -> None:
    nvvm.mbarrier_init(pointer.ssa, const(count).ssa)


def mbarrier_fence() -> None:
    """Makes initialised mbarriers visible to the asynchronous proxy."""
    nvvm.fence_mbarrier_init()


def mbarrier_wait(pointer: Value, parity: Value) -> None:
    """Waits until the phase with this parity has completed."""
    nvvm.mbarrier_try_wait_parity(pointer.ssa, parity.ssa, const(PARK_NANOSECONDS).ssa)


def mbarrier_arrive(pointer: Value) -> None:
    nvvm.mbarrier_arrive(pointer.ssa)


def mbarrier_expect(pointer: Value, size: int) -> None:
    """One arrival, and ``size`` more bytes to come in this phase."""
    nvvm.mbarrier_arrive_expect_tx(pointer.ssa, const(size).ssa)


# -------------------------------------------------------------------------------- tensor memory accelerator


def tensor_load(descriptor: Value, destination: Value, coordinates: Sequence[Value], bar: Value) -> None:
    """One box of the tensor map into shared memory, counted on ``bar``; coordinates innermost first, in elements."""
    target = llvm.addrspacecast(mlir_type("!llvm.ptr<7>"), destination.ssa)
    nvvm.cp_async_bulk_tensor_shared_cluster_global(target, descriptor.ssa, [x.ssa for x in coordinates], bar.ssa, [])


def tensor_store(descriptor: Value, source: Value, coordinates: Sequence[Value]) -> None:
    """One box from shared memory to the tensor; joins the thread's open bulk group, which this closes."""
    nvvm.cp_async_bulk_tensor_global_shared_cta(descriptor.ssa, source.ssa, [x.ssa for x in coordinates])
    nvvm.cp_async_bulk_commit_group()


def store_wait(pending: int, read: bool = False) -> None:
    """Waits until at most ``pending`` bulk groups of this thread are open (``read``: until their source may be
    reused)."""
    nvvm.cp_async_bulk_wait_group(pending, read=read or None)


def async_fence() -> None:
    """Orders this thread's shared-memory writes before later asynchronous reads of them."""
    nvvm.fence_proxy(attribute("#nvvm.proxy_kind<async.shared>"), space=attribute("#nvvm.shared_space<cta>"))


# --------------------------------------------------------------------------------------------- tensor cores


def wgmma_descriptor(address32: Value, lead: int, stride: int) -> Value:
    """Matrix descriptor for 128-byte swizzle; ``lead``/``stride`` in bytes; the pattern starts at a multiple of
    1024."""
    low = ((address32 & 0x3FFFF) >> 4).zext("i64")
    return low | const((1 << 62) | ((stride >> 4) << 32) | ((lead >> 4) << 16), "i64")


def wgmma_fence() -> None:
    nvvm.wgmma_fence_aligned()


def wgmma_commit() -> None:
    nvvm.wgmma_commit_group_sync_aligned()


def wgmma_wait(pending: int) -> None:
    nvvm.wgmma_wait_group_sync_aligned(pending)


def wgmma(
    accumulator: Value,
    a: Value,
    b: Value,
    n: int,
    element: str,
    a_transposed: bool,
    b_transposed: bool,
    zero: bool = False,
) -> Value:
    """accumulator[64, n] (struct of n/2 f32) += A[64, 16] B[16, n], both in shared memory.

    ``a_transposed``: A is stored M-contiguous; ``b_transposed``: B is stored N-contiguous (false: K-contiguous).
    ``zero``: the accumulator starts from 0 and its old value does not matter.
    """
    kind = attribute(f"#nvvm.wgmma_type<{element}>")
    one = attribute("#nvvm.wgmma_scale_in<one>")
    row, col = attribute("#nvvm.mma_layout<row>"), attribute("#nvvm.mma_layout<col>")
    return Value(
        nvvm.wgmma_mma_async(
            struct_of("f32", n // 2),
            accumulator.ssa,
            a.ssa,
            b.ssa,
            attribute(f"#nvvm.shape<m = 64, n = {n}, k = 16>"),
            kind,
            kind,
            attribute("#nvvm.wgmma_type<f32>"),
            attribute(f"#nvvm.wgmma_scale_out<{'zero' if zero else 'one'}>"),
            one,
            one,
            col if a_transposed else row,
            row if b_transposed else col,
        )
    )


def wgmma_register_a(accumulators: Sequence[Value], a: Sequence[Value], b: Value, n: int, element: str) -> Value:
    """As ``wgmma`` with A from four 32-bit registers and B stored N-contiguous; the dialect's op takes A from memory
    only.

    Returns the struct of n/2 accumulators.
    """
    count = n // 2
    results = ",".join(f"${number}" for number in range(count))
    first = 2 * count
    text = (
        f"{{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{element}.{element} "
        f"{{{results}}}, {{${first},${first + 1},${first + 2},${first + 3}}}, ${first + 4}, p, 1, 1, 1; }}"
    )
    constraints = ",".join(["=f"] * count + [str(number) for number in range(count)] + ["r"] * 4 + ["l"])
    return asm(struct_of("f32", count), [*accumulators, *a, b], text, constraints)


def store_matrix(pointer: Value, words: Sequence[Value]) -> None:
    """stmatrix.x4: four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8."""
    nvvm.stmatrix(
        pointer.ssa,
        [word.ssa for word in words],
        attribute("#nvvm.mma_layout<row>"),
        attribute("#nvvm.ld_st_matrix_shape<m = 8, n = 8>"),
        attribute("#nvvm.ld_st_matrix_elt_type<b16>"),
    )


def pack_half(low: Value, high: Value, element: str) -> Value:
    """Two f32 rounded to ``bf16`` or ``f16`` and packed into an i32.

    Inline PTX, because arith-expand may be told to turn a truncation to bf16 into integer arithmetic.
    """
    return asm("i32", [high, low], f"cvt.rn.{element}x2.f32 $0, $1, $2;", "=r,f,f", effects=False)


def narrow(value: Value, element: str) -> Value:
    """An f32 rounded to ``bf16`` or ``f16``, as its 16 bits (i16)."""
    return asm("i16", [value], f"cvt.rn.{element}.f32 $0, $1;", "=h,f", effects=False)


def widen(bits: Value, element: str) -> Value:
    """The f32 of a ``bf16`` or ``f16`` given as its 16 bits (i16)."""
    if element == "bf16":
        return (bits.zext("i32") << 16).bitcast("f32")
    return Value(arith.extf(mlir_type("f32"), llvm.bitcast(mlir_type("f16"), bits.ssa)))


def unpack_half(word: Value, element: str) -> tuple[Value, Value]:
    """The two f32 of a packed pair."""
    if element == "bf16":  # bf16 is the upper half of an f32: a shift and a mask
        return (word << 16).bitcast("f32"), (word & 0xFFFF0000).bitcast("f32")
    pair = llvm.bitcast(mlir_type("vector<2xf16>"), word.ssa)
    wide = mlir_type("f32")
    low, high = (arith.extf(wide, llvm.extractelement(pair, const(number).ssa)) for number in (0, 1))
    return Value(low), Value(high)


def unary(text: str, x: Value, kind: str = "f32") -> Value:
    """A pure one-operand PTX instruction on f32 or f64, for example ``ex2.approx.ftz.f32``."""
    letter: Any = {"f32": "f", "f64": "d"}[kind]
    return asm(kind, [x], f"{text} $0, $1;", f"={letter},{letter}", effects=False)


def maximum_number(a: Value, b: Value) -> Value:
    """The larger of two f32; a NaN operand is ignored (FMNMX)."""
    return Value(llvm.intr_maxnum(a.ssa, b.ssa))

"""Operations on lanes in vector instructions.

Numba unrolls loops of a small fixed length into scalar code before its vectoriser sees them, and
loops of unknown length test that length at every turn. These intrinsics write the vector
instructions of LLVM directly; LLVM fits them to the processor. Shortest paths took 27 ns a
(source, node) with either loop and take 11 ns with these.

Nothing is fused or reassociated, so that every lane sees the
arithmetic of a plain loop.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.lanes import LANES

_DOUBLE = ir.DoubleType()
_INT64 = ir.IntType(64)
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_SHORTS = ir.VectorType(ir.IntType(16), LANES)
_BITS = ir.IntType(LANES)
_BOOLS = ir.VectorType(ir.IntType(1), LANES)


def _pointer(context, builder, array_type, array, row, vector=_VECTOR):
    data = context.make_array(array_type)(context, builder, array).data
    place = builder.gep(data, [builder.mul(row, ir.Constant(_INT64, LANES))])
    return builder.bitcast(place, vector.as_pointer())


def _splat(builder, value, vector=_VECTOR):
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, zeros)


def _to_mask(builder, bools):
    return builder.zext(builder.bitcast(bools, _BITS), _INT64)


def _to_bools(builder, mask):
    return builder.bitcast(builder.trunc(mask, _BITS), _BOOLS)


def _offers(context, builder, array_type, args):
    """Return where the head's labels are, the labels, and what the tail offers instead."""
    labels, tail, head, length = args
    of_tail = builder.load(_pointer(context, builder, array_type, labels, tail), align=8)
    place = _pointer(context, builder, array_type, labels, head)
    offer = builder.fadd(of_tail, _splat(builder, length))
    return place, builder.load(place, align=8), offer


@intrinsic
def improved(typing_context, labels, tail, head, length):
    """Return the mask of lanes in which ``labels[tail] + length < labels[head]``."""

    def generate(context, builder, signature, args):
        _, current, offer = _offers(context, builder, signature.args[0], args)
        return _to_mask(builder, builder.fcmp_ordered("<", offer, current))

    return types.int64(labels, types.int64, types.int64, types.float64), generate


@intrinsic
def improve(typing_context, labels, tail, head, length, parents, parent):
    """Lower ``labels[head]`` to ``labels[tail] + length`` and return the least of the lowered.

    ``parents[head]`` becomes ``parent`` in the lowered lanes.
    """

    def generate(context, builder, signature, args):
        place, current, offer = _offers(context, builder, signature.args[0], args[:4])
        is_less = builder.fcmp_ordered("<", offer, current)
        builder.store(builder.select(is_less, offer, current), place, align=8)
        where = _pointer(context, builder, signature.args[4], args[4], args[2], _SHORTS)
        before = builder.load(where, align=2)
        builder.store(builder.select(is_less, _splat(builder, args[5], _SHORTS), before), where, 2)
        infinite = ir.Constant(_VECTOR, [float("inf")] * LANES)
        least = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(_DOUBLE, [_VECTOR]),
            f"llvm.vector.reduce.fmin.v{LANES}f64",
        )
        lowered = builder.select(is_less, offer, infinite)
        return builder.call(least, [lowered], fastmath=("nnan", "nsz"))

    return (
        types.float64(labels, types.int64, types.int64, types.float64, parents, types.uint16),
        generate,
    )


@intrinsic
def lowest(typing_context, mask):
    """Return the first lane of a mask that is not empty."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def sharing(typing_context, parents, node, parent):
    """Return the mask of lanes in which ``parents[node]`` is ``parent``."""

    def generate(context, builder, signature, args):
        where = _pointer(context, builder, signature.args[0], args[0], args[1], _SHORTS)
        wanted = _splat(builder, args[2], _SHORTS)
        return _to_mask(builder, builder.icmp_unsigned("==", builder.load(where, align=2), wanted))

    return types.int64(parents, types.int64, types.uint16), generate


@intrinsic
def combine(typing_context, rows, row, value, factors, offset, other, count, mask):
    """Set lanes of a row to ``value + Σ factors[offset + i] * rows[other + i]``, i < ``count``."""

    def generate(context, builder, signature, args):
        rows, row, value, factors, offset, other, count, mask = args
        array_type = signature.args[0]
        numbers = context.make_array(signature.args[3])(context, builder, factors).data
        total = cgutils.alloca_once_value(builder, _splat(builder, value))
        with cgutils.for_range(builder, count) as loop:
            factor = builder.load(builder.gep(numbers, [builder.add(offset, loop.index)]))
            place = _pointer(context, builder, array_type, rows, builder.add(other, loop.index))
            product = builder.fmul(_splat(builder, factor), builder.load(place, align=8))
            builder.store(builder.fadd(builder.load(total), product), total)
        place = _pointer(context, builder, array_type, rows, row)
        current = builder.load(place, align=8)
        chosen = builder.select(_to_bools(builder, mask), builder.load(total), current)
        builder.store(chosen, place, align=8)
        return context.get_dummy_value()

    integer, real = types.int64, types.float64
    return types.void(rows, integer, real, factors, integer, integer, integer, integer), generate


def _root(builder):
    return cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.sqrt.v{LANES}f64"
    )


@intrinsic
def norm(typing_context, rows, row, others, other, count):
    """Set ``rows[row]`` to the root of the sum of squares of ``count`` rows from ``other`` on."""

    def generate(context, builder, signature, args):
        rows, row, others, other, count = args
        total = _sum_of_squares(context, builder, signature.args[2], others, other, count)
        place = _pointer(context, builder, signature.args[0], rows, row)
        builder.store(builder.call(_root(builder), [builder.load(total)]), place, align=8)
        return context.get_dummy_value()

    return types.void(rows, types.int64, others, types.int64, types.int64), generate


@intrinsic
def norm_above(typing_context, rows, row, others, other, count, values, offset, bounds, n_values):
    """Do as `norm`, but go no lower than the distance between ``values`` and ``bounds``.

    ``values[offset:offset + n_values]`` is a point, ``bounds`` (n_values, LANES) one in each lane.
    """

    def generate(context, builder, signature, args):
        rows, row, others, other, count, values, offset, bounds, n_values = args
        total = _sum_of_squares(context, builder, signature.args[2], others, other, count)
        numbers = context.make_array(signature.args[5])(context, builder, values).data
        least = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
        with cgutils.for_range(builder, n_values) as loop:
            value = builder.load(builder.gep(numbers, [builder.add(offset, loop.index)]))
            place = _pointer(context, builder, signature.args[7], bounds, loop.index)
            apart = builder.fsub(_splat(builder, value), builder.load(place, align=8))
            square = builder.fmul(apart, apart)
            builder.store(builder.fadd(builder.load(least), square), least)
        found, bound = builder.load(total), builder.load(least)
        larger = builder.select(builder.fcmp_ordered("<", found, bound), bound, found)
        place = _pointer(context, builder, signature.args[0], rows, row)
        builder.store(builder.call(_root(builder), [larger]), place, align=8)
        return context.get_dummy_value()

    integer = types.int64
    return (
        types.void(rows, integer, others, integer, integer, values, integer, bounds, integer),
        generate,
    )


def _sum_of_squares(context, builder, array_type, rows, first, count):
    """Add up the squares of ``count`` rows; returns where the sum is."""
    total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
    with cgutils.for_range(builder, count) as loop:
        place = _pointer(context, builder, array_type, rows, builder.add(first, loop.index))
        entry = builder.load(place, align=8)
        square = builder.fmul(entry, entry)
        builder.store(builder.fadd(builder.load(total), square), total)
    return total


@compiled()
def use_all(labels, parents, rows, factors):
    """Use every operation, so that it can be seen whether they work."""
    mask = improved(labels, 0, 1, 0.5)
    least = improve(labels, 0, 1, 0.5, parents, 7)
    shared = sharing(parents, 1, 7)
    combine(rows, 0, 0.25, factors, 1, 1, 3, shared)
    norm(rows, 1, rows, 0, 3)
    norm_above(rows, 2, rows, 0, 2, factors, 1, labels, 2)
    return mask, least, shared, lowest(mask)

//! Moves that lead nowhere, or that two of which are one: transposes, reversals, slices, padding, reshapes.
//!
//! A move checks the rank of what it moves. Where one is left out, the rank is certain, so that no error is lost.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{Matched, Rewrite};
use kernlink::shape::MAX_RANK;
use kernlink::sort::CompactSort as _;
use kernlink_macros::register_rewrite;

use crate::*;

/// A transpose that leaves all dimensions in their places is left out.
#[register_rewrite(name = "drop-transpose", pattern = Transpose { x, const perm })]
fn drop_transpose(m: &mut Rewrite<'_, '_>, x: Output, perm: Output) -> Result<Option<Output>> {
    let stays = permutation(m, perm).is_some_and(|perm| is_identity(&perm) && has_rank(m, x, perm.len()));
    Ok(stays.then_some(x))
}

/// A transpose of a transpose is one transpose.
#[register_rewrite(
    name = "merge-transposes",
    pattern = Transpose { x: Transpose { x, perm: const inner }, const perm },
    creates = [Transpose],
    benefit = 2,
    shared,
)]
fn merge_transposes(m: &mut Rewrite<'_, '_>, x: Output, inner: Output, perm: Output) -> Result<Option<Output>> {
    transposed_twice(m, x, [inner, perm])
}

/// A reversal of a reversal of the same dimensions is left out.
#[register_rewrite(
    name = "drop-reversals",
    pattern = ReverseV2 { tensor: ReverseV2 { tensor, axis: const inner }, const axis },
    shared,
)]
fn drop_reversals(m: &mut Rewrite<'_, '_>, tensor: Output, inner: Output, axis: Output) -> Result<Option<Output>> {
    let Some(rank) = m.shape(tensor).rank().filter(|rank| *rank <= 8) else { return Ok(None) };
    let axes = |output: Output| {
        let axes = m.constant(output).filter(|axes| axes.rank() == 1)?.to_i64_vec().ok()?;
        let mut axes: Vec<usize> = axes.iter().map(|&axis| place(axis, rank)).collect::<Option<_>>()?;
        let count = axes.len();
        axes.compact_sort();
        axes.dedup();
        (axes.len() == count).then_some(axes)
    };
    Ok((axes(inner).is_some() && axes(inner) == axes(axis)).then_some(tensor))
}

/// A repetition of each dimension once is left out.
#[register_rewrite(name = "drop-tile", pattern = Tile { input, const multiples })]
fn drop_tile(m: &mut Rewrite<'_, '_>, input: Output, multiples: Output) -> Result<Option<Output>> {
    let once =
        entries(m, multiples).is_some_and(|all| all.iter().all(|&times| times == 1) && has_rank(m, input, all.len()));
    Ok(once.then_some(input))
}

/// Padding with nothing is left out.
#[register_rewrite(name = "drop-pad", pattern = Pad | PadV2 | MirrorPad { input, const paddings, .. })]
fn drop_pad(m: &mut Rewrite<'_, '_>, input: Output, paddings: Output) -> Result<Option<Output>> {
    let Some(value) = m.constant(paddings).filter(|value| value.rank() == 2) else { return Ok(None) };
    let rank = value.shape().dims()[0];
    let is_none = value.shape().dims()[1] == 2 && value.to_i64_vec()?.iter().all(|&size| size == 0);
    Ok((is_none && has_rank(m, input, rank)).then_some(input))
}

/// A slice of everything is left out.
#[register_rewrite(name = "drop-slice", pattern = Slice { input, const begin, const size })]
fn drop_slice(m: &mut Rewrite<'_, '_>, input: Output, begin: Output, size: Output) -> Result<Option<Output>> {
    let (Some(begin), Some(size)) = (entries(m, begin), entries(m, size)) else { return Ok(None) };
    let shape = m.shape(input);
    let Some(dims) = shape.dims().filter(|dims| dims.len() == begin.len() && dims.len() == size.len()) else {
        return Ok(None);
    };
    let all = size.iter().zip(dims).all(|(&size, dim)| size == -1 || dim.is_some_and(|dim| dim as i64 == size));
    Ok((all && begin.iter().all(|&begin| begin == 0)).then_some(input))
}

/// A reshape to the shape that is there already is left out.
#[register_rewrite(name = "drop-reshape", pattern = Reshape { tensor, const shape })]
fn drop_reshape(m: &mut Rewrite<'_, '_>, tensor: Output, shape: Output) -> Result<Option<Output>> {
    let Some(asked) = entries(m, shape) else { return Ok(None) };
    let known = m.shape(tensor);
    let Some(dims) = known.dims().filter(|dims| dims.len() == asked.len()) else { return Ok(None) };
    let is_same = |(&asked, dim): (&i64, &Option<usize>)| dim.is_some_and(|dim| dim as i64 == asked);
    // One dimension follows from the others, unless these leave it open.
    let open = asked.iter().filter(|&&size| size == -1).count();
    let others = asked.iter().zip(dims).filter(|(size, _)| **size != -1);
    let fits = others.clone().all(is_same) && others.clone().all(|(&size, _)| open == 0 || size != 0);
    Ok((open <= 1 && fits).then_some(tensor))
}

/// A reshape of what a reshape to one dimension has made flat is a reshape of what was flattened.
#[register_rewrite(
    name = "merge-reshapes",
    pattern = Reshape { tensor: Reshape { tensor, shape: const flat }, shape },
    creates = [Reshape],
    shared,
)]
fn merge_reshapes(m: &mut Rewrite<'_, '_>, tensor: Output, flat: Output, shape: Output) -> Result<Option<Output>> {
    // To any other shape a tensor may not fit, which is an error.
    if entries(m, flat).as_deref() != Some(&[-1]) {
        return Ok(None);
    }
    // What -1 stands for beside a 0 follows from the dimensions of what is reshaped.
    let is_open = |asked: Vec<i64>| asked.contains(&0) && asked.contains(&-1);
    let has_elements = m.shape(tensor).to_shape().is_some_and(|shape| shape.num_elements() > 0);
    if !has_elements && entries(m, shape).is_none_or(is_open) {
        return Ok(None);
    }
    reshape(m, tensor, shape).build().map(Some)
}

/// A stack of two stacks is one stack, in the shape of both.
#[register_rewrite(
    name = "merge-packs",
    pattern = outer @ Pack { values: [first @ Pack { values: a @ .. }, second @ Pack { values: b @ .. }] },
    creates = [ConcatV2, Pack, Reshape, Shape],
)]
fn merge_packs(
    m: &mut Rewrite<'_, '_>,
    outer: &Matched<Pack>,
    first: &Matched<Pack>,
    second: &Matched<Pack>,
    a: &[Output],
    b: &[Output],
) -> Result<Option<Output>> {
    if a.len() != b.len() || a.is_empty() || first.attrs().axis != 0 || second.attrs().axis != 0 {
        return Ok(None);
    }
    // Along the new dimension one follows the other or, row by row, both do.
    let rows = a.len();
    let (sizes, values): ([usize; 2], Vec<Output>) = match outer.attrs().axis {
        0 => ([2, rows], a.iter().chain(b).copied().collect()),
        1 => ([rows, 2], a.iter().zip(b).flat_map(|(&a, &b)| [a, b]).collect()),
        _ => return Ok(None),
    };
    let shape = m.shape(a[0]);
    let known = shape.to_shape();
    // What a reshape refuses.
    let mut dims = known.iter().flat_map(|shape| shape.iter());
    let total = dims.try_fold(2 * rows, |total, &dim| total.checked_mul(dim));
    let is_too_large = total.is_none_or(|total| i64::try_from(total).is_err());
    if is_too_large || shape.rank().is_some_and(|rank| rank + 2 >= MAX_RANK) {
        return Ok(None);
    }
    let sizes = sizes.map(|size| size as i64);
    let dims = match known {
        Some(shape) => constant(m, sizes.into_iter().chain(shape.iter().map(|&dim| dim as i64)).collect::<Vec<_>>())?,
        None => {
            let sizes = constant(m, sizes.to_vec())?;
            let dims = crate::shape(m, a[0]).out_type(DataType::Int64).build()?;
            concat_v2(m, [sizes, dims], 0).build()?
        }
    };
    let packed = pack(m, values).build()?;
    reshape(m, packed, dims).build().map(Some)
}

/// A dimension that is inserted and removed again is not inserted.
#[register_rewrite(
    name = "drop-expand-squeeze",
    pattern = squeezed @ Squeeze { input: ExpandDims { input, const dim } },
    shared,
)]
fn drop_expand_squeeze(
    m: &mut Rewrite<'_, '_>,
    squeezed: &Matched<Squeeze>,
    input: Output,
    dim: Output,
) -> Result<Option<Output>> {
    // At both ends there is a place whatever the rank.
    let same = match (single(m, dim), &squeezed.attrs().squeeze_dims[..]) {
        (Some(inserted), &[removed]) => inserted == removed && matches!(inserted, 0 | -1),
        _ => false,
    };
    Ok(same.then_some(input))
}

/// A reduction over no dimensions is left out.
#[register_rewrite(
    name = "drop-reduction",
    pattern = Sum | Prod | Max | Min | Mean { input, const reduction_indices },
)]
fn drop_reduction(m: &mut Rewrite<'_, '_>, input: Output, reduction_indices: Output) -> Result<Option<Output>> {
    let is_empty = m.constant(reduction_indices).is_some_and(|axes| axes.num_elements() == 0);
    Ok(is_empty.then_some(input))
}

/// A sum of one is what is summed.
#[register_rewrite(name = "drop-sum-of-one", pattern = AddN { inputs: [x] })]
fn drop_sum_of_one(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    Ok(Some(x))
}

/// A cast to the dtype that is there already is left out.
#[register_rewrite(name = "drop-cast", pattern = cast @ Cast { x })]
fn drop_cast(_: &mut Rewrite<'_, '_>, cast: &Matched<Cast>, x: Output) -> Result<Option<Output>> {
    Ok((cast.attrs().SrcT == cast.attrs().DstT).then_some(x))
}

/// A cast to a dtype that holds every value, and back, is left out.
#[register_rewrite(name = "drop-casts", pattern = back @ Cast { x: there @ Cast { x } }, shared)]
fn drop_casts(
    _: &mut Rewrite<'_, '_>,
    back: &Matched<Cast>,
    there: &Matched<Cast>,
    x: Output,
) -> Result<Option<Output>> {
    let is_back = there.attrs().SrcT == back.attrs().DstT;
    Ok((is_back && holds_all(there.attrs().SrcT, there.attrs().DstT)).then_some(x))
}

/// Whether every value of a dtype is one of another dtype, so that it comes back as it was.
pub(super) fn holds_all(narrow: DataType, wide: DataType) -> bool {
    use DataType::{Bfloat16, Bool, Double, Float, Half, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64};
    /// The bits of an integer's magnitude, and whether it has a sign.
    fn integer(dtype: DataType) -> Option<(u32, bool)> {
        Some(match dtype {
            Bool => (1, false),
            Int8 => (7, true),
            Uint8 => (8, false),
            Int16 => (15, true),
            Uint16 => (16, false),
            Int32 => (31, true),
            Uint32 => (32, false),
            Int64 => (63, true),
            Uint64 => (64, false),
            _ => return None,
        })
    }
    match (integer(narrow), integer(wide)) {
        (Some((bits, is_signed)), Some((more, has_sign))) => bits <= more && (has_sign || !is_signed) && wide != Bool,
        (Some((bits, _)), None) => match wide {
            Double => bits <= 53,
            Float => bits <= 24,
            Half => bits <= 11,
            Bfloat16 => bits <= 8,
            _ => false,
        },
        _ => matches!((narrow, wide), (Half | Bfloat16, Float | Double) | (Float, Double)),
    }
}

/// The entries of a vector.
pub(super) fn entries(m: &Rewrite<'_, '_>, vector: Output) -> Option<Vec<i64>> {
    m.constant(vector).filter(|value| value.rank() == 1)?.to_i64_vec().ok()
}

/// The one element of a constant.
pub(super) fn single(m: &Rewrite<'_, '_>, constant: Output) -> Option<i64> {
    let value = m.constant(constant).filter(|value| value.num_elements() == 1)?;
    matches!(value.dtype(), DataType::Int32 | DataType::Int64).then(|| value.to_i64_vec().ok()?.first().copied())?
}

/// What transposes by two permutations, one after the other, make of a tensor, by one or none.
pub(super) fn transposed_twice(m: &mut Rewrite<'_, '_>, x: Output, by: [Output; 2]) -> Result<Option<Output>> {
    let [Some(first), Some(second)] = by.map(|perm| permutation(m, perm)) else { return Ok(None) };
    if first.len() != second.len() {
        return Ok(None);
    }
    let both: Vec<usize> = second.iter().map(|&axis| first[axis]).collect();
    if is_identity(&both) && has_rank(m, x, both.len()) {
        return Ok(Some(x));
    }
    let both: Vec<i32> = both.into_iter().map(|axis| axis as i32).collect();
    transpose(m, x, both).build().map(Some)
}

/// The permutation that a constant vector is. A transpose refuses dimensions that are counted from the end.
pub(super) fn permutation(m: &Rewrite<'_, '_>, vector: Output) -> Option<Vec<usize>> {
    let all = entries(m, vector)?;
    let in_range = |&axis: &i64| usize::try_from(axis).ok().filter(|axis| *axis < all.len());
    let places: Vec<usize> = all.iter().map(in_range).collect::<Option<_>>()?;
    let mut seen = vec![false; places.len()];
    places.iter().for_each(|&axis| seen[axis] = true);
    seen.iter().all(|seen| *seen).then_some(places)
}

/// A dimension that may be counted from the end.
pub(super) fn place(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(axis).ok().filter(|axis| *axis < rank)
}

fn is_identity(permutation: &[usize]) -> bool {
    permutation.iter().enumerate().all(|(place, &axis)| place == axis)
}

/// Whether it is certain that an output has this rank.
pub(super) fn has_rank(m: &Rewrite<'_, '_>, output: Output, rank: usize) -> bool {
    m.shape(output).rank() == Some(rank)
}

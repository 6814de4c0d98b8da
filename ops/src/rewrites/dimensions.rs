//! Dimensions of size 1 that come and go around reshapes, and casts in a row.
//!
//! What inserts or removes a dimension checks its place. Where it is left out, the place is certain to be there, so that no
//! error is lost.

use kernlink::Result;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{Matched, Rewrite};
use kernlink_macros::register_rewrite;

use super::moves::{entries, holds_all, place, single};
use crate::*;

/// A reshape of what a dimension was inserted in is a reshape of what was there before.
#[register_rewrite(
    name = "merge-expand-reshape",
    pattern = Reshape { tensor: ExpandDims { input, const dim }, shape },
    creates = [Reshape],
    shared,
)]
fn merge_expand_reshape(m: &mut Rewrite<'_, '_>, input: Output, dim: Output, shape: Output) -> Result<Option<Output>> {
    let Some(dim) = single(m, dim) else { return Ok(None) };
    // At both ends there is a place whatever the rank.
    let fits = matches!(dim, 0 | -1) || m.shape(input).rank().is_some_and(|rank| place(dim, rank + 1).is_some());
    if fits { reshape(m, input, shape).build().map(Some) } else { Ok(None) }
}

/// A reshape of what dimensions were removed from is a reshape of what was there before.
#[register_rewrite(
    name = "merge-squeeze-reshape",
    pattern = Reshape { tensor: squeezed @ Squeeze { input }, shape },
    creates = [Reshape],
    shared,
)]
fn merge_squeeze_reshape(
    m: &mut Rewrite<'_, '_>,
    squeezed: &Matched<Squeeze>,
    input: Output,
    shape: Output,
) -> Result<Option<Output>> {
    let removed = &squeezed.attrs().squeeze_dims;
    if removed.iter().all(|&dim| is_one(m, input, dim)) { reshape(m, input, shape).build().map(Some) } else { Ok(None) }
}

/// A dimension of size 1 that is removed and inserted again is not removed.
#[register_rewrite(
    name = "drop-squeeze-expand",
    pattern = ExpandDims { input: squeezed @ Squeeze { input }, const dim },
    shared,
)]
fn drop_squeeze_expand(
    m: &mut Rewrite<'_, '_>,
    squeezed: &Matched<Squeeze>,
    input: Output,
    dim: Output,
) -> Result<Option<Output>> {
    let (Some(inserted), &[removed]) = (single(m, dim), &squeezed.attrs().squeeze_dims[..]) else { return Ok(None) };
    let Some(rank) = m.shape(input).rank() else { return Ok(None) };
    let same = place(inserted, rank) == place(removed, rank) && is_one(m, input, removed);
    Ok(same.then_some(input))
}

/// A dimension that is inserted in what is reshaped to a constant shape is one of the shape.
#[register_rewrite(
    name = "merge-reshape-expand",
    pattern = ExpandDims { input: Reshape { tensor, const shape }, const dim },
    creates = [Reshape],
    shared,
)]
fn merge_reshape_expand(m: &mut Rewrite<'_, '_>, tensor: Output, shape: Output, dim: Output) -> Result<Option<Output>> {
    let (Some(mut sizes), Some(dim)) = (entries(m, shape), single(m, dim)) else { return Ok(None) };
    let Some(at) = place(dim, sizes.len() + 1) else { return Ok(None) };
    sizes.insert(at, 1);
    reshaped(m, tensor, &sizes)
}

/// Dimensions of size 1 that are removed of what is reshaped to a constant shape are none of the shape.
#[register_rewrite(
    name = "merge-reshape-squeeze",
    pattern = squeezed @ Squeeze { input: Reshape { tensor, const shape } },
    creates = [Reshape],
    shared,
)]
fn merge_reshape_squeeze(
    m: &mut Rewrite<'_, '_>,
    squeezed: &Matched<Squeeze>,
    tensor: Output,
    shape: Output,
) -> Result<Option<Output>> {
    let Some(sizes) = entries(m, shape) else { return Ok(None) };
    let named = &squeezed.attrs().squeeze_dims;
    let places: Option<Vec<usize>> = named.iter().map(|&dim| place(dim, sizes.len())).collect();
    // Where none is named all go that have size 1, as one may have whose size follows from the others.
    let fits = places.as_ref().is_some_and(|places| places.iter().all(|&at| sizes[at] == 1));
    let Some(places) = places.filter(|_| fits && !(named.is_empty() && sizes.contains(&-1))) else { return Ok(None) };
    let goes = |at: usize| if places.is_empty() { sizes[at] == 1 } else { places.contains(&at) };
    let kept: Vec<i64> = (0..sizes.len()).filter(|&at| !goes(at)).map(|at| sizes[at]).collect();
    reshaped(m, tensor, &kept)
}

/// A cast to a dtype that holds every value, and on to another one, is one cast.
#[register_rewrite(
    name = "merge-casts",
    pattern = on @ Cast { x: there @ Cast { x } },
    creates = [Cast],
    shared,
)]
fn merge_casts(
    m: &mut Rewrite<'_, '_>,
    on: &Matched<Cast>,
    there: &Matched<Cast>,
    x: Output,
) -> Result<Option<Output>> {
    let (from, by, to) = (there.attrs().SrcT, there.attrs().DstT, on.attrs().DstT);
    let truncates = there.attrs().Truncate || on.attrs().Truncate;
    // What holds every value in the end is the same by any way. Else integers wrap the same, whatever integer they were.
    let wraps = from.is_integer() && by.is_integer() && to.is_integer();
    let same = holds_all(from, by) && (holds_all(from, to) || wraps) && from != to && by != to && from != by;
    if same && !truncates { cast(m, x, to).build().map(Some) } else { Ok(None) }
}

/// A tensor in a constant shape, with what is known of a shape's dtype lost: a size fits where it fitted.
fn reshaped(m: &mut Rewrite<'_, '_>, tensor: Output, sizes: &[i64]) -> Result<Option<Output>> {
    match sizes.iter().map(|&size| i32::try_from(size)).collect::<Result<Vec<i32>, _>>() {
        Ok(sizes) => reshape(m, tensor, sizes).build().map(Some),
        Err(_) => reshape(m, tensor, sizes.to_vec()).build().map(Some),
    }
}

/// Whether it is certain that an output has this dimension, which may be counted from the end, and its size is 1.
fn is_one(m: &Rewrite<'_, '_>, output: Output, dim: i64) -> bool {
    let shape = m.shape(output);
    let size = shape.dims().and_then(|dims| dims[place(dim, dims.len())?]);
    size == Some(1)
}

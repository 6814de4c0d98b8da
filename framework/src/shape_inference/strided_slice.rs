//! Slices as `x[1:, ..., None, -1]` writes them: masks and indices made into one begin, end and stride for each
//! dimension. The shape function and the kernels of `StridedSlice` and its relatives share it.

use smallvec::SmallVec;

use crate::attr::AttrMap;
use crate::error::{Error, Result};
use crate::shape::{PartialShape, Shape};

/// The masks of `StridedSlice`; bit `i` speaks of entry `i` of begin, end and strides.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Masks {
    /// Begin is ignored: the slice starts at the first element.
    pub begin: u32,
    /// End is ignored: the slice goes to the last element.
    pub end: u32,
    /// The entry stands for as many whole dimensions as are left.
    pub ellipsis: u32,
    /// The entry makes a new dimension of size 1.
    pub new_axis: u32,
    /// The entry picks one element and removes its dimension.
    pub shrink_axis: u32,
}

impl Masks {
    /// From the attrs `begin_mask`, `end_mask`, `ellipsis_mask`, `new_axis_mask`, `shrink_axis_mask`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if one does not fit 32 bits.
    #[track_caller]
    pub fn new(begin: i64, end: i64, ellipsis: i64, new_axis: i64, shrink_axis: i64) -> Result<Masks> {
        let bits = |name: &str, mask: i64| match i32::try_from(mask) {
            Ok(mask) => Ok(mask as u32),
            Err(_) => Err(Error::invalid_argument(format!("{name} {mask} does not fit 32 bits"))),
        };
        Ok(Masks {
            begin: bits("begin_mask", begin)?,
            end: bits("end_mask", end)?,
            ellipsis: bits("ellipsis_mask", ellipsis)?,
            new_axis: bits("new_axis_mask", new_axis)?,
            shrink_axis: bits("shrink_axis_mask", shrink_axis)?,
        })
    }

    /// From a node's attrs.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if one is missing or does not fit 32 bits.
    pub fn from_attrs(attrs: &AttrMap) -> Result<Masks> {
        let mask = |name: &str| attrs.required(name);
        Masks::new(
            mask("begin_mask")?,
            mask("end_mask")?,
            mask("ellipsis_mask")?,
            mask("new_axis_mask")?,
            mask("shrink_axis_mask")?,
        )
    }
}

/// The slice of one dimension of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SliceDim {
    /// The first index. Valid if begin, end and the dimension are known, as the next field is.
    pub begin: i64,
    /// The index after the last one; −1 when the slice goes backwards over the whole dimension.
    pub end: i64,
    /// The step, not 0.
    pub stride: i64,
    /// How many indices there are, if known.
    pub size: Option<usize>,
    /// Whether the dimension is removed from the result; its size is then 1.
    pub shrink: bool,
}

/// The origin of a dimension of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputDim {
    /// This dimension of the input.
    Input(usize),
    /// It is new, of size 1.
    New,
}

/// A slice with one entry for each dimension of the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DenseSlice {
    /// The slice of each dimension of the input.
    pub dims: SmallVec<[SliceDim; 4]>,
    /// The origin of each dimension of the result.
    pub output: SmallVec<[OutputDim; 4]>,
    /// Whether every dimension is taken whole and in order, as far as is known.
    pub is_identity: bool,
    /// Whether every stride is 1, as far as is known.
    pub is_simple_slice: bool,
    /// Whether only the first dimension is cut, with stride 1, as far as is known.
    pub slice_dim0: bool,
}

impl DenseSlice {
    /// The shape of the result.
    pub fn final_shape(&self) -> PartialShape {
        PartialShape::from_known(self.output.iter().map(|dim| match dim {
            OutputDim::Input(axis) => self.dims[*axis].size,
            OutputDim::New => Some(1),
        }))
    }

    /// The shape of the slice before dimensions are removed and added: one size for each dimension of the input.
    pub fn processing_shape(&self) -> PartialShape {
        PartialShape::from_known(self.dims.iter().map(|dim| dim.size))
    }
}

/// One dimension on the way from entries to [`SliceDim`].
#[derive(Clone, Copy)]
struct Entry {
    begin: i64,
    end: i64,
    stride: i64,
    begin_masked: bool,
    end_masked: bool,
    shrink: bool,
}

const WHOLE: Entry = Entry { begin: 0, end: 0, stride: 1, begin_masked: true, end_masked: true, shrink: false };

/// The slice of a tensor of shape `input` that `StridedSlice` takes.
///
/// # Errors
/// INVALID_ARGUMENT if begin, end and strides differ in length or have 32 entries or more, there is more than one
/// ellipsis, more entries than dimensions, a stride of 0, or a single index outside its dimension.
#[track_caller]
pub fn resolve(begin: &[i64], end: &[i64], strides: &[i64], masks: Masks, input: &Shape) -> Result<DenseSlice> {
    let dims: SmallVec<[Option<usize>; 4]> = input.iter().map(|&dim| Some(dim)).collect();
    resolve_partial(Some(begin), Some(end), strides, masks, &dims)
}

/// As [`resolve`], with begin, end and sizes of the input known or not.
///
/// # Errors
/// As [`resolve`], as far as can be told.
#[track_caller]
pub fn resolve_partial(
    begin: Option<&[i64]>,
    end: Option<&[i64]>,
    strides: &[i64],
    masks: Masks,
    input: &[Option<usize>],
) -> Result<DenseSlice> {
    let wrong = |list: Option<&[i64]>| list.is_some_and(|list| list.len() != strides.len());
    if wrong(begin) || wrong(end) || strides.len() >= 32 {
        let length = |list: Option<&[i64]>| list.map_or("?".to_owned(), |list| list.len().to_string());
        return Err(Error::invalid_argument(format!(
            "Expected begin, end, and strides to be 1D equal size tensors of less than 32 elements, but got shapes \
             [{}], [{}], and [{}] instead.",
            length(begin),
            length(end),
            strides.len()
        )));
    }
    let (entries, output) = expand(begin, end, strides, masks, input.len())?;

    let values_known = begin.is_some() && end.is_some();
    let mut slice =
        DenseSlice { dims: SmallVec::new(), output, is_identity: true, is_simple_slice: true, slice_dim0: true };
    for (axis, (entry, &size)) in entries.iter().zip(input).enumerate() {
        if entry.stride == 0 {
            return Err(Error::invalid_argument(format!("strides[{axis}] must be non-zero")));
        }
        let Some(size) = size.and_then(|size| i64::try_from(size).ok()) else {
            slice.dims.push(SliceDim {
                begin: entry.begin,
                end: entry.end,
                stride: entry.stride,
                size: entry.shrink.then_some(1),
                shrink: entry.shrink,
            });
            let whole = entry.stride == 1 && entry.begin_masked && entry.end_masked;
            slice.is_identity &= whole;
            slice.is_simple_slice &= entry.stride == 1;
            slice.slice_dim0 &= whole || (axis == 0 && entry.stride == 1);
            continue;
        };
        if entry.shrink && entry.stride <= 0 {
            return Err(Error::invalid_argument("only stride 1 allowed on non-range indexing."));
        }
        let dim = if values_known { known_dim(entry, axis, size)? } else { partly_known_dim(entry, size) };
        let whole = if values_known {
            dim.stride == 1 && dim.begin == 0 && dim.end == size
        } else {
            entry.stride == 1 && entry.begin_masked && entry.end_masked
        };
        slice.is_identity &= whole;
        slice.is_simple_slice &= entry.stride == 1;
        slice.slice_dim0 &= whole || (axis == 0 && entry.stride == 1);
        slice.dims.push(dim);
    }
    Ok(slice)
}

type Expanded = (SmallVec<[Entry; 4]>, SmallVec<[OutputDim; 4]>);

/// One entry for each dimension: the ellipsis written out, new dimensions taken out.
#[track_caller]
fn expand(begin: Option<&[i64]>, end: Option<&[i64]>, strides: &[i64], masks: Masks, rank: usize) -> Result<Expanded> {
    if masks.ellipsis.count_ones() > 1 {
        return Err(Error::invalid_argument("Multiple ellipses in slice spec not allowed"));
    }
    let has = |mask: u32, index: usize| mask & 1 << index != 0;
    let count = strides.len();
    // Without an ellipsis, one stands at the end.
    let ellipsis = (0..count).find(|&index| has(masks.ellipsis, index)).unwrap_or(count);
    let after_ellipsis = (ellipsis + 1..count).filter(|&index| !has(masks.new_axis, index)).count();

    let mut entries: SmallVec<[Entry; 4]> = SmallVec::new();
    let mut output: SmallVec<[OutputDim; 4]> = SmallVec::new();
    for index in 0..=count {
        if index == ellipsis {
            while entries.len() + after_ellipsis < rank {
                output.push(OutputDim::Input(entries.len()));
                entries.push(WHOLE);
            }
        } else if index == count {
            break;
        } else if has(masks.new_axis, index) {
            output.push(OutputDim::New);
        } else if entries.len() == rank {
            return Err(Error::invalid_argument(if rank == 0 {
                "Attempting to slice scalar input.".to_owned()
            } else {
                format!("Index out of range using input dim {rank}; input has only {rank} dims")
            }));
        } else {
            let shrink = has(masks.shrink_axis, index);
            if !shrink {
                output.push(OutputDim::Input(entries.len()));
            }
            entries.push(Entry {
                begin: begin.map_or(0, |begin| begin[index]),
                end: end.map_or(0, |end| end[index]),
                stride: strides[index],
                begin_masked: has(masks.begin, index),
                end_masked: has(masks.end, index),
                shrink,
            });
        }
    }
    Ok((entries, output))
}

/// With begin, end and the size of the dimension known.
#[track_caller]
fn known_dim(entry: &Entry, axis: usize, size: i64) -> Result<SliceDim> {
    let Entry { stride, shrink, .. } = *entry;
    let forward = |index: i64| if index < 0 { index.saturating_add(size) } else { index };
    let (begin, end) = if shrink {
        // The end that was given may be anything: `x[-1]` writes 0.
        let begin = forward(entry.begin);
        if begin < 0 || begin >= size {
            let message = format!("slice index {} of dimension {axis} out of bounds.", entry.begin);
            return Err(Error::invalid_argument(message));
        }
        (begin, begin + 1)
    } else {
        let (low, high) = if stride > 0 { (0, size) } else { (-1, size - 1) };
        let (first, last) = if stride > 0 { (low, high) } else { (high, low) };
        let begin = if entry.begin_masked { first } else { forward(entry.begin).clamp(low, high) };
        let end = if entry.end_masked { last } else { forward(entry.end).clamp(low, high) };
        (begin, end)
    };
    Ok(SliceDim { begin, end, stride, size: Some(steps(end - begin, stride)), shrink })
}

/// With begin or end unknown, and the size of the dimension known.
fn partly_known_dim(entry: &Entry, size: i64) -> SliceDim {
    let Entry { begin, end, stride, shrink, .. } = *entry;
    let size = if shrink {
        Some(1)
    } else if entry.begin_masked && entry.end_masked {
        Some(steps(if stride < 0 { -size } else { size }, stride))
    } else {
        None
    };
    SliceDim { begin, end, stride, size, shrink }
}

/// How many steps of `stride` lie in `length`.
fn steps(length: i64, stride: i64) -> usize {
    if length == 0 || (length < 0) != (stride < 0) {
        return 0;
    }
    (length / stride + i64::from(length % stride != 0)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dims: &[usize]) -> Shape {
        Shape::from(dims)
    }

    fn masks(begin: i64, end: i64, ellipsis: i64, new_axis: i64, shrink_axis: i64) -> Masks {
        Masks::new(begin, end, ellipsis, new_axis, shrink_axis).unwrap()
    }

    #[test]
    fn ranges_are_cut_to_the_dimension() {
        let cut = |begin, end, stride, size: usize| {
            let slice = resolve(&[begin], &[end], &[stride], Masks::default(), &shape(&[size])).unwrap();
            (slice.dims[0].begin, slice.dims[0].end, slice.dims[0].size.unwrap())
        };
        assert_eq!(cut(1, 4, 1, 5), (1, 4, 3));
        assert_eq!(cut(1, 5, 2, 5), (1, 5, 2));
        assert_eq!(cut(-2, 99, 1, 5), (3, 5, 2));
        assert_eq!(cut(4, 0, -2, 5), (4, 0, 2));
        assert_eq!(cut(99, -99, -1, 5), (4, -1, 5));
        assert_eq!(cut(3, 1, 1, 5), (3, 1, 0));
        assert_eq!(cut(i64::MIN, i64::MAX, i64::MAX, 5), (0, 5, 1));
        assert_eq!(cut(i64::MAX, i64::MIN, i64::MIN, 5), (4, -1, 1));
        assert_eq!(cut(0, 0, -1, 0), (-1, -1, 0));
    }

    #[test]
    fn masks_give_whole_ranges() {
        let whole = |stride, size: usize| {
            let slice = resolve(&[7], &[7], &[stride], masks(1, 1, 0, 0, 0), &shape(&[size])).unwrap();
            (slice.dims[0].begin, slice.dims[0].end, slice.dims[0].size.unwrap(), slice.is_identity)
        };
        assert_eq!(whole(1, 5), (0, 5, 5, true));
        assert_eq!(whole(-1, 5), (4, -1, 5, false));
        assert_eq!(whole(2, 0), (0, 0, 0, false));
    }

    #[test]
    fn ellipsis_new_axis_and_shrink() {
        // x[1, ..., None, 2:]
        let slice =
            resolve(&[1, 0, 0, 2], &[2, 0, 0, 0], &[1; 4], masks(0, 8, 2, 4, 1), &shape(&[4, 5, 6, 7])).unwrap();
        assert_eq!(slice.final_shape().to_string(), "[5,6,1,5]");
        assert_eq!(slice.processing_shape().to_string(), "[1,5,6,5]");
        assert_eq!(
            slice.output.as_slice(),
            [OutputDim::Input(1), OutputDim::Input(2), OutputDim::New, OutputDim::Input(3)]
        );
        // x[-1], where the end is 0.
        let slice = resolve(&[-1], &[0], &[1], masks(0, 0, 0, 0, 1), &shape(&[4, 3])).unwrap();
        assert_eq!((slice.dims[0].begin, slice.dims[0].end), (3, 4));
        assert_eq!(slice.final_shape().to_string(), "[3]");
        assert!(slice.slice_dim0 && slice.is_simple_slice && !slice.is_identity);
        // x[...] of a scalar, and x[None].
        let scalar = resolve(&[0], &[0], &[1], masks(0, 0, 1, 0, 0), &shape(&[])).unwrap();
        assert_eq!(scalar.final_shape().to_string(), "[]");
        let scalar = resolve(&[0], &[0], &[1], masks(0, 0, 0, 1, 0), &shape(&[])).unwrap();
        assert_eq!(scalar.final_shape().to_string(), "[1]");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |begin: &[i64], strides: &[i64], masks: Masks, dims: &[usize]| {
            let error = resolve(begin, begin, strides, masks, &shape(dims)).unwrap_err();
            assert_eq!(error.code(), crate::Code::InvalidArgument);
            error.message().to_owned()
        };
        assert_eq!(error(&[0], &[0], Masks::default(), &[2]), "strides[0] must be non-zero");
        assert_eq!(
            error(&[0, 0], &[1, 1], Masks::default(), &[2]),
            "Index out of range using input dim 1; input has only 1 dims"
        );
        assert_eq!(error(&[0], &[1], Masks::default(), &[]), "Attempting to slice scalar input.");
        assert!(error(&[0], &[1, 1], Masks::default(), &[2, 2]).starts_with("Expected begin, end, and strides"));
        assert!(error(&[0; 32], &[1; 32], Masks::default(), &[2]).starts_with("Expected begin, end, and strides"));
        assert_eq!(
            error(&[0, 0], &[1, 1], masks(0, 0, 3, 0, 0), &[2, 2]),
            "Multiple ellipses in slice spec not allowed"
        );
        assert_eq!(error(&[0], &[-1], masks(0, 0, 0, 0, 1), &[2]), "only stride 1 allowed on non-range indexing.");
        assert_eq!(error(&[-3], &[1], masks(0, 0, 0, 0, 1), &[2]), "slice index -3 of dimension 0 out of bounds.");
        assert!(error(&[2], &[1], masks(0, 0, 0, 0, 1), &[2]).contains("out of bounds"));
        assert!(error(&[i64::MIN], &[1], masks(0, 0, 0, 0, 1), &[2]).contains("out of bounds"));
        assert!(Masks::new(1 << 31, 0, 0, 0, 0).is_err());
        assert!(Masks::new(-1, 0, 0, 0, 0).is_ok());
    }

    #[test]
    fn what_is_unknown_stays_unknown() {
        let partial = |begin: Option<&[i64]>, masks: Masks, dims: &[Option<usize>]| {
            resolve_partial(begin, begin, &[1, 2], masks, dims).unwrap().final_shape().to_string()
        };
        assert_eq!(partial(None, Masks::default(), &[Some(3), Some(5), Some(7)]), "[?,?,7]");
        assert_eq!(partial(None, masks(2, 2, 0, 0, 1), &[Some(3), Some(5), None]), "[3,?]");
        assert_eq!(partial(Some(&[0, 1]), Masks::default(), &[None, Some(5)]), "[?,0]");
        assert_eq!(partial(None, masks(3, 3, 0, 0, 1), &[None, None]), "[?]");
    }
}

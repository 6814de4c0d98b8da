//! Parts of tensors, as partitioned variables are saved.

use std::fmt;

use super::coding::{put_ordered_i64, put_ordered_string, put_ordered_u64};
use crate::bail;
use crate::error::{Error, Result};
use crate::proto::{TensorSliceProto, tensor_slice_proto};
use crate::shape::{Shape, check_rank};
use crate::tensor::scratch;

/// A part of a tensor: along each dimension all of it, or a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorSlice(Vec<Option<Extent>>);

/// A range along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extent {
    start: u64,
    length: u64,
}

impl Extent {
    /// # Errors
    /// INVALID_ARGUMENT for a negative start, a length below 1, or an end beyond what a dimension can be.
    fn new(start: i64, length: i64, text: &str) -> Result<Extent> {
        if start < 0 || length <= 0 {
            bail!(
                InvalidArgument,
                "Expected non-negative start and positive length but got start = {start}, length = {length}: string = {text}"
            );
        }
        if start.checked_add(length).is_none() {
            bail!(InvalidArgument, "Extent end exceeds the maximum possible size: string = {text}");
        }
        Ok(Extent { start: start as u64, length: length as u64 })
    }

    fn end(self) -> u64 {
        self.start + self.length
    }
}

impl TensorSlice {
    /// All of a tensor.
    pub fn full(rank: usize) -> TensorSlice {
        TensorSlice(vec![None; rank])
    }

    /// `start` and `length` along each dimension, `None` for all of it.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a negative start or a length below 1.
    pub fn new(extents: &[Option<(i64, i64)>]) -> Result<TensorSlice> {
        let extent = |&(start, length): &(i64, i64)| Extent::new(start, length, &format!("{start},{length}"));
        extents.iter().map(|pair| pair.as_ref().map(extent).transpose()).collect::<Result<_>>().map(TensorSlice)
    }

    /// From TensorFlow's notation: `-` or `start,length` for each dimension, with `:` between.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the text is malformed.
    pub fn parse(text: &str) -> Result<TensorSlice> {
        let extent = |part: &str| {
            if part == "-" {
                return Ok(None);
            }
            let mut numbers =
                part.split(',').filter(|number| !number.is_empty()).map(|number| number.trim().parse().ok());
            match (numbers.next().flatten(), numbers.next().flatten(), numbers.next()) {
                (Some(start), Some(length), None) => Extent::new(start, length, text).map(Some),
                _ => bail!(InvalidArgument, "Expected a pair of numbers or '-' but got '{part}': string = {text}"),
            }
        };
        let parts = text.split(':').filter(|part| !part.is_empty());
        check_rank(parts.clone().count())?;
        parts.map(extent).collect::<Result<_>>().map(TensorSlice)
    }

    /// From a message.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for ranges that no tensor can have.
    pub(super) fn from_proto(proto: &TensorSliceProto) -> Result<TensorSlice> {
        let extent = |extent: &tensor_slice_proto::Extent| match extent.has_length {
            None => Ok(None),
            Some(tensor_slice_proto::extent::HasLength::Length(-1)) if extent.start == 0 => Ok(None),
            Some(tensor_slice_proto::extent::HasLength::Length(length)) => {
                Extent::new(extent.start, length, &format!("{},{length}", extent.start)).map(Some)
            }
        };
        proto.extent.iter().map(extent).collect::<Result<_>>().map(TensorSlice)
    }

    pub(super) fn to_proto(&self) -> TensorSliceProto {
        let extent = |extent: &Option<Extent>| match extent {
            None => tensor_slice_proto::Extent::default(),
            Some(Extent { start, length }) => tensor_slice_proto::Extent {
                start: *start as i64,
                has_length: Some(tensor_slice_proto::extent::HasLength::Length(*length as i64)),
            },
        };
        TensorSliceProto { extent: self.0.iter().map(extent).collect() }
    }

    /// Whether it is all of a tensor along every dimension, whatever the tensor's shape.
    pub fn is_full(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The shape of this part of a tensor of shape `shape`.
    ///
    /// # Errors
    /// INTERNAL, as TensorFlow has it, if the ranks differ or a range ends outside the shape.
    pub fn shape_in(&self, shape: &Shape) -> Result<Shape> {
        if self.0.len() != shape.rank() {
            return Err(Error::internal(format!("Mismatching ranks: shape = {shape}, slice = {self}")));
        }
        let size = |(axis, (extent, &dim)): (usize, (&Option<Extent>, &usize))| match extent {
            None => Ok(dim),
            Some(extent) if extent.end() <= dim as u64 => Ok(extent.length as usize),
            Some(_) => Err(Error::internal(format!(
                "Extent in dimension {axis} out of bounds: shape = {shape}, slice = {self}"
            ))),
        };
        self.0.iter().zip(shape.iter()).enumerate().map(size).collect()
    }

    /// Whether it is all of a tensor of shape `shape`.
    pub(super) fn covers(&self, shape: &Shape) -> bool {
        self.is_full() || self.shape_in(shape).is_ok_and(|part| part == *shape)
    }

    /// Start and end along each dimension of a tensor of this shape; the part lies in it.
    fn bounds(&self, shape: &Shape) -> Vec<(usize, usize)> {
        let bounds = |(extent, &dim): (&Option<Extent>, &usize)| match extent {
            None => (0, dim),
            Some(extent) => (extent.start as usize, extent.end() as usize),
        };
        self.0.iter().zip(shape.iter()).map(bounds).collect()
    }

    /// The overlap of two parts of a tensor of shape `shape`; both lie in it.
    pub(super) fn overlap(&self, other: &TensorSlice, shape: &Shape) -> Option<Overlap> {
        let (ours, theirs) = (self.bounds(shape), other.bounds(shape));
        let mut overlap = Overlap { size: Shape::scalar(), from: Vec::new(), to: Vec::new() };
        for (&(our_start, our_end), &(their_start, their_end)) in ours.iter().zip(&theirs) {
            let (start, end) = (our_start.max(their_start), our_end.min(their_end));
            if start >= end {
                return None;
            }
            overlap.size.push(end - start);
            overlap.from.push(start - our_start);
            overlap.to.push(start - their_start);
        }
        Some(overlap)
    }
}

impl fmt::Display for TensorSlice {
    /// TensorFlow's notation: `0,2:-`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (axis, extent) in self.0.iter().enumerate() {
            f.write_str(if axis > 0 { ":" } else { "" })?;
            match extent {
                None => f.write_str("-")?,
                Some(Extent { start, length }) => write!(f, "{start},{length}")?,
            }
        }
        Ok(())
    }
}

/// The overlap of two parts of a tensor: its size, and its start in each.
pub(super) struct Overlap {
    pub(super) size: Shape,
    from: Vec<usize>,
    to: Vec<usize>,
}

impl Overlap {
    /// Calls `copy(from, to, count)` for every run of elements, counted in each of the two parts, whose shapes these
    /// are.
    pub(super) fn for_each_run(&self, from: &Shape, to: &Shape, mut copy: impl FnMut(usize, usize, usize)) {
        let (from_strides, to_strides) = (from.strides(), to.strides());
        let start = |origin: &[usize], strides: &[usize]| origin.iter().zip(strides).map(|(a, b)| a * b).sum::<usize>();
        let (mut source, mut target) = (start(&self.from, &from_strides), start(&self.to, &to_strides));
        let Some(inner) = self.size.rank().checked_sub(1) else { return copy(0, 0, 1) };
        let mut position = vec![0; inner];
        loop {
            copy(source, target, self.size[inner]);
            let mut axis = inner;
            loop {
                let Some(next) = axis.checked_sub(1) else { return };
                axis = next;
                source += from_strides[axis];
                target += to_strides[axis];
                position[axis] += 1;
                if position[axis] < self.size[axis] {
                    break;
                }
                source -= position[axis] * from_strides[axis];
                target -= position[axis] * to_strides[axis];
                position[axis] = 0;
            }
        }
    }
}

/// The shape of a whole tensor, a part of it, and the part's shape, from TensorFlow's notation `dim0 dim1 ... slice`.
///
/// # Errors
/// INVALID_ARGUMENT if the text is malformed; INTERNAL, as TensorFlow has it, if the part does not lie in the tensor.
pub fn parse_shape_and_slice(text: &str) -> Result<(Shape, TensorSlice, Shape)> {
    let Some((dims, slice)) = text.rsplit_once(' ') else {
        bail!(InvalidArgument, "Need least two elements in shape_and_slice specification: {text}");
    };
    let slice = TensorSlice::parse(slice)?;
    let dims = dims.split(' ').map(|dim| {
        dim.parse().or_else(|_| bail!(InvalidArgument, "Non numerical dimension in shape_and_slice: {text}"))
    });
    check_rank(dims.clone().count())?;
    let shape = Shape::from_dims(&dims.collect::<Result<Vec<i64>>>()?)?;
    let part = slice.shape_in(&shape)?;
    Ok((shape, slice, part))
}

/// The key under which a checkpoint's table holds a part of a tensor.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn slice_key(name: &[u8], slice: &TensorSlice) -> Result<Vec<u8>> {
    // A byte of the name takes two at most, and so do the bytes of a number.
    let most = name.len().saturating_mul(2).saturating_add(32 + 32 * slice.0.len());
    Ok(put_slice_key(scratch::room(most)?, name, slice))
}

/// [`slice_key`] of a name that a file has, and which is in memory as it is.
pub(super) fn slice_key_of(name: &[u8], slice: &TensorSlice) -> Vec<u8> {
    put_slice_key(Vec::new(), name, slice)
}

fn put_slice_key(mut key: Vec<u8>, name: &[u8], slice: &TensorSlice) -> Vec<u8> {
    put_ordered_u64(&mut key, 0);
    put_ordered_string(&mut key, name);
    put_ordered_u64(&mut key, slice.0.len() as u64);
    for extent in &slice.0 {
        let (start, length) = extent.map_or((0, -1), |extent| (extent.start as i64, extent.length as i64));
        put_ordered_i64(&mut key, start);
        put_ordered_i64(&mut key, length);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn notation_leads_back() {
        for text in ["-", "0,2:-", "3,1:-:0,10"] {
            assert_eq!(TensorSlice::parse(text).unwrap().to_string(), text);
            let slice = TensorSlice::parse(text).unwrap();
            assert_eq!(TensorSlice::from_proto(&slice.to_proto()).unwrap(), slice);
        }
        for text in ["x", "1", "1,2,3", "-1,2", "0,0", "1,-1", "9223372036854775807,1"] {
            assert_eq!(TensorSlice::parse(text).unwrap_err().code(), Code::InvalidArgument, "{text}");
        }
    }

    #[test]
    fn shapes_and_slices() {
        let (shape, slice, part) = parse_shape_and_slice("4 3 1,2:-").unwrap();
        assert_eq!((shape.dims(), slice.to_string().as_str(), part.dims()), (&[4, 3][..], "1,2:-", &[2, 3][..]));
        for (text, code) in [
            ("4", Code::InvalidArgument),
            ("4 x -:-", Code::InvalidArgument),
            ("4  -", Code::InvalidArgument),
            ("-4 -", Code::InvalidArgument),
            ("4 3 -", Code::Internal),
            ("4 3,2", Code::Internal),
        ] {
            assert_eq!(parse_shape_and_slice(text).unwrap_err().code(), code, "{text}");
        }
    }

    #[test]
    fn overlaps_are_copied_run_by_run() {
        let shape = Shape::from([4, 5]);
        let whole: Vec<usize> = (0..20).collect();
        let (a, b) = (TensorSlice::parse("1,3:1,3").unwrap(), TensorSlice::parse("0,3:2,3").unwrap());
        let part = |slice: &TensorSlice| -> Vec<usize> {
            let size = slice.shape_in(&shape).unwrap();
            let mut part = vec![99; size.num_elements()];
            let overlap = TensorSlice::full(2).overlap(slice, &shape).unwrap();
            overlap.for_each_run(&shape, &size, |from, to, count| {
                part[to..to + count].copy_from_slice(&whole[from..from + count]);
            });
            part
        };
        let (from, mut to) = (part(&a), part(&b));
        assert_eq!(from, [6, 7, 8, 11, 12, 13, 16, 17, 18]);
        assert_eq!(to, [2, 3, 4, 7, 8, 9, 12, 13, 14]);
        to.fill(0);
        let overlap = a.overlap(&b, &shape).unwrap();
        overlap.for_each_run(&Shape::from([3, 3]), &Shape::from([3, 3]), |source, target, count| {
            to[target..target + count].copy_from_slice(&from[source..source + count]);
        });
        assert_eq!(to, [0, 0, 0, 7, 8, 0, 12, 13, 0]);
        assert!(a.overlap(&TensorSlice::parse("0,1:-").unwrap(), &shape).is_none());
        let scalar = TensorSlice::full(0).overlap(&TensorSlice::full(0), &Shape::scalar()).unwrap();
        let mut runs = 0;
        scalar.for_each_run(&Shape::scalar(), &Shape::scalar(), |_, _, count| runs += count);
        assert_eq!(runs, 1);
    }
}

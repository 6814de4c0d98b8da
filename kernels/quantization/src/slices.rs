//! Functions of each element, which may be another one for each slice along a dimension.

use kernlink::dtype::Pod;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::widest;

/// A scalar of `float` that is an input.
pub(crate) fn scalar(ctx: &RawContext<'_>, index: usize, name: &str) -> Result<f32> {
    let tensor = ctx.input_at(index)?;
    ensure_scalar(tensor, name)?;
    tensor.to_scalar::<f32>()
}

/// The two scalars from input `index` on, what the lowest and the highest number of `name` stand for.
pub(crate) fn range(ctx: &RawContext<'_>, index: usize, name: &str) -> Result<[f32; 2]> {
    Ok([
        scalar(ctx, index, &format!("the least value of {name}"))?,
        scalar(ctx, index + 1, &format!("the greatest value of {name}"))?,
    ])
}

/// Sets two outputs, from `index` on.
pub(crate) fn set_range(ctx: &mut RawContext<'_>, index: usize, range: [f32; 2]) -> Result<()> {
    ctx.set_output_at(index, Tensor::scalar(range[0]))?;
    ctx.set_output_at(index + 1, Tensor::scalar(range[1]))
}

/// The dimension that an attr names; `None` for -1.
pub(crate) fn axis_of(axis: i64, shape: &Shape) -> Result<Option<usize>> {
    if axis == -1 {
        return Ok(None);
    }
    match usize::try_from(axis).ok().filter(|&axis| axis < shape.rank()) {
        Some(axis) => Ok(Some(axis)),
        None => {
            ensure!(false, InvalidArgument, "axis must be -1 or less than the rank of {shape}, not {axis}");
            Ok(None)
        }
    }
}

/// Elements of a row that is worth a loop of its own.
const ROW: usize = 64;

/// A tensor as slices along a dimension, or as one.
#[derive(Clone, Copy)]
pub(crate) struct Slices {
    /// How many there are.
    pub(crate) count: usize,
    /// Neighbours that belong to one slice.
    pub(crate) inner: usize,
}

impl Slices {
    pub(crate) fn new(shape: &Shape, axis: Option<usize>) -> Slices {
        match axis {
            None => Slices { count: 1, inner: shape.num_elements() },
            Some(axis) => Slices { count: shape[axis], inner: shape[axis + 1..].iter().product() },
        }
    }

    /// `f` of each element of `source` and the parameter of its slice.
    pub(crate) fn map<P: Copy + Sync, S: Source, T: Pod>(
        self,
        ctx: &RawContext<'_>,
        parameters: &[P],
        source: S,
        target: &mut [T],
        f: impl Fn(&P, S::Element) -> T + Sync + Copy,
    ) {
        if let [parameter] = parameters {
            ctx.parallel_chunks(target, 1, 1, |first, target| each(source.after(first), target, parameter, f));
        } else if self.inner == 1 && (2..=ROW / 2).contains(&parameters.len()) {
            // Several short rows are one.
            let repeated: [P; ROW] = std::array::from_fn(|place| parameters[place % parameters.len()]);
            let repeated = &repeated[..ROW / parameters.len() * parameters.len()];
            ctx.parallel_chunks(target, repeated.len(), 1, |first, target| {
                rows(source.after(first), target, repeated, f)
            });
        } else if self.inner == 1 && !parameters.is_empty() {
            ctx.parallel_chunks(target, parameters.len(), 1, |first, target| {
                rows(source.after(first), target, parameters, f)
            });
        } else if self.inner > 0 {
            ctx.parallel_chunks(target, self.inner, 1, |first, target| {
                for (index, target) in target.chunks_mut(self.inner).enumerate() {
                    let source = source.after(first + index * self.inner);
                    each(source, target, &parameters[(first / self.inner + index) % self.count], f);
                }
            });
        }
    }
}

/// Where elements come from: a tensor, or two, whose elements are taken in pairs.
pub(crate) trait Source: Copy + Sync {
    type Element;

    /// The elements from `start` on.
    fn after(self, start: usize) -> Self;

    fn elements(self) -> impl Iterator<Item = Self::Element>;

    /// Rows of `width` elements, of which the last may be shorter.
    fn rows(self, width: usize) -> impl Iterator<Item = Self>;
}

impl<T: Pod> Source for &[T] {
    type Element = T;

    #[inline(always)]
    fn after(self, start: usize) -> Self {
        &self[start..]
    }

    #[inline(always)]
    fn elements(self) -> impl Iterator<Item = T> {
        self.iter().copied()
    }

    #[inline(always)]
    fn rows(self, width: usize) -> impl Iterator<Item = Self> {
        self.chunks(width)
    }
}

impl<A: Source, B: Source> Source for (A, B) {
    type Element = (A::Element, B::Element);

    #[inline(always)]
    fn after(self, start: usize) -> Self {
        (self.0.after(start), self.1.after(start))
    }

    #[inline(always)]
    fn elements(self) -> impl Iterator<Item = Self::Element> {
        self.0.elements().zip(self.1.elements())
    }

    #[inline(always)]
    fn rows(self, width: usize) -> impl Iterator<Item = Self> {
        self.0.rows(width).zip(self.1.rows(width))
    }
}

widest! {
    avx512:
    /// `f` of each element.
    pub(crate) fn each<P: Sized, S: Source, T: Pod, F: Fn(&P, S::Element) -> T>(
        source: S,
        target: &mut [T],
        parameter: &P,
        f: F,
    ) {
        for (target, element) in target.iter_mut().zip(source.elements()) {
            *target = f(parameter, element);
        }
    }
}

widest! {
    fn rows<P: Sized, S: Source, T: Pod, F: Fn(&P, S::Element) -> T>(
        source: S,
        target: &mut [T],
        parameters: &[P],
        f: F,
    ) {
        for (target, source) in target.chunks_mut(parameters.len()).zip(source.rows(parameters.len())) {
            for ((target, element), parameter) in target.iter_mut().zip(source.elements()).zip(parameters) {
                *target = f(parameter, element);
            }
        }
    }
}

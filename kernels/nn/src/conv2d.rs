//! Conv2D, by itself and fused with what follows it.

use std::sync::OnceLock;

use kernlink::dtype::{DataType, Element, Number, bf16};
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use kernlink_geometry::convolution::Convolution;
use kernlink_geometry::fusion::{Fusion, ensure_filter_format};
use kernlink_geometry::images::shape_last;
use kernlink_kernels_common::fused::{Activated, Finish, Fused, Nothing};
use kernlink_kernels_common::number::Computed;
use kernlink_kernels_common::panels::Panels;
use kernlink_kernels_common::product;
use kernlink_kernels_common::remembered::Remembered;
use kernlink_macros::register_kernel;
use kernlink_ops::{Conv2D, FusedConv2D};

use super::convolve::{Convolve, is_side_by_side};
use super::images::{channels_last, output_images};
use super::narrow::{computed, widened};
use super::patches::{by_panels, is_for_matrix_unit, panels_of};
use super::space::Geometry;

/// What a node keeps.
pub(super) struct Prepared {
    convolution: Convolution,
    /// What [`Convolve::prepare`] makes of the filter, if that is constant.
    filter: OnceLock<Tensor>,
    /// What [`Convolve::transform`] makes of a constant filter, if it may.
    transformed: OnceLock<Tensor>,
    /// Whether the filter is constant.
    is_constant: bool,
    /// Whether [`Convolve::transform`] may make something of it then.
    may_transform: bool,
    /// Whether that, or what else is best, is to be seen from the first images: only then one of them is made.
    is_late: bool,
    /// What it makes of one that is not constant, but stays the same.
    remembered: Remembered,
    remembered_transformed: Remembered,
    /// What the unit for matrices of `bf16` takes.
    words: OnceLock<Panels>,
    remembered_words: Remembered<Panels>,
}

impl Prepared {
    fn new<T: Computed<Wide: Convolve>>(ctx: &RawConstruction<'_>) -> Result<Self> {
        Self::of::<T>(ctx, Convolution::new(ctx.attrs, Code::Unimplemented)?)
    }

    /// What a node keeps for this convolution of its first two inputs.
    pub(super) fn of<T: Computed<Wide: Convolve>>(ctx: &RawConstruction<'_>, convolution: Convolution) -> Result<Self> {
        let constant = ctx.constant_at(1).filter(|filter| filter.rank() == 4);
        let may_transform = constant.is_some_and(|filter| T::Wide::may_transform(filter.shape()));
        let is_late = may_transform || (constant.is_some() && is_for_words::<T>());
        let filter = OnceLock::new();
        if let Some(constant) = constant.filter(|_| !is_late)
            && let Some(packed) = T::Wide::prepare(&widened::<T>(None, constant)?)?
        {
            _ = filter.set(packed);
        }
        Ok(Self {
            convolution,
            filter,
            transformed: OnceLock::new(),
            is_constant: constant.is_some(),
            may_transform,
            is_late,
            remembered: Remembered::default(),
            remembered_transformed: Remembered::default(),
            words: OnceLock::new(),
            remembered_words: Remembered::default(),
        })
    }

    /// The channels of images of this shape.
    pub(super) fn depth(&self, images: &Shape) -> usize {
        shape_last(self.convolution.format, images.clone()).last().copied().unwrap_or(0)
    }

    /// Whether [`Convolve::transform`] may make something of a filter that is not constant.
    fn may_transform_once<T: Computed<Wide: Convolve>>(&self, filter: &Tensor) -> bool {
        !self.is_constant && T::Wide::may_transform(filter.shape())
    }

    /// Output 0: the convolution of inputs 0 and 1, and what `fuse` makes of it, given its shape with channels last.
    fn compute<T: Computed<Wide: Convolve>, F: Finish<T::Wide>>(
        &self,
        ctx: &mut RawContext<'_>,
        fuse: impl FnOnce(&RawContext<'_>, &Shape) -> Result<Option<F>>,
    ) -> Result<()> {
        let output = self.convolved::<T, F>(ctx, ctx.input_at(0)?, fuse)?;
        ctx.set_output_at(0, output)
    }

    /// As [`Prepared::compute`], of images in place of input 0.
    pub(super) fn convolved<T: Computed<Wide: Convolve>, F: Finish<T::Wide>>(
        &self,
        ctx: &RawContext<'_>,
        input: &Tensor,
        fuse: impl FnOnce(&RawContext<'_>, &Shape) -> Result<Option<F>>,
    ) -> Result<Tensor> {
        let filter = ctx.input_at(1)?;
        let input = channels_last(ctx, self.convolution.format, input)?;
        let images = self.convolution.forward(input.shape(), filter.shape())?;
        let geometry = Geometry::from(images);
        output_images(ctx, self.convolution.format, images.output(), |output| {
            if output.num_elements() == 0 {
                return Ok(());
            }
            let finish = fuse(ctx, output.shape())?;
            if finish.is_none() && input.num_elements() > 0 && is_for_words::<T>() && is_for_matrix_unit(&geometry) {
                images.ensure_computable(filter.shape())?;
                let panels = match self.is_late {
                    true => once(&self.words, || filter.read_once(|filter| panels_of(ctx, filter)))?.clone(),
                    false => self.remembered_words.get(filter, || panels_of(ctx, filter))?,
                };
                return by_panels(ctx, &geometry, input.as_slice()?, &panels, output.as_mut_slice()?);
            }
            let finish = finish.as_ref().map(|finish| finish as &dyn Finish<T::Wide>);
            computed::<T>(ctx, output, |output| {
                let output = output.as_mut_slice::<T::Wide>()?;
                if input.num_elements() == 0 {
                    // All there is to see is padding.
                    output.fill(T::Wide::ZERO);
                    finish.into_iter().for_each(|finish| finish.finish(0, output));
                    return Ok(());
                }
                images.ensure_computable(filter.shape())?;
                let widened_filter = || widened::<T>(Some(ctx), filter);
                let constant_filter = |make: &dyn Fn(&Tensor) -> Result<Tensor>| {
                    filter.read_once(|filter| make(&widened::<T>(Some(ctx), filter)?))
                };
                let transform = |filter: &Tensor| T::Wide::transform(ctx, filter);
                let transformed = if self.may_transform && T::Wide::is_transformed(&geometry) {
                    Some(once(&self.transformed, || constant_filter(&transform))?.clone())
                } else if self.may_transform_once::<T>(filter) && T::Wide::is_transformed_once(&geometry) {
                    Some(self.remembered_transformed.get(filter, || transform(&widened_filter()?))?)
                } else {
                    None
                };
                if let Some(filter) = transformed {
                    let input = widened::<T>(Some(ctx), &input)?;
                    if T::Wide::convolve_transformed(ctx, &geometry, (&input, &filter), output, finish)? {
                        return Ok(());
                    }
                }
                let packed = match self.filter.get() {
                    Some(packed) if is_side_by_side(&geometry) => packed.clone(),
                    None if self.is_late && is_side_by_side(&geometry) => {
                        once(&self.filter, || constant_filter(&|filter| T::Wide::pack(ctx, &geometry, filter)))?.clone()
                    }
                    None if T::Wide::PACKS && is_side_by_side(&geometry) => {
                        let pack = || T::Wide::pack(ctx, &geometry, &widened_filter()?);
                        self.remembered.get(filter, pack)?
                    }
                    _ => T::Wide::pack(ctx, &geometry, &widened_filter()?)?,
                };
                let input = widened::<T>(Some(ctx), &input)?;
                T::Wide::convolve(ctx, &geometry, (&input, &packed), output, finish)
            })
        })
    }
}

/// Whether elements may be multiplied as they are, by a unit for matrices.
fn is_for_words<T: Element>() -> bool {
    T::DTYPE == DataType::Bfloat16 && product::has_matrix_unit::<bf16>()
}

/// What is kept, or is made now.
fn once<M>(kept: &OnceLock<M>, make: impl FnOnce() -> Result<M>) -> Result<&M> {
    if let Some(kept) = kept.get() {
        return Ok(kept);
    }
    let made = make()?;
    Ok(kept.get_or_init(|| made))
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64, i32], state = |ctx| Prepared::new::<T>(ctx))]
fn conv2d<T: Computed<Wide: Convolve>>(prepared: &Prepared, ctx: &mut KernelContext<'_, Conv2D>) -> Result<()> {
    prepared.compute::<T, Nothing>(ctx, |_, _| Ok(None))
}

/// What a fused node keeps.
struct PreparedFused {
    product: Prepared,
    fusion: Fusion,
}

impl PreparedFused {
    fn new<T: Computed<Wide: Convolve>>(ctx: &RawConstruction<'_>) -> Result<Self> {
        ensure_filter_format(ctx.attrs)?;
        Ok(Self { product: Prepared::new::<T>(ctx)?, fusion: Fusion::new(ctx.attrs, true)? })
    }
}

#[register_kernel(device = Cpu, T = [f16, f32, f64], state = |ctx| PreparedFused::new::<T>(ctx))]
fn fused_conv2d<T: Computed<Wide: Convolve + Activated>>(
    prepared: &PreparedFused,
    ctx: &mut KernelContext<'_, FusedConv2D>,
) -> Result<()> {
    let format = prepared.product.convolution.format;
    prepared.product.compute::<T, Fused<T::Wide>>(ctx, |ctx, product| {
        let last = |images: &Tensor| channels_last(ctx, format, images);
        Fused::new::<T>(ctx, &prepared.fusion, product, last).map(Some)
    })
}

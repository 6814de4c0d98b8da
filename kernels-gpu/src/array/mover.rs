//! What the kernels of this family are made of: what they read of their attrs, a function, and the shaders that they
//! came to need.

use std::sync::{Arc, Mutex};

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::rearranged::{Elements, Rearranged};
use smallvec::SmallVec;

use super::strided::{Run as _, StridedCopy};
use super::variant::Variant;
use crate::device::{GpuDevice, Groups, lock};
use crate::refusal::Refusal;
use crate::shader::Shader;

type Compute = Box<dyn Fn(&Mover<'_>, &mut RawContext<'_>) -> Result<()> + Send + Sync>;

/// A kernel that moves elements.
pub(crate) struct Moving {
    compute: Compute,
    shaders: Shaders,
}

impl Moving {
    /// A kernel by what it keeps of its node and by what it does.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn new<K: Send + Sync + 'static>(
        ctx: &RawConstruction<'_>,
        read: impl FnOnce(&RawConstruction<'_>) -> Result<K>,
        compute: fn(&K, &Mover<'_>, &mut RawContext<'_>) -> Result<()>,
    ) -> Result<Moving> {
        let kept = read(ctx)?;
        Ok(Moving { compute: Box::new(move |on, ctx| compute(&kept, on, ctx)), shaders: Shaders::default() })
    }

    pub(crate) fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let on = Mover::new(GpuDevice::of(ctx)?, &self.shaders);
        (self.compute)(&on, ctx)
    }
}

/// The shaders that a node has needed so far: most need one.
#[derive(Default)]
pub(super) struct Shaders(Mutex<Vec<(Variant, Arc<Shader>)>>);

impl Shaders {
    fn get(&self, variant: Variant) -> Arc<Shader> {
        let mut made = lock(&self.0);
        if let Some((_, shader)) = made.iter().find(|(other, _)| *other == variant) {
            return shader.clone();
        }
        let shader = Arc::new(Shader::new(variant.program()));
        made.push((variant, shader.clone()));
        shader
    }
}

/// The device on which a kernel moves elements.
pub(super) struct Mover<'a> {
    pub(super) gpu: &'a GpuDevice,
    shaders: &'a Shaders,
}

impl<'a> Mover<'a> {
    pub(super) fn new(gpu: &'a GpuDevice, shaders: &'a Shaders) -> Mover<'a> {
        Mover { gpu, shaders }
    }

    /// Records a run of a shader.
    #[track_caller]
    pub(super) fn run(&self, variant: Variant, tensors: &[&Tensor], params: &[u32], count: Groups) -> Result<()> {
        self.gpu.dispatch(&self.shaders.get(variant), tensors, params, count)
    }

    /// Records a run of a shader that refuses some elements with this error, which it declares last of all.
    #[track_caller]
    pub(super) fn run_refusing(
        &self,
        refusal: Refusal,
        variant: Variant,
        tensors: &[&Tensor],
        params: &[u32],
        count: Groups,
    ) -> Result<()> {
        let mut tensors: SmallVec<[&Tensor; 8]> = SmallVec::from_slice(tensors);
        tensors.push(self.gpu.refusals()?);
        let mut params: SmallVec<[u32; 16]> = SmallVec::from_slice(params);
        params.push(refusal.number());
        self.run(variant, &tensors, &params, count)
    }

    /// The tensor that becomes of `input`, for output `index`.
    pub(super) fn arranged(&self, ctx: &RawContext<'_>, index: usize, input: Tensor, to: Rearranged) -> Result<Tensor> {
        let Rearranged { shape, elements } = to;
        let copy = match elements {
            Elements::Same => return input.reshaped(shape),
            // No buffer begins within another.
            Elements::Rows(rows) => {
                let row: usize = input.shape()[1..].iter().product();
                StridedCopy::new(0, rows.start * row).step(rows.len() * row, 1, 1)
            }
            Elements::Copied(copy) => copy,
        };
        let output = self.output(ctx, index, shape)?;
        copy.run(self, &output, &input)?;
        Ok(output)
    }

    /// Sets output 0 to what becomes of input `index`.
    pub(super) fn rearrange(&self, ctx: &mut RawContext<'_>, index: usize, to: Rearranged) -> Result<()> {
        let input = ctx.take_input_at(index)?;
        let output = self.arranged(ctx, 0, input, to)?;
        ctx.set_output_at(0, output)
    }

    /// A tensor for an output, with arbitrary elements.
    #[track_caller]
    pub(super) fn output(&self, ctx: &RawContext<'_>, index: usize, shape: impl Into<Shape>) -> Result<Tensor> {
        self.gpu.allocate_output(ctx, index, shape)
    }
}

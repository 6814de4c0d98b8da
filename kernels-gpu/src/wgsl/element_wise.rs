//! The kernel that runs a [`Source`] of which each element of the result is a function of elements.

use std::marker::PhantomData;

use kernlink::error::Result;
use kernlink::kernel::shader::{Source, WgslKernel};
use kernlink::kernel::{self, DynKernel, KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::op::Op;

use super::kernel::{attr_words, dtypes};
use super::source::Assembly;
use crate::element_wise;
use crate::refusal::Refusal;

/// A kernel of which only a function of elements is written, for one node.
pub struct ElementWise<K, O> {
    runner: Runner,
    kernel: PhantomData<fn() -> (K, O)>,
}

impl<K: WgslKernel<O>, O: Op> OpKernel<O> for ElementWise<K, O> {
    const ELEMENT_WISE: Option<kernel::ElementWise> = match K::ELEMENT_WISE {
        Some((meet, parameter)) => Some(kernel::ElementWise {
            parameter,
            meet,
            function: |inputs, output| Assembly(K::source()).function_of(inputs, output)?.joins(),
        }),
        None => None,
    };

    fn new(ctx: &KernelConstruction<'_, O>) -> Result<ElementWise<K, O>> {
        Ok(ElementWise { runner: Runner::new(K::source(), ctx)?, kernel: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.runner.compute(ctx)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// The same of any op.
pub(super) struct Runner {
    function: element_wise::ElementWise,
    params: Vec<u32>,
}

impl Runner {
    pub(super) fn new(source: &'static Source, raw: &RawConstruction<'_>) -> Result<Runner> {
        let function = Assembly(source).checked_function(&dtypes(source, raw.attrs)?)?;
        let refusal = source.refusal.filter(|_| function.refuses());
        let refusal = refusal.map(|(code, message)| Refusal::new(raw, code, message));
        Ok(Runner {
            function: element_wise::ElementWise::new(function, refusal),
            params: attr_words(source, raw.attrs)?,
        })
    }
}

impl DynKernel for Runner {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.function.compute(ctx, &self.params)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

//! The kernel that runs a [`Source`] of which each element of the result is a function of elements.

use std::marker::PhantomData;

use kernlink::error::Result;
use kernlink::kernel::{self, KernelConstruction, KernelContext, OpKernel};
use kernlink::op::Op;

use super::WgslKernel;
use super::kernel::{attr_words, dtypes};
use crate::element_wise;
use crate::refusal::Refusal;

/// A kernel of which only a function of elements is written, for one node.
pub struct ElementWise<K, O> {
    function: element_wise::ElementWise,
    params: Vec<u32>,
    kernel: PhantomData<fn() -> (K, O)>,
}

impl<K: WgslKernel<O>, O: Op> OpKernel<O> for ElementWise<K, O> {
    const ELEMENT_WISE: Option<kernel::ElementWise> = match K::ELEMENT_WISE {
        Some((meet, parameter)) => Some(kernel::ElementWise {
            parameter,
            meet,
            function: |inputs, output| K::source().function_of(inputs, output)?.joins(),
        }),
        None => None,
    };

    fn new(ctx: &KernelConstruction<'_, O>) -> Result<ElementWise<K, O>> {
        let source = K::source();
        let function = source.checked_function(&dtypes(source, ctx.attrs)?)?;
        let refusal = source.refusal.filter(|_| function.refuses());
        let refusal = refusal.map(|(code, message)| Refusal::new(ctx, code, message));
        Ok(ElementWise {
            function: element_wise::ElementWise::new(function, refusal),
            params: attr_words(source, ctx.attrs)?,
            kernel: PhantomData,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.function.compute(ctx, &self.params)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

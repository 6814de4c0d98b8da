//! Add of strings: concatenation.

use kernlink::Result;
use kernlink::dtype::TString;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_macros::register_kernel;
use kernlink_ops::Add;

use super::binary::LIMIT;
use super::objects;

struct AddStrings;

#[register_kernel(device = Cpu, T = [string])]
impl OpKernel<Add> for AddStrings {
    fn new(_ctx: &KernelConstruction<'_, Add>) -> Result<Self> {
        Ok(AddStrings)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Add>) -> Result<()> {
        objects::zip(ctx, LIMIT, |x: &TString, y: &TString| TString::from([x.as_bytes(), y.as_bytes()].concat()))
    }
}

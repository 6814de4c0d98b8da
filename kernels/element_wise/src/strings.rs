//! Add of strings: concatenation.

use kernlink::Result;
use kernlink::dtype::TString;
use kernlink::kernel::KernelContext;
use kernlink_macros::register_kernel;
use kernlink_ops::Add;

use super::binary::LIMIT;
use super::objects;

#[register_kernel(device = Cpu, T = [string])]
fn add_strings(ctx: &mut KernelContext<'_, Add>) -> Result<()> {
    objects::zip(ctx, LIMIT, |x: &TString, y: &TString| TString::from([x.as_bytes(), y.as_bytes()].concat()))
}

//! Add of strings: concatenation.

use std::cell::RefCell;

use kernlink::Result;
use kernlink::dtype::TString;
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink_macros::register_kernel;
use kernlink_ops::Add;

use super::binary::LIMIT;
use super::objects;

#[register_kernel(device = Cpu, T = [string])]
fn add_strings(ctx: &mut KernelContext<'_, Add>) -> Result<()> {
    // The first string that there is no memory for.
    let failure = RefCell::new(None);
    let joined = |x: &TString, y: &TString| scratch::joined(&[x, y]).map(TString::from);
    objects::zip(ctx, LIMIT, |x: &TString, y: &TString| {
        joined(x, y).unwrap_or_else(|error| {
            failure.borrow_mut().get_or_insert(error);
            TString::default()
        })
    })?;
    failure.into_inner().map_or(Ok(()), Err)
}

//! Attrs that are bytes: what is not UTF-8 goes into outputs as it is.

use kernlink::attr::AttrValue;
use kernlink::dtype::TString;
use kernlink::error::{Error, Result};
use kernlink::kernel::RawConstruction;

/// The bytes of a string attr, which the field of a kernel's attrs has only as far as they are UTF-8.
pub(crate) fn bytes_of(ctx: &RawConstruction<'_>, attr: &str) -> Result<TString> {
    match ctx.attrs.get(attr) {
        Some(AttrValue::String(text)) => Ok(text.clone()),
        _ => Err(Error::internal(format!("op {} has no string attr `{attr}`", ctx.op.name))),
    }
}

//! The ops of [`ops`](crate::ops), offered by this program to itself: as a library does that Kernlink loads.

use std::sync::{Arc, OnceLock};

use kernlink::Result;
use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::Device;
use kernlink::kernel::Provider;
use kernlink::registry::Registry;
use kernlink::runtime::run_op;
use kernlink::tensor::Tensor;
use kernlink_library::guest::{HostKind, offer_by};
pub(crate) use kernlink_library::host::find as lookup;
use kernlink_library::host::registration::collect;

/// A registry with what the library offered, and what it said to the user.
pub(crate) fn load(provider: &'static Provider, kind: HostKind) -> &'static (Arc<Registry>, String) {
    static LOADED: OnceLock<(Arc<Registry>, String)> = OnceLock::new();
    LOADED.get_or_init(|| {
        let registry = Arc::new(Registry::from_ops([]).unwrap());
        // SAFETY: the functions are those of the list.
        let (said, batch) = collect(|| unsafe { offer_by(provider, kind, lookup) });
        batch.commit(&registry).unwrap();
        (registry, said.unwrap())
    })
}

/// Runs an op of the registry on a device.
pub(crate) fn run(
    registry: &Arc<Registry>,
    device: &dyn Device,
    op: &str,
    attrs: &[(&str, AttrValue)],
    inputs: Vec<Tensor>,
) -> Result<Vec<Tensor>> {
    let attrs = attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<AttrMap>();
    run_op(registry, device, op, attrs, inputs)
}

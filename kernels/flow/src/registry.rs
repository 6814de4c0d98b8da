//! Kernels that act on the registry itself.

use std::sync::Arc;

use kernlink::dtype::TString;
use kernlink::error::{Error, Result, shortened_bytes};
use kernlink::kernel::KernelContext;
use kernlink::registry::{KernelFilter, Registry};
use kernlink_macros::register_kernel;
use kernlink_ops::RemoveKernel;

/// The bytes of a name of kernels, at most: what is said of it, too, takes little memory.
const MOST: usize = 1024;

#[register_kernel(device = Cpu, system, state = |ctx| Ok(ctx.registry.clone()))]
fn remove_kernel(registry: &Arc<Registry>, ctx: &mut KernelContext<RemoveKernel>) -> Result<()> {
    registry.check_change_by_graph()?;
    let names = ctx.input(RemoveKernel::NAMES)?.clone();
    let mut statuses = ctx.allocate_output(RemoveKernel::STATUSES, names.shape().clone())?;
    for (name, status) in names.as_slice::<TString>()?.iter().zip(statuses.as_mut_slice::<TString>()?) {
        let removed = if name.len() <= MOST {
            name.to_string_lossy().parse::<KernelFilter>().and_then(|filter| registry.remove_kernels(&filter))
        } else {
            let name = shortened_bytes(name);
            Err(Error::invalid_argument(format!("`{name}` names no kernels: more than {MOST} bytes are no op")))
        };
        *status = match removed {
            Ok(_) => "OK".into(),
            Err(error) => format!("{}: {}", error.code(), error.message()).into(),
        };
    }
    ctx.set_output(RemoveKernel::STATUSES, statuses)
}

//! Variables on the device: adding to them, and steps of optimisers. Their values are changed in place if nobody else
//! holds them. Handles, reading and assigning are with the kernels for the processor, which serve all devices.

mod accumulate;
mod apply;
pub(crate) mod place;

//! What a session does beyond computing: kernels that wait, timeouts, cancellation, devices, functions that call
//! themselves, loops without end.

mod endless;
mod functions;
mod graphs;
mod kernels;
mod placement;
mod runs;
mod waiting;

kernlink::provider!(ops = 6, kernels = 6);

//! Kernels of which only the shader is written: `#[register_kernel(device = Gpu, wgsl = "file.wgsl", ...)]`.
//!
//! ```ignore
//! #[register_kernel(device = Gpu, op = ZeroOut, T = [f32, i32], wgsl = "zero_out.wgsl", params = [preserve_index])]
//! struct ZeroOutOnGpu;
//! ```
//!
//! ```wgsl
//! // zero_out.wgsl
//! fn element(i: u32) {
//!     zeroed[i] = select(T(), to_zero[i], i == u32(params.preserve_index));
//! }
//! ```
//!
//! What the shader finds declared:
//!
//! - the op's inputs, but those in host memory, and its outputs: arrays of scalars by their names, or of vectors of four
//!   if `vectors` lists them. Outputs can be read, too, and hold anything at first. A bool is a `u32`, 0 or 1.
//! - for each listed attr of dtypes an alias of its name, `T`, and one for the vector, `T4`. The shader is compiled once
//!   for each combination of dtypes. `f16` is enabled where a dtype is half, and the registration then requires `f16`, as
//!   it requires `i64` for int64.
//! - `params`, a struct with the parameters: those that are listed, and first those of the dispatch rule.
//! - `WORKGROUP`, the number of threads in a workgroup.
//!
//! What it has to define, by the dispatch rule:
//!
//! | rule | function | parameters |
//! |---|---|---|
//! | `elements("y")` | `fn element(i: u32)`, for each `i` below `params.count` | `count` |
//! | `elements("y", 4)` | `fn element(i: u32)`, for each `i` below a quarter of the elements, rounded up | `count` |
//! | `rows("x")` | `fn row(r: u32, lane: u32)`, by each of a workgroup's threads; barriers may stand in it | `count`, `row_length` |
//! | `tiles("y", 16, 16)` | `fn tile(batch: u32, row: u32, column: u32, lane: u32)`, likewise, for the tile that begins there; `TILE_ROWS` and `TILE_COLUMNS` are its size, and what is beyond `params.rows` and `params.columns` is to be left alone | `count`, `rows`, `columns` |
//! | a function | `@compute @workgroup_size(WORKGROUP) fn main(...)` | |
//!
//! A scalar counts as one element, one row, one tile. Shaders are compiled with checks of bounds, but what an access out of
//! bounds does differs from device to device.
//!
//! A [raw](Source::is_raw) shader declares all of that itself: `@group(0)`, bindings counted from 0, inputs first, the
//! parameters as a struct of 32-bit scalars in `var<immediate>`, and `main`.
//!
//! # When it is checked
//!
//! What the registration says of the op, and the capabilities that it names, are checked when it compiles. The attribute
//! does not know WGSL: for the shader it writes a test, which `cargo test` of the crate runs without a device. The same
//! [`check`] is made when the first kernel is made for a node, which is before anything runs. Errors name the file and the
//! line.

mod check;
mod element_wise;
mod kernel;
mod memory;
mod source;

#[cfg(test)]
pub(crate) use check::check_program;
pub use element_wise::ElementWise;
pub use kernel::Kernel;
pub(crate) use kernel::RUNNER;
pub use kernlink::kernel::shader::{
    Dispatch, IntoShapes, Launch, Made, Operands, Param, ParamType, ParamValue, RawLaunch, Source, WgslKernel, Word,
    groups, shapes, word,
};
pub(crate) use memory::Memory;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::op::Op;

use crate::shader::Program;
use source::Assembly;

/// The shader of a kernel for each combination of its dtypes, after a check that needs no device: it must be valid WGSL,
/// suit the op's inputs and outputs, and need nothing of the device that the registration does not require.
///
/// # Errors
/// INVALID_ARGUMENT with the file and the line of what is wrong.
pub fn programs<K: WgslKernel<O>, O: Op>() -> Result<Vec<Program>> {
    let source = Assembly(K::source());
    let programs = source.variants.iter().map(|dtypes| source.programs(dtypes));
    Ok(programs.collect::<Result<Vec<_>>>()?.concat())
}

/// The shader for a combination of dtypes; see [`programs`].
///
/// # Errors
/// See [`programs`].
pub fn program(source: &'static Source, dtypes: &[(&'static str, DataType)]) -> Result<Program> {
    Assembly(source).program(dtypes)
}

/// Checks the shader of a kernel for each combination of its dtypes; see [`programs`].
///
/// # Errors
/// See [`programs`].
pub fn check<K: WgslKernel<O>, O: Op>() -> Result<()> {
    let programs = programs::<K, O>()?;
    #[cfg(test)]
    programs.iter().for_each(crate::translation::translate);
    drop(programs);
    Ok(())
}

/// What the test that `programs = ...` writes checks of the shaders for some dtypes, without a device: that they are valid,
/// and compute with no dtype of which the registration does not require that the device knows it.
///
/// # Panics
/// If a shader is not.
pub fn check_programs(dtypes: &[DataType], requires: &[&str], programs: Result<Vec<Program>>) {
    let programs = programs.unwrap_or_else(|error| panic!("the shaders for {dtypes:?}: {}", error.message()));
    for program in &programs {
        check::check_program(program, requires).unwrap_or_else(|what| panic!("{dtypes:?}: {what}"));
        #[cfg(test)]
        crate::translation::translate(program);
    }
}

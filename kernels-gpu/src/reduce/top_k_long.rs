//! TopKV2 of many elements of long rows: the whole rows are sorted, some at a time.

use kernlink::error::Result;
use kernlink::tensor::Tensor;

use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::sort::{self, Keys};

/// The most entries that are sorted at once, if a row does not have more.
const MOST_ENTRIES: usize = 1 << 24;

fn keys_of(scalar: Scalar) -> Keys {
    if scalar == Scalar::I64 { Keys::Wide } else { Keys::Narrow }
}

/// The shader that makes entries of elements: the key of the greatest is the least, that of NaN the greatest. The two
/// zeros have one.
fn load(scalar: Scalar) -> Program {
    let program = Program::trusted("keys of TopKV2");
    let program = match scalar {
        Scalar::I64 => program.read_vectors("x", Scalar::U32, 2),
        scalar => program.read("x", scalar),
    };
    let program = keys_of(scalar).declare(program, "entries", true);
    program.words("padded columns row").compose(Entry::Elements, include_str!("top_k_load.wgsl"), scalar.names())
}

/// The shader that brings the elements to which the first entries belong.
fn store((scalar, places): (Scalar, Scalar)) -> Program {
    let program = Program::trusted("TopKV2 of what is sorted").alias("I", places).read("x", scalar);
    let program = keys_of(scalar).declare(program, "entries", false);
    let program = program.write("values", scalar).write("indices", places);
    program.words("padded columns row k").compose(Entry::Elements, include_str!("top_k_store.wgsl"), &[])
}

/// The first `k` elements of each row in their order.
pub(super) fn run(gpu: &GpuDevice, [input, values, indices]: [&Tensor; 3], columns: usize, k: usize) -> Result<()> {
    let (scalar, places) = (scalar_of(input.dtype())?, scalar_of(indices.dtype())?);
    let keys = keys_of(scalar);
    let (rows, padded) = (input.num_elements() / columns, sort::padded(columns));
    let at_once = (MOST_ENTRIES / padded).clamp(1, rows);
    let entries = sort::allocate(gpu, keys, at_once, padded)?;
    for row in (0..rows).step_by(at_once) {
        let lines = at_once.min(rows - row);
        let params = [padded, columns, row, k].map(|size| size as u32);
        gpu.run(load, scalar, &[input, &entries], &params[..3], Groups::Elements(lines * padded))?;
        sort::sort(gpu, keys, &entries, lines, padded)?;
        let tensors = [input, &entries, values, indices];
        gpu.run(store, (scalar, places), &tensors, &params, Groups::Elements(lines * k))?;
    }
    Ok(())
}

/// All programs for elements and places of these types.
pub(super) fn programs(scalar: Scalar, places: Scalar) -> Vec<Program> {
    let [near, far] = sort::programs(keys_of(scalar));
    vec![load(scalar), store((scalar, places)), near, far]
}

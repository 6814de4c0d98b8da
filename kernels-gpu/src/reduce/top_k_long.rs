//! TopKV2 of many elements of long rows: the whole rows are sorted, some at a time.

use std::sync::OnceLock;

use kernlink::error::Result;
use kernlink::tensor::Tensor;

use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::sort::{self, Keys, Sorter};

/// The most entries that are sorted at once, if a row does not have more.
const MOST_ENTRIES: usize = 1 << 24;

fn keys_of(scalar: Scalar) -> Keys {
    if scalar == Scalar::I64 { Keys::Wide } else { Keys::Narrow }
}

/// The shader that makes entries of elements: the key of the greatest is the least, that of NaN the greatest. The two
/// zeros have one.
fn load(scalar: Scalar) -> Program {
    let key = match scalar {
        Scalar::F32 | Scalar::F16 => {
            "let bits = bitcast<u32>(f32(x[at]));
    let magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return E(0xffffffffu, place);
    }
    if (bits == magnitude || magnitude == 0u) {
        return E(0x7fffffffu - magnitude, place);
    }
    return E(bits, place);"
        }
        Scalar::I32 => "return E(bitcast<u32>(x[at]) ^ 0x7fffffffu, place);",
        Scalar::I64 => "return E(x[at].y ^ 0x7fffffffu, ~x[at].x, place, 0u);",
        Scalar::U32 | Scalar::Bool => "return E(~x[at], place);",
    };
    let last = match keys_of(scalar) {
        Keys::Narrow => "E(0xffffffffu, place)",
        Keys::Wide => "E(0xffffffffu, 0xffffffffu, place, 0u)",
    };
    let body = format!(
        "fn entry_of(at: u32, place: u32) -> E {{
    {key}
}}
fn element(i: u32) {{
    let place = i & (params.padded - 1u);
    if (place < params.columns) {{
        entries[i] = entry_of((params.row + i / params.padded) * params.columns + place, place);
    }} else {{
        entries[i] = {last};
    }}
}}
"
    );
    let program = Program::trusted("keys of TopKV2");
    let program = match scalar {
        Scalar::I64 => program.read_vectors("x", Scalar::U32, 2),
        scalar => program.read("x", scalar),
    };
    let program = keys_of(scalar).declare(program, "entries", true);
    program.param("padded", "u32").param("columns", "u32").param("row", "u32").build(Entry::Elements, &body)
}

/// The shader that brings the elements to which the first entries belong.
fn store(scalar: Scalar, places: Scalar) -> Program {
    let body = "fn element(i: u32) {
    let line = i / params.k;
    let place = place_of(entries[line * params.padded + (i - line * params.k)]);
    let at = params.row * params.k + i;
    values[at] = x[(params.row + line) * params.columns + place];
    indices[at] = I(place);
}
";
    let program = Program::trusted("TopKV2 of what is sorted").alias("I", places).read("x", scalar);
    let program = keys_of(scalar).declare(program, "entries", false);
    let program = program.write("values", scalar).write("indices", places);
    ["padded", "columns", "row", "k"]
        .iter()
        .fold(program, |program, name| program.param(name, "u32"))
        .build(Entry::Elements, body)
}

/// Sorts long rows.
#[derive(Default)]
pub(super) struct Long {
    load: OnceLock<Shader>,
    sorter: OnceLock<Sorter>,
    store: OnceLock<Shader>,
}

impl Long {
    /// The first `k` elements of each row in their order.
    pub(super) fn run(
        &self,
        gpu: &GpuDevice,
        [input, values, indices]: [&Tensor; 3],
        [scalar, places]: [Scalar; 2],
        columns: usize,
        k: usize,
    ) -> Result<()> {
        let keys = keys_of(scalar);
        let load = self.load.get_or_init(|| Shader::new(load(scalar)));
        let sorter = self.sorter.get_or_init(|| Sorter::new(keys));
        let store = self.store.get_or_init(|| Shader::new(store(scalar, places)));
        let (rows, padded) = (input.num_elements() / columns, sort::padded(columns));
        let at_once = (MOST_ENTRIES / padded).clamp(1, rows);
        let entries = sort::allocate(gpu, keys, at_once, padded)?;
        for row in (0..rows).step_by(at_once) {
            let lines = at_once.min(rows - row);
            let params = [padded, columns, row, k].map(|size| size as u32);
            gpu.dispatch(load, &[input, &entries], &params[..3], Groups::Elements(lines * padded))?;
            sorter.sort(gpu, &entries, lines, padded)?;
            gpu.dispatch(store, &[input, &entries, values, indices], &params, Groups::Elements(lines * k))?;
        }
        Ok(())
    }
}

/// All programs for elements and places of these types.
pub(super) fn programs(scalar: Scalar, places: Scalar) -> [Program; 2] {
    [load(scalar), store(scalar, places)]
}

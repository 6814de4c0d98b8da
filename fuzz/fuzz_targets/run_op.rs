//! One op with attrs and inputs made from the bytes; see `tests/support/random_op.rs`.
#![no_main]

#[path = "../../tests/support/random_op.rs"]
#[allow(dead_code, reason = "shared with the test fuzz_ops")]
mod random_op;

use std::sync::LazyLock;

use kernlink::device::CpuDevice;
use libfuzzer_sys::fuzz_target;
use random_op::{Choices, Material};

static DEVICE: LazyLock<CpuDevice> = LazyLock::new(|| CpuDevice::new(1).expect("one thread"));

static MATERIAL: LazyLock<Material> = LazyLock::new(|| {
    let registry = kernlink::registry().expect("the registry is complete");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/data");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("golden data").flatten().map(|file| file.path()).collect();
    files.sort();
    let graphs = files.iter().map(|file| kernlink::proto::read_graph(file).expect("a graph"));
    let material = Material::new(&registry, graphs.flat_map(|graph| random_op::seeds(&graph)));
    // Ops write files whose names are among the choices.
    let scratch = std::env::temp_dir().join("kernlink-fuzz-run-op");
    std::fs::create_dir_all(&scratch).and_then(|()| std::env::set_current_dir(&scratch)).expect("a scratch folder");
    material
});

fuzz_target!(|bytes: &[u8]| {
    let registry = kernlink::registry().expect("the registry is complete");
    let mut pairs = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let mut draw = || pairs.next().unwrap_or(0);
    let mut choices = Choices(&mut draw);
    let Some(case) = random_op::random_case(&mut choices, &MATERIAL) else { return };
    if let Err(fault) = random_op::check(&case, &registry, &*DEVICE, &mut choices) {
        panic!("{case}\n{fault}");
    }
});

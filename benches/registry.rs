//! The registry: building it from what is linked, and finding kernels.

use divan::Bencher;
use kernlink::attr::AttrMap;
use kernlink::dtype::DataType;
use kernlink::kernel::CPU;
use kernlink::registry::{NodeQuery, Registry};

fn main() {
    divan::main();
}

/// Collects, sorts and checks everything that is linked.
#[divan::bench]
fn build(bencher: Bencher) {
    bencher.bench_local(|| Registry::linked(&[]).unwrap());
}

#[divan::bench(args = ["AddV2", "Cast", "Conv2D"])]
fn find(bencher: Bencher, op: &str) {
    look_up(bencher, op, DataType::Float, true);
}

/// A miss explains itself: why each kernel of the op does not match.
#[divan::bench(args = ["AddV2", "Conv2D"])]
fn miss(bencher: Bencher, op: &str) {
    look_up(bencher, op, DataType::Resource, false);
}

fn look_up(bencher: Bencher, op: &str, dtype: DataType, found: bool) {
    let registry = kernlink::registry().unwrap();
    let mut attrs = AttrMap::new();
    for attr in ["T", "SrcT", "DstT"] {
        attrs.insert(attr, dtype);
    }
    let query = NodeQuery { node: "node", op, attrs: &attrs, device: CPU, capabilities: &[] };
    assert_eq!(registry.find_kernel(query).is_ok(), found);
    bencher.bench_local(|| registry.find_kernel(query).is_ok());
}

/// A name that no op has: the error names the nearest ones.
#[divan::bench]
fn unknown_op(bencher: Bencher) {
    let registry = kernlink::registry().unwrap();
    bencher.bench_local(|| registry.op("Conv2d").is_err());
}

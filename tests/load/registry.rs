//! One registry that many threads read and change at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kernlink::attr::AttrMap;
use kernlink::collect;
use kernlink::kernel::{CPU, DynKernel, KernelDefBuilder, RawConstruction};
use kernlink::op::OpDef;
use kernlink::prelude::*;
use kernlink::registry::{KernelFilter, NodeQuery, Registry};

use super::alone;

fn named(name: &str) -> OpDef {
    OpDef { name: name.to_owned().into(), ..OpDef::EMPTY }
}

fn no_kernel(_: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
    Err(Error::unimplemented("nothing is run here"))
}

fn query<'a>(op: &'a str, attrs: &'a AttrMap) -> NodeQuery<'a> {
    NodeQuery { node: "node", op, attrs, device: CPU, capabilities: &[] }
}

fn of(dtype: DataType) -> AttrMap {
    let mut attrs = AttrMap::new();
    attrs.insert("T", dtype);
    attrs
}

/// How long the threads work; CI and a quick look need less than a proof does.
fn duration() -> Duration {
    let seconds = std::env::var("KERNLINK_STRESS_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or(2.0))
}

/// Eight threads look up, register, remove and restore at once: nothing is lost, half done, or stuck.
#[test]
fn many_threads() {
    let _turn = alone();
    // One kernel of MatMul for each dtype.
    let kernels = collect::linked_kernels().filter(|kernel| kernel.device == CPU && kernel.label.is_empty());
    let registry = Registry::new(collect::linked_ops(), kernels).unwrap();
    let end = Instant::now() + duration();
    let stop = AtomicBool::new(false);
    let counts: [AtomicUsize; 3] = Default::default();
    let replacement = KernelDefBuilder::new("MatMul", CPU).types("T", &[DataType::Float]).create(no_kernel);
    let plain = registry.find_kernel(query("MatMul", &of(DataType::Float))).unwrap();
    let built_in = KernelFilter::op("MatMul").dtype(DataType::Float);
    std::thread::scope(|scope| {
        // Four look up. The kernel for float is always one of two: it is replaced in one step, never missing.
        for _ in 0..4 {
            scope.spawn(|| {
                let (float, half) = (of(DataType::Float), of(DataType::Half));
                while !stop.load(Ordering::Relaxed) {
                    let found = registry.find_kernel(query("MatMul", &float)).expect("there is always one");
                    assert!(std::ptr::eq(found, plain) || std::ptr::eq(found, replacement));
                    assert!(registry.has_kernel(query("MatMul", &half)));
                    assert!(registry.op("MatMul").is_ok());
                    counts[0].fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // One replaces, again and again.
        scope.spawn(|| {
            registry.replace_kernels(&built_in, replacement).unwrap();
            while !stop.load(Ordering::Relaxed) {
                registry.replace_kernels(&built_in, replacement).unwrap();
                counts[1].fetch_add(1, Ordering::Relaxed);
            }
        });
        // One removes and restores kernels of another op; both must succeed each time.
        scope.spawn(|| {
            let filter = KernelFilter::op("Relu");
            let all = registry.kernels_of("Relu").len();
            while !stop.load(Ordering::Relaxed) {
                assert_eq!(registry.remove_kernels(&filter).unwrap(), all);
                assert!(registry.kernels_of("Relu").is_empty());
                assert_eq!(registry.restore_kernels(&filter).unwrap(), 1);
                assert_eq!(registry.kernels_of("Relu").len(), all);
                counts[1].fetch_add(1, Ordering::Relaxed);
            }
        });
        // Two register ops, and a kernel for each.
        for thread in 0..2 {
            let (registry, stop, counts) = (&registry, &stop, &counts);
            scope.spawn(move || {
                let mut number = 0;
                while !stop.load(Ordering::Relaxed) && number < 5_000 {
                    let name = format!("Stress{thread}x{number}");
                    registry.register_op(named(&name), None).unwrap();
                    registry.register_kernel(KernelDefBuilder::new(&name, CPU).create(no_kernel)).unwrap();
                    number += 1;
                }
                counts[2].fetch_add(number, Ordering::Relaxed);
                for number in 0..number {
                    let name = format!("Stress{thread}x{number}");
                    assert!(registry.op(&name).is_ok() && registry.kernels_of(&name).len() == 1, "{name} is lost");
                }
            });
        }
        let mut are_single = true;
        while are_single && Instant::now() < end {
            let kernels = registry.kernels_of("MatMul");
            are_single =
                kernels.iter().filter(|kernel| kernel.constraints[0].to_string() == "T in [float]").count() == 1;
            std::thread::sleep(Duration::from_millis(5));
        }
        stop.store(true, Ordering::Relaxed);
        assert!(are_single, "a kernel was missing, or there twice");
    });
    let [lookups, changes, registrations] = counts.map(AtomicUsize::into_inner);
    println!("{lookups} rounds of lookups, {changes} changes, {registrations} registrations of an op and its kernel");
    assert!(lookups > 0 && changes > 0 && registrations > 0);
    let stress = registry.ops().filter(|op| op.def.name.starts_with("Stress")).count();
    assert_eq!(stress, registrations, "entries are lost");
}

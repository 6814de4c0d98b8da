//! What ops keep from one run to the next, after memory was refused to one: whole, as before or as it should be.

use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::device::CpuDevice;
use kernlink::dtype::{DataType, TString};
use kernlink::graph::Graph;
use kernlink::proto::NodeDef;
use kernlink::runtime::Session;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

use crate::allocator::{self, watched};
use crate::support::{constant, graph, node};

/// Elements of a row that is large enough to be looked at.
const WIDTH: usize = allocator::LARGE / size_of::<i64>();

fn session(nodes: Vec<NodeDef>) -> Session {
    let graph = Graph::import(&graph(nodes), &kernlink::registry().unwrap()).unwrap();
    Session::on(graph, Arc::new(CpuDevice::new(1).unwrap()))
}

fn placeholder(name: &str, dtype: DataType) -> NodeDef {
    node(name, "Placeholder", &[], &[("dtype", AttrValue::Type(dtype))])
}

fn shape(dims: &[usize]) -> AttrValue {
    AttrValue::Shape(PartialShape::from(Shape::from(dims)))
}

/// Runs `act` on what `make` made, with each of its requests refused in turn and at last with none; then `check`, which
/// hears whether `act` failed.
fn with_each_refused<S>(make: impl Fn() -> S, act: impl Fn(&S) -> Result<()>, check: impl Fn(&S, bool)) {
    for grants in 0.. {
        let state = make();
        let (result, found) = watched(Some(grants), || act(&state));
        let failed = result.is_err();
        if let Err(error) = result {
            assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
        }
        // A session asks for memory, too: as much as its graph needs.
        let places = crate::by_place(&found);
        let kernels: Vec<_> = places.iter().filter(|(place, _)| place.contains("kernlink_kernels")).collect();
        assert!(kernels.is_empty(), "memory that cannot be refused: {kernels:?}");
        check(&state, failed);
        if !found.refused {
            assert!(!failed && grants > 0, "nothing was refused");
            return;
        }
    }
}

/// Rows of as many equal elements: `first`, `first` + 1, ...
fn rows(first: i64, count: usize, width: usize) -> Tensor {
    let elements: Vec<i64> = (0..count * width).map(|index| first + (index / width) as i64).collect();
    Tensor::from_elements([count, width], &elements).unwrap()
}

/// A table whose keys and values are rows; 0 and 1 are no keys, and the default is −1.
fn table() -> Session {
    let types = [("Tin", AttrValue::Type(DataType::Int64)), ("Tout", AttrValue::Type(DataType::Int64))];
    let made = [
        ("key_dtype", AttrValue::Type(DataType::Int64)),
        ("value_dtype", AttrValue::Type(DataType::Int64)),
        ("value_shape", shape(&[WIDTH])),
        ("initial_num_buckets", AttrValue::Int(16)),
    ];
    let exported = [("Tkeys", types[0].1.clone()), ("Tvalues", types[0].1.clone())];
    let key = |name, key| constant(name, rows(key, 1, WIDTH).reshaped([WIDTH]).unwrap());
    session(vec![
        key("empty", 0),
        key("deleted", 1),
        key("default", -1),
        node("table", "MutableDenseHashTableV2", &["empty", "deleted"], &made),
        placeholder("keys", DataType::Int64),
        placeholder("values", DataType::Int64),
        node("insert", "LookupTableInsertV2", &["table", "keys", "values"], &types),
        node("remove", "LookupTableRemoveV2", &["table", "keys"], &types[..1]),
        node("find", "LookupTableFindV2", &["table", "keys", "default"], &types),
        node("export", "LookupTableExportV2", &["table"], &exported),
        node("size", "LookupTableSizeV2", &["table"], &[]),
    ])
}

/// Inserts so many keys from `first` on, each with a value that is larger by 100.
fn insert(first: i64, count: usize) -> impl Fn(&Session) -> Result<()> {
    let feeds = [("keys", rows(first, count, WIDTH)), ("values", rows(first + 100, count, WIDTH))];
    move |table| table.run(&feeds, &[], &["insert"]).map(drop)
}

/// The keys from 2 to 11 that there are. Each has its value, and what the table exports are these.
fn keys_of(table: &Session) -> Vec<i64> {
    let found = table.run(&[("keys", rows(2, 10, WIDTH))], &["find"], &[]).unwrap().remove(0);
    let found = found.as_slice::<i64>().unwrap().chunks(WIDTH).enumerate();
    let mut there = Vec::new();
    for (row, value) in found {
        let (key, value) = (row as i64 + 2, value[0]);
        assert!(value == -1 || value == key + 100, "key {key} has {value}");
        if value != -1 {
            there.push(key);
        }
    }
    let exported = table.run(&[], &["export:0", "export:1", "size"], &[]).unwrap();
    let firsts = |tensor: &Tensor| tensor.as_slice::<i64>().unwrap().iter().step_by(WIDTH).copied().collect::<Vec<_>>();
    // Free buckets are exported, too.
    let pairs = firsts(&exported[0]).into_iter().zip(firsts(&exported[1]));
    let mut pairs: Vec<_> = pairs.filter(|&(key, _)| key > 1).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, there.iter().map(|key| (*key, key + 100)).collect::<Vec<_>>());
    assert_eq!(exported[2].to_scalar::<i64>().unwrap(), there.len() as i64);
    there
}

fn tables() {
    let all = |last: i64| (2..=last).collect::<Vec<_>>();
    let first = [("keys", rows(2, 3, WIDTH))];
    with_each_refused(
        || {
            let table = table();
            insert(2, 3)(&table).unwrap();
            table
        },
        insert(5, 7),
        |table, failed| {
            let there = keys_of(table);
            assert_eq!(there, all(there.len() as i64 + 1), "one after the other");
            assert_eq!(failed, there.len() < 10, "{there:?}");
            insert(2, 10)(table).unwrap();
            assert_eq!(keys_of(table), all(11));
        },
    );
    with_each_refused(
        || {
            let table = table();
            insert(2, 10)(&table).unwrap();
            table
        },
        |table| table.run(&first, &[], &["remove"]).map(drop),
        |table, failed| {
            let there = keys_of(table);
            assert!(there.ends_with(&[5, 6, 7, 8, 9, 10, 11]) && failed == (there.len() > 7), "{there:?}");
            insert(2, 10)(table).unwrap();
            assert_eq!(keys_of(table), all(11));
        },
    );
}

/// So many components that an element is large enough to be looked at.
const COMPONENTS: usize = 100;

fn barriers() {
    const KEYS: usize = 3;
    let types = || AttrValue::ListType(vec![DataType::Int64; COMPONENTS]);
    let scalars = AttrValue::ListShape(vec![PartialShape::from(Shape::scalar()); COMPONENTS]);
    let keys: Vec<TString> = (0..KEYS).map(|key| TString::from(format!("key {key}"))).collect();
    let mut nodes = vec![
        node("barrier", "Barrier", &[], &[("component_types", types()), ("shapes", scalars)]),
        constant("keys", Tensor::vector(&keys).unwrap()),
        constant("values", Tensor::vector(&[7i64; KEYS]).unwrap()),
        constant("count", Tensor::scalar(KEYS as i32)),
        node("take", "BarrierTakeMany", &["barrier", "count"], &[("component_types", types())]),
        node("ready", "BarrierReadySize", &["barrier"], &[]),
        node("incomplete", "BarrierIncompleteSize", &["barrier"], &[]),
    ];
    for component in 0..COMPONENTS {
        let attrs = [("T", AttrValue::Type(DataType::Int64)), ("component_index", AttrValue::Int(component as i64))];
        nodes.push(node(&format!("put{component}"), "BarrierInsertMany", &["barrier", "keys", "values"], &attrs));
    }
    with_each_refused(
        || {
            let session = session(nodes.clone());
            (1..COMPONENTS).for_each(|put| drop(session.run(&[], &[], &[&format!("put{put}")]).unwrap()));
            session
        },
        |session| session.run(&[], &[], &["put0"]).map(drop),
        |session, failed| {
            // A key whose element is complete begins another; an element that is not takes its component.
            session.run(&[], &[], &["put0"]).unwrap();
            let sizes = session.run(&[], &["ready", "incomplete"], &[]).unwrap();
            let [ready, incomplete] = [0, 1].map(|size| sizes[size].to_scalar::<i32>().unwrap() as usize);
            if failed {
                assert_eq!(ready + incomplete, KEYS, "{ready} are ready");
            } else {
                assert_eq!((ready, incomplete), (KEYS, KEYS));
                let taken = session.run(&[], &["take:1", "take:101"], &[]).unwrap();
                assert_eq!(taken[1].as_slice::<i64>().unwrap(), [7; KEYS]);
                assert_eq!(taken[0].as_slice::<TString>().unwrap(), keys);
            }
        },
    );
}

fn accumulators() {
    const SLICES: usize = 1000;
    let float = || AttrValue::Type(DataType::Float);
    let attrs = [("dtype", float()), ("shape", shape(&[2 * SLICES, 1])), ("reduction_type", "SUM".into())];
    let even: Vec<i64> = (0..SLICES as i64).map(|index| index * 2).collect();
    let third: Vec<i64> = (0..SLICES as i64 / 2).map(|index| index * 3).collect();
    let ones = |indices: &[i64]| Tensor::from_elements([indices.len(), 1], &vec![1f32; indices.len()]).unwrap();
    let apply = [("dtype", float()), ("has_known_shape", AttrValue::Bool(false))];
    let nodes = [
        node("accumulator", "SparseConditionalAccumulator", &[], &attrs),
        constant("step", Tensor::scalar(0i64)),
        constant("one", Tensor::scalar(1i32)),
        constant("no_shape", Tensor::from_elements([0], &[0i64; 0]).unwrap()),
        constant("even", Tensor::vector(&even).unwrap()),
        constant("third", Tensor::vector(&third).unwrap()),
        constant("evens", ones(&even)),
        constant("thirds", ones(&third)),
        node("first", "SparseAccumulatorApplyGradient", &["accumulator", "step", "even", "evens", "no_shape"], &apply),
        node(
            "second",
            "SparseAccumulatorApplyGradient",
            &["accumulator", "step", "third", "thirds", "no_shape"],
            &apply,
        ),
        node("take", "SparseAccumulatorTakeGradient", &["accumulator", "one"], &[("dtype", float())]),
    ];
    with_each_refused(
        || {
            let session = session(nodes.to_vec());
            session.run(&[], &[], &["first"]).unwrap();
            session
        },
        |session| session.run(&[], &[], &["second"]).map(drop),
        |session, failed| {
            let sum = session.run(&[], &["take:0", "take:1"], &[]).unwrap();
            let (indices, values) = (sum[0].as_slice::<i64>().unwrap(), sum[1].as_slice::<f32>().unwrap());
            let gradients = if failed { &[&even][..] } else { &[&even, &third] };
            let mut all: Vec<i64> = gradients.iter().flat_map(|indices| indices.iter().copied()).collect();
            let times = |index: &i64| gradients.iter().filter(|indices| indices.contains(index)).count() as f32;
            all.sort_unstable();
            all.dedup();
            assert_eq!(values, all.iter().map(times).collect::<Vec<_>>());
            assert_eq!(indices, all);
        },
    );
}

fn queues() {
    const ELEMENTS: i64 = 400;
    let int64 = || AttrValue::Type(DataType::Int64);
    let types = || AttrValue::ListType(vec![DataType::Int64]);
    let shared = |op: &str, others: &[&str]| {
        let attrs = [("dtypes", types()), ("shared_name", "area".into()), ("fake_dtypes", types())];
        node(&op.to_lowercase(), op, others, &attrs[..if op == "OrderedMapStage" { 3 } else { 2 }])
    };
    let nodes = [
        placeholder("value", DataType::Int64),
        constant("first", Tensor::vector(&[0i32]).unwrap()),
        constant("most", Tensor::scalar(-1i32)),
        shared("Stage", &["value"]),
        shared("StageSize", &[]),
        shared("Unstage", &[]),
        shared("OrderedMapStage", &["value", "first", "value"]),
        shared("OrderedMapSize", &[]),
        shared("OrderedMapUnstageNoKey", &["first"]),
    ];
    // The lowest key comes first, the oldest element, too.
    for (put, size, take) in
        [("stage", "stagesize", "unstage"), ("orderedmapstage", "orderedmapsize", "orderedmapunstagenokey:1")]
    {
        with_each_refused(
            || session(nodes.to_vec()),
            |area| {
                (0..ELEMENTS).try_for_each(|value| area.run(&[("value", Tensor::scalar(value))], &[], &[put]).map(drop))
            },
            |area, failed| {
                let count = area.run(&[], &[size], &[]).unwrap()[0].to_scalar::<i32>().unwrap();
                assert_eq!(failed, i64::from(count) < ELEMENTS, "{put}: {count}");
                for value in 0..count {
                    let taken = area.run(&[], &[take], &[]).unwrap()[0].to_scalar::<i64>().unwrap();
                    assert_eq!(taken, i64::from(value), "{put}");
                }
            },
        );
    }
    let stack = [
        constant("most", Tensor::scalar(-1i32)),
        node("stack", "StackV2", &["most"], &[("elem_type", int64())]),
        placeholder("handle", DataType::Resource),
        placeholder("value", DataType::Int64),
        node("push", "StackPushV2", &["handle", "value"], &[("T", int64())]),
        node("pop", "StackPopV2", &["handle"], &[("elem_type", int64())]),
    ];
    with_each_refused(
        || {
            let session = session(stack.to_vec());
            let handle = session.run(&[], &["stack"], &[]).unwrap().remove(0);
            (session, handle, std::sync::atomic::AtomicI64::new(0))
        },
        |(session, handle, pushed)| {
            (0..ELEMENTS).try_for_each(|value| {
                session.run(&[("handle", handle.clone()), ("value", Tensor::scalar(value))], &[], &["push"])?;
                pushed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(())
            })
        },
        |(session, handle, pushed), _| {
            for value in (0..pushed.load(std::sync::atomic::Ordering::Relaxed)).rev() {
                let popped = session.run(&[("handle", handle.clone())], &["pop"], &[]).unwrap();
                assert_eq!(popped[0].to_scalar::<i64>().unwrap(), value);
            }
            session.run(&[("handle", handle.clone())], &["pop"], &[]).unwrap_err();
        },
    );
}

#[test]
#[ignore = "`what_ops_keep_is_whole_after_a_refusal` runs it in a process of its own"]
fn refusals_of_what_ops_keep() {
    if std::env::var_os(crate::ALONE).is_none() {
        return;
    }
    tables();
    barriers();
    accumulators();
    queues();
}

#[test]
fn what_ops_keep_is_whole_after_a_refusal() {
    let output = crate::alone("state::refusals_of_what_ops_keep", &[]).join().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{said}", output.status);
    assert!(said.contains("1 passed"), "it ran: {said}");
}

//! Variables under use: what is changed in place, what stays as it was read, and many threads at once.

use std::thread;

use crate::support::{constant, graph, node};
use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::proto::NodeDef;
use kernlink::resource::Variable;
use kernlink::runtime::{Session, SessionOptions};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

const FLOAT: AttrValue = AttrValue::Type(DataType::Float);
/// Enough elements for several threads to share.
const COUNT: usize = 100_000;

fn session(nodes: Vec<NodeDef>) -> Session {
    let graph = Graph::import(&graph(nodes), &kernlink::registry().unwrap()).unwrap();
    let mut options = SessionOptions::default();
    options.threads = 2;
    Session::with_options(graph, &options).unwrap()
}

fn handle(name: &str, shared_name: &str) -> NodeDef {
    let shape = AttrValue::Shape(PartialShape::unknown());
    node(name, "VarHandleOp", &[], &[("dtype", FLOAT), ("shape", shape), ("shared_name", shared_name.into())])
}

fn reference(name: &str) -> NodeDef {
    let shape = AttrValue::Shape(PartialShape::from_dims(&[COUNT as i64]).unwrap());
    node(name, "VariableV2", &[], &[("dtype", FLOAT), ("shape", shape)])
}

fn typed(name: &str, op: &str, inputs: &[&str]) -> NodeDef {
    let attr = if op.ends_with("VariableOp") || op.starts_with("ResourceScatter") { "dtype" } else { "T" };
    let mut attrs = vec![(attr, FLOAT)];
    if op.contains("Scatter") {
        attrs.push(("Tindices", AttrValue::Type(DataType::Int32)));
    }
    node(name, op, inputs, &attrs)
}

/// Nodes `NAME_start` that fill a variable, each of its own tensor.
fn start(name: &str, is_reference: bool, value: f32) -> Vec<NodeDef> {
    let (filled, dims, first) = (format!("{name}_filled"), format!("{name}_dims"), format!("{name}_first"));
    let fill = [("T", FLOAT), ("index_type", AttrValue::Type(DataType::Int32))];
    vec![
        if is_reference { reference(name) } else { handle(name, name) },
        constant(&dims, Tensor::vector(&[COUNT as i32]).unwrap()),
        constant(&first, Tensor::scalar(value)),
        node(&filled, "Fill", &[&dims, &first], &fill),
        typed(&format!("{name}_start"), if is_reference { "Assign" } else { "AssignVariableOp" }, &[name, &filled]),
    ]
}

fn ones() -> NodeDef {
    constant("ones", Tensor::from_elements([COUNT], &vec![1f32; COUNT]).unwrap())
}

/// Where a variable's elements are, and the last of them.
fn look(session: &Session, name: &str) -> (usize, f32) {
    let variable = session.resources().lookup::<Variable>("", name).unwrap();
    let value = variable.lock();
    let elements = value.as_ref().unwrap().as_slice::<f32>().unwrap();
    (elements.as_ptr().addr(), elements[COUNT - 1])
}

#[test]
fn a_step_changes_variables_in_place_and_leaves_what_was_read() {
    let mut nodes = [start("v", false, 2.0), start("m", false, 0.0), start("s", false, 0.0)].concat();
    nodes.push(ones());
    for (name, value) in [("p1", 0.9f32), ("p2", 0.99), ("lr", 0.1), ("b1", 0.9), ("b2", 0.99), ("eps", 1e-7)] {
        nodes.push(constant(name, Tensor::scalar(value)));
    }
    let inputs = ["v", "m", "s", "p1", "p2", "lr", "b1", "b2", "eps", "ones"];
    nodes.push(typed("step", "ResourceApplyAdam", &inputs));
    nodes.push(typed("read", "ReadVariableOp", &["v"]));
    let session = session(nodes);
    session.run(&[], &[], &["v_start", "m_start", "s_start"]).unwrap();
    let (first, _) = look(&session, "v");
    for _ in 0..3 {
        session.run(&[], &[], &["step"]).unwrap();
    }
    let (place, value) = look(&session, "v");
    assert_eq!(place, first);
    // The powers stand for the first step each time: the rate is sqrt(0.01) / 0.1 of `lr`, and the gradient is 1.
    let (mut m, mut v, mut expected) = (0f32, 0f32, 2f32);
    for _ in 0..3 {
        m += (1.0 - m) * 0.1;
        v += (1.0 - v) * 0.01;
        expected -= 0.1 * m / v.sqrt();
    }
    assert!((value - expected).abs() < 1e-5, "{value} instead of {expected}");

    let read = session.run(&[], &["read"], &[]).unwrap();
    session.run(&[], &[], &["step"]).unwrap();
    assert_ne!(look(&session, "v").0, first);
    assert_eq!(read[0].as_slice::<f32>().unwrap()[COUNT - 1], value);
    assert!(look(&session, "v").1 < value - 0.05);
}

#[test]
fn reference_variables_change_in_place_and_leave_what_was_read() {
    let mut nodes = start("v", true, 1.0);
    nodes.extend([ones(), typed("add", "AssignAdd", &["v", "ones"]), typed("read", "Identity", &["v"])]);
    let session = session(nodes);
    let last = |tensors: &[Tensor]| tensors[0].as_slice::<f32>().unwrap()[COUNT - 1];
    let place = |tensors: &[Tensor]| tensors[0].as_slice::<f32>().unwrap().as_ptr().addr();
    assert_eq!(session.run(&[], &["read"], &[]).unwrap_err().code(), Code::FailedPrecondition);
    session.run(&[], &[], &["v_start"]).unwrap();
    let first = place(&session.run(&[], &["read"], &[]).unwrap());
    session.run(&[], &[], &["add"]).unwrap();
    let read = session.run(&[], &["read"], &[]).unwrap();
    assert_eq!((place(&read), last(&read)), (first, 2.0));
    session.run(&[], &[], &["add"]).unwrap();
    assert_eq!(last(&read), 2.0);
    assert_eq!(last(&session.run(&[], &["v"], &[]).unwrap()), 3.0);
}

#[test]
fn no_update_of_many_threads_is_lost() {
    let mut nodes = [start("v", false, 0.0), start("r", true, 0.0)].concat();
    nodes.extend([
        ones(),
        constant("row", Tensor::vector(&[COUNT as i32 - 1]).unwrap()),
        constant("one", Tensor::scalar(1f32)),
    ]);
    nodes.push(typed("add", "AssignAddVariableOp", &["v", "ones"]));
    nodes.push(typed("scatter", "ResourceScatterAdd", &["v", "row", "one"]));
    nodes.push(typed("read", "ReadVariableOp", &["v"]));
    nodes.push(typed("add_r", "AssignAdd", &["r", "ones"]));
    nodes.push(typed("read_r", "Identity", &["r"]));
    let session = session(nodes);
    session.run(&[], &[], &["v_start", "r_start"]).unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    session.run(&[], &[], &["add", "scatter", "add_r"]).unwrap();
                    session.run(&[], &["read", "read_r"], &[]).unwrap();
                }
            });
        }
    });
    let read = session.run(&[], &["read", "read_r"], &[]).unwrap();
    let (v, r) = (read[0].as_slice::<f32>().unwrap(), read[1].as_slice::<f32>().unwrap());
    assert!(v[..COUNT - 1].iter().chain(r).all(|&element| element == 200.0));
    assert_eq!(v[COUNT - 1], 400.0);
}

#[test]
fn steps_that_take_the_same_variables_in_another_order_do_not_wait_for_each_other() {
    let mut nodes = [start("a", false, 0.0), start("b", false, 0.0)].concat();
    nodes.extend([ones(), constant("half", Tensor::scalar(0.5f32))]);
    nodes.push(typed("ab", "ResourceApplyMomentum", &["a", "b", "half", "ones", "half"]));
    nodes.push(typed("ba", "ResourceApplyMomentum", &["b", "a", "half", "ones", "half"]));
    nodes.push(typed("aa", "ResourceApplyMomentum", &["a", "a", "half", "ones", "half"]));
    let session = session(nodes);
    session.run(&[], &[], &["a_start", "b_start"]).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    session.run(&[], &[], &["ab", "ba"]).unwrap();
                }
            });
        }
    });
    let error = session.run(&[], &[], &["aa"]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("the same variable"), "{error}");
}

/// Rows of which each occurs twice, and so many that threads share them.
#[test]
fn rows_that_occur_twice_change_twice() -> Result<()> {
    let (rows, size) = (2000, COUNT / 2000);
    let indices: Vec<i32> = (0..2 * rows).map(|i| i * 7 % rows).collect();
    let matrix = [("Tshape", AttrValue::Type(DataType::Int32)), ("T", FLOAT)];
    let mut nodes = [start("v", false, 3.0), start("w", false, 0.0)].concat();
    nodes.extend([
        constant("matrix", Tensor::vector(&[rows, size as i32])?),
        node("v_matrix", "Reshape", &["v_filled", "matrix"], &matrix),
        node("w_matrix", "Reshape", &["w_filled", "matrix"], &matrix),
        typed("v_begin", "AssignVariableOp", &["v", "v_matrix"]),
        typed("w_begin", "AssignVariableOp", &["w", "w_matrix"]),
        constant("indices", Tensor::vector(&indices)?),
        constant("updates", Tensor::from_elements([2 * rows as usize, size], &vec![1f32; 2 * COUNT])?),
        constant("rate", Tensor::scalar(0.5f32)),
        typed("add", "ResourceScatterAdd", &["v", "indices", "updates"]),
        node(
            "step",
            "ResourceSparseApplyAdagrad",
            &["v", "w", "rate", "updates", "indices", "^add"],
            &[("T", FLOAT), ("Tindices", AttrValue::Type(DataType::Int32))],
        ),
    ]);
    let session = session(nodes);
    session.run(&[], &[], &["v_begin", "w_begin"])?;
    session.run(&[], &[], &["step"])?;
    let variable = session.resources().lookup::<Variable>("", "v")?;
    let expected = 3.0 + 2.0 - 0.5 / 1f32.sqrt() - 0.5 / 2f32.sqrt();
    for &element in variable.read()?.as_slice::<f32>()? {
        assert!((element - expected).abs() < 1e-6, "{element} instead of {expected}");
    }
    Ok(())
}

#[test]
fn several_handles_come_at_once() -> Result<()> {
    let (names, count) = (vec!["a".to_owned(), "b".to_owned()], AttrValue::Int(2));
    let dtypes = AttrValue::ListType(vec![DataType::Float; 2]);
    let shapes = AttrValue::ListShape(vec![PartialShape::unknown(); 2]);
    let session = session(vec![
        node(
            "handles",
            "_VarHandlesOp",
            &[],
            &[
                ("containers", vec![String::new(); 2].into()),
                ("shared_names", names.into()),
                ("N", count.clone()),
                ("dtypes", dtypes.clone()),
                ("shapes", shapes),
            ],
        ),
        constant("one", Tensor::scalar(1f32)),
        constant("two", Tensor::scalar(2f32)),
        typed("a_start", "AssignVariableOp", &["handles", "one"]),
        typed("b_start", "AssignVariableOp", &["handles:1", "two"]),
        node("read", "_ReadVariablesOp", &["handles:1", "handles"], &[("N", count), ("dtypes", dtypes)]),
    ]);
    assert_eq!(session.run(&[], &["read"], &[]).unwrap_err().code(), Code::FailedPrecondition);
    session.run(&[], &[], &["a_start", "b_start"])?;
    let read = session.run(&[], &["read", "read:1"], &[])?;
    assert_eq!((read[0].to_scalar::<f32>()?, read[1].to_scalar::<f32>()?), (2.0, 1.0));
    Ok(())
}

#[test]
fn a_variable_without_a_name_lives_as_long_as_its_handle() -> Result<()> {
    let mut assign = typed("assign", "AssignVariableOp", &["v", "one"]);
    assign.input.push("^is_initialized".to_owned());
    let nodes = vec![
        handle("v", "cd2c89b7-88b7-44c8-ad83-06c2a9158347"),
        constant("one", Tensor::scalar(1f32)),
        node("is_initialized", "VarIsInitializedOp", &["v"], &[]),
        assign,
        typed("read", "ReadVariableOp", &["v", "^assign"]),
        typed("read_only", "ReadVariableOp", &["v"]),
    ];
    let session = session(nodes);
    for _ in 0..2 {
        let fetched = session.run(&[], &["is_initialized", "read"], &[])?;
        assert!(!fetched[0].to_scalar::<bool>()?);
        assert_eq!(fetched[1].to_scalar::<f32>()?, 1.0);
    }
    assert_eq!(session.run(&[], &["read_only"], &[]).unwrap_err().code(), Code::FailedPrecondition);
    assert!(session.resources().list().is_empty());
    Ok(())
}

#[test]
fn sessions_share_variables_that_share_resources() -> Result<()> {
    let nodes = || {
        let mut nodes = start("v", false, 1.0);
        nodes.push(typed("read", "ReadVariableOp", &["v"]));
        nodes
    };
    let first = session(nodes());
    let graph = Graph::import(&graph(nodes()), &kernlink::registry()?)?;
    let mut options = SessionOptions::default();
    options.resources = Some(first.resources().clone());
    let second = Session::with_options(graph, &options)?;
    assert_eq!(second.run(&[], &["read"], &[]).unwrap_err().code(), Code::FailedPrecondition);
    first.run(&[], &[], &["v_start"])?;
    assert_eq!(second.run(&[], &["read"], &[])?[0].as_slice::<f32>()?[0], 1.0);
    Ok(())
}

#[test]
fn references_without_a_value_go_where_tensorflow_lets_them() {
    let dtype = |op: &str| if op == "IsVariableInitialized" { "dtype" } else { "T" };
    let plain = |name: &str, op: &str, inputs: &[&str]| node(name, op, inputs, &[(dtype(op), FLOAT)]);
    let several = |name: &str, op: &str, inputs: &[&str]| node(name, op, inputs, &[("T", FLOAT), ("N", 2.into())]);
    let nodes = vec![
        reference("v"),
        reference("w"),
        constant("true", Tensor::scalar(true)),
        constant("index", Tensor::scalar(1i32)),
        plain("switch", "RefSwitch", &["v", "true"]),
        plain("of_switch", "IsVariableInitialized", &["switch:1"]),
        plain("identity", "RefIdentity", &["v"]),
        plain("of_identity", "IsVariableInitialized", &["identity"]),
        several("merge", "RefMerge", &["v", "w"]),
        several("select", "RefSelect", &["index", "v", "w"]),
        node("enter", "RefEnter", &["v"], &[("T", FLOAT), ("frame_name", "f".into())]),
        plain("exit", "RefExit", &["enter"]),
    ];
    let session = session(nodes);
    for fetch in ["of_switch", "of_identity"] {
        assert!(!session.run(&[], &[fetch], &[]).unwrap()[0].to_scalar::<bool>().unwrap(), "{fetch}");
    }
    session.run(&[], &[], &["switch", "identity"]).unwrap();
    for target in ["merge", "select", "exit"] {
        let error = session.run(&[], &[], &[target]).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition, "{target}: {error}");
        assert!(error.message().contains("Attempting to use uninitialized value"), "{target}: {error}");
    }
    assert_eq!(session.run(&[], &["v"], &[]).unwrap_err().code(), Code::FailedPrecondition);
}

#[test]
fn a_fetched_reference_shows_the_updates_of_its_run() {
    let mut nodes = start("v", true, 1.0);
    nodes.extend([ones(), typed("add", "AssignAdd", &["v", "ones"])]);
    let session = session(nodes);
    session.run(&[], &[], &["v_start"]).unwrap();
    let last = |tensor: &Tensor| tensor.as_slice::<f32>().unwrap()[COUNT - 1];
    for expected in [2.0, 3.0] {
        let fetched = session.run(&[], &["v", "add"], &[]).unwrap();
        assert_eq!((last(&fetched[0]), last(&fetched[1])), (expected, expected));
    }
    // The run that is set up in parts reads as it hands the value out.
    let run = session.partial_run_setup(&[], &["v"], &[]).unwrap();
    assert_eq!(last(&run.run(&[], &["v"]).unwrap()[0]), 3.0);
}

/// TensorFlow 1's `with control_dependencies([assign_add(v, one)]): ...` of what was read from a variable before: the read
/// hands on the variable's memory, and the update shows in it.
#[test]
fn what_waits_for_an_update_sees_it_through_a_read() {
    let named = |name: &str, op: &str, inputs: &[&str]| node(name, op, inputs, &[("T", FLOAT)]);
    let session = session(vec![
        node("v", "VariableV2", &[], &[("dtype", FLOAT), ("shape", AttrValue::Shape(PartialShape::unknown()))]),
        constant("five", Tensor::scalar(5f32)),
        constant("one", Tensor::scalar(1f32)),
        named("start", "Assign", &["v", "five"]),
        named("read", "Identity", &["v"]),
        named("add", "AssignAdd", &["v", "one"]),
        named("same", "Identity", &["read", "^add"]),
        named("twice", "AddV2", &["read", "read", "^add"]),
        named("once_more", "AssignAdd", &["v", "one", "^same", "^twice"]),
        named("after", "AddV2", &["read", "one", "^once_more"]),
    ]);
    let error = session.run(&[], &["same"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    assert!(error.message().contains("Attempting to use uninitialized value v"), "{error}");
    session.run(&[], &[], &["start"]).unwrap();
    for step in 0..20 {
        let before = 5.0 + 2.0 * step as f32;
        let seen = session.run(&[], &["same", "twice", "after"], &[]).unwrap();
        let seen: Vec<f32> = seen.iter().map(|tensor| tensor.to_scalar().unwrap()).collect();
        assert_eq!(seen, [before + 1.0, 2.0 * (before + 1.0), before + 3.0]);
    }
}

/// As in TensorFlow, which refuses the run before any of it.
#[test]
fn what_is_fed_for_a_reference_can_be_read_and_not_changed() {
    let mut nodes = vec![reference("v"), ones()];
    nodes.push(typed("start", "Assign", &["v", "ones"]));
    nodes.push(typed("add", "AssignAdd", &["v", "ones"]));
    nodes.push(typed("gone", "AssignAdd", &["add", "ones"]));
    nodes.push(typed("read", "Identity", &["v"]));
    let session = session(nodes);
    session.run(&[], &[], &["start"]).unwrap();
    let fed = || Tensor::from_elements([COUNT], &vec![5f32; COUNT]).unwrap();
    let read = session.run(&[("v", fed())], &["read"], &[]).unwrap();
    assert_eq!(read[0].as_slice::<f32>().unwrap()[0], 5.0);
    for (feed, node) in [("v", "add"), ("add", "gone")] {
        for (fetches, targets) in [(vec![node], vec![]), (vec!["read"], vec![node])] {
            let error = session.run(&[(feed, fed())], &fetches, &targets).unwrap_err();
            assert_eq!(error.code(), Code::InvalidArgument);
            assert_eq!(error.node().unwrap().node, node);
            let message = format!("takes a variable, not the value that is fed for `{feed}`");
            assert!(error.message().contains(&message), "{error}");
        }
        let error = session.partial_run_setup(&[feed], &[node], &[]).err().unwrap();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    }
    let kept = session.run(&[], &["read"], &[]).unwrap();
    assert_eq!(kept[0].as_slice::<f32>().unwrap()[0], 1.0);
}

#[test]
fn products_and_convolutions_follow_their_variables() {
    const SHAPE: [usize; 2] = [200, 100];
    let filled =
        |shape: &[usize], value: f32| Tensor::from_elements(shape, &vec![value; shape.iter().product()]).unwrap();
    let session = session(vec![
        handle("w", "w"),
        handle("f", "f"),
        constant("w_first", filled(&SHAPE, 1.0)),
        constant("f_first", filled(&[1, 1, SHAPE[0], SHAPE[1]], 1.0)),
        constant("x", filled(&[8, SHAPE[0]], 1.0)),
        constant("images", filled(&[1, 2, 4, SHAPE[0]], 1.0)),
        typed("w_start", "AssignVariableOp", &["w", "w_first"]),
        typed("f_start", "AssignVariableOp", &["f", "f_first"]),
        typed("w_step", "AssignAddVariableOp", &["w", "w_first"]),
        typed("f_step", "AssignAddVariableOp", &["f", "f_first"]),
        typed("w_read", "ReadVariableOp", &["w"]),
        typed("f_read", "ReadVariableOp", &["f"]),
        typed("product", "MatMul", &["x", "w_read"]),
        node(
            "convolution",
            "Conv2D",
            &["images", "f_read"],
            &[("T", FLOAT), ("strides", AttrValue::from(vec![1i64; 4])), ("padding", "VALID".into())],
        ),
    ]);
    session.run(&[], &[], &["w_start", "f_start"]).unwrap();
    let mut value = 1.0;
    // As long as nobody writes the variables, what is made of them is kept; steps come after one run, or after several.
    for unchanged in [1, 4, 1, 1, 9, 2] {
        for _ in 0..unchanged {
            for tensor in session.run(&[], &["product", "convolution"], &[]).unwrap() {
                assert_eq!(tensor.as_slice::<f32>().unwrap(), [200.0 * value; 800]);
            }
        }
        session.run(&[], &[], &["w_step", "f_step"]).unwrap();
        value += 1.0;
    }
}

//! Element-wise functions that become one node compute what they would one by one, to the bit, and fail alike.

use std::collections::BTreeSet;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::graph::NodeBuilder;
use kernlink::kernel::KernelDef;
use kernlink::op::{ArgDef, ArgType};
use kernlink::optimize::{Ends, Optimizer, PASSES};
use kernlink::prelude::*;
use kernlink::registry::NodeQuery;

use crate::patches::{reads, text};
use crate::random_graphs::registry;

const PASS: &str = "fuse-element-wise";

/// Adds a node by the name of its op.
fn node(graph: &mut Graph, op: &str, inputs: &[Output], attrs: &[(&str, AttrValue)]) -> Result<Output> {
    let op = graph.registry().op(op)?.def;
    let mut builder = NodeBuilder::new(graph, op);
    inputs.iter().for_each(|&input| _ = builder.input(input));
    attrs.iter().for_each(|(name, value)| _ = builder.attr(name, value.clone()));
    Ok(Output { node: builder.build()?, index: 0 })
}

/// A graph of nodes of floats in a line each, `name = Op(inputs)`, with no kernels but the standard ones.
fn lines(text: &str) -> Graph {
    let def = crate::control_flow::lines::lines(text).to_def().unwrap();
    Graph::import(&def, registry()).unwrap()
}

/// What the pass alone makes of a graph, with pruning.
fn fused(mut graph: Graph, feeds: &[&str], fetches: &[&str]) -> Graph {
    let outputs = |names: &[&str]| names.iter().map(|name| graph.output(name).unwrap()).collect();
    let mut ends = Ends::new(outputs(feeds), outputs(fetches), Vec::new());
    let others = PASSES.iter().map(|pass| pass.name()).filter(|name| ![PASS, "prune"].contains(name));
    Optimizer::without(others).unwrap().optimize(&mut graph, &mut ends).unwrap();
    graph
}

/// The bytes of a tensor, with every NaN alike, and its shape.
fn bits(tensor: &Tensor) -> (Vec<u64>, Shape) {
    let one = |is_nan: bool, bits: u64| if is_nan { u64::MAX - 1 } else { bits };
    let bits = match tensor.dtype() {
        DataType::Float => {
            tensor.as_slice::<f32>().unwrap().iter().map(|x| one(x.is_nan(), x.to_bits().into())).collect()
        }
        DataType::Double => tensor.as_slice::<f64>().unwrap().iter().map(|x| one(x.is_nan(), x.to_bits())).collect(),
        DataType::Half => {
            tensor.as_slice::<f16>().unwrap().iter().map(|x| one(x.is_nan(), x.to_bits().into())).collect()
        }
        DataType::Bfloat16 => {
            tensor.as_slice::<bf16>().unwrap().iter().map(|x| one(x.is_nan(), x.to_bits().into())).collect()
        }
        DataType::Int8 => tensor.as_slice::<i8>().unwrap().iter().map(|&x| x as u64).collect(),
        DataType::Uint8 => tensor.as_slice::<u8>().unwrap().iter().map(|&x| x.into()).collect(),
        DataType::Int16 => tensor.as_slice::<i16>().unwrap().iter().map(|&x| x as u64).collect(),
        DataType::Uint16 => tensor.as_slice::<u16>().unwrap().iter().map(|&x| x.into()).collect(),
        DataType::Uint32 => tensor.as_slice::<u32>().unwrap().iter().map(|&x| x.into()).collect(),
        DataType::Uint64 => tensor.as_slice::<u64>().unwrap().to_vec(),
        DataType::Bool => tensor.as_slice::<bool>().unwrap().iter().map(|&x| u64::from(x)).collect(),
        _ => tensor.to_i64_vec().unwrap().into_iter().map(|x| x as u64).collect(),
    };
    (bits, tensor.shape().clone())
}

/// Runs a graph with the pass and without it. Returns what both give, or the code of the error.
#[track_caller]
fn same(graph: &Graph, feeds: &[(&str, Tensor)], fetch: &str) -> std::result::Result<Tensor, Code> {
    let run = |options: SessionOptions| {
        let session = Session::with_options(graph.clone(), &options.threads(2)).unwrap();
        session.run(feeds, &[fetch], &[]).map(|values| values[0].clone())
    };
    let none = PASSES.iter().fold(SessionOptions::new(), |options, pass| options.without_pass(pass.name()));
    match (run(SessionOptions::new()), run(none)) {
        (Ok(with), Ok(without)) => {
            let shapes: Vec<_> = feeds.iter().map(|(_, value)| value.shape().to_string()).collect();
            let ((with, shape), (other, other_shape)) = (bits(&with), bits(&without));
            assert_eq!(shape, other_shape, "of {shapes:?}");
            let differs = with.iter().zip(&other).position(|(with, other)| with != other);
            assert_eq!(differs, None, "{} {shapes:?}", text(graph));
            Ok(without)
        }
        (Err(with), Err(without)) => {
            assert_eq!(with.code(), without.code(), "{with}\n{without}");
            Err(without.code())
        }
        (with, without) => panic!("{with:?}, without passes {without:?}"),
    }
}

/// Numbers of all sizes, some of them special.
fn numbers(dtype: DataType, shape: &[usize], seed: usize) -> Tensor {
    let count: usize = shape.iter().product();
    let value = |i: usize| match (i * 7 + seed * 13) % 97 {
        0 => 0.0,
        1 => -0.0,
        2 if seed > 1 => f64::NAN,
        3 if seed > 1 => f64::INFINITY,
        4 if seed > 1 => f64::NEG_INFINITY,
        5 => 1e-41,
        6 => 2.0e4,
        _ => ((i * 37 + seed * 61) % 181) as f64 / 20.0 - 4.0,
    };
    let values = (0..count).map(value);
    let tensor = match dtype {
        DataType::Float => Tensor::vector(&values.map(|x| x as f32).collect::<Vec<_>>()),
        DataType::Double => Tensor::vector(&values.collect::<Vec<_>>()),
        DataType::Half => Tensor::vector(&values.map(f16::from_f64).collect::<Vec<_>>()),
        DataType::Bfloat16 => Tensor::vector(&values.map(bf16::from_f64).collect::<Vec<_>>()),
        DataType::Int32 => Tensor::vector(&values.map(|x| (x * 9.0) as i32).collect::<Vec<_>>()),
        DataType::Int64 => Tensor::vector(&values.map(|x| (x * 9.0) as i64).collect::<Vec<_>>()),
        DataType::Int8 => Tensor::vector(&values.map(|x| (x * 9.0) as i8).collect::<Vec<_>>()),
        DataType::Uint8 => Tensor::vector(&values.map(|x| (x * 9.0) as u8).collect::<Vec<_>>()),
        DataType::Int16 => Tensor::vector(&values.map(|x| (x * 9.0) as i16).collect::<Vec<_>>()),
        DataType::Uint16 => Tensor::vector(&values.map(|x| (x * 9.0) as u16).collect::<Vec<_>>()),
        DataType::Uint32 => Tensor::vector(&values.map(|x| (x * 9.0) as u32).collect::<Vec<_>>()),
        DataType::Uint64 => Tensor::vector(&values.map(|x| (x * 9.0) as u64).collect::<Vec<_>>()),
        DataType::Bool => Tensor::vector(&values.map(|x| x > 0.5).collect::<Vec<_>>()),
        other => panic!("no {other} here"),
    };
    tensor.unwrap().reshaped(shape.to_vec()).unwrap()
}

/// The dtypes of the op that the pass makes.
const DTYPES: [DataType; 13] = [
    DataType::Float,
    DataType::Double,
    DataType::Half,
    DataType::Bfloat16,
    DataType::Int8,
    DataType::Uint8,
    DataType::Int16,
    DataType::Uint16,
    DataType::Int32,
    DataType::Uint32,
    DataType::Int64,
    DataType::Uint64,
    DataType::Bool,
];

/// The dtypes of an op's inputs and output whose other dtypes are this one, two of those that may be many.
fn slots(op: &str, dtype: DataType) -> (Vec<DataType>, DataType) {
    let def = registry().op(op).unwrap().def;
    let of = |ty: &ArgType| match ty {
        ArgType::Fixed(fixed) => *fixed,
        _ => dtype,
    };
    let times = |arg: &ArgDef| if arg.number_attr.is_some() { 2 } else { 1 };
    let inputs = def.inputs.iter().flat_map(|arg| vec![of(&arg.ty); times(arg)]).collect();
    (inputs, of(&def.outputs[0].ty))
}

/// All ops that say that they compute each element by itself, with their dtypes, but for Cast and what has a shape for an attr.
fn functions() -> Vec<(&'static str, DataType)> {
    let kernels = registry().kernels_where(|kernel| kernel.element_wise.is_some() && kernel.device.0 == "CPU");
    let ops: BTreeSet<&'static str> = kernels.iter().map(|kernel| kernel.op).collect();
    let ops = ops.into_iter().filter(|op| !["Cast", "AccumulateNV2"].contains(op));
    let mut all = Vec::new();
    for op in ops {
        for dtype in DTYPES {
            let mut attrs = AttrMap::new();
            attrs.insert("T", dtype);
            let query = NodeQuery { node: "", op, attrs: &attrs, device: kernlink::kernel::CPU, capabilities: &[] };
            let (inputs, output) = slots(op, dtype);
            if !inputs.contains(&dtype) {
                continue;
            }
            let says = |kernel: &KernelDef| (kernel.element_wise.unwrap().function)(&inputs, output).is_some();
            if registry().find_kernel(query).is_ok_and(|kernel| kernel.element_wise.is_some() && says(kernel)) {
                all.push((op, dtype));
            }
        }
    }
    all
}

fn dtype_of(graph: &Graph, output: Output) -> DataType {
    graph.node(output.node).signature.outputs[output.index].dtype
}

/// The square, or what is not.
fn simple(graph: &mut Graph, x: Output) -> Output {
    let op = if dtype_of(graph, x) == DataType::Bool { "LogicalNot" } else { "Square" };
    node(graph, op, &[x], &[]).unwrap()
}

/// A graph in which a function stands between others: `z = op(x * x[, y]) + y`, or as near to that as dtypes let it be.
fn between(op: &str, dtype: DataType) -> Graph {
    let mut graph = Graph::new(registry());
    let x = ops::placeholder(&mut graph, dtype).name("x").build().unwrap();
    let y = ops::placeholder(&mut graph, dtype).name("y").build().unwrap();
    let attrs: &[(&str, AttrValue)] =
        if op.starts_with("LeakyRelu") { &[("alpha", AttrValue::Float(0.3))] } else { &[] };
    let before = simple(&mut graph, x);
    let is_bool = dtype == DataType::Bool;
    let inputs = match slots(op, dtype).0[..] {
        [_] => vec![before],
        [_, _] => vec![before, y],
        _ if op.starts_with("Select") => {
            let op = if is_bool { "LogicalAnd" } else { "Less" };
            vec![node(&mut graph, op, &[x, y], &[]).unwrap(), before, y]
        }
        _ => vec![before, y, x],
    };
    let middle = if op == "AddN" {
        ops::add_n(&mut graph, inputs).build().unwrap()
    } else {
        node(&mut graph, op, &inputs, attrs).unwrap()
    };
    // Bits are counted in another dtype.
    let middle = match dtype_of(&graph, middle) {
        DataType::Bool => middle,
        other if other == dtype => middle,
        _ => ops::cast(&mut graph, middle, dtype).build().unwrap(),
    };
    let z = match (is_bool, dtype_of(&graph, middle) == DataType::Bool) {
        (true, _) => ops::logical_or(&mut graph, middle, y).name("z").build(),
        (false, true) => ops::select_v2(&mut graph, middle, y, x).name("z").build(),
        (false, false) => ops::add_v2(&mut graph, middle, y).name("z").build(),
    };
    z.unwrap();
    graph
}

#[test]
fn every_function_is_among_others_what_it_is_alone() {
    let functions = functions();
    for op in ["AddV2", "RealDiv", "Tanh", "LeakyRelu", "LeakyReluGrad", "TanhGrad", "ReluGrad", "Pow", "_Swish"] {
        assert!(functions.contains(&(op, DataType::Half)), "{op} in {functions:?}");
    }
    for op in ["Less", "Equal", "NotEqual", "Select", "SelectV2", "ClipByValue", "AddN", "Mul"] {
        assert!(functions.contains(&(op, DataType::Int64)), "{op} in {functions:?}");
    }
    assert!(functions.contains(&("LogicalAnd", DataType::Bool)) && functions.len() > 400, "{}", functions.len());
    // What can fail for its values does not join.
    assert!(!functions.contains(&("FloorDiv", DataType::Int32)));
    let shapes: [(&[usize], &[usize]); 6] =
        [(&[], &[]), (&[7], &[7]), (&[1025], &[1025]), (&[3000], &[]), (&[5, 300], &[300]), (&[0], &[])];
    for (op, dtype) in functions {
        let graph = between(op, dtype);
        let after = fused(graph.clone(), &["x", "y"], &["z"]);
        reads(&after, "x = Placeholder()\ny = Placeholder()\nz = _FusedElementWise(x, y)");
        let broadcasts = !op.ends_with("Grad") && !["AddN", "ClipByValue", "Select"].contains(&op);
        for (seed, (x, y)) in shapes.into_iter().enumerate() {
            let feeds = [("x", numbers(dtype, x, seed)), ("y", numbers(dtype, y, seed + 3))];
            let result = same(&graph, &feeds, "z");
            assert!(result.is_ok() || (!broadcasts && x != y), "{op} of {dtype}: {result:?}");
        }
    }
}

#[test]
fn values_of_several_dtypes_are_in_one_chain() {
    for from in DTYPES {
        for to in DTYPES {
            let mut graph = Graph::new(registry());
            let x = ops::placeholder(&mut graph, from).name("x").build().unwrap();
            let before = simple(&mut graph, x);
            let cast = ops::cast(&mut graph, before, to).build().unwrap();
            let after = simple(&mut graph, cast);
            let fetch = graph.output_name(after);
            // A cast to the dtype that is there is no function.
            assert_eq!(fused(graph.clone(), &["x"], &[&fetch]).nodes().len(), if from == to { 4 } else { 2 });
            for (seed, count) in [0, 1, 700, 5001].into_iter().enumerate() {
                same(&graph, &[("x", numbers(from, &[count], seed))], &fetch).unwrap();
            }
        }
    }
    // What truncates stays as it is, and what tells shapes that differ from those that fit.
    let mut graph = Graph::new(registry());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let before = simple(&mut graph, x);
    let cast = ops::cast(&mut graph, before, DataType::Half).truncate(true).build().unwrap();
    let fetch = graph.output_name(cast);
    assert_eq!(fused(graph, &["x"], &[&fetch]).nodes().len(), 3);
    let mut graph = Graph::new(registry());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let before = simple(&mut graph, x);
    let equal = ops::equal(&mut graph, before, x).incompatible_shape_error(false).build().unwrap();
    let fetch = graph.output_name(equal);
    assert_eq!(fused(graph, &["x"], &[&fetch]).nodes().len(), 3);
}

/// `where(x > 0, x * a, exp(x) - 1)` with operands of all kinds.
#[test]
fn choices_are_in_one_chain_with_what_they_choose_between() {
    let text = "x = Placeholder()
        a = Placeholder()
        o = Placeholder()
        g = Greater(x, o)
        p = Mul(x, a)
        e = Exp(x)
        s = Sub(e, a)
        z = SelectV2(g, p, s)";
    let graph = lines(text);
    let after = fused(graph.clone(), &["x", "a", "o"], &["z"]);
    reads(&after, "x = Placeholder()\na = Placeholder()\no = Placeholder()\nz = _FusedElementWise(x, a, o)");
    let shapes: [&[usize]; 7] = [&[], &[1], &[70], &[3, 70], &[3, 1], &[2, 3, 70], &[0]];
    let mut succeeded = 0;
    for place in 0..shapes.len().pow(3) {
        let [x, a, o] = [1, 7, 49].map(|step| shapes[place / step % 7]);
        let feed = |shape: &[usize], seed| numbers(DataType::Float, shape, seed);
        let result = same(&graph, &[("x", feed(x, 1)), ("a", feed(a, 2)), ("o", feed(o, 3))], "z");
        succeeded += usize::from(result.is_ok());
    }
    assert!(succeeded > 150, "{succeeded}");
    // A condition for each row.
    let rows =
        lines("x = Placeholder()\nc = Placeholder() bool\nn = LogicalNot(c)\nt = Square(x)\nz = Select(n, t, x)");
    let feed = |shape: &[usize]| numbers(DataType::Float, shape, 1);
    for (condition, x) in
        [(&[3][..], &[3, 70][..]), (&[3, 70], &[3, 70]), (&[], &[3, 70]), (&[1], &[1, 70]), (&[70], &[70])]
    {
        let feeds = [("x", feed(x)), ("c", numbers(DataType::Bool, condition, 1))];
        assert_eq!(same(&rows, &feeds, "z").unwrap().shape()[..], *x);
    }
    let feeds = [("x", feed(&[3, 70])), ("c", numbers(DataType::Bool, &[70], 1))];
    assert_eq!(same(&rows, &feeds, "z").unwrap_err(), Code::InvalidArgument);
}

#[test]
fn errors_name_the_node_that_they_were_met_in() {
    let graph = lines(CHAIN);
    let feed = |shape: &[usize], seed| numbers(DataType::Float, shape, seed);
    let session = Session::new(graph).unwrap();
    for (b, y, node, op) in [(4, 3, "s", "AddV2"), (3, 4, "z", "Mul")] {
        let feeds = [("x", feed(&[3], 1)), ("a", feed(&[3], 2)), ("b", feed(&[b], 3)), ("y", feed(&[y], 4))];
        let error = session.run(&feeds, &["z"], &[]).unwrap_err();
        let at = error.node().unwrap();
        assert_eq!((&*at.node, &*at.op), (node, op), "{error}");
    }
}

const CHAIN: &str = "x = Placeholder()
    a = Placeholder()
    b = Placeholder()
    y = Placeholder()
    p = Mul(x, a)
    s = AddV2(p, b)
    t = Tanh(s)
    z = Mul(t, y)";

#[test]
fn operands_of_all_shapes_meet_as_they_do_alone() {
    let graph = lines(CHAIN);
    let shapes: [&[usize]; 12] =
        [&[], &[1], &[1, 1], &[7], &[1, 7], &[70], &[3, 70], &[3, 1], &[3, 7], &[2, 3, 70], &[2, 1, 1], &[0]];
    let (mut succeeded, mut failed) = (0, 0);
    for (i, x) in shapes.iter().enumerate() {
        for a in shapes {
            for (j, b) in shapes.iter().enumerate() {
                let y = shapes[(i * 5 + j * 3) % shapes.len()];
                let feed = |shape: &[usize], seed| numbers(DataType::Float, shape, seed);
                let feeds = [("x", feed(x, 1)), ("a", feed(a, 2)), ("b", feed(b, 3)), ("y", feed(y, 4))];
                match same(&graph, &feeds, "z") {
                    Ok(_) => succeeded += 1,
                    Err(code) => {
                        assert_eq!(code, Code::InvalidArgument);
                        failed += 1;
                    }
                }
            }
        }
    }
    assert!(succeeded > 100 && failed > 100, "{succeeded} {failed}");
}

#[test]
fn large_tensors_are_computed_in_blocks_on_several_threads() {
    let graph = lines(CHAIN);
    let shape: &[usize] = &[301, 1013];
    for (a, b, y) in [(shape, shape, shape), (&[][..], &[1013], &[301, 1]), (&[1013], &[], shape)] {
        let feed = |shape: &[usize], seed| numbers(DataType::Float, shape, seed);
        let feeds = [("x", feed(shape, 1)), ("a", feed(a, 2)), ("b", feed(b, 3)), ("y", feed(y, 4))];
        assert_eq!(same(&graph, &feeds, "z").unwrap().shape()[..], *shape);
    }
}

/// So many values are needed at once that the buffers are larger than what a thread has at hand.
#[test]
fn many_results_are_kept_until_they_are_needed() {
    for dtype in [DataType::Float, DataType::Double] {
        let mut graph = Graph::new(registry());
        let x = ops::placeholder(&mut graph, dtype).name("x").build().unwrap();
        let mut parts: Vec<Output> = vec![x];
        for _ in 0..28 {
            parts.push(node(&mut graph, "Sin", &parts[parts.len() - 1..], &[]).unwrap());
        }
        let mut sum = parts[0];
        for &part in parts.iter().rev() {
            sum = node(&mut graph, "Sub", &[part, sum], &[]).unwrap();
        }
        let fetch = graph.output_name(sum);
        assert_eq!(fused(graph.clone(), &["x"], &[&fetch]).nodes().len(), 2);
        for count in [1, 300, 5001] {
            same(&graph, &[("x", numbers(dtype, &[count], 1))], &fetch).unwrap();
        }
    }
}

#[test]
fn what_is_computed_in_place_is_read_before() {
    let mut graph = Graph::new(registry());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let axis = ops::constant(&mut graph, Tensor::vector(&[0i32]).unwrap()).unwrap();
    // What is reversed is nobody else's.
    let own = ops::reverse_v2(&mut graph, x, axis).build().unwrap();
    let sine = ops::sin(&mut graph, own).build().unwrap();
    let square = ops::square(&mut graph, own).build().unwrap();
    let sum = ops::sub(&mut graph, sine, square).build().unwrap();
    // The last step takes what becomes its output.
    ops::mul(&mut graph, own, sum).name("z").build().unwrap();
    let after = fused(graph.clone(), &["x"], &["z"]);
    assert!(text(&after).ends_with("z = _FusedElementWise(ReverseV2)\n"), "{}", text(&after));
    for count in [1, 200, 1024, 70_001] {
        same(&graph, &[("x", numbers(DataType::Float, &[count], 1))], "z").unwrap();
    }
}

#[test]
fn nodes_that_nobody_else_sees_become_one() {
    let inputs = "x = Placeholder()\na = Placeholder()\nb = Placeholder()\ny = Placeholder()\n";
    let feeds = ["x", "a", "b", "y"];
    let after = fused(lines(CHAIN), &feeds, &["z"]);
    reads(&after, &format!("{inputs}z = _FusedElementWise(x, a, b, y)"));
    let made = after.nodes().last().unwrap();
    let numbers: Vec<i64> = made.attrs.required("operands").unwrap();
    assert_eq!(numbers, [0, 1, -1, 4, 2, -1, 5, -1, -1, 6, 3, -1]);
    // Two groups, where one is fetched on the way.
    let after = fused(lines(CHAIN), &feeds, &["s", "z"]);
    reads(&after, &format!("{inputs}s = _FusedElementWise(x, a, b)\nz = _FusedElementWise(s, y)"));
    // What is fed is taken as it is.
    let after = fused(lines(CHAIN), &["s", "y"], &["z"]);
    assert!(text(&after).ends_with("z = _FusedElementWise(s, y)\n"), "{}", text(&after));
}

/// What the pass makes of the last node of a graph, with what is fetched from `x`.
fn last(graph: &str, fetches: &[&str]) -> String {
    text(&fused(lines(graph), &["x"], fetches)).lines().last().unwrap().to_owned()
}

#[test]
fn what_others_see_stays() {
    let chain = |rest: &str| format!("x = Placeholder()\nu = Neg(x)\nz = Tanh(u)\n{rest}");
    assert_eq!(last(&chain(""), &["z"]), "z = _FusedElementWise(x)");
    // Somebody else takes the inner one, or waits for it.
    assert_eq!(last(&chain("v = ZerosLike(u)"), &["v", "z"]), "v = ZerosLike(u)");
    assert!(!text(&fused(lines(&chain("v = ZerosLike(u)")), &["x"], &["v", "z"])).contains("Fused"));
    assert!(!text(&fused(lines(&chain("v = ZerosLike(x, ^u)")), &["x"], &["v", "z"])).contains("Fused"));
    // The inner one waits for something; the last may.
    let waits = "x = Placeholder()\nn = NoOp()\nu = Neg(x, ^n)\nz = Tanh(u)";
    assert_eq!(last(waits, &["z"]), "z = Tanh(u)");
    let waits = "x = Placeholder()\nn = NoOp()\nu = Neg(x)\nz = Tanh(u, ^n)\nw = ZerosLike(x, ^z)";
    let after = fused(lines(waits), &["x"], &["w", "z"]);
    assert!(text(&after).contains("z = _FusedElementWise(x, ^n)\nw = ZerosLike(x, ^z)"), "{}", text(&after));
    // Between them is something else.
    assert_eq!(last("x = Placeholder()\nu = Neg(x)\ni = Softmax(u)\nz = Tanh(i)", &["z"]), "z = Tanh(i)");
}

#[test]
fn nodes_on_several_devices_or_of_other_kernels_stay() {
    let build = |change: fn(NodeBuilder<'_, Graph>) -> Result<NodeId>| {
        let mut graph = Graph::new(registry());
        let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
        let op = graph.registry().op("Neg").unwrap().def;
        let mut builder = NodeBuilder::new(&mut graph, op);
        builder.input(x);
        let node = change(builder).unwrap();
        ops::tanh(&mut graph, Output { node, index: 0 }).name("z").build().unwrap();
        text(&fused(graph, &["x"], &["z"]))
    };
    assert!(build(|it| it.build()).contains("Fused"));
    let on_device = |mut it: NodeBuilder<'_, Graph>| {
        it.device("/device:CPU:0");
        it.build()
    };
    assert!(!build(on_device).contains("Fused"));
    let labelled = |mut it: NodeBuilder<'_, Graph>| {
        it.attr("_kernel", "own");
        it.build()
    };
    assert!(!build(labelled).contains("Fused"));
}

#[test]
fn shapes_that_are_known_to_differ_keep_nodes_apart() {
    let build = |inner: &[usize]| {
        let mut graph = Graph::new(registry());
        let shape = |dims: &[usize]| PartialShape::from_known(dims.iter().map(|&dim| Some(dim)).collect::<Vec<_>>());
        let x = ops::placeholder(&mut graph, DataType::Float).shape(shape(inner)).name("x").build().unwrap();
        let y = ops::placeholder(&mut graph, DataType::Float).shape(shape(&[9, 7])).name("y").build().unwrap();
        let sine = ops::sin(&mut graph, x).build().unwrap();
        let sum = ops::add_v2(&mut graph, sine, y).build().unwrap();
        ops::tanh(&mut graph, sum).name("z").build().unwrap();
        text(&fused(graph, &["x", "y"], &["z"]))
    };
    assert!(build(&[9, 7]).ends_with("z = _FusedElementWise(x, y)\n"));
    assert!(build(&[7]).ends_with("Sin = Sin(x)\nz = _FusedElementWise(Sin, y)\n"), "{}", build(&[7]));
}

#[test]
fn shapes_that_do_not_fit_fail_as_they_do_alone() {
    let chain = |op: &str| {
        lines(&format!("x = Placeholder()\ny = Placeholder()\nu = Neg(x)\nv = {op}(u, y)\nw = {op}(y, v)\nz = Tanh(w)"))
    };
    let feed = |shape: &[usize], seed| numbers(DataType::Float, shape, seed);
    for (op, x, y, expected) in [
        ("AddV2", &[3][..], &[4][..], Err(Code::InvalidArgument)),
        ("AddV2", &[0], &[2], Err(Code::InvalidArgument)),
        ("ReluGrad", &[3], &[1], Err(Code::InvalidArgument)),
        ("ReluGrad", &[3], &[3], Ok(vec![3])),
        // One number of elements is enough; the first shape is that of the result.
        ("TanhGrad", &[3, 400], &[400, 3], Ok(vec![400, 3])),
        ("TanhGrad", &[3, 4], &[4, 4], Err(Code::InvalidArgument)),
        ("AddV2", &[2, 1, 2, 1, 2, 1], &[1, 2, 1, 2, 1, 2], Err(Code::Unimplemented)),
        ("AddV2", &[1, 0], &[3, 1], Ok(vec![3, 0])),
    ] {
        let result = same(&chain(op), &[("x", feed(x, 1)), ("y", feed(y, 2))], "z");
        assert_eq!(result.map(|value| value.shape().to_vec()), expected, "{op} {x:?} {y:?}");
    }
}

#[test]
fn nodes_in_loops_and_branches_are_as_alive_as_before() {
    let text = "x = Placeholder()
        p = Placeholder() bool
        s = Switch(x, p)
        u = Neg(s:1)
        v = Mul(u, x)
        w = Tanh(v)
        e = Exp(s)
        f = Sin(e)
        z = Merge(f, w)";
    let graph = lines(text);
    for taken in [true, false] {
        let feeds = [("x", numbers(DataType::Float, &[600], 1)), ("p", Tensor::scalar(taken))];
        same(&graph, &feeds, "z").unwrap();
    }
}

/// A node of the pass's op with attrs that a file may have.
fn hostile(ops: &[&str], operands: &[i64], parameters: &[f32]) -> Result<Tensor> {
    let mut graph = Graph::new(registry());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let op = graph.registry().op("_FusedElementWise").unwrap().def;
    let mut builder = NodeBuilder::new(&mut graph, op);
    let ops: Vec<String> = ops.iter().map(|&op| op.to_owned()).collect();
    let types = AttrValue::ListType(vec![DataType::Float; ops.len()]);
    let shapes: Vec<i64> = ops.iter().map(|op| if op == "Mul" { -1 } else { 0 }).collect();
    builder.input_list([x, x]).attr("T", DataType::Float).attr("ops", ops).attr("types", types);
    builder.attr("operands", operands).attr("shapes", shapes).attr("parameters", parameters);
    let node = builder.build()?;
    let fetch = graph.output_name(Output { node, index: 0 });
    let session = Session::new(graph).unwrap();
    Ok(session.run(&[("x", Tensor::vector(&[1.0f32, -2.0])?)], &[&fetch], &[])?[0].clone())
}

#[test]
fn programs_that_make_no_sense_are_refused() {
    let value = hostile(&["Neg", "Mul"], &[0, -1, -1, 2, 1, -1], &[0.0; 2]).unwrap();
    assert_eq!(value.as_slice::<f32>().unwrap(), [-1.0, -4.0]);
    for (ops, operands) in [
        (&["Neg"][..], &[0, -1, -1, 0, -1, -1][..]),
        (&["Neg"], &[2, -1, -1]),
        (&["Neg"], &[-1, 0, -1]),
        (&["Neg"], &[0, 1, -1]),
        (&["Mul"], &[0, -1, -1]),
        (&["LeakyRelu"], &[0, 1, -1]),
        (&["MatMul"], &[0, 1, -1]),
        (&["Less"], &[0, 1, -1]),
        (&["_FusedElementWise"], &[0, -1, -1]),
        (&["Neg", "Neg"], &[0, -1, -1, 0, -1, -1]),
        (&["NoSuchOp"], &[0, -1, -1]),
        (&["Neg", "Neg"], &[3, -1, -1, 0, -1, -1]),
    ] {
        let error = hostile(ops, operands, &vec![0.0; ops.len()]).unwrap_err();
        assert!(matches!(error.code(), Code::InvalidArgument | Code::NotFound), "{ops:?}: {error}");
    }
    assert_eq!(hostile(&["Neg"], &[0, -1, -1], &[]).unwrap_err().code(), Code::InvalidArgument);
}

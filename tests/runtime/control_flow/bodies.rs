//! Functions that closures build, and calls of them.

use kernlink::Code;
use kernlink::attr::{AttrMap, AttrValue};
use kernlink::graph::{Function, FunctionBuilder, TensorSpec};
use kernlink::prelude::*;

use super::closures::{FORMS, check, graph, placeholder};
use super::lines::scalar;
use super::picky;

#[test]
fn functions_take_what_they_use() {
    let g = &mut graph();
    let (x, y) = (placeholder(g, "x", DataType::Float), placeholder(g, "y", DataType::Float));
    let twice = ops::add_v2(g, x, x).name("Twice").build().unwrap();
    let f = FunctionBuilder::new("Affine", [TensorSpec::new(DataType::Float).name("A"), DataType::Int32.into()])
        .attr("_noinline", true)
        .build(g, |g, [a, n]| {
            let n = ops::cast(g, n, DataType::Float).build()?;
            let product = ops::mul(g, a, n).name("x").build()?;
            Ok((ops::add_v2(g, product, twice).build()?, twice))
        })
        .unwrap();
    assert_eq!((f.name(), f.captures(), f.is_stateful()), ("Affine", &[twice][..], false));
    assert_eq!(f.argument_dtypes(), [DataType::Float, DataType::Int32, DataType::Float]);
    let n = three(g);
    let [sum, same] = ops::call(g, &f, [y, n]).name("call").build().unwrap()[..] else { panic!("two results") };
    assert_eq!(g.node(sum.node).op.def.name, "PartitionedCall");
    assert_eq!(*g.shape(sum), PartialShape::of_rank(0));
    let feeds = [("x", scalar(5.0)), ("y", scalar(2.0))];
    check(g, &[sum, same], &[(&feeds, &[16.0, 10.0])]);

    // The library's own message names the arguments, and has the attrs.
    let def = g.to_def().unwrap();
    let function = &def.library.as_ref().unwrap().function[0];
    let arguments = &function.signature.as_ref().unwrap().input_arg;
    assert_eq!(arguments.iter().map(|arg| arg.name.as_str()).collect::<Vec<_>>(), ["a", "args", "twice"]);
    assert!(function.attr.contains_key("_noinline"));

    // By its name, as a function that came with a graph; its captures are arguments then.
    let f = g.function("Affine").unwrap();
    let results = ops::call(g, &f, [y, n, x]).build().unwrap();
    check(g, &results, &[(&feeds, &[11.0, 5.0])]);
}

fn three(g: &mut Graph) -> Output {
    ops::constant(g, 3i32).unwrap()
}

#[test]
fn functions_are_built_in_functions_branches_and_loops() {
    for form in FORMS {
        let g = &mut graph();
        let (x, n) = (placeholder(g, "x", DataType::Float), placeholder(g, "n", DataType::Int32));
        let power = FunctionBuilder::new("Power", [DataType::Int32])
            .build(g, |g, [n]| {
                let one = ops::constant(g, 1f32)?;
                let scale =
                    FunctionBuilder::new("Scale", [DataType::Float]).build(g, |g, [y]| ops::mul(g, x, y).build())?;
                let (_, y) = form.while_loop(
                    g,
                    (n, one),
                    |g, (n, _)| ops::greater(g, n, 0i32).build(),
                    |g, (n, y)| Ok((ops::sub(g, n, 1i32).build()?, ops::call(g, &scale, [y]).build()?[0])),
                )?;
                Ok(y)
            })
            .unwrap();
        assert_eq!(power.captures(), [x]);
        let y = ops::call(g, &power, [n]).build().unwrap()[0];
        for (n, expected) in [(0, 1.0), (1, 3.0), (4, 81.0)] {
            check(g, &[y], &[(&[("x", scalar(3.0)), ("n", Tensor::scalar(n))], &[expected])]);
        }
    }
}

#[test]
fn a_function_may_call_itself() {
    let g = &mut graph();
    let n = placeholder(g, "n", DataType::Int32);
    let factorial = Function::declare("Factorial", [DataType::Int32], [DataType::Int32], false);
    let defined = FunctionBuilder::new("Factorial", [DataType::Int32])
        .build(g, |g, [n]| {
            let ends = ops::less_equal(g, n, 1i32).build()?;
            ops::cond(
                g,
                ends,
                |g| ops::constant(g, 1i32),
                |g| {
                    let less = ops::sub(g, n, 1i32).build()?;
                    let rest = ops::call(g, &factorial, [less]).build()?[0];
                    ops::mul(g, n, rest).build()
                },
            )
            .build()
        })
        .unwrap();
    let y = ops::call(g, &defined, [n]).build().unwrap()[0];
    for (n, expected) in [(0, 1.0), (5, 120.0), (10, 3_628_800.0)] {
        check(g, &[y], &[(&[("n", Tensor::scalar(n))], &[expected])]);
    }
}

#[test]
fn what_has_effects_runs_though_nothing_takes_it() {
    let g = &mut graph();
    let x = placeholder(g, "x", DataType::Float);
    let v = ops::var_handle_op(g, DataType::Float, []).shared_name("v").build().unwrap();
    let set = FunctionBuilder::new("Set", [DataType::Float])
        .build(g, |g, [x]| {
            ops::assign_variable_op(g, v, x).build()?;
            Ok(())
        })
        .unwrap();
    assert!(set.is_stateful());
    let (node, results) = ops::call(g, &set, [x]).name("set").build_node().unwrap();
    assert_eq!((results.len(), &*g.node(node).op.def.name), (0, "StatefulPartitionedCall"));
    let read = ops::read_variable_op(g, v, DataType::Float).control_input(node).build().unwrap();
    check(g, &[read], &[(&[("x", scalar(4.0))], &[4.0])]);
}

#[test]
fn functions_that_do_not_fit_are_refused() {
    let g = &mut graph();
    let x = placeholder(g, "x", DataType::Float);
    let identity = |g: &mut Graph, name: &str| FunctionBuilder::new(name, [DataType::Float]).build(g, |_, [x]| Ok(x));
    let f = identity(g, "F").unwrap();
    for (name, kind) in [("F", "a function"), ("Identity", "an op")] {
        let error = identity(g, name).unwrap_err();
        assert_eq!(error.code(), Code::AlreadyExists);
        assert!(error.message().contains(&format!("there is {kind} `{name}` already")), "{error}");
    }
    let error = ops::call(g, &f, [x, x]).build().unwrap_err();
    assert!(error.message().contains("call of function `F`: 2 arguments are given and it takes 1"), "{error}");
    let error = ops::call(g, &f, [1i64]).build().unwrap_err();
    assert!(error.message().contains("argument 0 is int64 and must be float"), "{error}");
    let error = ops::call(g, &f, ["1"]).build().unwrap_err();
    assert!(error.message().contains("argument 0 is string and must be float"), "{error}");
    ops::call(g, &f, [1]).build().expect("a literal is a float there");
    assert_eq!(g.function("G").unwrap_err().code(), Code::NotFound);

    let mut leaked = None;
    FunctionBuilder::new("G", [DataType::Float])
        .build(g, |_, [x]| {
            leaked = Some(x);
            Ok(x)
        })
        .unwrap();
    let error = FunctionBuilder::new("H", [DataType::Float]).build(g, |_, [_]| Ok(leaked.unwrap())).unwrap_err();
    assert!(error.message().contains("in function `H`: result 0: this output is not in the graph"), "{error}");

    let reference = ops::variable_v2(g, [], DataType::Float).build().unwrap();
    let error = FunctionBuilder::new("Assigns", [DataType::Float])
        .build(g, |g, [x]| ops::assign(g, reference, x).build())
        .unwrap_err();
    assert!(error.message().contains("it takes a reference from outside of its function"), "{error}");
    // The value of one is no matter.
    FunctionBuilder::new("Reads", [DataType::Float]).build(g, |g, [x]| ops::add_v2(g, x, reference).build()).unwrap();
    // A body that failed has left nothing.
    assert!(!g.has_function("H") && !g.has_function("Assigns") && g.find("x").is_some());
}

#[test]
fn names_inside_are_the_functions_own() {
    let g = &mut graph();
    let x = placeholder(g, "x", DataType::Float);
    let spec = TensorSpec::new(DataType::Float).name("x").shape([2]).attr("_user_specified_name", "x");
    let f = FunctionBuilder::with_arguments("F", vec![spec])
        .build(g, |g, arguments| {
            assert!(g.find("x") == Some(arguments[0].node) && g.find("y").is_none());
            assert_eq!(g.shape(arguments[0]).to_string(), "[2]");
            ops::neg(g, arguments[0]).name("y").build()
        })
        .unwrap();
    assert!(g.find("x") == Some(x.node) && g.find("y").is_none());
    let y = ops::neg(g, x).name("y").build().unwrap();
    assert_eq!(y.node.index(), 1);
    let def = g.to_def().unwrap();
    let attrs = &def.library.as_ref().unwrap().function[0].arg_attr[&0].attr;
    assert_eq!(attrs.keys().collect::<Vec<_>>(), ["_output_shapes", "_user_specified_name"]);
    assert!(matches!(kernlink::proto::attr_from_proto(&attrs["_output_shapes"]), Ok(AttrValue::ListShape(_))));
    assert_eq!(f.result_dtypes(), [DataType::Float]);
}

/// Something that is built, and fails.
type Attempt<'a> = &'a dyn Fn(&mut Graph) -> Result<Output>;

#[test]
fn what_fails_leaves_neither_nodes_nor_functions() {
    let g = &mut graph();
    let (x, p) = (placeholder(g, "x", DataType::Float), placeholder(g, "p", DataType::Bool));
    ops::neg(g, x).name("taken").build().unwrap();
    let inner = move |g: &mut Graph| ops::cond(g, p, |_| Ok(x), |g| ops::neg(g, x).build()).build();
    let fails = move |g: &mut Graph| picky(g, p).build();
    let less = move |g: &mut Graph, y: Output| {
        inner(g)?;
        ops::less(g, y, 3f32).build()
    };
    let body = move |g: &mut Graph, _| inner(g);
    let other_dtype = move |g: &mut Graph, y: Output| {
        inner(g)?;
        ops::cast(g, y, DataType::Int32).build()
    };
    let attempts: [(&str, Attempt<'_>); 11] = [
        ("cond", &|g| ops::cond(g, p, inner, fails).build()),
        ("cond's node", &|g| ops::cond(g, p, inner, inner).name("taken").build()),
        ("case", &|g| ops::switch_case(g, 0i32).branch(inner).branch(fails).build()),
        ("case's node", &|g| ops::switch_case(g, 0i32).branch(inner).name("taken").build()),
        ("while", &|g| ops::while_loop(g, x, less, other_dtype).build()),
        ("while's node", &|g| ops::while_loop(g, x, less, body).name("taken").build()),
        ("v1 cond", &|g| ops::v1::cond(g, p, inner, fails).build()),
        ("v1 while", &|g| ops::v1::while_loop(g, x, less, other_dtype).build()),
        ("function", &|g| {
            FunctionBuilder::new("F", [DataType::Float]).build(g, |g, [_]| inner(g).and_then(|_| fails(g)))?;
            Ok(x)
        }),
        ("function's name", &|g| {
            FunctionBuilder::new("Neg", [DataType::Float]).build(g, |g, [_]| inner(g))?;
            Ok(x)
        }),
        ("cond in a cond", &|g| ops::cond(g, p, |g| ops::cond(g, p, inner, fails).build(), inner).build()),
    ];
    // First without a library, then with one.
    for names in [["cond_false", "cond_true"], ["cond_false_1", "cond_true_1"]] {
        let before = g.to_def().unwrap();
        for (what, attempt) in attempts {
            assert!(attempt(g).is_err(), "{what}");
            assert!(g.to_def().unwrap() == before, "{what}");
        }
        inner(g).unwrap();
        assert!(names.iter().all(|name| g.has_function(name)), "{:?}", g.function_names());
    }
    assert_eq!(g.function_names().len(), 4);
}

#[test]
fn results_are_added_from_before_the_body_alone() {
    let g = &mut graph();
    let x = placeholder(g, "x", DataType::Float);
    let (mut trace, inside) = g.trace(vec![DataType::Float.into()], |g, y| ops::neg(g, y[0]).build()).unwrap();
    let error = trace.add_result(g, inside).unwrap_err();
    assert!(error.message().contains("result 1: this output is not in the graph"), "{error}");
    // In the place where the body's argument stood.
    let later = ops::cast(g, x, DataType::Int32).name("later").build().unwrap();
    let error = trace.add_result(g, later).unwrap_err();
    assert!(error.message().contains("result 1 comes from `later`, which was added after the body"), "{error}");
    trace.add_result(g, x).unwrap();
    let f = g.define("F", &trace, &[x], &AttrMap::new()).unwrap();
    assert_eq!(f.result_dtypes(), [DataType::Float; 2]);
    let y = ops::call(g, &f, [2f32]).build().unwrap();
    check(g, &y, &[(&[("x", scalar(5.0))], &[-2.0, 5.0])]);
}

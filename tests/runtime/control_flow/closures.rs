//! Branches and loops that closures build, as functions and as nodes of the graph: both compute the same, before and
//! after the graph has been a file.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernlink::graph::Values;
use kernlink::prelude::*;
use kernlink::proto::Message;
use kernlink::{Code, Error};

use super::lines::{on_threads, scalar};
use super::picky;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Form {
    Functions,
    Nodes,
}

pub(super) const FORMS: [Form; 2] = [Form::Functions, Form::Nodes];

impl Form {
    pub(super) fn cond<V: Values>(
        self,
        graph: &mut Graph,
        pred: Output,
        on_true: impl FnOnce(&mut Graph) -> Result<V>,
        on_false: impl FnOnce(&mut Graph) -> Result<V>,
    ) -> Result<V> {
        match self {
            Form::Functions => ops::cond(graph, pred, on_true, on_false).build(),
            Form::Nodes => ops::v1::cond(graph, pred, on_true, on_false).build(),
        }
    }

    pub(super) fn while_loop<V: Values>(
        self,
        graph: &mut Graph,
        variables: V,
        cond: impl FnOnce(&mut Graph, V) -> Result<Output>,
        body: impl FnOnce(&mut Graph, V) -> Result<V>,
    ) -> Result<V> {
        match self {
            Form::Functions => ops::while_loop(graph, variables, cond, body).build(),
            Form::Nodes => ops::v1::while_loop(graph, variables, cond, body).build(),
        }
    }
}

pub(super) fn graph() -> Graph {
    Graph::new(&kernlink::registry().unwrap())
}

pub(super) fn placeholder(graph: &mut Graph, name: &str, dtype: DataType) -> Output {
    ops::placeholder(graph, dtype).name(name).shape([]).build().unwrap()
}

/// What is fed, and what is fetched then.
type Run<'r> = (&'r [(&'r str, Tensor)], &'r [f64]);

/// Runs a graph as it is and as it comes back from a message.
#[track_caller]
pub(super) fn check(graph: &Graph, outputs: &[Output], runs: &[Run<'_>]) {
    let again = Graph::import(&graph.to_def().unwrap(), graph.registry()).unwrap();
    let names: Vec<String> = outputs.iter().map(|&output| graph.output_name(output)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if let Ok(folder) = std::env::var("KERNLINK_EXPORT") {
        export(Path::new(&folder), graph, &names, runs);
    }
    for graph in [graph, &again] {
        on_threads(graph, |session| {
            for (feeds, expected) in runs {
                let values = session.run(feeds, &names, &[]).unwrap();
                let values: Vec<f64> = values.iter().map(number).collect();
                assert_eq!(values, *expected, "{feeds:?}");
            }
        });
    }
}

/// Writes a graph and what it computes for `compare.py`, which compares with what TensorFlow makes of them.
fn export(folder: &Path, graph: &Graph, names: &[&str], runs: &[Run<'_>]) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let file = folder.join(COUNT.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::write(file.with_extension("pb"), graph.to_def().unwrap().encode_to_vec()).unwrap();
    let mut text = format!("fetch {}\n", names.join(" "));
    for (feeds, expected) in runs {
        let feeds = feeds.iter().map(|(name, value)| match value.dtype() {
            DataType::Bool => format!("{name}={}", i32::from(value.to_scalar::<bool>().unwrap())),
            _ => format!("{name}={}", number(value)),
        });
        let expected = expected.iter().map(f64::to_string).collect::<Vec<_>>();
        text += &format!("run {} -> {}\n", feeds.collect::<Vec<_>>().join(" "), expected.join(" "));
    }
    std::fs::write(file.with_extension("txt"), text).unwrap();
}

fn number(tensor: &Tensor) -> f64 {
    match tensor.dtype() {
        DataType::Int32 => tensor.to_scalar::<i32>().unwrap().into(),
        _ => tensor.to_scalar::<f32>().unwrap().into(),
    }
}

fn error<V>(built: Result<V>) -> Error {
    built.map(|_| ()).unwrap_err()
}

#[test]
fn one_branch_runs_and_takes_what_it_likes_from_outside() {
    for form in FORMS {
        let g = &mut graph();
        let (x, p) = (placeholder(g, "x", DataType::Float), placeholder(g, "p", DataType::Bool));
        let twice = ops::add_v2(g, x, x).build().unwrap();
        let (a, [b, c]) = form
            .cond(
                g,
                p,
                // Refuses what is above 5, and is not asked.
                |g| {
                    let a = picky(g, twice).build()?;
                    let seven = ops::constant(g, 7i32)?;
                    Ok((a, [x, seven]))
                },
                |g| {
                    let a = ops::neg(g, twice).build()?;
                    let b = ops::constant(g, 0.5f32)?;
                    let c = ops::constant(g, 9i32)?;
                    Ok((a, [b, c]))
                },
            )
            .unwrap();
        let feeds = |x: f32, p: bool| [("x", scalar(x)), ("p", Tensor::scalar(p))];
        let (low, high) = (feeds(2.0, true), feeds(20.0, false));
        check(g, &[a, b, c], &[(&low, &[4.0, 2.0, 7.0]), (&high, &[-40.0, 0.5, 9.0])]);
        let op = &g.node(a.node).op.def.name;
        assert_eq!(*op, if form == Form::Functions { "StatelessIf" } else { "Merge" });
    }
}

#[test]
fn branches_in_branches_take_values_through_all_of_them() {
    for form in FORMS {
        for inner in FORMS {
            let g = &mut graph();
            let x = placeholder(g, "x", DataType::Float);
            let (p, q) = (placeholder(g, "p", DataType::Bool), placeholder(g, "q", DataType::Bool));
            let y = form
                .cond(
                    g,
                    p,
                    |g| {
                        let z = ops::square(g, x).build()?;
                        let y = inner.cond(g, q, |g| ops::add_v2(g, z, x).build(), |_| Ok(z))?;
                        ops::add_v2(g, y, z).build()
                    },
                    |g| inner.cond(g, q, |g| ops::neg(g, x).build(), |g| picky(g, x).build()),
                )
                .unwrap();
            let feeds = |p: bool, q: bool| [("x", scalar(9.0)), ("p", Tensor::scalar(p)), ("q", Tensor::scalar(q))];
            let (tt, tf, ft) = (feeds(true, true), feeds(true, false), feeds(false, true));
            check(g, &[y], &[(&tt, &[171.0]), (&tf, &[162.0]), (&ft, &[-9.0])]);
        }
    }
}

#[test]
fn loops_count_also_to_nothing() {
    for form in FORMS {
        let g = &mut graph();
        let (n, x) = (placeholder(g, "n", DataType::Int32), placeholder(g, "x", DataType::Float));
        let zero = ops::constant(g, 0i32).unwrap();
        let (count, (sum, same)) = form
            .while_loop(
                g,
                (zero, (x, x)),
                |g, (i, _)| ops::less(g, i, n).build(),
                |g, (i, (sum, same))| {
                    let number = ops::cast(g, i, DataType::Float).build()?;
                    let term = ops::mul(g, number, x).build()?;
                    Ok((ops::add_v2(g, i, 1i32).build()?, (ops::add_v2(g, sum, term).build()?, same)))
                },
            )
            .unwrap();
        let feeds = |n: i32| [("n", Tensor::scalar(n)), ("x", scalar(2.0))];
        let (none, one, many) = (feeds(0), feeds(1), feeds(100));
        let expected: [Run<'_>; 3] =
            [(&none, &[0.0, 2.0, 2.0]), (&one, &[1.0, 2.0, 2.0]), (&many, &[100.0, 9902.0, 2.0])];
        check(g, &[count, sum, same], &expected);
        for output in [count, sum, same] {
            assert_eq!(g.shape(output).rank(), Some(0), "{form:?}");
        }
    }
}

/// The sum of `i * j` over all `j < i < n`, where `i` is even, less those of odd ones.
fn triangle(form: Form, inner: Form, g: &mut Graph, n: Output) -> Result<Output> {
    let zero = ops::constant(g, 0i32)?;
    let [_, sum] = form.while_loop(
        g,
        [zero, zero],
        |g, [i, _]| ops::less(g, i, n).build(),
        |g, [i, sum]| {
            let two = ops::constant(g, 2i32)?;
            let odd = ops::floor_mod(g, i, two).build()?;
            let even = ops::equal(g, odd, 0i32).build()?;
            let start = ops::constant(g, 0i32)?;
            let [_, row] = inner.while_loop(
                g,
                [start, start],
                |g, [j, _]| ops::less(g, j, i).build(),
                |g, [j, row]| {
                    let term = ops::mul(g, i, j).build()?;
                    let term = inner.cond(g, even, |_| Ok(term), |g| ops::neg(g, term).build())?;
                    Ok([ops::add_v2(g, j, 1i32).build()?, ops::add_v2(g, row, term).build()?])
                },
            )?;
            Ok([ops::add_v2(g, i, 1i32).build()?, ops::add_v2(g, sum, row).build()?])
        },
    )?;
    Ok(sum)
}

fn triangle_by_hand(n: i32) -> f64 {
    let sign = |i: i32| if i % 2 == 0 { 1 } else { -1 };
    (0..n).map(|i| (0..i).map(|j| sign(i) * i * j).sum::<i32>()).sum::<i32>().into()
}

#[test]
fn loops_in_loops_and_branches_in_them() {
    for form in FORMS {
        for inner in FORMS {
            let g = &mut graph();
            let (n, p) = (placeholder(g, "n", DataType::Int32), placeholder(g, "p", DataType::Bool));
            // Once as it is, and once in a branch.
            let plain = triangle(form, inner, g, n).unwrap();
            let taken = form
                .cond(g, p, |g| triangle(inner, form, g, n), |g| ops::neg(g, n).build())
                .unwrap_or_else(|error| panic!("{form:?} {inner:?}: {error}"));
            for n in [0, 1, 6] {
                for p in [true, false] {
                    let (feeds, sum) = ([("n", Tensor::scalar(n)), ("p", Tensor::scalar(p))], triangle_by_hand(n));
                    check(g, &[plain, taken], &[(&feeds, &[sum, if p { sum } else { -f64::from(n) }])]);
                }
            }
        }
    }
}

#[test]
fn a_loop_ends_at_its_maximum() {
    for form in FORMS {
        let g = &mut graph();
        let (n, most) = (placeholder(g, "n", DataType::Int32), placeholder(g, "most", DataType::Int32));
        let zero = ops::constant(g, 0i32).unwrap();
        let cond = |g: &mut Graph, i: Output| ops::less(g, i, n).build();
        let body = |g: &mut Graph, i: Output| ops::add_v2(g, i, 2i32).build();
        let fed = match form {
            Form::Functions => ops::while_loop(g, zero, cond, body).maximum_iterations(most).build(),
            Form::Nodes => ops::v1::while_loop(g, zero, cond, body).maximum_iterations(most).build(),
        };
        let fixed = match form {
            Form::Functions => {
                ops::while_loop(g, zero, cond, body).maximum_iterations(3i32).parallel_iterations(1).build()
            }
            Form::Nodes => {
                ops::v1::while_loop(g, zero, cond, body).maximum_iterations(3i32).parallel_iterations(1).build()
            }
        };
        for (n, most, expected) in [(100, 0, [0.0, 6.0]), (100, 5, [10.0, 6.0]), (3, 5, [4.0, 4.0])] {
            let feeds = [("n", Tensor::scalar(n)), ("most", Tensor::scalar(most))];
            check(g, &[fed.clone().unwrap(), fixed.clone().unwrap()], &[(&feeds, &expected)]);
        }
        let maximum = ops::while_loop(g, zero, cond, body).maximum_iterations(3.0f32).build();
        assert!(error(maximum).message().contains("maximum_iterations is float and must be int32"));
        assert!(
            error(ops::while_loop(g, zero, cond, body).parallel_iterations(0).build()).message().contains("at least 1")
        );
    }
}

#[test]
fn variables_may_grow_if_that_is_said() {
    for form in FORMS {
        let g = &mut graph();
        let n = placeholder(g, "n", DataType::Int32);
        let zero = ops::constant(g, 0i32).unwrap();
        let list = ops::constant(g, [1f32, 2.0]).unwrap();
        let mut build = |shapes: Option<[PartialShape; 2]>| {
            let cond = |g: &mut Graph, [i, _]: [Output; 2]| ops::less(g, i, n).build();
            let body = |g: &mut Graph, [i, list]: [Output; 2]| {
                let more = ops::concat_v2(g, [list, list], 0i32).build()?;
                Ok([ops::add_v2(g, i, 1i32).build()?, more])
            };
            let built = match (form, shapes) {
                (Form::Functions, None) => ops::while_loop(g, [zero, list], cond, body).name("grow").build(),
                (Form::Functions, Some(shapes)) => {
                    ops::while_loop(g, [zero, list], cond, body).shape_invariants(shapes).build()
                }
                (Form::Nodes, None) => ops::v1::while_loop(g, [zero, list], cond, body).name("grow").build(),
                (Form::Nodes, Some(shapes)) => {
                    ops::v1::while_loop(g, [zero, list], cond, body).shape_invariants(shapes).build()
                }
            };
            built.map(|[_, list]| list)
        };
        let refused = error(build(None));
        assert_eq!(refused.code(), Code::InvalidArgument);
        let said = "variable 1 (`Const_1`) enters the loop with shape [2], but has shape [4] after one iteration";
        assert!(refused.message().contains(said) && refused.message().contains("in loop `grow`"), "{refused}");
        let scalar_shape = || PartialShape::of_rank(0);
        let refused = error(build(Some([scalar_shape(), PartialShape::from_dims(&[3]).unwrap()])));
        assert!(refused.message().contains("the shape invariant of variable 1 is [3]"), "{refused}");
        let list = build(Some([scalar_shape(), PartialShape::of_rank(1)])).unwrap();
        assert_eq!(g.shape(list).to_string(), "[?]");
        let size = ops::size(g, list).build().unwrap();
        for (n, expected) in [(0, 2.0), (3, 16.0)] {
            check(g, &[size], &[(&[("n", Tensor::scalar(n))], &[expected])]);
        }
        // What was refused has left no nodes.
        assert!(g.nodes().iter().all(|node| !node.name.starts_with("grow")), "{form:?}");
    }
}

#[test]
fn what_does_not_fit_is_said_with_its_place() {
    for form in FORMS {
        let g = &mut graph();
        let (x, p) = (placeholder(g, "x", DataType::Float), placeholder(g, "p", DataType::Bool));
        let integer = |g: &mut Graph| Ok(vec![x, ops::constant(g, 1i32)?]);
        let refused = error(form.cond(g, p, |_| Ok(vec![x, x]), integer));
        let said = "branch `false` of `cond` returns int32 as value 1, but branch `true` float: cast one of them";
        assert!(refused.message().contains(said), "{refused}");
        let refused = error(form.cond(g, p, |_| Ok(vec![x, x]), |_| Ok(vec![x])));
        let said = "branch `false` of `cond` returns 1 value, but branch `true` 2 values";
        assert!(refused.message().contains(said), "{refused}");
        let refused = error(form.cond(g, p, |g| picky(g, p).build(), |_| Ok(x)));
        assert!(refused.message().contains("in branch `true` of `cond`"), "{refused}");
        let less = |g: &mut Graph, x: Output| ops::less(g, x, 3f32).build();
        let refused = error(form.while_loop(g, x, less, |g, x| ops::cast(g, x, DataType::Int32).build()));
        let said = "the body returns int32 as value 0, but the loop has float: cast one of them";
        assert!(refused.message().contains(said), "{refused}");
        let refused = error(form.while_loop(g, (), |_, ()| Ok(p), |_, ()| Ok(())));
        assert!(refused.message().contains("a loop needs a variable"), "{refused}");
        // A value of one loop's body is no value outside of it.
        let mut leaked = None;
        let one = ops::constant(g, 1f32).unwrap();
        let built = form.while_loop(g, one, less, |g, x| {
            let twice = ops::add_v2(g, x, x).build()?;
            leaked = Some(twice);
            Ok(twice)
        });
        if form == Form::Functions {
            built.unwrap();
            let refused = error(ops::neg(g, leaked.unwrap()).build());
            assert!(refused.message().contains("this output is not in the graph, or not any more"), "{refused}");
            let refused = error(form.cond(g, p, |g| ops::neg(g, leaked.unwrap()).build(), |_| Ok(x)));
            assert!(refused.message().contains("this output is not in the graph, or not any more"), "{refused}");
            // Nor does a node wait for it, also where another node stands in its place.
            while g.nodes().len() <= leaked.unwrap().node.index() {
                ops::neg(g, x).build().unwrap();
            }
            let awaited = leaked.unwrap().node;
            assert!(!g.has(awaited) && g.has(x.node));
            let waits = |g: &mut Graph| ops::neg(g, x).name("waits").control_input(awaited).build();
            let built =
                [waits(g), ops::cond(g, p, waits, |_| Ok(x)).build(), ops::v1::cond(g, p, waits, |_| Ok(x)).build()];
            for refused in built.map(error) {
                let said = "a control input: this node is not in the graph, or not any more";
                assert!(refused.message().contains(said) && refused.to_string().contains("waits"), "{refused}");
            }
            let mut patch = g.patch();
            patch.set_control_inputs(x.node, vec![awaited]);
            let refused = patch.apply().unwrap_err();
            assert!(refused.message().contains("a node to wait for: this node is not in the graph"), "{refused}");
        }
    }
}

#[test]
fn nodes_inside_may_wait_for_nodes_outside() {
    for form in FORMS {
        for inner in FORMS {
            let g = &mut graph();
            let n = placeholder(g, "n", DataType::Int32);
            let zero = ops::constant(g, 0i32).unwrap();
            let v = ops::var_handle_op(g, DataType::Int32, []).shared_name("v").build().unwrap();
            let start = ops::assign_variable_op(g, v, n).build().unwrap();
            // The variable has no value before `start` has run.
            let count = form
                .while_loop(
                    g,
                    zero,
                    |g, i| {
                        let limit = ops::read_variable_op(g, v, DataType::Int32).control_input(start).build()?;
                        ops::less(g, i, limit).build()
                    },
                    |g, i| {
                        let even = ops::equal(g, n, 4i32).build()?;
                        let step = |step: i32| {
                            move |g: &mut Graph| {
                                let read = ops::read_variable_op(g, v, DataType::Int32).control_input(start).build()?;
                                let nothing = ops::sub(g, read, read).build()?;
                                ops::add_v2(g, nothing, step).build()
                            }
                        };
                        let step = inner.cond(g, even, step(2), step(3))?;
                        ops::add_v2(g, i, step).build()
                    },
                )
                .unwrap_or_else(|error| panic!("{form:?} {inner:?}: {error}"));
            for (n, expected) in [(4, 4.0), (5, 6.0), (0, 0.0)] {
                check(g, &[count], &[(&[("n", Tensor::scalar(n))], &[expected])]);
            }
        }
    }
}

#[test]
fn branches_and_loops_keep_state() {
    for form in FORMS {
        let g = &mut graph();
        let (n, p) = (placeholder(g, "n", DataType::Int32), placeholder(g, "p", DataType::Bool));
        let v = ops::var_handle_op(g, DataType::Int32, []).shared_name("v").build().unwrap();
        let zero = ops::constant(g, 0i32).unwrap();
        let start = ops::assign_variable_op(g, v, 0i32).build().unwrap();
        let handle = ops::identity(g, v).control_input(start).build().unwrap();
        let more = |g: &mut Graph, amount: i32| {
            let add = ops::assign_add_variable_op(g, handle, amount).build()?;
            ops::read_variable_op(g, handle, DataType::Int32).control_input(add).build()
        };
        let looped = form
            .while_loop(
                g,
                zero,
                |g, i| ops::less(g, i, n).build(),
                |g, i| {
                    let read = more(g, 10)?;
                    let kept = ops::sub(g, read, read).build()?;
                    let next = ops::add_v2(g, i, 1i32).build()?;
                    ops::add_v2(g, next, kept).build()
                },
            )
            .unwrap();
        let pred = ops::identity(g, p).control_input(looped.node).build().unwrap();
        let read = form.cond(g, pred, |g| more(g, 1), |g| more(g, 2)).unwrap();
        assert_eq!(*g.shape(read), PartialShape::of_rank(0), "{form:?}");
        for (n, p, expected) in [(0, true, 1.0), (3, false, 32.0)] {
            let feeds = [("n", Tensor::scalar(n)), ("p", Tensor::scalar(p))];
            check(g, &[looped, read], &[(&feeds, &[f64::from(n), expected])]);
        }
        if form == Form::Functions {
            assert_eq!(g.node(looped.node).op.def.name, "While");
            assert_eq!(g.node(read.node).op.def.name, "If");
        }
    }
}

#[test]
fn a_case_takes_the_last_branch_for_what_names_none() {
    let g = &mut graph();
    let (i, x) = (placeholder(g, "i", DataType::Int32), placeholder(g, "x", DataType::Float));
    let y = ops::switch_case(g, i)
        .branch(|g| ops::neg(g, x).build())
        .branch(|g| ops::square(g, x).build())
        .branch(|_| Ok(x))
        .name("choice")
        .build()
        .unwrap();
    assert_eq!((&*g.node(y.node).op.def.name, &*g.node(y.node).name), ("StatelessCase", "choice"));
    assert_eq!(*g.shape(y), PartialShape::of_rank(0));
    for (i, expected) in [(0, -3.0), (1, 9.0), (2, 3.0), (7, 3.0), (-1, 3.0)] {
        check(g, &[y], &[(&[("i", Tensor::scalar(i)), ("x", scalar(3.0))], &[expected])]);
    }
    let refused = error(ops::switch_case::<Output>(g, i).build());
    assert!(refused.message().contains("`case` has no branches"), "{refused}");
    let refused = error(ops::switch_case(g, i).branch(|_| Ok(x)).branch(|_| Ok(i)).build());
    assert!(
        refused.message().contains("branch `1` of `case` returns int32 as value 0, but branch `0` float"),
        "{refused}"
    );
}

#[test]
fn what_is_known_of_shapes_goes_through() {
    for form in FORMS {
        let g = &mut graph();
        let p = placeholder(g, "p", DataType::Bool);
        let shape = PartialShape::from_dims(&[-1, 3]).unwrap();
        let x = ops::placeholder(g, DataType::Float).shape(shape).build().unwrap();
        let y = form
            .cond(g, p, |g| ops::expand_dims(g, x, 0i32).build(), |g| ops::expand_dims(g, x, 1i32).build())
            .unwrap();
        assert_eq!(g.shape(y).to_string(), "[?,?,3]", "{form:?}");
        // Its value is known inside too: no iteration changes it.
        let sizes = ops::constant(g, [-1i32, 3]).unwrap();
        let body = |g: &mut Graph, x: Output| {
            // In the graph itself, what enters a loop has lost it.
            let sizes = if form == Form::Nodes { ops::constant(g, [-1i32, 3])? } else { sizes };
            ops::reshape(g, x, sizes).build()
        };
        let y = form.while_loop(g, x, |_, _| Ok(p), body).unwrap();
        assert_eq!(g.shape(y).to_string(), "[?,3]", "{form:?}");
        let again = Graph::import(&g.to_def().unwrap(), g.registry()).unwrap();
        let name = g.output_name(y);
        assert_eq!(again.shape(again.output(&name).unwrap()).to_string(), "[?,3]", "{form:?}");
    }
}

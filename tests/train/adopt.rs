//! Variables of graphs that are there already.

use kernlink::graph::Node;
use kernlink::prelude::*;
use kernlink::train::{Initializer, Optimizer, Sgd, Variables};

/// The graph of `sum((w * 3 - x)^2)`, where `w` is what `weight` gives.
fn squares(weight: impl FnOnce(&mut Graph) -> Result<Output>) -> Result<Graph> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").shape([2]).build()?;
    let w = weight(&mut graph)?;
    let product = ops::mul(&mut graph, w, 3.0f32).build()?;
    let squares = ops::squared_difference(&mut graph, product, x).build()?;
    ops::sum(&mut graph, squares, 0).name("loss").build()?;
    // As if it came from a file.
    Graph::import(&graph.to_def()?, &kernlink::registry()?)
}

/// The loss of some steps.
fn losses(session: &Session) -> Result<Vec<f32>> {
    let x = Tensor::vector(&[6.0f32, -3.0])?;
    (0..3).map(|_| session.run(&[("x", x.clone())], &["loss"], &["train"])?[0].to_scalar()).collect()
}

#[test]
fn variables_of_an_imported_graph_are_trained() {
    let mut graph = squares(|graph| {
        let mut variables = Variables::new();
        let w = variables.add(graph, "w", [2], Initializer::ones()).build()?;
        variables.add(graph, "steps", [0usize; 0], Initializer::zeros()).dtype(DataType::Int64).build()?;
        variables.add(graph, "average", [0usize; 0], Initializer::zeros()).build()?;
        variables.initializer(graph)?;
        w.read(graph)
    })
    .unwrap();
    let mut variables = Variables::new();
    variables.adopt(&graph, |name| name != "average").unwrap();
    assert_eq!(variables.iter().map(|variable| variable.name()).collect::<Vec<_>>(), ["w", "steps", "average"]);
    assert_eq!(variables.trainable().map(|variable| variable.name()).collect::<Vec<_>>(), ["w"]);
    let loss = graph.output("loss").unwrap();
    Optimizer::new(Sgd { momentum: 0.5, ..Sgd::default() }, 1.0 / 36.0)
        .minimize(&mut graph, &mut variables, loss)
        .unwrap();
    let first = variables.initializer(&mut graph).unwrap();
    let first = graph.node(first).name.clone();
    assert_eq!(first, "init_1");
    let session = Session::new(graph).unwrap();
    session.run(&[], &[], &["init"]).unwrap();
    session.run(&[], &[], &[&first]).unwrap();
    // With w of [1, 1] the differences are -3 and 6; a step halves them, the next takes a quarter of what the first did besides.
    let found = losses(&session).unwrap();
    assert!((found[0] - 45.0).abs() < 1e-4 && (found[1] - 11.25).abs() < 1e-4 && found[2] < 1e-3, "{found:?}");
}

#[test]
fn constants_of_a_frozen_graph_are_trained() {
    let mut graph = squares(|graph| ops::constant(graph, [1.0f32, 1.0])).unwrap();
    let is_weight = |node: &&Node| &*node.op.def.name == "Const" && node.output_shapes[0].rank() == Some(1);
    let name = graph.nodes().iter().find(is_weight).unwrap().name.clone();
    let before = graph.output("loss").unwrap();
    let mut variables = Variables::new();
    let moved = variables.unfreeze(&mut graph, |_, value| value.shape().rank() == 1).unwrap();
    assert_eq!(variables.trainable().map(|variable| variable.name()).collect::<Vec<_>>(), [name.as_str()]);
    let loss = moved.used_for(before).unwrap();
    assert_eq!(loss, graph.output("loss").unwrap());
    Optimizer::new(Sgd::default(), 1.0 / 36.0).minimize(&mut graph, &mut variables, loss).unwrap();
    variables.initializer(&mut graph).unwrap();
    let saver = variables.saver(&mut graph).unwrap();
    let session = Session::new(graph).unwrap();
    session.run(&[], &[], &["init"]).unwrap();
    let found = losses(&session).unwrap();
    assert!(
        found.iter().zip([45.0, 11.25, 2.8125]).all(|(found, expected)| (found - expected).abs() < 1e-4),
        "{found:?}"
    );
    // What was learnt is a checkpoint by the constant's name.
    let prefix = std::env::temp_dir().join(format!("kernlink-unfreeze-{}", std::process::id()));
    let prefix = prefix.to_str().unwrap();
    saver.save(&session, prefix).unwrap();
    session.run(&[], &[], &["init"]).unwrap();
    saver.restore(&session, prefix).unwrap();
    let again = losses(&session).unwrap();
    assert!((again[0] - found[2] / 4.0).abs() < 1e-4, "{again:?}");
    for suffix in [".index", ".data-00000-of-00001"] {
        std::fs::remove_file(format!("{prefix}{suffix}")).unwrap();
    }
}

#[test]
fn variables_of_one_name_are_refused() {
    let mut graph = squares(|graph| ops::constant(graph, [1.0f32, 1.0])).unwrap();
    let mut variables = Variables::new();
    variables.unfreeze(&mut graph, |_, value| value.shape().rank() == 1).unwrap();
    let nodes = graph.nodes().len();
    // The constant is still there, as the first value.
    let error = variables.unfreeze(&mut graph, |_, value| value.shape().rank() == 1).unwrap_err();
    assert!(error.code() == Code::AlreadyExists, "{error}");
    let error = variables.adopt(&graph, |_| true).unwrap_err();
    assert!(error.code() == Code::AlreadyExists, "{error}");
    assert_eq!((graph.nodes().len(), variables.iter().count()), (nodes, 1));
    let graph = squares(|graph| {
        let handle = ops::var_handle_op(graph, DataType::Float, PartialShape::unknown()).name("v").build()?;
        ops::read_variable_op(graph, handle, DataType::Float).build()
    })
    .unwrap();
    let error = Variables::new().adopt(&graph, |_| true).unwrap_err();
    assert!(error.code() == Code::InvalidArgument && error.message().contains("`v`"), "{error}");
    // Two handles of one variable are one, and a constant is none that the graph has.
    let mut graph = squares(|graph| {
        let handles = ["first", "second"].map(|name| {
            let handle = ops::var_handle_op(graph, DataType::Float, Shape::from([2])).shared_name("v").name(name);
            handle.build().unwrap()
        });
        ops::constant(graph, [1.0f32, 2.0])?;
        let reads = handles.map(|handle| ops::read_variable_op(graph, handle, DataType::Float).build().unwrap());
        ops::add_v2(graph, reads[0], reads[1]).build()
    })
    .unwrap();
    let mut variables = Variables::new();
    variables.adopt(&graph, |_| true).unwrap();
    assert_eq!(variables.iter().map(|variable| variable.name()).collect::<Vec<_>>(), ["v"]);
    let is_weight = |name: &str, value: &Tensor| name == "v" || value.shape().rank() == 1;
    assert!(Variables::new().unfreeze(&mut graph, is_weight).is_ok());
    let mut graph = squares(|graph| {
        let constant = ops::constant(graph, [1.0f32, 2.0])?;
        let name = graph.node(constant.node).name.clone();
        let handle =
            ops::var_handle_op(graph, DataType::Float, Shape::from([2])).shared_name(&name).name("h").build()?;
        let value = ops::read_variable_op(graph, handle, DataType::Float).build()?;
        ops::add_v2(graph, constant, value).build()
    })
    .unwrap();
    let nodes = graph.nodes().len();
    let error = Variables::new().unfreeze(&mut graph, |_, value| value.shape().rank() == 1).unwrap_err();
    assert!(error.code() == Code::AlreadyExists && graph.nodes().len() == nodes, "{error}");
}

/// Those that were kept before something failed are found by their names, and what was forgotten is free again.
#[test]
fn variables_that_were_forgotten_can_be_added_again() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let mut variables = Variables::new();
    for name in ["first", "known", "last"] {
        variables.add(&mut graph, name, [2], Initializer::ones()).build().unwrap();
    }
    let mut other = Graph::new(graph.registry());
    for name in ["fresh", "known"] {
        ops::var_handle_op(&mut other, DataType::Float, Shape::from([3])).shared_name(name).build().unwrap();
    }
    let error = variables.adopt(&other, |_| true).unwrap_err();
    assert!(error.code() == Code::AlreadyExists && error.message().contains("`known`"), "{error}");
    assert!(variables.find("fresh").is_none());
    variables.add(&mut graph, "fresh", [4], Initializer::ones()).build().unwrap();
    let names = ["first", "known", "last", "fresh"];
    let found = names.map(|name| variables.find(name).unwrap());
    assert_eq!(found.map(|variable| variable.name()), names);
    assert_eq!(found.map(|variable| variable.shape()[0]), [2, 2, 2, 4]);
}

//! Several devices of the host.

use kernlink::attr::AttrValue;
use kernlink::graph::NodeBuilder;
use kernlink::prelude::*;

use crate::graphs::{endless, node, placed};

#[test]
fn nodes_run_where_they_ask_and_tensors_follow() {
    let graph = placed(&[("a", "/cpu:1"), ("b", ""), ("c", "/device:CPU:2"), ("d", "/job:localhost/device:CPU:1")]);
    let options = SessionOptions::new().threads(2).cpu_devices(3).strict_placement(true);
    let session = Session::with_options(graph, &options).unwrap();
    let device = |name: &str| session.device_of(session.graph().find(name).unwrap()).unwrap().to_owned();
    assert_eq!(["a", "b", "c", "d"].map(device), ["/device:CPU:1", "/device:CPU:0", "/device:CPU:2", "/device:CPU:1"]);
    for _ in 0..3 {
        let y = session.run(&[("x", Tensor::scalar(1f32))], &["d", "a"], &[]).unwrap();
        assert_eq!((y[0].to_scalar::<f32>().unwrap(), y[1].to_scalar::<f32>().unwrap()), (5.0, 2.0));
    }
}

#[test]
fn what_cannot_be_placed_is_refused_or_goes_elsewhere() {
    let strict = SessionOptions::new().threads(1).cpu_devices(2).strict_placement(true);
    for (device, text) in
        [("/cpu:7", "available devices are [ /device:CPU:0, /device:CPU:1 ]"), ("/gpu:0", "explicitly")]
    {
        let session = Session::with_options(placed(&[("a", device)]), &strict).unwrap();
        let error = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::InvalidArgument);
        assert!(error.message().contains(text), "{error}");
    }
    let soft = SessionOptions::new().threads(1).cpu_devices(2);
    for device in ["/cpu:7", "/gpu:0", "/job:ps/task:3"] {
        let session = Session::with_options(placed(&[("a", device)]), &soft).unwrap();
        let y = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]).unwrap();
        assert_eq!(y[0].to_scalar::<f32>().unwrap(), 2.0);
    }
    // A name that is none is refused in any case, and a type that there is not goes elsewhere, as with TensorFlow.
    for options in [&strict, &soft, &SessionOptions::new().threads(1)] {
        for device in ["/device:CPU:zero", "banana", "nonsense:0", "/XPU:0", "/job:localhost/banana:1"] {
            let session = Session::with_options(placed(&[("a", device)]), options).unwrap();
            let error = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]).unwrap_err();
            assert_eq!(error.code(), kernlink::Code::InvalidArgument);
            let said = format!("Malformed device specification '{device}': expected `/device:TYPE:NUMBER`");
            assert!(
                error.message().contains(&said) && error.node().is_some_and(|node| node.node.starts_with('a')),
                "{error}"
            );
        }
        let session = Session::with_options(placed(&[("a", "/device:BANANA:0")]), options).unwrap();
        let ran = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]);
        assert_eq!(ran.is_ok(), !std::ptr::eq(options, &strict));
    }
}

#[test]
fn colocated_nodes_stay_together() {
    let mut graph = placed(&[("a", "/cpu:1")]);
    let class = AttrValue::ListString(vec!["loc:@a".into()]);
    let x = graph.output("x").unwrap();
    let attrs = [("_class", class.clone())];
    node(&mut graph, "Square", "with_a", &[x], &attrs);
    let strict = SessionOptions::new().threads(1).cpu_devices(2).strict_placement(true);
    let session = Session::with_options(graph.clone(), &strict).unwrap();
    assert_eq!(session.device_of(session.graph().find("with_a").unwrap()).unwrap(), "/device:CPU:1");

    let def = graph.registry().op("Square").unwrap().def;
    let mut elsewhere = NodeBuilder::new(&mut graph, def);
    elsewhere.name("elsewhere").input(x).attr("_class", class).device("/cpu:0");
    elsewhere.build().unwrap();
    let session = Session::with_options(graph, &strict).unwrap();
    let error = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]).unwrap_err();
    assert!(error.message().contains("Cannot colocate nodes"), "{error}");
}

#[test]
fn nodes_of_a_function_may_ask_to_be_with_nodes_elsewhere() {
    // As of a tf_keras model with an Embedding: its lookup asks to be with a variable, which is not in the function.
    let node = |name: &str, input: &str, more: &str| {
        format!(
            r#"node_def {{ name: "{name}" op: "Square" input: "{input}" {more} attr {{ key: "T" value {{ type: DT_FLOAT }} }}
               attr {{ key: "_class" value {{ list {{ s: "loc:@variable/read" }} }} }} }}"#
        )
    };
    let graph = |device: &str| {
        let text = format!(
            r#"node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} }}
               node {{ name: "y" op: "PartitionedCall" input: "x" attr {{ key: "f" value {{ func {{ name: "F" }} }} }}
                 attr {{ key: "Tin" value {{ list {{ type: DT_FLOAT }} }} }}
                 attr {{ key: "Tout" value {{ list {{ type: DT_FLOAT }} }} }} }}
               library {{ function {{ signature {{ name: "F" input_arg {{ name: "x" type: DT_FLOAT }}
                   output_arg {{ name: "y" type: DT_FLOAT }} }}
                 {} {} ret {{ key: "y" value: "b:y:0" }} }} }} versions {{ producer: 2474 }}"#,
            node("a", "x", r#"device: "/device:CPU:1""#),
            node("b", "a:y:0", device),
        );
        let def = kernlink::proto::graph_from_text(&text).unwrap();
        Graph::import(&def, &kernlink::registry().unwrap()).unwrap()
    };
    let options = SessionOptions::new().threads(1).cpu_devices(2).strict_placement(true);
    let run = |graph: Graph| {
        let session = Session::with_options(graph, &options).unwrap();
        session.run(&[("x", Tensor::scalar(3f32))], &["y"], &[])
    };
    assert_eq!(run(graph("")).unwrap()[0].to_scalar::<f32>().unwrap(), 81.0);
    // Those that ask for the same one are together.
    let error = run(graph(r#"device: "/device:CPU:0""#)).unwrap_err();
    assert!(error.message().contains("Cannot colocate nodes 'a' and 'b'"), "{error}");
}

#[test]
fn loops_go_across_devices() {
    let mut def = endless().to_def().unwrap();
    for node in &mut def.node {
        if node.name == "always" {
            // It ends at once: what the other side of the switch does is dead on both devices.
            node.input = vec!["false".to_owned()];
        }
        node.device = match node.name.as_str() {
            "more" | "next" => "/cpu:1".to_owned(),
            _ => String::new(),
        };
    }
    let text = r#"node { name: "false" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
        attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: false } } } }"#;
    def.node.extend(kernlink::proto::graph_from_text(text).unwrap().node);
    let counting = r#"
        node { name: "limit" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
               attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 50 } } } }
        node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
               attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
        node { name: "c/enter" op: "Enter" input: "zero" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "count" } } }
        node { name: "c/limit" op: "Enter" input: "limit" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "count" } } attr { key: "is_constant" value { b: true } } }
        node { name: "c/one" op: "Enter" input: "one" device: "/cpu:1" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "count" } } attr { key: "is_constant" value { b: true } } }
        node { name: "c/merge" op: "Merge" input: "c/enter" input: "c/next" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "N" value { i: 2 } } }
        node { name: "c/less" op: "Less" input: "c/merge" input: "c/limit" device: "/cpu:1"
               attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c/switch" op: "Switch" input: "c/merge" input: "c/less" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c/more" op: "Add" input: "c/switch:1" input: "c/one" device: "/cpu:1"
               attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c/next" op: "NextIteration" input: "c/more" device: "/cpu:1" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c/exit" op: "Exit" input: "c/switch" attr { key: "T" value { type: DT_INT32 } } }"#;
    def.node.extend(kernlink::proto::graph_from_text(counting).unwrap().node);
    let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    for threads in [1, 2] {
        let options = SessionOptions::new().threads(threads).cpu_devices(2).strict_placement(true);
        let session = Session::with_options(graph.clone(), &options).unwrap();
        for _ in 0..3 {
            let ends = session.run(&[], &["exit", "c/exit"], &[]).unwrap();
            assert_eq!(ends[0].to_scalar::<i32>().unwrap(), 0);
            assert_eq!(ends[1].to_scalar::<i32>().unwrap(), 50);
        }
    }
}

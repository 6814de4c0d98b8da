//! Graphs that grow while sessions run them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kernlink::attr::FunctionRef;
use kernlink::graph::{FunctionBuilder, NodeBuilder};

use super::super::messages::ConfigProto;
use super::*;

#[test]
fn variables_keep_their_values() {
    let client = Client::new(&variable("v", 2.0, 0.5));
    client.run(&[], &[], &["v_set"]).unwrap();
    for round in 1..=20 {
        client.run(&[], &[], &["v_add"]).unwrap();
        let name = format!("more_{round}");
        client.grow(&[float(&name, "Neg", &["v_read"])]);
        let expected = 2.0 + 0.5 * round as f32;
        assert_eq!((client.number(&name), client.number("v_read")), (-expected, expected));
    }
}

#[test]
fn kernels_with_a_state_keep_it() {
    let seeded = |client: &Client| {
        let int = AttrValue::Type(DataType::Int32);
        let attrs = [("dtype", FLOAT), ("T", int), ("seed", 3.into()), ("seed2", 5.into())];
        client.grow(&[constant("dims", ints(&[4])), node("random", "RandomUniform", &["dims"], &attrs)]);
        let reference = [("dtype", FLOAT), ("shape", AttrValue::Shape(PartialShape::from_dims(&[]).unwrap()))];
        client.grow(&[
            node("old", "VariableV2", &[], &reference),
            constant("one", Tensor::scalar(1.0f32)),
            float("set", "Assign", &["old", "one"]),
            float("add", "AssignAdd", &["old", "one"]),
        ]);
    };
    let (still, growing) = (Client::new(&[]), Client::new(&[]));
    seeded(&still);
    seeded(&growing);
    let first = growing.run(&[], &["random"], &["set"]).unwrap();
    assert_eq!(
        first[0].as_slice::<f32>().unwrap(),
        still.run(&[], &["random"], &[]).unwrap()[0].as_slice::<f32>().unwrap()
    );
    growing.grow(&[float("negative", "Neg", &["random"]), float("read", "Identity", &["old"])]);
    let second = growing.run(&[], &["random", "negative"], &["add"]).unwrap();
    assert_floats(&second[0], still.run(&[], &["random"], &[]).unwrap()[0].as_slice().unwrap());
    assert_ne!(first[0].as_slice::<f32>().unwrap(), second[0].as_slice::<f32>().unwrap());
    assert_eq!(growing.number("read"), 2.0);
}

#[test]
fn nothing_is_copied_while_the_graph_stays() {
    let client = Client::new(&variable("v", 1.0, 1.0));
    // SAFETY: the session is alive.
    let session = unsafe { borrow(client.session) }.unwrap();
    client.run(&[], &[], &["v_set"]).unwrap();
    let before = session.last_session();
    assert_eq!(client.number("v_read"), 1.0);
    client.run(&[], &["v_read"], &["v"]).unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &session.last_session()));
    client.grow(&[float("n", "Neg", &["v_read"])]);
    // What was asked before is known, and needs no look at the graph.
    assert_eq!(client.number("v_read"), 1.0);
    assert!(std::sync::Arc::ptr_eq(&before, &session.last_session()));
    // SAFETY: the session is alive.
    checked(|status| unsafe { TF_ExtendSession(client.session, status) }).unwrap();
    assert!(!std::sync::Arc::ptr_eq(&before, &session.last_session()));
    assert_eq!(client.number("n"), -1.0);
}

/// Adds a function that takes its argument twice into an op, and a call of it.
fn add_function(client: &Client, name: &str, call: &str, op: &str) {
    client.change(|graph| {
        let function = FunctionBuilder::new(name, [DataType::Float]).build(graph, |graph, [x]| {
            let op = graph.registry().op(op)?.def;
            let mut builder = NodeBuilder::new(graph, op);
            builder.input(x).input(x);
            builder.build_output()
        })?;
        let input = graph.output("p")?;
        kernlink::ops::call(graph, &function, [input]).name(call).build().map(drop)
    });
}

#[test]
fn functions_come_later() {
    let client = Client::new(&[placeholder("p", &[-1]), float("n", "Neg", &["p"])]);
    client.run(&[("p", floats(&[1.0]))], &["n"], &[]).unwrap();
    for (name, call, op, expected) in
        [("Doubles", "doubled", "AddV2", 6.0), ("Squares", "squared", "Mul", 9.0), ("Nothing", "nothing", "Sub", 0.0)]
    {
        add_function(&client, name, call, op);
        assert_floats(&client.run(&[("p", floats(&[3.0]))], &[call], &[]).unwrap()[0], &[expected]);
        assert_floats(&client.run(&[("p", floats(&[3.0]))], &["doubled"], &[]).unwrap()[0], &[6.0]);
    }
}

#[test]
fn a_gradient_is_seen_that_a_function_is_given_later() {
    let client = Client::new(&[placeholder("p", &[-1]), float("n", "Neg", &["p"])]);
    client.change(|graph| {
        FunctionBuilder::new("Doubles", [DataType::Float])
            .build(graph, |graph, [x]| kernlink::ops::add_v2(graph, x, x).build())?;
        FunctionBuilder::new("Given", [DataType::Float, DataType::Float])
            .build(graph, |graph, [x, flow]| kernlink::ops::sub(graph, x, flow).build())?;
        let op = graph.registry().op("SymbolicGradient")?.def;
        let p = graph.output("p")?;
        let function = FunctionRef { name: "Doubles".to_owned(), ..FunctionRef::default() };
        let mut builder = NodeBuilder::new(graph, op);
        builder.input_list([p, p]).attr("f", function).attr("Tout", vec![DataType::Float]).name("gradient");
        builder.build().map(drop)
    });
    let run = |name: &str| client.run(&[("p", floats(&[3.0]))], &[name], &[]).unwrap().remove(0);
    assert_floats(&run("n"), &[-3.0]);
    client.change(|graph| graph.set_function_gradient("Doubles", "Given"));
    assert_floats(&run("gradient"), &[0.0]);
}

#[test]
fn nodes_stay_on_their_devices() {
    let two = config(ConfigProto {
        device_count: [("CPU".to_owned(), 2)].into(),
        allow_soft_placement: true,
        ..ConfigProto::default()
    });
    let client = Client::with(&two, &variable("v", 1.0, 1.0)).unwrap();
    client.run(&[], &[], &["v_set"]).unwrap();
    // SAFETY: the session is alive.
    let session = unsafe { borrow(client.session) }.unwrap();
    let device = |name: &str| {
        let session = session.session().unwrap();
        session.device_of(session.graph().find(name).unwrap()).unwrap().to_owned()
    };
    assert_eq!(device("v"), "/device:CPU:0");
    // It belongs to the variable, which is on the other device.
    let mut late = node("late", "AssignAddVariableOp", &["v", "v_more"], &[("dtype", FLOAT)]);
    late.device = "/device:CPU:1".to_owned();
    let mut apart = float("apart", "Neg", &["v_read"]);
    apart.device = "/device:CPU:1".to_owned();
    client.grow(&[late, apart]);
    client.run(&[], &[], &["late"]).unwrap();
    assert_eq!((client.number("apart"), client.number("v_read")), (-2.0, 2.0));
    assert_eq!((device("v"), device("late"), device("apart")), {
        let [first, second] = ["/device:CPU:0", "/device:CPU:1"].map(str::to_owned);
        (first.clone(), first, second)
    });
}

#[test]
fn sessions_of_one_graph_have_their_own_state() {
    let client = Client::new(&variable("v", 1.0, 1.0));
    client.run(&[], &[], &["v_set"]).unwrap();
    // SAFETY: the graph is alive.
    let make = |options| unsafe { checked(|status| TF_NewSession(client.graph, options, status)) };
    let session = with_options(&[], c"", make).unwrap();
    // The graph is kept by its sessions, and so are its operations.
    let other = Client { graph: client.graph, session };
    let (code, message) = other.run(&[], &["v_read"], &[]).unwrap_err();
    assert!(code == 9 && message.contains("v"), "{message}");
    std::mem::forget(other);
    let output = client.output("v_read");
    drop(client);
    let set = called(&[], 1, |values, places, status| {
        let (none, options) = (ptr::null(), ptr::null());
        // SAFETY: the session keeps the graph.
        unsafe {
            TF_SessionRun(
                session,
                options,
                none,
                values,
                0,
                &output,
                places,
                1,
                ptr::null(),
                0,
                ptr::null_mut(),
                status,
            )
        };
    });
    assert_eq!(set.unwrap_err().0, 9);
    // SAFETY: the session is not used again.
    checked(|status| unsafe { TF_DeleteSession(session, status) }).unwrap();
}

#[test]
fn threads_run_while_another_extends() {
    let mut nodes = variable("v", 0.0, 1.0);
    nodes.extend([placeholder("p", &[-1]), float("n_0", "Neg", &["p"])]);
    let client = Client::new(&nodes);
    client.run(&[], &[], &["v_set"]).unwrap();
    let (is_over, grown) = (AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
    let added: u32 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (client, is_over, grown) = (&client, &is_over, &grown);
                scope.spawn(move || {
                    let mut added = 0;
                    while !is_over.load(Ordering::Relaxed) || added == 0 {
                        let newest = format!("n_{}", grown.load(Ordering::Acquire));
                        let x = thread as f32 + 1.0;
                        let value = client.run(&[("p", floats(&[x]))], &[&newest], &["v_add"]).unwrap();
                        added += 1;
                        assert_floats(&value[0], &[-x]);
                        assert_floats(&client.run(&[("p", floats(&[x]))], &["n_0"], &[]).unwrap()[0], &[-x]);
                    }
                    added
                })
            })
            .collect();
        for number in 1..=60 {
            client.grow(&[float(&format!("n_{number}"), "Neg", &["p"])]);
            grown.store(number, Ordering::Release);
            std::thread::sleep(Duration::from_millis(1));
        }
        is_over.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(client.number("v_read"), added as f32);
}

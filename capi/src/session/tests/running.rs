//! Runs, what they refuse, how they are told to behave, what they tell, and devices.

use kernlink_library::host::{TF_DeleteBuffer, TF_NewBuffer, TF_NewBufferFromString};
use prost::Message;

use super::super::messages::{ConfigProto, RunMetadataProto, RunOptionsProto, ThreadPoolOptionProto};
use super::*;

fn client() -> Client {
    Client::new(&[
        placeholder("p", &[-1, 3]),
        placeholder("q", &[-1]),
        float("n", "Neg", &["p"]),
        float("m", "Neg", &["q"]),
        float("s", "AddV2", &["p", "q"]),
        node("nothing", "NoOp", &[], &[]),
    ])
}

fn x() -> Tensor {
    floats(&[1.0, 2.0, 3.0])
}

/// A buffer with options for a run, for a call.
fn with_run_options<R>(options: &RunOptionsProto, call: impl FnOnce(*const TF_Buffer) -> R) -> R {
    let bytes = options.encode_to_vec();
    // SAFETY: the bytes are copied, and the buffer lives as long as the call.
    unsafe {
        let buffer = TF_NewBufferFromString(bytes.as_ptr().cast(), bytes.len());
        let result = call(buffer);
        TF_DeleteBuffer(buffer);
        result
    }
}

#[test]
fn what_is_asked_is_computed() {
    let client = client();
    for _ in 0..3 {
        assert_floats(&client.run(&[("p", x())], &["n"], &[]).unwrap()[0], &[-1.0, -2.0, -3.0]);
        let both = client.run(&[("p", x()), ("q", floats(&[5.0]))], &["s", "m"], &["nothing", "n", "n"]).unwrap();
        assert_floats(&both[0], &[6.0, 7.0, 8.0]);
        assert_floats(&both[1], &[-5.0]);
        // What is in the middle of the graph may be fed, in any shape, and feeds need not be used.
        assert_floats(&client.run(&[("q", x()), ("p", floats(&[]))], &["m"], &[]).unwrap()[0], &[-1.0, -2.0, -3.0]);
        assert!(client.run(&[], &[], &["nothing"]).unwrap().is_empty());
    }
}

#[test]
fn what_cannot_be_asked_is_refused_as_by_tensorflow() {
    let client = client();
    let run = |feeds: &[&str], fetches: &[&str]| {
        let feeds: Vec<_> = feeds.iter().map(|&feed| (feed, x())).collect();
        client.run(&feeds, fetches, &[])
    };
    let nothing = "Must specify at least one target to fetch or execute.";
    // Twice: what failed is not kept.
    for _ in 0..2 {
        expect(run(&[], &[]), INVALID_ARGUMENT, nothing);
        expect(run(&["p"], &[]), INVALID_ARGUMENT, nothing);
        let unfed =
            "You must feed a value for placeholder tensor 'p' with dtype float and shape [?,3]\n\t [[{{node p}}]]";
        expect(run(&[], &["n"]), INVALID_ARGUMENT, unfed);
        let fed = "Node 'p' (type: 'Placeholder', num of outputs: 1) does not have output 3";
        expect(run(&["p:3"], &["n"]), OUT_OF_RANGE, fed);
        let fetched = "Node 'n' (type: 'Neg', num of outputs: 1) does not have output 3";
        expect(run(&[], &["n:3"]), OUT_OF_RANGE, fetched);
        expect(run(&["p", "p"], &["n:3"]), OUT_OF_RANGE, fetched);
        let without = "Node 'nothing' (type: 'NoOp', num of outputs: 0) does not have output 0";
        expect(run(&[], &["nothing"]), OUT_OF_RANGE, without);
        for (feeds, fetches) in [(&["p:-1"][..], &["n"][..]), (&["p"][..], &["n:-1"][..])] {
            assert_eq!(run(feeds, fetches).unwrap_err().0, INVALID_ARGUMENT);
        }
        expect(run(&["p", "p"], &["n"]), INVALID_ARGUMENT, "Endpoint \"p:0\" fed more than once.");
        expect(run(&["p"], &["p"]), INVALID_ARGUMENT, "p:0 is both fed and fetched.");
        let wrong = client.run(&[("p", ints(&[1, 2, 3]))], &["n"], &[]);
        expect(wrong, INVALID_ARGUMENT, "Expects arg[0] to be float but int32 is provided");
        // The place is that among the names.
        let wrong = client.run(&[("q", x()), ("p", ints(&[1]))], &["n"], &[]);
        expect(wrong, INVALID_ARGUMENT, "Expects arg[0] to be float but int32 is provided");
    }
}

#[test]
fn operations_of_other_graphs_and_null_pointers_are_refused() {
    let (client, other) = (client(), self::client());
    let foreign = [other.output("n")];
    let null = [TF_Output { oper: ptr::null_mut(), index: 0 }];
    for outputs in [foreign, null] {
        let fetched = called(&[], 1, |values, places, status| {
            // SAFETY: all live until the call ends.
            unsafe {
                let (none, targets) = (ptr::null(), ptr::null());
                let (session, metadata) = (client.session, ptr::null_mut());
                TF_SessionRun(
                    session,
                    ptr::null(),
                    none,
                    values,
                    0,
                    outputs.as_ptr(),
                    places,
                    1,
                    targets,
                    0,
                    metadata,
                    status,
                );
            }
        });
        assert_eq!(fetched.unwrap_err().0, INVALID_ARGUMENT);
        let targets = [outputs[0].oper.cast_const()];
        let ran = called(&[], 0, |values, places, status| {
            // SAFETY: as above.
            unsafe {
                let (none, metadata) = (ptr::null(), ptr::null_mut());
                TF_SessionRun(
                    client.session,
                    ptr::null(),
                    none,
                    values,
                    0,
                    none,
                    places,
                    0,
                    targets.as_ptr(),
                    1,
                    metadata,
                    status,
                );
            }
        });
        assert_eq!(ran.unwrap_err().0, INVALID_ARGUMENT);
    }
    for (inputs, outputs, targets) in [(1, 0, 0), (-1, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)] {
        let refused = checked(|status| {
            let (none, values, places) = (ptr::null::<TF_Output>(), ptr::null(), ptr::null_mut());
            // SAFETY: nothing is read, as there is nothing.
            unsafe {
                let (operations, metadata) = (ptr::null(), ptr::null_mut());
                TF_SessionRun(
                    client.session,
                    ptr::null(),
                    none,
                    values,
                    inputs,
                    none,
                    places,
                    outputs,
                    operations,
                    targets,
                    metadata,
                    status,
                );
            }
        });
        assert_eq!(refused.unwrap_err().0, INVALID_ARGUMENT);
    }
    // SAFETY: null is refused.
    unsafe {
        let run = |status| {
            let none = ptr::null();
            TF_SessionRun(
                ptr::null_mut(),
                ptr::null(),
                none,
                ptr::null(),
                0,
                none,
                ptr::null_mut(),
                0,
                ptr::null(),
                0,
                ptr::null_mut(),
                status,
            );
        };
        assert_eq!(checked(run).unwrap_err().0, INVALID_ARGUMENT);
        assert_eq!(checked(|status| TF_CloseSession(ptr::null_mut(), status)).unwrap_err().0, INVALID_ARGUMENT);
        let graph = client.graph;
        assert_eq!(checked(|status| TF_NewSession(graph, ptr::null(), status)).unwrap_err().0, INVALID_ARGUMENT);
        checked(|status| TF_DeleteSession(ptr::null_mut(), status)).unwrap();
        TF_DeleteSessionOptions(ptr::null_mut());
        TF_DeleteDeviceList(ptr::null_mut());
        TF_DeletePRunHandle(ptr::null());
    }
}

#[test]
fn runs_are_told_how_to_behave_and_tell_what_they_took() {
    let client = client();
    let run = |options, metadata| client.run_with(options, metadata, &[("p", x())], &["n"], &[]);
    // SAFETY: buffers live as long as they are used.
    unsafe {
        let malformed = TF_NewBufferFromString(b"\xff\xff".as_ptr().cast(), 2);
        expect(run(malformed, ptr::null_mut()), INVALID_ARGUMENT, "Unparseable RunOptions proto");
        expect(run(ptr::null(), malformed), INVALID_ARGUMENT, "Passing non-empty run_metadata is invalid.");
        TF_DeleteBuffer(malformed);
        let untold = TF_NewBuffer();
        run(ptr::null(), untold).unwrap();
        assert!(!(*untold).data.is_null() && (*untold).length == 0);
        TF_DeleteBuffer(untold);
        let told = TF_NewBuffer();
        let traced = RunOptionsProto { trace_level: 3, ..RunOptionsProto::default() };
        with_run_options(&traced, |options| run(options, told)).unwrap();
        let stats = RunMetadataProto::decode(&*taken(told)).unwrap().step_stats.unwrap();
        let device =
            stats.dev_stats.iter().find(|device| device.device == "/job:localhost/replica:0/task:0/device:CPU:0");
        let device = device.unwrap();
        let neg = device.node_stats.iter().find(|node| node.node_name == "n").unwrap();
        assert_eq!(neg.timeline_label, "n = Neg(p)");
        let output = neg.output[0].tensor_description.as_ref().unwrap();
        assert!(output.dtype == 1 && output.shape.as_ref().unwrap().dim[0].size == 3, "{output:?}");
        assert!(neg.all_start_micros > 1_600_000_000_000_000, "{neg:?}");
        assert!(device.thread_names.contains_key(&neg.thread_id));
    }
    let pool = |number| RunOptionsProto { inter_op_thread_pool: number, ..RunOptionsProto::default() };
    for number in [7, -5] {
        let refused = with_run_options(&pool(number), |options| run(options, ptr::null_mut()));
        expect(refused, INVALID_ARGUMENT, &format!("Invalid inter_op_thread_pool: {number}"));
    }
    with_run_options(&pool(-1), |options| run(options, ptr::null_mut())).unwrap();
}

#[test]
fn runs_end_when_their_time_is_up() {
    let queue = [
        node("queue", "FIFOQueueV2", &[], &[("component_types", AttrValue::ListType(vec![DataType::Float]))]),
        node("wait", "QueueDequeueV2", &["queue"], &[("component_types", AttrValue::ListType(vec![DataType::Float]))]),
    ];
    let client = Client::new(&queue);
    let soon = RunOptionsProto { timeout_in_ms: 20, ..RunOptionsProto::default() };
    let run = |client: &Client, options| client.run_with(options, ptr::null_mut(), &[], &["wait"], &[]);
    assert_eq!(with_run_options(&soon, |options| run(&client, options)).unwrap_err().0, DEADLINE_EXCEEDED);
    let impatient = config(ConfigProto { operation_timeout_in_ms: 20, ..ConfigProto::default() });
    let client = Client::with(&impatient, &queue).unwrap();
    assert_eq!(run(&client, ptr::null()).unwrap_err().0, DEADLINE_EXCEEDED);
    // One that waits when the session is closed ends.
    let client = Client::new(&queue);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| run(&client, ptr::null()));
        std::thread::sleep(std::time::Duration::from_millis(50));
        // SAFETY: the session is alive.
        checked(|status| unsafe { TF_CloseSession(client.session, status) }).unwrap();
        assert_eq!(waiting.join().unwrap().unwrap_err().0, CANCELLED);
    });
}

#[test]
fn closed_sessions_run_nothing() {
    let client = client();
    client.run(&[("p", x())], &["n"], &[]).unwrap();
    for _ in 0..2 {
        // SAFETY: the session is alive.
        checked(|status| unsafe { TF_CloseSession(client.session, status) }).unwrap();
    }
    let closed = "Session has been closed.";
    expect(client.run(&[("p", x())], &["n"], &[]), CANCELLED, closed);
    expect(client.run(&[("p", ints(&[1]))], &["n"], &[]), CANCELLED, closed);
    expect(client.run(&[], &[], &[]), CANCELLED, closed);
    // SAFETY: the session is alive, and the list is deleted.
    unsafe {
        let list = checked(|status| TF_SessionListDevices(client.session, status)).unwrap();
        assert_eq!(TF_DeviceListCount(list), 1);
        TF_DeleteDeviceList(list);
    }
}

#[test]
fn devices_are_listed() {
    let three = config(ConfigProto { device_count: [("CPU".to_owned(), 3)].into(), ..ConfigProto::default() });
    let client = Client::with(&three, &[]).unwrap();
    // SAFETY: the session is alive, and the list until it is deleted.
    unsafe {
        let list = checked(|status| TF_SessionListDevices(client.session, status)).unwrap();
        assert_eq!(TF_DeviceListCount(list), 3);
        let text = |text: *const c_char| CStr::from_ptr(text).to_str().unwrap();
        for index in 0..3 {
            let name = checked(|status| TF_DeviceListName(list, index, status)).unwrap();
            assert_eq!(text(name), format!("/job:localhost/replica:0/task:0/device:CPU:{index}"));
            assert_eq!(text(checked(|status| TF_DeviceListType(list, index, status)).unwrap()), "CPU");
            assert_eq!(checked(|status| TF_DeviceListMemoryBytes(list, index, status)), Ok(268_435_456));
            assert_ne!(checked(|status| TF_DeviceListIncarnation(list, index, status)), Ok(0));
        }
        for index in [3, -1] {
            let out = "index out of bounds";
            expect(checked(|status| TF_DeviceListName(list, index, status)), INVALID_ARGUMENT, out);
            expect(checked(|status| TF_DeviceListIncarnation(list, index, status)), INVALID_ARGUMENT, out);
        }
        TF_DeleteDeviceList(list);
        assert_eq!(TF_DeviceListCount(ptr::null()), -1);
    }
}

#[test]
fn options_that_cannot_be_met_are_refused() {
    let client = client();
    // SAFETY: the graph is alive.
    let make = |target| unsafe {
        with_options(&[], target, |options| checked(|status| TF_NewSession(client.graph, options, status)))
    };
    for target in [c"local", c"foo"] {
        let (code, message) = make(target).unwrap_err();
        assert_eq!(code, NOT_FOUND);
        assert!(
            message.starts_with("No session factory registered for the given session options: {target: \""),
            "{message}"
        );
    }
    // SAFETY: the options live as long as they are used.
    unsafe {
        let options = TF_NewSessionOptions();
        let set = |status| TF_SetConfig(options, b"\xff\xff".as_ptr().cast(), 2, status);
        expect(checked(set), INVALID_ARGUMENT, "Unparseable ConfigProto");
        TF_DeleteSessionOptions(options);
    }
    let many = ConfigProto { intra_op_parallelism_threads: 1_000_000, ..ConfigProto::default() };
    assert_eq!(Client::with(&config(many), &[]).map(drop).unwrap_err().0, INVALID_ARGUMENT);
}

#[test]
fn sessions_run_on_the_threads_that_they_ask_for() {
    let pools = |threads| vec![ThreadPoolOptionProto { num_threads: threads }];
    for asked in [
        ConfigProto { intra_op_parallelism_threads: 1, inter_op_parallelism_threads: 1, ..ConfigProto::default() },
        ConfigProto { inter_op_parallelism_threads: 2, ..ConfigProto::default() },
        ConfigProto { inter_op_parallelism_threads: -1, use_per_session_threads: true, ..ConfigProto::default() },
        ConfigProto { session_inter_op_thread_pool: pools(2), ..ConfigProto::default() },
        ConfigProto { intra_op_parallelism_threads: 3, log_device_placement: true, ..ConfigProto::default() },
    ] {
        let client = Client::with(&config(asked), &[placeholder("p", &[-1]), float("n", "Neg", &["p"])]).unwrap();
        assert_floats(&client.run(&[("p", x())], &["n"], &[]).unwrap()[0], &[-1.0, -2.0, -3.0]);
    }
}

#[test]
fn devices_that_are_not_there_are_given_up_only_if_asked() {
    let mut elsewhere = float("n", "Neg", &["p"]);
    elsewhere.device = "/device:GPU:0".to_owned();
    let nodes = [placeholder("p", &[-1]), elsewhere];
    let (code, message) = Client::new(&nodes).run(&[("p", x())], &["n"], &[]).unwrap_err();
    assert_eq!(code, INVALID_ARGUMENT);
    assert!(message.starts_with("Cannot assign a device for operation n: "), "{message}");
    let soft = config(ConfigProto { allow_soft_placement: true, ..ConfigProto::default() });
    Client::with(&soft, &nodes).unwrap().run(&[("p", x())], &["n"], &[]).unwrap();
}

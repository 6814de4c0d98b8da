//! Sessions whose graphs belong to them.

use kernlink::proto::{GraphDef, Message};

use super::*;
use crate::abi::TF_DeprecatedSession;

struct Old(*mut TF_DeprecatedSession);

impl Drop for Old {
    fn drop(&mut self) {
        // SAFETY: it is this one's.
        checked(|status| unsafe { TF_DeleteDeprecatedSession(self.0, status) }).unwrap();
    }
}

impl Old {
    fn new() -> Old {
        // SAFETY: the options are alive.
        let make = |options| unsafe { checked(|status| TF_NewDeprecatedSession(options, status)) };
        Old(with_options(&[], c"", make).unwrap())
    }

    fn extend(&self, nodes: &[NodeDef]) -> Result<(), Failure> {
        let bytes = GraphDef { node: nodes.to_vec(), ..GraphDef::default() }.encode_to_vec();
        // SAFETY: the session and the bytes are alive.
        checked(|status| unsafe { TF_ExtendGraph(self.0, bytes.as_ptr().cast(), bytes.len(), status) })
    }

    fn run(&self, feeds: &[(&CStr, Tensor)], fetches: &[&CStr], targets: &[&CStr]) -> Result<Vec<Tensor>, Failure> {
        let inputs = texts(&feeds.iter().map(|feed| feed.0).collect::<Vec<_>>());
        let (outputs, targets) = (texts(fetches), texts(targets));
        let fed: Vec<_> = feeds.iter().map(|feed| ("", feed.1.clone())).collect();
        called(&fed, fetches.len(), |values, places, status| {
            // SAFETY: all live until the call ends.
            unsafe {
                TF_Run(
                    self.0,
                    ptr::null(),
                    inputs.as_ptr(),
                    values,
                    inputs.len() as c_int,
                    outputs.as_ptr(),
                    places,
                    outputs.len() as c_int,
                    targets.as_ptr(),
                    targets.len() as c_int,
                    ptr::null_mut(),
                    status,
                );
            }
        })
    }
}

fn x() -> Tensor {
    floats(&[1.0, 2.0])
}

#[test]
fn graphs_grow_by_messages_and_are_run_by_names() {
    let session = Old::new();
    let no_graph = "Session was not created with a graph before Run()!";
    expect(session.run(&[], &[c"a"], &[]), INVALID_ARGUMENT, no_graph);
    expect(session.run(&[], &[], &[]), INVALID_ARGUMENT, no_graph);
    let mut first = vec![float("b", "Neg", &["a"]), placeholder("a", &[-1])];
    first.extend(variable("v", 1.0, 1.0));
    session.extend(&first).unwrap();
    assert_floats(&session.run(&[(c"a", x())], &[c"b"], &[c"v_set"]).unwrap()[0], &[-1.0, -2.0]);
    // Inputs may stand behind what takes them.
    let second =
        [float("d", "AddV2", &["c", "b:0"]), float("c", "Neg", &["b"]), node("e", "NoOp", &["^d", "^v_add"], &[])];
    session.extend(&second).unwrap();
    let both = session.run(&[(c"a:0", x())], &[c"c:0", c"d"], &[c"e"]).unwrap();
    assert_floats(&both[0], &[1.0, 2.0]);
    assert_floats(&both[1], &[0.0, 0.0]);
    assert_eq!(session.run(&[], &[c"v_read"], &[]).unwrap()[0].to_scalar::<f32>().unwrap(), 2.0);
    let again = "GraphDef argument to Extend includes node 'a', which was created by a previous call to Create or Extend in \
                 this session.";
    expect(session.extend(&[placeholder("new", &[]), placeholder("a", &[])]), INVALID_ARGUMENT, again);
    expect(session.run(&[], &[c"new"], &[]), INVALID_ARGUMENT, &not_found("new:0"));
}

fn not_found(name: &str) -> String {
    format!("Tensor {name}, specified in either feed_devices or fetch_devices was not found in the Graph")
}

#[test]
fn what_is_wrong_is_refused() {
    let session = Old::new();
    let malformed = |status| {
        // SAFETY: the session is alive.
        unsafe { TF_ExtendGraph(session.0, b"\xff\xff".as_ptr().cast(), 2, status) }
    };
    expect(checked(malformed), INVALID_ARGUMENT, "Invalid GraphDef");
    session.extend(&[placeholder("a", &[-1]), float("b", "Neg", &["a"])]).unwrap();
    expect(session.run(&[(c"a", x())], &[c"z"], &[]), INVALID_ARGUMENT, &not_found("z:0"));
    expect(session.run(&[(c"z", x())], &[c"b"], &[]), INVALID_ARGUMENT, &not_found("z:0"));
    let target = session.run(&[(c"a", x())], &[c"b"], &[c"z"]);
    expect(target, NOT_FOUND, "PruneForTargets: Some target nodes not found: z");
    let output = "Node 'b' (type: 'Neg', num of outputs: 1) does not have output 4";
    expect(session.run(&[(c"a", x())], &[c"b:4"], &[]), OUT_OF_RANGE, output);
    // Nothing is added if a node is wrong.
    for wrong in [float("d", "Neg", &["missing"]), float("d", "AddV2", &["a"]), float("d", "Neg", &["d"])] {
        session.extend(&[float("c", "Neg", &["a"]), wrong]).unwrap_err();
        expect(session.run(&[], &[c"c"], &[]), INVALID_ARGUMENT, &not_found("c:0"));
    }
    // SAFETY: the session is alive.
    checked(|status| unsafe { TF_CloseDeprecatedSession(session.0, status) }).unwrap();
    expect(session.run(&[(c"a", x())], &[c"b"], &[]), CANCELLED, "Session has been closed.");
    assert_eq!(session.extend(&[placeholder("e", &[])]).unwrap_err().0, CANCELLED);
}

#[test]
fn partial_runs_go_by_names() {
    let session = Old::new();
    session.extend(&[placeholder("a", &[-1]), placeholder("b", &[-1]), float("c", "AddV2", &["a", "b"])]).unwrap();
    let (feeds, fetches) = (texts(&[c"a", c"b"]), texts(&[c"c"]));
    let mut handle = ptr::null();
    // SAFETY: all live until the calls end.
    unsafe {
        let set_up = |status| {
            TF_PRunSetup(session.0, feeds.as_ptr(), 2, fetches.as_ptr(), 1, ptr::null(), 0, &mut handle, status);
        };
        checked(set_up).unwrap();
        let feed = |index: usize, fetched: c_int| {
            called(&[("", x())], fetched as usize, |values, places, status| {
                let (name, none) = (&feeds[index], ptr::null());
                TF_PRun(session.0, handle, name, values, 1, fetches.as_ptr(), places, fetched, none, 0, status);
            })
        };
        feed(0, 0).unwrap();
        assert_floats(&feed(1, 1).unwrap()[0], &[2.0, 4.0]);
        assert_eq!(feed(1, 1).unwrap_err().0, INVALID_ARGUMENT);
        TF_DeletePRunHandle(handle);
        let list = checked(|status| TF_DeprecatedSessionListDevices(session.0, status)).unwrap();
        assert_eq!(TF_DeviceListCount(list), 1);
        TF_DeleteDeviceList(list);
    }
}

//! Partial runs.

use std::ffi::CString;

use super::*;

impl Client {
    fn set_up(&self, feeds: &[&str], fetches: &[&str]) -> Result<CString, Failure> {
        let (inputs, outputs) = (self.outputs(feeds), self.outputs(fetches));
        let mut handle = c"from before".as_ptr();
        let outcome = checked(|status| {
            // SAFETY: all live until the call ends.
            unsafe {
                let (feeds, fetches) = (inputs.as_ptr(), outputs.as_ptr());
                let counts = (inputs.len() as c_int, outputs.len() as c_int);
                TF_SessionPRunSetup(
                    self.session,
                    feeds,
                    counts.0,
                    fetches,
                    counts.1,
                    ptr::null(),
                    0,
                    &mut handle,
                    status,
                );
            }
        });
        if let Err(failure) = outcome {
            assert!(handle.is_null());
            return Err(failure);
        }
        // SAFETY: the handle is copied, and freed once.
        unsafe {
            let copied = CStr::from_ptr(handle).to_owned();
            TF_DeletePRunHandle(handle);
            Ok(copied)
        }
    }

    fn go_on(&self, handle: &CStr, feeds: &[(&str, Tensor)], fetches: &[&str]) -> Result<Vec<Tensor>, Failure> {
        let inputs = self.outputs(&feeds.iter().map(|feed| feed.0).collect::<Vec<_>>());
        let outputs = self.outputs(fetches);
        called(feeds, fetches.len(), |values, places, status| {
            let (count, fetched) = (inputs.len() as c_int, outputs.len() as c_int);
            let (inputs, outputs, targets) = (inputs.as_ptr(), outputs.as_ptr(), ptr::null());
            // SAFETY: all live until the call ends.
            unsafe {
                TF_SessionPRun(
                    self.session,
                    handle.as_ptr(),
                    inputs,
                    values,
                    count,
                    outputs,
                    places,
                    fetched,
                    targets,
                    0,
                    status,
                );
            }
        })
    }
}

fn client() -> Client {
    Client::new(&[
        placeholder("p", &[-1]),
        placeholder("q", &[-1]),
        float("n", "Neg", &["p"]),
        float("m", "Neg", &["q"]),
        float("s", "AddV2", &["p", "q"]),
        node("nothing", "NoOp", &[], &[]),
    ])
}

fn x() -> Tensor {
    floats(&[1.0, 2.0])
}

const ENDED: &str = "Must run 'setup' before performing partial runs!";

#[test]
fn feeds_come_and_fetches_go_one_after_another() {
    let client = client();
    let handle = client.set_up(&["p", "q"], &["n", "m", "s"]).unwrap();
    let too_early = "Fetch q:0 can't be computed from the feeds that have been fed so far.";
    expect(client.go_on(&handle, &[("p", x())], &["s"]), INVALID_ARGUMENT, too_early);
    assert_floats(&client.go_on(&handle, &[("p", x())], &["n"]).unwrap()[0], &[-1.0, -2.0]);
    expect(client.go_on(&handle, &[("p", x())], &["m"]), INVALID_ARGUMENT, "The feed p:0 has already been fed.");
    expect(client.go_on(&handle, &[], &["n"]), INVALID_ARGUMENT, "The fetch n:0 has already been fetched.");
    let unknown = "The fetch p:0 was not specified in partial_run_setup.";
    expect(client.go_on(&handle, &[("q", x())], &["p"]), INVALID_ARGUMENT, unknown);
    let unknown = "The feed n:0 was not specified in partial_run_setup.";
    expect(client.go_on(&handle, &[("n", x())], &["m"]), INVALID_ARGUMENT, unknown);
    assert_eq!(client.go_on(&handle, &[], &["n:3"]).unwrap_err().0, INVALID_ARGUMENT);
    client.go_on(&handle, &[], &[]).unwrap();
    // The graph may grow meanwhile.
    client.grow(&[float("later", "Neg", &["p"])]);
    client.run(&[("p", x())], &["later"], &[]).unwrap();
    let rest = client.go_on(&handle, &[("q", x())], &["s", "m"]).unwrap();
    assert_floats(&rest[0], &[2.0, 4.0]);
    assert_floats(&rest[1], &[-1.0, -2.0]);
    expect(client.go_on(&handle, &[], &["s"]), INVALID_ARGUMENT, ENDED);
}

#[test]
fn errors_end_it() {
    let client = client();
    let handle = client.set_up(&["p", "q"], &["s"]).unwrap();
    let (code, message) = client.go_on(&handle, &[("p", x()), ("q", floats(&[1.0, 2.0, 3.0]))], &["s"]).unwrap_err();
    assert!(code == INVALID_ARGUMENT && message.contains("{{node s}}"), "{message}");
    expect(client.go_on(&handle, &[], &["s"]), INVALID_ARGUMENT, ENDED);
    let handle = client.set_up(&["p"], &["n"]).unwrap();
    client.go_on(&handle, &[("p", ints(&[1]))], &["n"]).unwrap_err();
    expect(client.go_on(&handle, &[("p", x())], &["n"]), INVALID_ARGUMENT, ENDED);
    expect(client.go_on(c"unknown", &[], &[]), INVALID_ARGUMENT, ENDED);
}

#[test]
fn what_cannot_be_set_up_is_refused() {
    let client = client();
    expect(client.set_up(&[], &[]), INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
    expect(client.set_up(&["p", "p"], &["n"]), INVALID_ARGUMENT, "Endpoint \"p:0\" fed more than once.");
    expect(client.set_up(&["p"], &["p"]), INVALID_ARGUMENT, "p:0 is both fed and fetched.");
    assert_eq!(client.set_up(&["p"], &["n:3"]).unwrap_err().0, OUT_OF_RANGE);
    let handle = client.set_up(&["p"], &["n"]).unwrap();
    // SAFETY: the session is alive.
    unsafe {
        let nowhere = |status| {
            let output = client.output("n");
            TF_SessionPRunSetup(client.session, ptr::null(), 0, &output, 1, ptr::null(), 0, ptr::null_mut(), status);
        };
        assert_eq!(checked(nowhere).unwrap_err().0, INVALID_ARGUMENT);
        checked(|status| TF_CloseSession(client.session, status)).unwrap();
    }
    let closed = "Session has been closed.";
    expect(client.set_up(&["p"], &["n"]), CANCELLED, closed);
    expect(client.go_on(&handle, &[("p", x())], &["n"]), CANCELLED, closed);
}

#[test]
fn what_is_waited_for_counts_too() {
    let client = client();
    let mut after = float("after", "Identity", &["one"]);
    after.input.push("^gate".to_owned());
    let mut gate = node("gate", "NoOp", &[], &[]);
    gate.input.push("^n".to_owned());
    client.grow(&[constant("one", Tensor::scalar(1.0f32)), gate, after]);
    let handle = client.set_up(&["p"], &["after"]).unwrap();
    let too_early = "Fetch p:0 can't be computed from the feeds that have been fed so far.";
    expect(client.go_on(&handle, &[], &["after"]), INVALID_ARGUMENT, too_early);
    assert_eq!(client.go_on(&handle, &[("p", x())], &["after"]).unwrap()[0].to_scalar::<f32>().unwrap(), 1.0);
}

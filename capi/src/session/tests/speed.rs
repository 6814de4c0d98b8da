//! What a run takes beyond that of a `Callable`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use kernlink_library::host::{TF_DeleteStatus, TF_GetCode, TF_NewStatus, TF_TensorData};

use super::*;

/// What one of `count` calls takes, at best.
fn time(mut call: impl FnMut()) -> Duration {
    const ROUNDS: u32 = 50;
    const CALLS: u32 = 2_000;
    let round = |_| {
        let begin = Instant::now();
        (0..CALLS).for_each(|_| call());
        begin.elapsed() / CALLS
    };
    (0..ROUNDS).map(round).min().unwrap()
}

/// The aim is 1.5 µs. Debug builds say nothing of it:
/// `cargo test --release -p kernlink-capi --lib -- --ignored --nocapture beyond_a_callable`.
#[test]
#[ignore = "it measures: for release builds"]
fn beyond_a_callable() {
    let client = Client::new(&[
        placeholder("p", &[-1]),
        placeholder("q", &[-1]),
        float("s", "AddV2", &["p", "q"]),
        float("n", "Neg", &["s"]),
    ]);
    // SAFETY: the session is alive.
    let session = unsafe { borrow(client.session) }.unwrap().session().unwrap();
    let callable = session.make_callable(&["p", "q"], &["n"], &[]).unwrap();
    let feeds = [floats(&[1.0; 4]), floats(&[2.0; 4])];
    let plain = time(|| drop(black_box(callable.run(&feeds).unwrap())));
    let inputs = client.outputs(&["p", "q"]);
    let output = client.output("n");
    let values = feeds.map(|feed| CTensor::new(feed).unwrap().into_c());
    // SAFETY: all live until they are freed.
    let through_c = unsafe {
        let status = TF_NewStatus();
        let taken = time(|| {
            let mut place = ptr::null_mut();
            TF_SessionRun(
                client.session,
                ptr::null(),
                inputs.as_ptr(),
                values.as_ptr(),
                2,
                &output,
                &mut place,
                1,
                ptr::null(),
                0,
                ptr::null_mut(),
                status,
            );
            assert_eq!(TF_GetCode(status), 0);
            black_box(TF_TensorData(place));
            TF_DeleteTensor(place);
        });
        TF_DeleteStatus(status);
        values.into_iter().for_each(|value| TF_DeleteTensor(value));
        taken
    };
    let beyond = through_c.saturating_sub(plain);
    println!("a callable {plain:?}, TF_SessionRun, TF_TensorData and TF_DeleteTensor {through_c:?}: {beyond:?} beyond");
    assert!(beyond < Duration::from_nanos(1_500), "{beyond:?}");
}

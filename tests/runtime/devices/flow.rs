//! Branches, loops and functions across devices.

use std::sync::atomic::Ordering;

use kernlink::prelude::*;
use kernlink::runtime::{RunMetadata, RunOptions};

use super::graphs::{LIBRARY, graph_with, node_of, on, on_device_alone, one, scalars};

#[test]
fn branches_go_across_devices_and_die() {
    let text = "
        x = Placeholder() dtype=float
        p = Placeholder() dtype=bool
        a = AddV2(x, x) T=float
        s = Switch(a, p) T=float
        no = Identity(s) T=float
        yes = Identity(s:1) T=float
        ten = Const(^yes) dtype=float values=10
        one = Const(^no) dtype=float values=1
        more = Mul(yes, ten) T=float
        there = OnHost(more)
        less = AddV2(no, one) T=float
        here = OnHost(one)
        m = Merge(there, less) T=float N=2
        back = AddV2(m, x) T=float";
    on_device_alone(text, |session, device| {
        let of = |name: &str| session.device_of(session.graph().find(name).unwrap()).unwrap().to_owned();
        assert_eq!(["s", "more", "there"].map(of), ["/device:GPU:0", "/device:GPU:0", "/device:CPU:0"]);
        for (taken, expected, index) in [(true, 21.0, 0), (false, 4.0, 1)] {
            for _ in 0..2 {
                let answers = session.run(&[one(), ("p", Tensor::scalar(taken))], &["back", "m:1"], &[]).unwrap();
                assert_eq!(scalars(&answers[..1]), [expected]);
                assert_eq!(answers[1].to_scalar::<i32>().unwrap(), index);
            }
            device.moved();
            // The constants wait for their branch on either side, and are not read back.
            let here = session.run(&[one(), ("p", Tensor::scalar(taken))], &["here"], &["less"]);
            match (taken, here) {
                (true, Err(error)) => assert_eq!(error.code(), Code::InvalidArgument),
                (false, Ok(answers)) => assert_eq!(scalars(&answers), [1.0]),
                (_, other) => panic!("{other:?}"),
            }
            assert_eq!(device.moved().1, 0);
        }
    });
}

/// Doubles `x` until it reaches 100, adding up on `where`; the condition is computed at `decided`.
fn doubling(place: &str, decided: &str) -> String {
    format!(
        "
        x = Placeholder() dtype=float
        hundred = Const() dtype=float values=100
        zero = Const() dtype=int32 values=0
        one = Const() dtype=int32 values=1
        enter = Enter(x) T=float frame_name='loop'
        limit = Enter(hundred) T=float frame_name='loop' is_constant=true
        count = Enter(zero) T=int32 frame_name='loop'
        step = Enter(one) T=int32 frame_name='loop' is_constant=true
        merge = Merge(enter, next) T=float N=2
        counter = Merge(count, counted) T=int32 N=2
        less = Less(merge, limit) T=float {decided}
        cond = LoopCond(less)
        switch = Switch(merge, cond) T=float
        goes = Switch(counter, cond) T=int32
        two = Const(^switch) dtype=float values=2
        twice = Mul(switch:1, two) T=float {place}
        by_host = OnHost(twice)
        again = AddV2(goes:1, step) T=int32 {place}
        next = NextIteration(by_host) T=float
        counted = NextIteration(again) T=int32
        exit = Exit(switch) T=float
        times = Exit(goes) T=int32
        end = AddV2(exit, hundred) T=float"
    )
}

#[test]
fn loops_go_across_devices() {
    for place in ["", "@/cpu:0", "@/gpu:0"] {
        for decided in ["", "@/cpu:0", "@/gpu:0"] {
            on_device_alone(&doubling(place, decided), |session, _| {
                for _ in 0..2 {
                    let answers = session.run(&[one()], &["exit", "end", "times"], &[]).unwrap();
                    assert_eq!(scalars(&answers[..2]), [128.0, 228.0], "{place} {decided}");
                    assert_eq!(answers[2].to_scalar::<i32>().unwrap(), 7);
                }
            });
        }
    }
}

#[test]
fn a_loop_on_the_device_moves_its_condition_only() {
    let text = doubling("", "").replace("by_host = OnHost(twice)\n", "").replace("(by_host)", "(twice)");
    on_device_alone(&text, |session, device| {
        let answers = session.run(&[one()], &["exit", "times"], &[]).unwrap();
        assert_eq!((scalars(&answers[..1]), answers[1].to_scalar::<i32>().unwrap()), (vec![128.0], 7));
        // The feed and two constants; eight conditions and the end.
        assert_eq!(device.moved(), (3, 9));
    });
}

#[test]
fn functions_run_where_their_kernels_are_best() {
    let text = "
        x = Placeholder() dtype=float
        a = AddV2(x, x) T=float
        call = PartitionedCall(a) Tin=[float] Tout=[float] f=&Twice
        loop = While(call) T=[float] cond=&Below body=&Twice
        end = AddV2(loop, loop) T=float";
    on(&graph_with(text, LIBRARY), &[], |session, _| {
        let mut metadata = RunMetadata::default();
        let options = RunOptions::new().trace(true);
        let answers = session.run_with_metadata(&[one()], &["call", "end"], &[], &options, &mut metadata).unwrap();
        assert_eq!(scalars(&answers), [4.0, 256.0]);
        let of = |node: &str| {
            let stats = metadata.step_stats.iter().find(|stats| stats.node == node && stats.depth == 1);
            stats.map(|stats| stats.device.clone()).unwrap_or_default()
        };
        assert_eq!(["twice", "less", "host"].map(of), ["/device:GPU:0", "/device:GPU:0", "/device:CPU:0"]);
    });
}

#[test]
fn a_function_that_the_device_had_no_room_for_is_tried_again() {
    let text = "
        x = Placeholder() dtype=float
        call = PartitionedCall(x) Tin=[float] Tout=[float] f=&Scale";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        device.most_bytes.store(8, Ordering::SeqCst);
        for _ in 0..2 {
            let error = session.run(&[one()], &["call"], &[]).unwrap_err();
            assert_eq!((error.code(), node_of(&error)), (Code::ResourceExhausted, "scales"), "{error}");
        }
        device.most_bytes.store(usize::MAX, Ordering::SeqCst);
        let answer = session.run(&[one()], &["call"], &[]).unwrap();
        assert_eq!(answer[0].as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    });
}

//! Loops and conditionals of TensorFlow 1: nodes that never run, or too often; deadness, and values that are forwarded.

use std::cell::RefCell;
use std::time::Duration;

use kernlink::prelude::*;
use kernlink::runtime::RunOptions;

mod bodies;
mod closures;
pub(crate) mod lines;
mod straight;

use lines::{lines, on_threads, scalar};

/// Takes no number above 5.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct Picky;

struct PickyKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Picky> for PickyKernel {
    fn new(_: &KernelConstruction<Picky>) -> Result<Self> {
        Ok(PickyKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Picky>) -> Result<()> {
        let x = ctx.take_input(Picky::X)?;
        if x.to_scalar::<f32>()? > 5.0 {
            return Err(kernlink::Error::new(kernlink::Code::OutOfRange, "above 5"));
        }
        ctx.set_output(Picky::Y, x)
    }
}

/// Records its iteration, and whether it alone owns its input.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct Noted;

struct NotedKernel;

thread_local! {
    /// The records of [`Noted`] on this thread: the iteration, and whether the input had one owner.
    static NOTES: RefCell<Vec<(u64, bool)>> = const { RefCell::new(Vec::new()) };
}

#[register_kernel(device = Cpu)]
impl OpKernel<Noted> for NotedKernel {
    fn new(_: &KernelConstruction<Noted>) -> Result<Self> {
        Ok(NotedKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Noted>) -> Result<()> {
        let mut x = ctx.take_input(Noted::X)?;
        let note = (ctx.run().iteration, x.is_unique());
        NOTES.with_borrow_mut(|notes| notes.push(note));
        ctx.set_output(Noted::Y, x)
    }
}

#[test]
fn frames_are_told_apart_by_the_bytes_of_their_names() {
    let run = |name: &str| {
        let graph = lines(&format!(
            "x = Placeholder()\na = Enter(x) \\377\nb = Enter(x) {name}\nsum = AddV2(a, b)\ny = Exit(sum)"
        ));
        Session::new(graph)?.run(&[("x", scalar(2.0))], &["y"], &[])
    };
    assert_eq!(run("\\377").unwrap()[0].to_scalar::<f32>().unwrap(), 4.0);
    let error = run("\\376").unwrap_err();
    assert!(error.message().contains("inputs from different frames"), "{error}");
}

#[test]
fn loops_that_are_not_nested_are_refused() {
    let back_to_no_loop = "x = Placeholder()
        m = Merge(x, n)
        e = Enter(m) loop
        n = NextIteration(e)";
    let no_loop = "x = Placeholder()
        n = NextIteration(x)";
    for (text, fetch) in [(back_to_no_loop, "m"), (no_loop, "n")] {
        on_threads(&lines(text), |session| {
            let error = session.run(&[("x", scalar(1.0))], &[fetch], &[]).unwrap_err();
            assert_eq!(error.code(), kernlink::Code::InvalidArgument, "{error}");
        });
    }
}

#[test]
fn what_enters_every_iteration_serves_those_that_wait_for_it() {
    let text = "x = Placeholder()
        limit = Placeholder()
        e = Enter(x) loop
        l = Enter(limit) loop constant
        m = Merge(e, n)
        less = Less(m, l)
        go = LoopCond(less)
        s = Switch(m, go)
        twice = Add(s:1, s:1, ^l)
        n = NextIteration(twice)
        out = Exit(s)";
    on_threads(&lines(text), |session| {
        for _ in 0..2 {
            let y = session.run(&[("x", scalar(1.0)), ("limit", scalar(100.0))], &["out"], &[]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), 128.0);
        }
    });
}

#[test]
fn loops_nested_without_measure_need_no_stack() {
    let mut text = String::from("x = Placeholder()\nenter_0 = Enter(x) loop_0\n");
    (1..20_000).for_each(|depth| text += &format!("enter_{depth} = Enter(enter_{}) loop_{depth}\n", depth - 1));
    on_threads(&lines(&text), |session| _ = session.run(&[("x", scalar(1.0))], &[], &["enter_19999"]).unwrap());
}

#[test]
fn values_that_are_passed_on_without_measure_need_no_stack() {
    let mut text = String::from("x = Placeholder()\np = Placeholder() bool\nm_0 = Merge(x)\n");
    for number in 1..5_000 {
        let last = number - 1;
        text += &format!("s_{number} = Switch(m_{last}, p)\nm_{number} = Merge(s_{number}, s_{number}:1)\n");
    }
    on_threads(&lines(&text), |session| {
        for taken in [true, false] {
            let feeds = [("x", scalar(3.0)), ("p", Tensor::scalar(taken))];
            let y = session.run(&feeds, &["m_4999", "m_4999:1"], &[]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), 3.0);
            assert_eq!(y[1].to_scalar::<i32>().unwrap(), i32::from(taken));
        }
    });
}

#[test]
fn a_loop_that_only_passes_on_ends_with_the_time() {
    let text = "x = Placeholder()
        p = Placeholder() bool
        e = Enter(x) loop
        go = Enter(p) loop constant bool
        m = Merge(e, n)
        s = Switch(m, go)
        n = NextIteration(s:1)
        out = Exit(s)";
    on_threads(&lines(text), |session| {
        let feeds = |goes_on: bool| [("x", scalar(7.0)), ("p", Tensor::scalar(goes_on))];
        for _ in 0..2 {
            let y = session.run(&feeds(false), &["out"], &[]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), 7.0);
            let options = RunOptions::new().timeout(Duration::from_millis(50));
            let error = session.run_with(&feeds(true), &["out"], &[], &options).unwrap_err();
            assert_eq!(error.code(), kernlink::Code::DeadlineExceeded);
        }
    });
}

#[test]
fn what_enters_every_iteration_can_be_the_next_value() {
    let text = "x = Placeholder()
        c = Placeholder()
        limit = Const() 100
        i_0 = Enter(x) loop
        j_0 = Enter(x) loop
        ce = Enter(c) loop constant
        l = Enter(limit) loop constant
        i = Merge(i_0, i_next)
        j = Merge(j_0, j_next)
        less = Less(i, l)
        go = LoopCond(less)
        si = Switch(i, go)
        sj = Switch(j, go)
        kept = Switch(ce, go)
        twice = Add(si:1, si:1)
        i_next = NextIteration(twice)
        j_next = NextIteration(kept:1)
        i_out = Exit(si)
        j_out = Exit(sj)";
    on_threads(&lines(text), |session| {
        for (x, i, j) in [(1.0, 128.0, 5.0), (99.0, 198.0, 5.0), (200.0, 200.0, 200.0)] {
            let y = session.run(&[("x", scalar(x)), ("c", scalar(5.0))], &["i_out", "j_out"], &[]).unwrap();
            let y: Vec<f32> = y.iter().map(|y| y.to_scalar().unwrap()).collect();
            assert_eq!(y, [i, j], "{x}");
        }
    });
}

#[test]
fn a_loop_that_does_not_end_is_gone_with_its_run() {
    // In the first iteration `sum` lacks the value of an iteration before: `never` does not enter the inner loop.
    let text = "x = Placeholder()
        e = Enter(x) outer
        n = NextIteration(e)
        sum = Add(n, e)
        never = Enter(sum) inner
        once = Enter(e) inner
        out = Exit(once)
        end = Exit(out)";
    on_threads(&lines(text), |session| {
        for _ in 0..3 {
            let y = session.run(&[("x", scalar(2.0))], &["end"], &["never"]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), 2.0);
        }
    });
}

#[test]
fn a_loop_goes_round_until_something_else_has_happened() {
    // The loop is ended by nodes that wait for nothing, or for slow ones.
    let text = "x = Placeholder()
        mine = VarHandleOp() flag
        e = Enter(x) loop
        v = Enter(mine) loop constant resource
        limit = Enter(x) loop constant
        m = Merge(e, n)
        flag = ReadVariableOp(v, ^m)
        goes = Less(flag, limit)
        s = Switch(m, goes)
        n = NextIteration(s:1)
        out = Exit(s)
        yours = VarHandleOp() flag
        set = AssignVariableOp(yours, x)
        slow = Slow(x)
        too = Slow(x)
        later = AssignVariableOp(yours, slow, ^too)";
    on_threads(&lines(text), |session| {
        let (zero, one) = ([("x", scalar(0.0))], [("x", scalar(1.0))]);
        for target in ["set", "later"] {
            for _ in 0..3 {
                session.run(&zero, &[], &["set"]).unwrap();
                let options = RunOptions::new().timeout(Duration::from_secs(20));
                let y = session.run_with(&one, &["out"], &[target], &options).unwrap();
                assert_eq!(y[0].to_scalar::<f32>().unwrap(), 1.0, "{target}");
            }
        }
    });
}

#[test]
fn what_is_dead_twice_runs_once() {
    let text = "x = Placeholder()
        p = Placeholder() bool
        s = Switch(x, p)
        a = Enter(s) loop
        b = Enter(s) loop
        m = Merge(a, b)
        square = Square(m)
        out = Exit(square)
        after = Merge(out, s:1)";
    on_threads(&lines(text), |session| {
        for (taken, expected) in [(true, 3.0), (false, 9.0)] {
            let feeds = [("x", scalar(3.0)), ("p", Tensor::scalar(taken))];
            let y = session.run(&feeds, &["after"], &[]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), expected);
        }
    });
}

#[test]
fn what_leaves_a_loop_several_times_is_an_error() {
    let text = "x = Placeholder()
        limit = Const() 100
        e = Enter(x) loop
        l = Enter(limit) loop constant
        m = Merge(e, n)
        less = Less(m, l)
        s = Switch(m, less)
        twice = Add(s:1, s:1)
        n = NextIteration(twice)
        every = Exit(m)
        y = Add(every, x)
        z = Merge(every, x, ^every)";
    on_threads(&lines(text), |session| {
        for _ in 0..2 {
            let error = session.run(&[("x", scalar(1.0))], &["y", "z"], &[]).unwrap_err();
            assert_eq!(error.code(), kernlink::Code::InvalidArgument, "{error}");
            assert!(error.to_string().contains("node `every`"), "{error}");
            assert!(error.message().contains("has left its loop in an earlier iteration"), "{error}");
        }
    });
}

#[test]
fn a_fetch_inside_of_a_loop_has_a_value_if_one_iteration_computes_it() {
    let text = "x = Placeholder()
        limit = Const() 10
        e = Enter(x) loop
        l = Enter(limit) loop constant
        m = Merge(e, n)
        less = Less(m, l)
        go = LoopCond(less)
        s = Switch(m, go)
        twice = Add(s:1, s:1)
        n = NextIteration(twice)
        y = Exit(s)";
    // What TensorFlow's sessions in C++ give; `more` iterations than one, or `none` that computes it.
    let (more, none) = (Err("in one iteration only"), Err("did not run"));
    type Expected = std::result::Result<f32, &'static str>;
    let cases: [(&str, [Expected; 3]); 6] = [
        ("e", [Ok(1.0), Ok(5.0), Ok(20.0)]),
        ("m", [more, more, Ok(20.0)]),
        ("s", [Ok(16.0), Ok(10.0), Ok(20.0)]),
        ("s:1", [more, Ok(5.0), none]),
        ("twice", [more, Ok(10.0), none]),
        ("n", [more, Ok(10.0), none]),
    ];
    on_threads(&lines(text), |session| {
        for (fetch, expected) in cases {
            for (x, expected) in [1.0, 5.0, 20.0].into_iter().zip(expected) {
                for fetches in [&[fetch][..], &[fetch, "y"]] {
                    match (session.run(&[("x", scalar(x))], fetches, &[]), expected) {
                        (Ok(found), Ok(expected)) => assert_eq!(found[0].to_scalar::<f32>().unwrap(), expected),
                        (Err(error), Err(word)) => {
                            assert_eq!(error.code(), kernlink::Code::InvalidArgument, "{error}");
                            assert!(error.to_string().contains(word) && error.to_string().contains(fetch), "{error}");
                        }
                        (found, expected) => panic!("{fetch} of {x}: {found:?}, not {expected:?}"),
                    }
                }
            }
        }
        let less = session.run(&[("x", scalar(20.0))], &["less", "l"], &[]).unwrap();
        assert!(!less[0].to_scalar::<bool>().unwrap());
        assert_eq!(less[1].to_scalar::<f32>().unwrap(), 10.0);
    });
}

#[test]
fn a_fetch_inside_of_a_loop_in_a_loop_leaves_both() {
    let text = "x = Placeholder()
        limit = Const() 10
        a = Enter(x) outer
        outer_limit = Enter(limit) outer constant
        b = Merge(a, b_next)
        b_less = Less(b, outer_limit)
        bs = Switch(b, b_less)
        c = Enter(bs:1) inner
        inner_limit = Enter(outer_limit) inner constant
        d = Merge(c, d_next)
        d_less = Less(d, inner_limit)
        ds = Switch(d, d_less)
        twice = Add(ds:1, ds:1)
        d_next = NextIteration(twice)
        left = Exit(ds)
        b_next = NextIteration(left)
        y = Exit(bs)";
    on_threads(&lines(text), |session| {
        let found = session.run(&[("x", scalar(5.0))], &["twice", "c", "y"], &[]).unwrap();
        let found: Vec<f32> = found.iter().map(|value| value.to_scalar().unwrap()).collect();
        assert_eq!(found, [10.0, 5.0, 10.0]);
        let error = session.run(&[("x", scalar(1.0))], &["twice"], &[]).unwrap_err();
        assert!(error.message().contains("in one iteration only"), "{error}");
    });
}

#[test]
fn a_fetch_that_is_dead_ends_the_run_on_every_thread() {
    let text = "x = Placeholder()
        p = Placeholder() bool
        s = Switch(x, p)
        dead = Slow(s)
        a = Slow(x)
        b = Slow(s:1)";
    on_threads(&lines(text), |session| {
        for _ in 0..100 {
            let feeds = [("x", scalar(3.0)), ("p", Tensor::scalar(true))];
            let error = session.run(&feeds, &["dead"], &["a", "b"]).unwrap_err();
            assert!(error.message().contains("did not run"), "{error}");
        }
    });
}

#[test]
fn constants_die_with_what_they_wait_for() {
    // `pivot` asks `q` as `one` does, but is dead where `d` is.
    let by_data = "x = Placeholder()
        p = Placeholder() bool
        q = Placeholder() bool
        d = Switch(x, p)
        inner = Switch(d:1, q)
        pivot = Identity(inner:1)
        c = Const(^pivot) 1
        one = Switch(x, q)
        y = Add(one:1, c)";
    // The trigger runs in any case.
    let by_trigger = "x = Placeholder()
        p = Placeholder() bool
        q = Placeholder() bool
        d = Switch(x, p)
        pivot = Identity(d:1)
        trigger = ControlTrigger(^pivot)
        c = Const(^pivot) 1
        one = Switch(x, q)
        y = Add(one:1, c, ^trigger)";
    for text in [by_data, by_trigger] {
        on_threads(&lines(text), |session| {
            for (p, is_alive) in [(true, true), (false, false)] {
                let feeds = [("x", scalar(3.0)), ("p", Tensor::scalar(p)), ("q", Tensor::scalar(true))];
                assert_eq!(session.run(&feeds, &["y"], &[]).is_ok(), is_alive, "{text}");
            }
        });
    }
}

#[test]
fn what_hands_on_several_values_waits_for_all_of_them() {
    // One of them is a constant of the loop, and the loop's variable depends on it.
    let text = "x = Placeholder()
        k = Placeholder()
        e = Enter(x) loop
        c = Enter(k) loop constant
        m = Merge(e, n)
        goes = Less(m, c)
        s = Switch(m, goes)
        both = IdentityN(c, s:1)
        n = NextIteration(both)
        out = Exit(s)";
    on_threads(&lines(text), |session| {
        for (x, y) in [(1.0, 7.0), (7.0, 7.0), (9.0, 9.0)] {
            let got = session.run(&[("x", scalar(x)), ("k", scalar(7.0))], &["out"], &[]).unwrap();
            assert_eq!(got[0].to_scalar::<f32>().unwrap(), y);
        }
    });
    // One of them is in no loop, and no node of this one waits for it but that.
    let text = "x = Placeholder()
        two = Const() 2
        e = Enter(x) loop
        c = Enter(two) loop constant
        m = Merge(e, n)
        goes = Less(m, c)
        s = Switch(m, goes)
        both = IdentityN(s:1, two)
        n = NextIteration(both:1)
        out = Exit(s)";
    on_threads(&lines(text), |session| {
        let got = session.run(&[("x", scalar(1.0))], &["out"], &[]).unwrap();
        assert_eq!(got[0].to_scalar::<f32>().unwrap(), 2.0);
    });
    // One of them is dead.
    let text = "x = Placeholder()
        goes = Less(x, x)
        s = Switch(x, goes)
        both = IdentityN(x, s:1)
        y = Neg(both)";
    on_threads(&lines(text), |session| {
        let error = session.run(&[("x", scalar(1.0))], &["y"], &[]).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::InvalidArgument, "{error}");
    });
}

#[test]
fn what_left_a_loop_alive_is_not_dead_at_its_end() {
    // It leaves from each iteration but the last.
    let text = "x = Placeholder()
        one = Const() 1
        limit = Placeholder()
        l = Enter(limit) loop constant
        e = Enter(x) loop
        m = Merge(e, n)
        goes = Less(m, l)
        s = Switch(m, goes)
        more = Add(s:1, one)
        n = NextIteration(more)
        out = Exit(s)
        early = Exit(more)
        y = Neg(early)";
    on_threads(&lines(text), |session| {
        let run = |limit: f32, fetch: &str| session.run(&[("x", scalar(1.0)), ("limit", scalar(limit))], &[fetch], &[]);
        for _ in 0..20 {
            assert_eq!(run(2.0, "early").unwrap()[0].to_scalar::<f32>().unwrap(), 2.0);
            assert_eq!(run(2.0, "y").unwrap()[0].to_scalar::<f32>().unwrap(), -2.0);
            let error = run(3.0, "y").unwrap_err();
            assert_eq!(
                (error.code(), error.node().map(|node| &*node.node)),
                (kernlink::Code::InvalidArgument, Some("early"))
            );
            assert_eq!(run(1.0, "y").unwrap_err().code(), kernlink::Code::InvalidArgument);
        }
    });
}

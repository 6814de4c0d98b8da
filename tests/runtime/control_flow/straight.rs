//! Static loops, whose conditions and bodies have no branches, run through their nodes in a fixed order, with the results
//! that pending counts would give.

use std::fmt::Write as _;
use std::time::Duration;

use kernlink::prelude::*;
use kernlink::runtime::RunOptions;

use super::NOTES;
use super::lines::{lines, on_threads, scalar};

/// Pseudo-random integers, the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit
    }
}

/// An op, and what it computes.
type Function = (&'static str, fn(f32, f32) -> f32);

/// The functions of two numbers that random loops are made of.
const FUNCTIONS: [Function; 4] =
    [("Add", |x, y| x + y), ("Sub", |x, y| x - y), ("Maximum", f32::max), ("Mul", |x, y| x * y)];

/// An input of a node in a random loop.
#[derive(Clone, Copy)]
enum Value {
    /// A variable, at the start of the iteration (its Merge).
    Merged(usize),
    /// A variable behind its Switch, alive only if the loop continues.
    Taken(usize),
    Constant(usize),
    /// A node before the switches.
    Head(usize),
    /// A node behind them.
    Body(usize),
}

/// A loop over variables; the first counts to the limit, which is the first constant.
struct RandomLoop {
    variables: usize,
    constants: usize,
    head: Vec<(usize, Value, Value)>,
    body: Vec<(usize, Value, Value)>,
    /// The next value of each variable, the counter aside.
    next: Vec<Value>,
}

impl RandomLoop {
    fn new(chance: &mut Chance) -> RandomLoop {
        let (variables, constants) = (1 + chance.below(4), 1 + chance.below(3));
        let mut head = Vec::new();
        for index in 0..chance.below(4) {
            let mut value = || match chance.below(3) {
                0 if index > 0 => Value::Head(chance.below(index)),
                1 => Value::Constant(chance.below(constants)),
                _ => Value::Merged(chance.below(variables)),
            };
            let (a, b) = (value(), value());
            head.push((chance.below(FUNCTIONS.len()), a, b));
        }
        let behind = |chance: &mut Chance, nodes: usize| match chance.below(2) {
            0 if nodes > 0 => Value::Body(chance.below(nodes)),
            _ => Value::Taken(chance.below(variables)),
        };
        let mut body: Vec<(usize, Value, Value)> = Vec::new();
        for index in 0..chance.below(6) {
            // One input is from behind the switches: a node without such stands before them.
            let a = behind(chance, index);
            let b = match chance.below(4) {
                0 => Value::Merged(chance.below(variables)),
                1 => Value::Constant(chance.below(constants)),
                2 if !head.is_empty() => Value::Head(chance.below(head.len())),
                _ => behind(chance, index),
            };
            body.push((chance.below(FUNCTIONS.len()), a, b));
        }
        let next = (1..variables).map(|_| behind(chance, body.len())).collect();
        RandomLoop { variables, constants, head, body, next }
    }

    /// The loop as a graph. `has_branch` puts a conditional that changes nothing into it: then it has to count.
    fn graph(&self, has_branch: bool) -> Graph {
        let name = |value: &Value| match value {
            Value::Merged(index) => format!("m{index}"),
            Value::Taken(index) => format!("s{index}:1"),
            Value::Constant(index) => format!("c{index}"),
            Value::Head(index) => format!("h{index}"),
            Value::Body(index) => format!("b{index}"),
        };
        let mut text = String::from("step = Const() 1\n");
        for index in 0..self.constants {
            let _ = writeln!(text, "k{index} = Placeholder()\nc{index} = Enter(k{index}) loop constant");
        }
        for index in 0..self.variables {
            let _ = writeln!(text, "x{index} = Placeholder()\ne{index} = Enter(x{index}) loop");
            let _ = writeln!(text, "m{index} = Merge(e{index}, n{index})");
            let _ = writeln!(text, "s{index} = Switch(m{index}, go)\nout{index} = Exit(s{index})");
        }
        text += "less = Less(m0, c0)\ngo = LoopCond(less)\n";
        for (index, (function, a, b)) in self.head.iter().enumerate() {
            let _ = writeln!(text, "h{index} = {}({}, {})", FUNCTIONS[*function].0, name(a), name(b));
        }
        for (index, (function, a, b)) in self.body.iter().enumerate() {
            let _ = writeln!(text, "b{index} = {}({}, {})", FUNCTIONS[*function].0, name(a), name(b));
        }
        text += "next = Add(s0:1, step)\n";
        match has_branch {
            true => text += "either = Switch(next, less)\nn0_ = Merge(either, either:1)\nn0 = NextIteration(n0_)\n",
            false => text += "n0 = NextIteration(next)\n",
        }
        for (index, value) in self.next.iter().enumerate() {
            let _ = writeln!(text, "n{} = NextIteration({})", index + 1, name(value));
        }
        lines(&text)
    }

    /// The final values of the variables.
    fn compute(&self, variables: &[f32], constants: &[f32]) -> Vec<f32> {
        let mut variables = variables.to_vec();
        loop {
            let (mut head, mut body): (Vec<f32>, Vec<f32>) = (Vec::new(), Vec::new());
            let get = |value: &Value, head: &[f32], body: &[f32]| match value {
                Value::Merged(index) | Value::Taken(index) => variables[*index],
                Value::Constant(index) => constants[*index],
                Value::Head(index) => head[*index],
                Value::Body(index) => body[*index],
            };
            for (function, a, b) in &self.head {
                head.push(FUNCTIONS[*function].1(get(a, &head, &body), get(b, &head, &body)));
            }
            if variables[0] >= constants[0] {
                return variables;
            }
            for (function, a, b) in &self.body {
                body.push(FUNCTIONS[*function].1(get(a, &head, &body), get(b, &head, &body)));
            }
            let next = self.next.iter().map(|value| get(value, &head, &body));
            variables = [variables[0] + 1.0].into_iter().chain(next).collect();
        }
    }
}

/// The loops of a run, and which of them go straight.
fn goes_straight(session: &Session, feeds: &[(&str, Tensor)], fetches: &[&str]) -> Vec<(String, bool)> {
    let feeds: Vec<&str> = feeds.iter().map(|(name, _)| *name).collect();
    let callable = session.make_callable(&feeds, fetches, &[]).unwrap();
    callable.loops().map(|info| (info.name.to_owned(), info.is_straight)).collect()
}

#[test]
fn random_loops_compute_the_same_straight_and_counted() {
    let chance = &mut Chance(7);
    for _ in 0..60 {
        let random = RandomLoop::new(chance);
        for has_branch in [false, true] {
            let graph = random.graph(has_branch);
            on_threads(&graph, |session| {
                for (first, limit) in [(0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (-3.0, 300.0), (0.0, 7.0)] {
                    let variables: Vec<f32> = (0..random.variables)
                        .map(|index| if index == 0 { first } else { index as f32 * 0.75 })
                        .collect();
                    let constants: Vec<f32> =
                        (0..random.constants).map(|index| if index == 0 { limit } else { -0.5 }).collect();
                    let (names, values): (Vec<String>, Vec<Tensor>) = (0..random.variables)
                        .map(|index| (format!("x{index}"), scalar(variables[index])))
                        .chain((0..random.constants).map(|index| (format!("k{index}"), scalar(constants[index]))))
                        .unzip();
                    let feeds: Vec<(&str, Tensor)> = names.iter().map(String::as_str).zip(values).collect();
                    let outs: Vec<String> = (0..random.variables).map(|index| format!("out{index}")).collect();
                    let outs: Vec<&str> = outs.iter().map(String::as_str).collect();
                    assert_eq!(goes_straight(session, &feeds, &outs), [("loop".to_owned(), !has_branch)]);
                    let ours = session.run(&feeds, &outs, &[]).unwrap();
                    let ours: Vec<u32> = ours.iter().map(|y| y.to_scalar::<f32>().unwrap().to_bits()).collect();
                    let theirs = random.compute(&variables, &constants);
                    // The sign of a NaN is unspecified.
                    let theirs: Vec<u32> = theirs.iter().map(|y| y.to_bits()).collect();
                    let is_nan = |bits: u32| f32::from_bits(bits).is_nan();
                    let are_equal = ours.iter().zip(&theirs).all(|(a, b)| a == b || (is_nan(*a) && is_nan(*b)));
                    assert!(are_equal, "{ours:?} and not {theirs:?}, {first} to {limit}, counted: {has_branch}");
                }
            });
        }
    }
}

/// Counts `x` to `limit` in an outer loop; an inner one, straight, adds as many ones to `y`.
const NESTED: &str = "x = Placeholder()
    limit = Placeholder()
    one = Const() 1
    ex = Enter(x) outer
    ey = Enter(x) outer
    l = Enter(limit) outer constant
    mx = Merge(ex, nx)
    my = Merge(ey, ny)
    goes = Less(mx, l)
    sx = Switch(mx, goes)
    sy = Switch(my, goes)
    ei = Enter(sx:1) inner
    ej = Enter(sy:1) inner
    il = Enter(l) inner constant
    mi = Merge(ei, ni)
    mj = Merge(ej, nj)
    inner_goes = Less(mi, il)
    si = Switch(mi, inner_goes)
    sj = Switch(mj, inner_goes)
    more = Add(si:1, one)
    ni = NextIteration(more)
    sum = Add(sj:1, one)
    nj = NextIteration(sum)
    xj = Exit(sj)
    next = Add(sx:1, one)
    nx = NextIteration(next)
    ny = NextIteration(xj)
    out = Exit(sy)";

#[test]
fn straight_loops_in_loops_begin_again_and_again() {
    on_threads(&lines(NESTED), |session| {
        let feeds = ["x", "limit"].map(|name| (name, scalar(0.0)));
        let loops = [("outer", false), ("inner", true)].map(|(name, is_straight)| (name.to_owned(), is_straight));
        assert_eq!(goes_straight(session, &feeds, &["out"]), loops);
        for limit in [0.0, 1.0, 5.0, 60.0] {
            let y = session.run(&[("x", scalar(0.0)), ("limit", scalar(limit))], &["out"], &[]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), limit * (limit + 1.0) / 2.0);
        }
    });
}

#[test]
fn a_straight_loop_that_does_not_end_ends_with_the_time() {
    let text = "x = Placeholder()
        one = Const() 1
        e = Enter(x) loop
        l = Enter(x) loop constant
        m = Merge(e, n)
        goes = GreaterEqual(m, l)
        s = Switch(m, go)
        go = LoopCond(goes)
        more = Maximum(s:1, one)
        n = NextIteration(more)
        out = Exit(s)";
    on_threads(&lines(text), |session| {
        for _ in 0..2 {
            let options = RunOptions::new().timeout(Duration::from_millis(50));
            let error = session.run_with(&[("x", scalar(0.0))], &["out"], &[], &options).unwrap_err();
            assert_eq!(error.code(), kernlink::Code::DeadlineExceeded, "{error}");
        }
    });
}

#[test]
fn a_straight_loop_that_runs_nothing_ends_with_the_time() {
    let text = "x = Placeholder() bool
        e = Enter(x) loop bool
        m = Merge(e, n) bool
        s = Switch(m, m) bool
        n = NextIteration(s:1) bool
        out = Exit(s) bool";
    on_threads(&lines(text), |session| {
        let y = session.run(&[("x", Tensor::scalar(false))], &["out"], &[]).unwrap();
        assert!(!y[0].to_scalar::<bool>().unwrap());
        let options = RunOptions::new().timeout(Duration::from_millis(50));
        let error = session.run_with(&[("x", Tensor::scalar(true))], &["out"], &[], &options).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::DeadlineExceeded);
    });
}

#[test]
fn nodes_of_straight_loops_that_take_long_go_to_the_pool() {
    // In each iteration two nodes take a millisecond.
    let text = "x = Placeholder()
        limit = Placeholder()
        one = Const() 1
        e = Enter(x) loop
        l = Enter(limit) loop constant
        m = Merge(e, n)
        goes = Less(m, l)
        s = Switch(m, goes)
        a = Slow(s:1)
        b = Slow(s:1)
        most = Maximum(a, b)
        more = Add(most, one)
        n = NextIteration(more)
        out = Exit(s)";
    on_threads(&lines(text), |session| {
        for _ in 0..3 {
            let y = session.run(&[("x", scalar(0.0)), ("limit", scalar(20.0))], &["out"], &[]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), 20.0);
        }
    });
}

#[test]
fn errors_of_straight_loops_name_the_node() {
    let text = "x = Placeholder()
        limit = Placeholder()
        e = Enter(x) loop
        l = Enter(limit) loop constant
        one = Const() 1
        m = Merge(e, n)
        goes = Less(m, l)
        s = Switch(m, goes)
        more = Add(s:1, one)
        few = Picky(more)
        n = NextIteration(few)
        out = Exit(s)";
    on_threads(&lines(text), |session| {
        for _ in 0..2 {
            let y = session.run(&[("x", scalar(0.0)), ("limit", scalar(5.0))], &["out"], &[]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), 5.0);
            let error = session.run(&[("x", scalar(0.0)), ("limit", scalar(9.0))], &["out"], &[]).unwrap_err();
            assert_eq!(
                (error.code(), error.node().map(|node| &*node.node)),
                (kernlink::Code::OutOfRange, Some("few")),
                "{error}"
            );
        }
        let limits = Tensor::vector(&[9f32, 9.0]).unwrap();
        let error = session.run(&[("x", scalar(0.0)), ("limit", limits)], &["out"], &[]).unwrap_err();
        assert_eq!(
            (error.code(), error.node().map(|node| &*node.node)),
            (kernlink::Code::InvalidArgument, Some("s")),
            "{error}"
        );
        assert!(error.message().contains("pred should be a scalar"), "{error}");
    });
}

#[test]
fn what_enters_a_loop_may_come_of_its_own_iterations() {
    let text = "x = Placeholder()
        limit = Placeholder()
        one = Const() 1
        ex = Enter(x) loop
        l = Enter(limit) loop constant
        mx = Merge(ex, nx)
        goes = Less(mx, l)
        sx = Switch(mx, goes)
        ax = Add(sx:1, one)
        nx = NextIteration(ax)
        outx = Exit(sx)
        ey = Enter(outx) loop
        my = Merge(ey, ny)
        sy = Switch(my, goes)
        ay = Add(sy:1, one)
        ny = NextIteration(ay)
        outy = Exit(sy)";
    on_threads(&lines(text), |session| {
        for _ in 0..3 {
            let y = session.run(&[("x", scalar(0.0)), ("limit", scalar(3.0))], &["outy"], &[]).unwrap();
            assert_eq!(y[0].to_scalar::<f32>().unwrap(), 6.0);
        }
    });
}

#[test]
fn loops_that_wait_for_each_other_and_for_others_all_get_on() {
    // Each ends when the other thing has happened.
    let text = "x = Placeholder()
        mine = VarHandleOp() flag
        theirs = VarHandleOp() flag
        yours = VarHandleOp() flag
        la = Enter(x) a constant
        lb = Enter(x) b constant
        ea = Enter(x) a
        y = Maximum(x, x)
        eb = Enter(x) b
        va = Enter(mine) a constant resource
        vb = Enter(theirs) b constant resource
        ma = Merge(ea, na)
        ra = ReadVariableOp(va, ^ma)
        ga = Less(ra, la)
        sa = Switch(ma, ga)
        na = NextIteration(sa:1)
        outa = Exit(sa)
        mb = Merge(eb, nb)
        rb = ReadVariableOp(vb, ^mb)
        gb = Less(rb, lb)
        sb = Switch(mb, gb)
        nb = NextIteration(sb:1)
        outb = Exit(sb)
        set = AssignVariableOp(yours, y)";
    on_threads(&lines(text), |session| {
        for _ in 0..3 {
            session.run(&[("x", scalar(0.0))], &[], &["set"]).unwrap();
            let options = RunOptions::new().timeout(Duration::from_secs(20));
            let y = session.run_with(&[("x", scalar(1.0))], &["outa", "outb"], &["set"], &options).unwrap();
            assert!(y.iter().all(|y| y.to_scalar::<f32>().unwrap() == 1.0));
        }
    });
}

#[test]
fn a_loop_that_has_ended_keeps_nothing() {
    // The body takes the constant and the variable as the iteration finds it: the last iteration has no use for them.
    let text = "x = Placeholder()
        w = Placeholder()
        zero = Const() 0
        one = Const() 1
        limit = Placeholder()
        l = Enter(limit) loop constant
        c = Enter(w) loop constant
        ei = Enter(zero) loop
        e = Enter(x) loop
        mi = Merge(ei, ni)
        m = Merge(e, n)
        goes = Less(mi, l)
        si = Switch(mi, goes)
        s = Switch(m, goes)
        more = Add(si:1, one)
        ni = NextIteration(more)
        sum = Add(s:1, c)
        both = Maximum(sum, m)
        n = NextIteration(both)
        out = Exit(s)
        y = Noted(out)";
    let session = Session::with_options(lines(text), &SessionOptions::new().threads(1)).unwrap();
    for limit in [0.0, 1.0, 5.0] {
        let mut w = Tensor::vector(&[1f32; 100]).unwrap();
        NOTES.take();
        let feeds = [("x", Tensor::vector(&[2f32; 100]).unwrap()), ("w", w.clone()), ("limit", scalar(limit))];
        let y = session.run(&feeds, &["y"], &[]).unwrap();
        assert_eq!(y[0].as_slice::<f32>().unwrap(), [2.0 + limit; 100]);
        // With the only one that left the loop the kernel may do as it likes.
        assert!(limit == 0.0 || NOTES.take() == [(0, true)], "{limit}");
        drop(feeds);
        assert!(w.is_unique(), "{limit}");
    }
}

/// Counts from 0 to a limit, with so many nodes in a row besides, and what else there is in `more`.
fn counter(nodes: usize, more: &str) -> String {
    let mut text = String::from("x = Placeholder()\nlimit = Placeholder()\none = Const() 1\n");
    text +=
        "e = Enter(x) loop\nl = Enter(limit) loop constant\nm = Merge(e, n)\ngoes = Less(m, l)\ns = Switch(m, goes)\n";
    text += "a0 = Add(s:1, one)\nout = Exit(s)\n";
    // By turns, so that there is nothing to leave out.
    (1..=nodes).for_each(|index| text += &format!("a{index} = {}(a{})\n", ["Floor", "Neg"][index % 2], index - 1));
    text + &format!("n = NextIteration(a{nodes})\n{more}")
}

#[test]
fn loops_of_another_form_do_not_go_straight() {
    let feeds = ["x", "limit"].map(|name| (name, scalar(3.0)));
    for (text, fetch, is_straight) in [
        (counter(0, ""), "out", true),
        (counter(254, ""), "out", true),
        (counter(256, ""), "out", false),
        // What comes of a merge's second output.
        (counter(0, "i = Identity(m:1) int32\ns2 = Switch(i, goes) int32\nlast = Exit(s2) int32"), "last", false),
        // What only the last iteration has.
        (counter(0, "neg = Neg(s)\nlast = Exit(neg)"), "last", false),
    ] {
        for threads in [1, 2] {
            // A row of functions would be few nodes.
            let options = SessionOptions::new().threads(threads).without_pass("fuse-element-wise");
            let session = Session::with_options(lines(&text), &options).unwrap();
            assert_eq!(goes_straight(&session, &feeds, &[fetch]), [("loop".to_owned(), is_straight)], "{text}");
            let y = session.run(&feeds, &[fetch], &[]).unwrap();
            assert_eq!(y[0].num_elements(), 1);
        }
    }
}

#[test]
fn what_is_no_loop_for_its_size_is_looked_at_in_no_time() {
    let many = 20_000;
    let variables: String = (0..many)
        .map(|i| format!("e{i} = Enter(x) loop\nm{i} = Merge(e{i}, n{i})\ns{i} = Switch(m{i}, goes)\nn{i} = NextIteration(s{i}:1)\no{i} = Exit(s{i})\n"))
        .collect();
    let text = counter(0, &variables);
    let outs: Vec<String> = (0..many).map(|index| format!("o{index}")).collect();
    let outs: Vec<&str> = outs.iter().map(String::as_str).collect();
    let session = Session::new(lines(&text)).unwrap();
    let feeds = [("x", scalar(0.0)), ("limit", scalar(3.0))];
    let started = std::time::Instant::now();
    assert_eq!(goes_straight(&session, &feeds, &outs), [("loop".to_owned(), false)]);
    let y = session.run(&feeds, &outs, &[]).unwrap();
    assert!(y.iter().all(|y| y.to_scalar::<f32>().unwrap() == 0.0));
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

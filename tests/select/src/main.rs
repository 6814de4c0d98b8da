//! A program built with `KERNLINK_SELECT=test.select`: run by run.sh, fails if anything is not as it must be.

use kernlink::gradient::{OutputGradient, find_gradient};
use kernlink::prelude::*;
use kernlink::select;

kernlink::provider!(ops = 4, kernels = 3, gradients = 5);

/// Twice the input: an op of a crate other than Kernlink's.
#[register_op(attr("T: {float, double}"), input("x: T"), output("y: T"), shape_fn = shape::unchanged_shape)]
pub struct Twice;

/// An op that nothing selects.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged_shape)]
pub struct Thrice;

/// documentation-of-half-is-here: an op that nothing selects, and nothing calls.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged_shape)]
pub struct Half;

/// documentation-of-kept-is-here: an op that no selection leaves out.
#[register_op(system, input("x: float"), output("y: float"), shape_fn = shape::unchanged_shape)]
pub struct Kept;

/// `d(2x) = 2 dx`, with text that stands in the program if, and only if, this does.
#[register_gradient(op = Twice)]
fn twice_gradient(g: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    ensure!(g.is_wanted(0), Internal, "gradient-of-twice-is-here");
    ops::add_v2(g, d_y, d_y).build()
}

#[register_gradient(op = Twice, name = "Steep")]
fn steep_gradient(g: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    ops::neg(g, d_y).build()
}

#[register_gradient(op = Thrice)]
fn thrice_gradient(g: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    ensure!(g.is_wanted(0), Internal, "gradient-of-thrice-is-here");
    ops::mul(g, d_y, 3.0).build()
}

#[register_gradient(op = Half)]
fn half_gradient(g: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    ops::mul(g, d_y, 0.5).build()
}

not_differentiable!(Kept);

/// Text that stands in the program if, and only if, a kernel does.
trait Mark: Number + std::ops::Add<Output = Self> {
    const MARK: &'static str;
}

impl Mark for f32 {
    const MARK: &'static str = "kernel-of-float-is-here";
}

impl Mark for f64 {
    const MARK: &'static str = "kernel-of-double-is-here";
}

struct TwiceKernel<T>(PhantomData<T>);

#[register_kernel(device = Cpu, T = [f32, f64])]
impl<T: Mark> OpKernel<Twice> for TwiceKernel<T> {
    fn new(_: &KernelConstruction<Twice>) -> Result<Self> {
        Ok(Self(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<Twice>) -> Result<()> {
        let x = ctx.input(Twice::X)?.clone();
        ensure!(x.num_elements() < 1 << 40, InvalidArgument, "{}: too large", T::MARK);
        let doubled: Vec<T> = x.as_slice::<T>()?.iter().map(|&x| x + x).collect();
        ctx.set_output(Twice::Y, Tensor::from_elements(x.shape().clone(), &doubled)?)
    }
}

struct ThriceKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Thrice> for ThriceKernel {
    fn new(_: &KernelConstruction<Thrice>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, _: &mut KernelContext<Thrice>) -> Result<()> {
        bail!(Internal, "{}", ["kernel", "of", "thrice", "is", "here"].join("-"))
    }
}

fn main() -> Result<()> {
    assert_eq!(select::source(), Some("test.select"));
    what_is_kept()?;
    what_was_left_out_is_not_in_the_program();
    what_is_kept_runs()?;
    what_is_kept_has_its_gradient()?;
    what_was_left_out_is_named()?;
    what_a_gradient_lacks_is_named()?;
    println!("the selection keeps what it names and explains the rest");
    Ok(())
}

fn what_is_kept() -> Result<()> {
    // The registry compares the number of entries with what each crate promises: stubs count.
    kernlink::registry()?;
    let mut ops: Vec<&str> = kernlink::collect::linked_ops().filter(|op| op.selected && !op.system).map(name).collect();
    ops.sort_unstable();
    assert_eq!(ops, ["AddV2", "Cast", "Fill", "Placeholder", "Twice"]);
    for system in ["_Arg", "_Retval", "_Send", "_Recv", "Const", "NoOp"] {
        let entry = kernlink::collect::linked_ops().find(|op| op.def.name == system);
        assert!(entry.is_some_and(|op| op.selected && op.system), "{system}");
    }
    let stub = kernlink::collect::linked_ops().find(|op| op.def.name == "MatMul").expect("a stub");
    assert!(!stub.selected && stub.def.inputs.is_empty() && stub.shape_fn.is_none());

    let kept = |op: &str| kernlink::collect::linked_kernels().filter(|kernel| kernel.op == op && kernel.selected).count();
    let all = |op: &str| kernlink::collect::linked_kernels().filter(|kernel| kernel.op == op).count();
    assert_eq!((kept("AddV2"), kept("Twice"), kept("Thrice"), kept("MatMul")), (1, 1, 0, 0));
    // Kernels of system ops stay for every type of device.
    assert!(kept("Const") > 0 && kept("Const") == all("Const"));
    assert!(all("AddV2") > 1 && all("Twice") == 2 && all("Thrice") == 1 && all("MatMul") > 1);
    // A line that leaves an attr open keeps every value of it.
    assert!(kept("Cast") > 0);

    // A gradient stays if its op does, by whatever name; of the others an entry stays, which is counted.
    for (names, is_kept) in [(["AddV2", "Twice", "Steep", "Kept"], true), (["Thrice", "MatMul", "Sum", "Shape"], false)] {
        for name in names {
            assert_eq!(find_gradient(name).is_some(), is_kept, "{name}");
            assert!(kernlink::collect::linked_gradients().any(|gradient| gradient.name == name), "{name}");
        }
    }
    Ok(())
}

fn name(op: &kernlink::collect::OpEntry) -> &str {
    &op.def.name
}

fn what_was_left_out_is_not_in_the_program() {
    let program = std::env::current_exe().and_then(std::fs::read).expect("the program can be read");
    // Put together at run time, so that they do not find themselves.
    let holds = |kind: &str, what: &str| {
        let mark = format!("{kind}-of-{what}-is-here");
        program.windows(mark.len()).any(|window| window == mark.as_bytes())
    };
    assert!(holds("kernel", "float"), "the kernel that was selected");
    assert!(!holds("kernel", "double"), "the kernel that was not");
    assert!(holds("gradient", "twice"), "the gradient of the op that was selected");
    assert!(!holds("gradient", "thrice"), "the gradient of the op that was not");
    // A gradient's entry does not keep the declaration of an op that was left out.
    assert!(holds("documentation", "kept") && !holds("documentation", "half"));
}

fn what_is_kept_runs() -> Result<()> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build()?;
    let sum = ops::add_v2(&mut graph, x, x).build()?;
    twice(&mut graph, sum).name("y").build()?;
    let answers = Session::new(graph)?.run(&[("x", Tensor::vector(&[1.0f32, 2.0])?)], &["y"], &[])?;
    assert_eq!(answers[0].as_slice::<f32>()?, [4.0, 8.0]);
    Ok(())
}

fn what_is_kept_has_its_gradient() -> Result<()> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Float).shape([2]).name("x").build()?;
    let y = twice(&mut graph, x).build()?;
    let found = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph)?;
    let Some(OutputGradient::Dense(dx)) = found[0] else { bail!(Internal, "y depends on x") };
    let dx = graph.output_name(dx);
    let answers = Session::new(graph)?.run(&[("x", Tensor::vector(&[1.0f32, 2.0])?)], &[&dx], &[])?;
    assert_eq!(answers[0].as_slice::<f32>()?, [2.0, 2.0]);
    Ok(())
}

fn what_was_left_out_is_named() -> Result<()> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build()?;
    let error = thrice(&mut graph, x).build().expect_err("an op that was left out");
    explains(&error, Code::NotFound, &["op `Thrice`"]);
    let error = ops::neg(&mut graph, x).build().expect_err("an op that was left out");
    explains(&error, Code::NotFound, &["op `Neg`"]);

    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Double).name("x").build()?;
    let sum = ops::add_v2(&mut graph, x, x).build()?;
    twice(&mut graph, sum).name("y").build()?;
    let fed = [("x", Tensor::vector(&[1.0f64])?)];
    let error = Session::new(graph)?.run(&fed, &["y"], &[]).map(|_| ()).expect_err("kernels that were left out");
    explains(&error, Code::NotFound, &["AddV2 on CPU, T in [double]", "Twice on CPU, T in [double]"]);
    Ok(())
}

fn what_a_gradient_lacks_is_named() -> Result<()> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Float).shape([2]).build()?;
    let one = ops::placeholder(&mut graph, DataType::Float).shape([1]).build()?;
    let y = ops::add_v2(&mut graph, x, one).name("y").build()?;
    let error = Gradients::of([y]).with_respect_to([one]).add_to(&mut graph).expect_err("Sum was left out");
    explains(&error, Code::NotFound, &["in the gradient of `y` (AddV2)", "op `Sum`", "kernlink gradients MODEL"]);

    let context = EagerContext::new(&kernlink::registry()?)?;
    let mut tape = GradientTape::new(&context);
    let (x, one) = (tape.watch([1.0f32, 2.0])?, tape.watch([1.0f32])?);
    let y = ops::add_v2(&mut tape, &x, &one).build()?;
    let error = tape.gradient(&y, [&one]).expect_err("Sum was left out");
    explains(&error, Code::NotFound, &["in the gradient of an op AddV2", "op `Sum`", "kernlink gradients MODEL"]);
    Ok(())
}

#[track_caller]
fn explains(error: &Error, code: Code, what: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    let advice = ["was left out when this program was built, by the selection `test.select`", "kernlink select MODEL"];
    for words in what.iter().chain(&advice) {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}

//! Counts what the linker collected, for the program and for C.

use std::collections::BTreeMap;

use kernlink::kernel::Provider;
use kernlink::prelude::*;

kernlink::provider!(
    ops = kernlink::registered_ops!(),
    kernels = kernlink::registered_kernels!(),
    gradients = kernlink::registered_gradients!(),
);

/// An op of the last crate, so that it too has something to lose.
#[register_op(attr("T: {float, int32}"), input("x: T"), output("y: T"), shape_fn = shape::unchanged)]
pub struct Linked;

#[register_gradient(op = Linked)]
fn gradient(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

struct LinkedKernel<T>(PhantomData<T>);

#[register_kernel(device = Cpu, T = [f32, i32])]
impl<T: Number> OpKernel<Linked> for LinkedKernel<T> {
    fn new(_: &KernelConstruction<Linked>) -> Result<Self> {
        Ok(Self(PhantomData))
    }
    fn compute(&self, ctx: &mut KernelContext<Linked>) -> Result<()> {
        let x = ctx.input(Linked::X)?.clone();
        ctx.set_output(Linked::Y, x)
    }
}

/// What was found, in a line.
///
/// # Errors
/// What the registry says of lost registrations.
pub fn check() -> Result<String> {
    let registry = kernlink::registry()?;
    let mut found: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for op in registry.ops() {
        found.entry(op.provider.name).or_default()[0] += 1;
        ensure!(op.provider.ops.is_some(), Internal, "crate {} does not say how many ops it has", op.provider.name);
    }
    registry.kernels().for_each(|kernel| found.entry(kernel.provider.name).or_default()[1] += 1);
    for gradient in kernlink::collect::linked_gradients() {
        let Provider { name, gradients, .. } = gradient.provider;
        found.entry(name).or_default()[2] += 1;
        ensure!(gradients.is_some(), Internal, "crate {name} does not say how many gradients it has");
    }
    let mut graph = Graph::new(&registry);
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build()?;
    let y = linked(&mut graph, x).build()?;
    ops::square(&mut graph, y).name("z").build()?;
    let answers = Session::new(graph)?.run(&[("x", Tensor::scalar(3.0f32))], &["z"], &[])?;
    ensure!(answers[0].to_scalar::<f32>()? == 9.0, Internal, "the answer is {}", answers[0]);
    let texts: Vec<String> =
        found.iter().map(|(name, [ops, kernels, gradients])| format!("{name} {ops}+{kernels}+{gradients}")).collect();
    Ok(texts.join(", "))
}

/// Prints what was found. Returns 0, or 3 if the registry explains that the linker lost something, or 1.
#[unsafe(no_mangle)]
pub extern "C" fn kernlink_check() -> i32 {
    match check() {
        Ok(found) => {
            println!("{found}");
            0
        }
        Err(error) => {
            println!("{error}");
            if error.code() == Code::FailedPrecondition && error.message().contains("--whole-archive") { 3 } else { 1 }
        }
    }
}

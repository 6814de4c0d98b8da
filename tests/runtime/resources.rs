//! Resources of one's own: names of handles, references, and what kernels of the framework make of both.

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::kernel::{Attrs, IsResourceInitialized, NamedResource, RawContext, ResourceHandleOp, ResourceHandlesOp};
use kernlink::prelude::*;
use kernlink::resource::Resource;
use kernlink::tensor::{ResourceHandle, Tensor};

use crate::support::{constant, graph, node};

struct Thing;

impl Resource for Thing {
    fn type_name() -> &'static str {
        "tests::Thing"
    }
}

/// A handle of a thing.
#[register_op(attr("container: string = ''"), attr("shared_name: string = ''"), output("thing: resource"), stateful)]
pub(crate) struct ThingHandle;

#[register_kernel(device = Cpu, op = ThingHandle)]
type ThingHandleKernel = ResourceHandleOp<Thing>;

/// Handles of things.
#[register_op(
    attr("containers: list(string)"),
    attr("shared_names: list(string)"),
    attr("N: int"),
    output("things: N * resource"),
    stateful
)]
pub(crate) struct ThingHandles;

#[register_kernel(device = Cpu, op = ThingHandles)]
type ThingHandlesKernel = ResourceHandlesOp<Thing>;

/// Whether there is such a thing.
#[register_op(input("thing: resource"), output("exists: bool"))]
pub(crate) struct IsThing;

#[register_kernel(device = Cpu, op = IsThing)]
type IsThingKernel = IsResourceInitialized<Thing>;

/// A thing that the node makes, named by a handle or by two strings.
#[register_op(attr("container: string = ''"), attr("shared_name: string = ''"), stateful)]
pub(crate) enum MadeThings {
    #[op(output("thing: resource"))]
    MadeThing,
    #[op(output("thing: Ref(string)"))]
    RefThing,
}

#[register_kernel(device = Cpu, op = [MadeThing, RefThing], state = |ctx| NamedResource::new(ctx))]
fn name(named: &NamedResource<Thing>, ctx: &mut RawContext<'_>) -> Result<()> {
    named.get(|| Ok(Thing))?;
    named.set_handle(ctx)
}

/// Whether a thing is found by what names it.
#[register_op(output("found: bool"), stateful)]
pub(crate) enum Finds {
    #[op(input("thing: resource"))]
    FindThing,
    #[op(input("thing: Ref(string)"))]
    FindRefThing,
}

#[register_kernel(device = Cpu, op = [FindThing, FindRefThing])]
fn find(ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.resource_at::<Thing>(0)?;
    ctx.set_output_at(0, Tensor::scalar(true))
}

fn eager() -> EagerContext {
    EagerContext::new(&kernlink::registry().unwrap()).unwrap()
}

fn handle_of(tensor: &Tensor) -> ResourceHandle {
    tensor.to_scalar::<ResourceHandle>().unwrap()
}

/// TensorFlow 2.21's answers for `SummaryWriter`, whose kernel is `ResourceHandleOp`, but for the names of the device and the
/// type.
#[test]
fn handles_have_the_names_that_tensorflow_gives_them() -> Result<()> {
    let mut eager = eager();
    let mut handle = |container: &str, shared_name: &str| {
        thing_handle(&mut eager).container(container).shared_name(shared_name).build().unwrap().to_string()
    };
    let text = |container: &str, name: &str| {
        format!(
            "resource [] <ResourceHandle(name=\"{name}\", device=\"/device:CPU:0\", \
             container=\"{container}\", type=\"tests::Thing\", dtype and shapes : \"[  ]\")>"
        )
    };
    assert_eq!(handle("", ""), text("localhost", ""));
    assert_eq!(handle("", "x"), text("localhost", "x"));
    assert_eq!(handle("c", "x"), text("c", "x"));
    assert_eq!(handle("", "_x"), text("localhost", "_x"));
    assert_eq!(handle("a b", "x"), text("a b", "x"));
    assert_eq!(handle("", ResourceHandle::ANONYMOUS_NAME), text("localhost", "_AnonymousVar0"));
    assert_eq!(handle("", ResourceHandle::ANONYMOUS_NAME), text("localhost", "_AnonymousVar1"));
    Ok(())
}

#[test]
fn lists_of_handles_have_a_name_each() -> Result<()> {
    let mut eager = eager();
    let handles =
        thing_handles(&mut eager, ThingHandlesRequired { containers: &["", "c"], shared_names: &["a", "b"], n: 2 })
            .build()?;
    let names: Vec<_> = handles.iter().map(|tensor| (handle_of(tensor).container, handle_of(tensor).name)).collect();
    assert_eq!(names, [("localhost", "a"), ("c", "b")].map(|(c, n)| (c.to_owned(), n.to_owned())));
    let error = thing_handles(&mut eager, ThingHandlesRequired { containers: &["", "c"], shared_names: &["a"], n: 2 })
        .build()
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("Number of names (1) must be equal to N (2)"), "{error}");
    Ok(())
}

#[test]
fn locks_without_a_name_are_one_lock() -> Result<()> {
    let mut eager = eager();
    let [first, second] = [0; 2].map(|_| handle_of(&ops::mutex_v2(&mut eager).build().unwrap()));
    assert!(first == second && first.name.is_empty());
    Ok(())
}

#[test]
fn what_a_node_makes_goes_with_it_unless_it_is_named() -> Result<()> {
    let nodes = |names: &[(&str, &str)]| {
        let made = |&(name, shared): &(&str, &str)| node(name, "MadeThing", &[], &[("shared_name", shared.into())]);
        graph(names.iter().map(made))
    };
    let graph = Graph::import(&nodes(&[("own", ""), ("shared", "it")]), &kernlink::registry()?)?;
    let session = Session::new(graph)?;
    let resources = session.resources().clone();
    let names = || resources.list().into_iter().map(|(_, name, _)| name).collect::<Vec<_>>();
    session.run(&[], &["own", "shared"], &[])?;
    assert_eq!(names(), ["_0_own", "it"]);
    drop(session);
    assert_eq!(names(), ["it"]);
    Ok(())
}

#[test]
fn resources_are_found_by_handle_and_by_two_strings() -> Result<()> {
    let nodes = vec![
        node("by_handle", "MadeThing", &[], &[("shared_name", "a".into())]),
        node("by_strings", "RefThing", &[], &[("shared_name", "b".into())]),
        node("first", "FindThing", &["by_handle"], &[]),
        node("second", "FindRefThing", &["by_strings"], &[]),
        node("exists", "IsThing", &["by_handle"], &[]),
    ];
    let session = Session::new(Graph::import(&graph(nodes), &kernlink::registry()?)?)?;
    for answer in session.run(&[], &["first", "second", "exists"], &[])? {
        assert!(answer.to_scalar::<bool>()?);
    }
    Ok(())
}

/// Adds to a variable in its place.
#[register_op(attr("x: float"), input("ref: Ref(float)"), output("output_ref: Ref(float)"))]
pub(crate) struct AddToReference;

#[register_kernel(device = Cpu)]
fn add(attrs: &Attrs<AddToReference>, ctx: &mut KernelContext<'_, AddToReference>) -> Result<()> {
    {
        let mut value = ctx.reference(AddToReference::REF)?.value()?;
        let before = value.bytes()?.as_ptr();
        let was_unique = value.is_unique();
        value.make_unique()?;
        value.as_mut_slice::<f32>()?.iter_mut().for_each(|x| *x += attrs.x);
        ensure!((value.bytes()?.as_ptr() == before) == was_unique, Internal, "only what is shared is copied");
    }
    ctx.forward_reference(AddToReference::REF, AddToReference::OUTPUT_REF)?;
    let taken = ctx.reference(AddToReference::REF).unwrap_err();
    ensure!(taken.message().contains("taken already"), Internal, "the reference itself was handed on");
    Ok(())
}

#[test]
fn references_are_read_changed_and_forwarded_in_place() -> Result<()> {
    let float = || AttrValue::Type(DataType::Float);
    let shape = AttrValue::Shape(PartialShape::from_dims(&[100])?);
    let nodes = vec![
        node("variable", "VariableV2", &[], &[("dtype", float()), ("shape", shape)]),
        constant("ones", Tensor::from_elements([100], &[1f32; 100])?),
        node("start", "Assign", &["variable", "ones"], &[("T", float())]),
        node("once", "AddToReference", &["variable"], &[("x", AttrValue::Float(2.0))]),
        node("twice", "AddToReference", &["once"], &[("x", AttrValue::Float(3.0))]),
    ];
    let session = Session::new(Graph::import(&graph(nodes), &kernlink::registry()?)?)?;
    assert_eq!(session.run(&[], &["twice"], &[]).unwrap_err().code(), Code::FailedPrecondition);
    session.run(&[], &[], &["start"])?;
    let first = session.run(&[], &["twice"], &[])?.remove(0);
    assert_eq!(first.as_slice::<f32>()?, [6.0; 100]);
    // The fetched value stays as it was.
    assert_eq!(session.run(&[], &["twice"], &[])?[0].as_slice::<f32>()?, [11.0; 100]);
    assert_eq!(first.as_slice::<f32>()?, [6.0; 100]);
    Ok(())
}

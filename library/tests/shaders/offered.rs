//! What a crate in Rust offers.

use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::device::{CpuDevice, Device, GPU};
use kernlink::dtype::{DataType, TString};
use kernlink::kernel::shader::Launch;
use kernlink::proto::ResourceHandleProto;
use kernlink::registry::Registry;
use kernlink::shape::Shape;
use kernlink::shape_inference::InferenceContext;
use kernlink::tensor::{ResourceHandle, Tensor};
use kernlink::{Code, Result, ensure};
use kernlink_library::guest::HostKind;
use kernlink_macros::{register_kernel, register_op};
use prost::Message as _;

use crate::device::{ABLE, Other, Recording, was_told};
use crate::{KERNLINK_PROVIDER, common};

/// Scales the rows of a matrix; one sum for each of them is beside the result.
#[register_op(
    attr("T: {float, int32, half}"),
    attr("factor: float = 2"),
    attr("number: int = 3"),
    attr("mode: {'fast', 'exact', 'other'} = 'fast'"),
    input("x: T"),
    input("axis: int32"),
    output("y: T"),
    output("sums: T"),
    shape_fn = |c| {
        // What only the library's side can know: C does not tell shape functions of attrs such as `number`.
        let sums = c.make_shape([c.make_dim(c.attr::<i64>("number")?)]);
        c.set_output(0, c.input(0));
        c.set_output(1, sums);
        Ok(())
    }
)]
pub(crate) struct Shade;

#[register_kernel(
    crate = crate::with_gpu,
    device = Gpu,
    op = Shade,
    T = [f32, f16],
    mode = ["fast", "exact"],
    host_memory = ["axis"],
    wgsl = "shade.wgsl",
    dispatch = rows("x"),
    workgroup = 32,
    vectors = ["x"],
    requires = ["subgroups"],
    label = "shaded",
    priority = 3,
    params = [
        factor,
        number: u32,
        half: u32 = half_of,
        axis: i32 = |launch: &Launch<'_, Shade>| Ok(launch.input(Shade::AXIS).as_slice::<i32>()?[0]),
        shape("x", 2),
    ]
)]
struct ShadeOnGpu;

fn half_of(launch: &Launch<'_, Shade>) -> Result<u32> {
    let x = launch.input_shape(Shade::X);
    ensure!(x.rank() == 2, InvalidArgument, "x must be a matrix, not of shape {x}");
    assert!(launch.output_shape(Shade::Y)? == x);
    assert_ne!(x.dims()[0], 77, "told to fail");
    Ok(x.num_elements() as u32 / 2)
}

/// As many as a function says, of a shape that a function says.
#[register_op(attr("fails: bool = false"), input("x: int32"), output("y: int32"), shape_fn = unknown)]
pub(crate) struct Repeat;

fn unknown(c: &mut InferenceContext<'_>) -> Result<()> {
    let unknown = c.unknown_shape();
    c.set_output(0, unknown);
    Ok(())
}

#[register_kernel(
    crate = crate::with_gpu,
    device = Gpu,
    op = Repeat,
    wgsl = "shade.wgsl",
    raw,
    dispatch = groups_of,
    outputs = repeated
)]
struct RepeatOnGpu;

fn groups_of(launch: &Launch<'_, Repeat>) -> Result<[u32; 3]> {
    assert_ne!(launch.input_shape(Repeat::X).num_elements(), 77, "told to fail");
    Ok([launch.output_shape(Repeat::Y)?.num_elements() as u32, 2, 1])
}

fn repeated(launch: &Launch<'_, Repeat>) -> Result<Shape> {
    assert!(!launch.attrs().fails || launch.input_shape(Repeat::X).rank() == 0, "told to fail");
    // The elements are on the device.
    let read = launch.input(Repeat::X).as_slice::<i32>();
    assert!(read.is_err(), "{read:?}");
    Ok(Shape::from([launch.input_shape(Repeat::X).num_elements(), 2]))
}

/// A function of elements.
#[register_op(attr("T: {float}"), input("x: T"), input("y: T"), output("z: T"), shape_fn = |_| Ok(()))]
pub(crate) struct Near;

#[register_kernel(
    crate = crate::with_gpu,
    device = Gpu,
    op = Near,
    T = [f32],
    wgsl = "shade.wgsl",
    dispatch = element_wise(broadcast),
    refusal = (OutOfRange, "too far")
)]
struct NearOnGpu;

/// One kernel for devices with subgroups, and another for those without.
#[register_op(attr("T: {float, half, int64} = DT_FLOAT"), input("x: T"), output("y: T"), shape_fn = |_| Ok(()))]
pub(crate) struct Choose;

#[register_kernel(
    crate = crate::with_gpu,
    device = Gpu,
    op = Choose,
    T = [f32, f16, i64],
    wgsl = "shade.wgsl",
    requires = ["subgroups"],
    priority = 1,
    outputs = |_| Ok(Shape::from([1]))
)]
struct FastOnGpu;

#[register_kernel(
    crate = crate::with_gpu,
    device = Gpu,
    op = Choose,
    T = [f32, f16, i64],
    wgsl = "shade.wgsl",
    outputs = |_| Ok(Shape::from([2])),
    params = [number: u32 = |_| Ok(5)]
)]
struct PlainOnGpu;

/// Inputs of every kind that stay in host memory.
#[register_op(
    input("x: float"),
    input("text: string"),
    input("flag: bool"),
    input("table: resource"),
    input("list: int64"),
    output("y: float"),
    stateful,
    shape_fn = |_| Ok(())
)]
pub(crate) struct Read;

#[register_kernel(
    crate = crate::with_gpu,
    device = Gpu,
    op = Read,
    host_memory = ["text", "flag", "table", "list"],
    wgsl = "shade.wgsl",
    outputs = read_shape
)]
struct ReadOnGpu;

fn read_shape(launch: &Launch<'_, Read>) -> Result<Shape> {
    let texts = launch.input(Read::TEXT).as_slice::<TString>()?;
    let flags = launch.input(Read::FLAG).as_slice::<bool>()?;
    let table = launch.input(Read::TABLE).as_slice::<ResourceHandle>()?;
    ensure!(flags == [true, false, true], InvalidArgument, "not these flags");
    ensure!(&*table[0].name == "a table", InvalidArgument, "not this table: {}", table[0].name);
    ensure!(texts.len() == 2 && texts[1].as_bytes() == [b'x'; 40], InvalidArgument, "not these texts");
    Ok(Shape::from(launch.input(Read::LIST).as_slice::<i64>()?.iter().map(|&size| size as usize).collect::<Vec<_>>()))
}

pub(crate) fn registry() -> &'static Arc<Registry> {
    &common::load(&KERNLINK_PROVIDER, HostKind::Kernlink).0
}

fn run(device: &dyn Device, op: &str, attrs: &[(&str, AttrValue)], inputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
    common::run(registry(), device, op, attrs, inputs)
}

fn matrix() -> Tensor {
    Tensor::zeros(DataType::Float, [4, 6]).unwrap()
}

fn shaded<'a>(more: &[(&'a str, AttrValue)]) -> Vec<(&'a str, AttrValue)> {
    let label = [("T", AttrValue::Type(DataType::Float)), ("_kernel", AttrValue::String("shaded".into()))];
    label.into_iter().chain(more.iter().cloned()).collect()
}

#[test]
fn all_of_it_is_offered() {
    let said = &common::load(&KERNLINK_PROVIDER, HostKind::Kernlink).1;
    assert_eq!(said, "");
    let kernels = registry().kernels_of("Shade");
    let texts: Vec<_> =
        kernels.iter().map(|kernel| (kernel.to_string(), kernel.requires, kernel.host_memory)).collect();
    assert_eq!(kernels.len(), 2, "{texts:?}");
    for kernel in kernels.iter() {
        assert_eq!((kernel.device, kernel.label, kernel.priority), (GPU, "shaded", 3));
        assert_eq!(kernel.host_memory, ["axis"]);
        let half = kernel.to_string().contains("half");
        assert_eq!(kernel.requires, if half { &["subgroups", "f16"][..] } else { &["subgroups"] });
        assert!(kernel.to_string().contains("mode in [\"fast\", \"exact\"]"), "{kernel}");
    }
}

#[test]
fn a_device_asks_the_library_before_each_run() {
    let axis = Tensor::vector(&[-7i32]).unwrap();
    let attrs = shaded(&[("number", AttrValue::Int(5))]);
    let outputs = run(&ABLE, "Shade", &attrs, vec![matrix(), axis.clone()]).unwrap();
    assert_eq!((outputs[0].shape().dims(), outputs[1].shape().dims()), (&[4, 6][..], &[5][..]));
    let expected =
        format!("ShadeOnGpu {:?} {:?} [0, 0, 0]", [Shape::from([4, 6]), Shape::from([5])], [12, -7i32 as u32]);
    was_told(&expected);
    was_told(
        "ShadeOnGpu library/tests/shaders/offered.rs shade.wgsl 3 [[(\"T\", Float)]] false Rows { of: \"x\" } [\"x\"] 32 None \
         factor=Attr(None) number=Attr(Some(U32)) half=Computed(U32) axis=Computed(I32) x=Shape { rank: 2 }",
    );

    // Errors of the functions keep their codes.
    let error = run(&ABLE, "Shade", &attrs, vec![Tensor::zeros(DataType::Float, [3]).unwrap(), axis]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(error.message().contains("x must be a matrix, not of shape [3]"), "{error}");
}

#[test]
fn functions_say_shapes_and_workgroups() {
    let x = Tensor::vector(&[1i32, 2, 3]).unwrap();
    let outputs = run(&ABLE, "Repeat", &[], vec![x.clone()]).unwrap();
    assert_eq!(outputs[0].shape().dims(), [3, 2]);
    let expected = format!("RepeatOnGpu {:?} [] [6, 2, 1]", [Shape::from([3, 2])]);
    was_told(&expected);
    was_told("RepeatOnGpu library/tests/shaders/offered.rs shade.wgsl 3 [[]] true Function [] 64 None ");

    // A panic is an error of the run, whichever function panics.
    let many = Tensor::zeros(DataType::Float, [77, 1]).unwrap();
    for error in [
        run(&ABLE, "Repeat", &[("fails", AttrValue::Bool(true))], vec![x]),
        run(&ABLE, "Repeat", &[], vec![Tensor::zeros(DataType::Int32, [77]).unwrap()]),
        run(&ABLE, "Shade", &shaded(&[]), vec![many, Tensor::vector(&[1i32]).unwrap()]),
    ] {
        let error = error.unwrap_err();
        assert_eq!(error.code(), Code::Internal, "{error}");
        assert!(error.message().contains("told to fail"), "{error}");
    }
}

#[test]
fn the_library_answers_for_the_kernel_that_the_host_chose() {
    let x = || vec![Tensor::vector(&[1.0f32]).unwrap()];
    let shape = |device: &Recording| run(device, "Choose", &[], x()).unwrap()[0].shape().dims().to_vec();
    assert_eq!(shape(&ABLE), [1]);
    assert_eq!(shape(&Recording(&[])), [2]);
    was_told(&format!("PlainOnGpu {:?} [5] [0, 0, 0]", [Shape::from([2])]));

    let half = [("T", AttrValue::Type(DataType::Half))];
    let run = |device: &Recording| run(device, "Choose", &half, vec![Tensor::zeros(DataType::Half, [1]).unwrap()]);
    assert_eq!(run(&ABLE).unwrap()[0].shape().dims(), [1]);
    let error = run(&Recording(&["subgroups"])).unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    assert!(error.message().contains("f16"), "{error}");
}

#[test]
fn inputs_in_host_memory_are_read_whatever_they_hold() {
    // Handles go as strings.
    let handle = ResourceHandleProto { name: "a table".into(), ..ResourceHandleProto::default() }.encode_to_vec();
    let texts = [TString::from("short"), TString::from("x".repeat(40))];
    let inputs = |sizes: &[i64]| {
        vec![
            Tensor::vector(&[1.0f32]).unwrap(),
            Tensor::vector(&texts).unwrap(),
            Tensor::vector(&[true, false, true]).unwrap(),
            Tensor::scalar(TString::from(&handle[..])),
            Tensor::vector(sizes).unwrap(),
        ]
    };
    assert_eq!(run(&ABLE, "Read", &[], inputs(&[2, 0, 3])).unwrap()[0].shape().dims(), [2, 0, 3]);
    assert_eq!(run(&ABLE, "Read", &[], inputs(&[])).unwrap()[0].shape().dims(), [] as [usize; 0]);
    let mut wrong = inputs(&[1]);
    wrong[2] = Tensor::scalar(true);
    let error = run(&ABLE, "Read", &[], wrong).unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::InvalidArgument, "not these flags"));
}

#[test]
fn runs_ask_at_once() {
    let attrs = shaded(&[]);
    std::thread::scope(|scope| {
        for size in 1..5i32 {
            let attrs = &attrs;
            scope.spawn(move || {
                for _ in 0..50 {
                    let x = Tensor::zeros(DataType::Float, [size as usize, 3]).unwrap();
                    let y = run(&ABLE, "Shade", attrs, vec![x, Tensor::vector(&[size]).unwrap()]).unwrap();
                    assert_eq!(y[0].shape().dims(), [size as usize, 3]);
                }
            });
        }
    });
}

#[test]
fn a_node_for_which_no_kernel_is_says_so() {
    let axis = Tensor::vector(&[0i32]).unwrap();
    let other = shaded(&[("mode", AttrValue::String("other".into()))]);
    let error = run(&ABLE, "Shade", &other, vec![matrix(), axis.clone()]).unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    let error = run(&CpuDevice::on_caller(), "Shade", &shaded(&[]), vec![matrix(), axis]).unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
}

#[test]
fn a_device_that_runs_no_shaders_says_so() {
    let error = run(&Other, "Repeat", &[], vec![Tensor::vector(&[1i32]).unwrap()]).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented, "{error}");
    assert!(error.message().contains("/device:GPU:1 runs no shaders, as `RepeatOnGpu`"), "{error}");
    assert!(error.message().contains("library/tests/shaders/offered.rs"), "{error}");
}

#[test]
fn a_function_of_elements_keeps_its_rule_and_its_error() {
    let ones = Tensor::zeros(DataType::Float, [2]).unwrap();
    // Its shape function says nothing, which the library is asked for, and has no answer to.
    let error = run(&ABLE, "Near", &[("T", AttrValue::Type(DataType::Float))], vec![ones.clone(), ones]).unwrap_err();
    assert!(error.message().contains("let `NearOnGpu` say `outputs = function`"), "{error}");
    was_told(
        "NearOnGpu library/tests/shaders/offered.rs shade.wgsl 3 [[(\"T\", Float)]] false ElementWise(Broadcast) [] 64 \
         Some((OutOfRange, \"too far\")) ",
    );
}

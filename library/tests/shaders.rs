//! Kernels of which only the shader is written, from a library to a device of the host's that runs shaders, and back: what
//! the device is told of them, and what it asks before each run.

extern crate kernlink_framework as kernlink;

mod common;

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::{Arc, Mutex};

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::{CpuDevice, Device, DeviceType, GPU};
use kernlink::dtype::{DataType, TString};
use kernlink::kernel::shader::{Dispatch, Launch, LaunchFunctions, RawLaunch, ShaderRunner, Source};
use kernlink::kernel::{DynKernel, RawContext};
use kernlink::op::OpDefBuilder;
use kernlink::proto::ResourceHandleProto;
use kernlink::registry::Registry;
use kernlink::runtime::run_op;
use kernlink::shape::Shape;
use kernlink::shape_inference::InferenceContext;
use kernlink::tensor::{DeviceMemory, ResourceHandle, Tensor};
use kernlink::{Code, Error, Result, ensure};
use kernlink_library::abi::shader::Dispatch as DispatchMessage;
use kernlink_library::abi::shader::{Constraint, Param as ParamMessage, ParamKind, Rule, SET_SHADER, Shader};
use kernlink_library::abi::*;
use kernlink_library::guest::HostKind;
use kernlink_library::host::registration::collect;
use kernlink_library::host::{
    Kernlink_KernelBuilder_SetShader, TF_DeleteStatus, TF_GetCode, TF_KernelBuilder_TypeConstraint, TF_Message,
    TF_NewKernelBuilder, TF_NewStatus, TF_RegisterKernelBuilder,
};
use kernlink_macros::{register_kernel, register_op};
use prost::Message as _;

kernlink::provider!();

/// `kernlink` as a program has it that declares shaders and has no device. Shaders are checked where there is one.
mod with_gpu {
    pub(crate) use kernlink_framework::*;

    pub(crate) mod gpu {
        pub(crate) mod wgsl {
            use kernlink_framework::Result;
            use kernlink_framework::kernel::shader::WgslKernel;
            pub(crate) use kernlink_framework::kernel::shader::declared::{ElementWise, Kernel};
            use kernlink_framework::op::Op;

            pub(crate) fn check<K: WgslKernel<O>, O: Op>() -> Result<()> {
                assert!(!K::source().text.is_empty());
                Ok(())
            }
        }
    }
}

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
pub struct Shade;

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
    Ok(x.num_elements() as u32 / 2)
}

/// As many as a function says, of a shape that a function says.
#[register_op(attr("fails: bool = false"), input("x: int32"), output("y: int32"), shape_fn = unknown)]
pub struct Repeat;

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
pub struct Near;

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
pub struct Choose;

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
pub struct Read;

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

/// What the device was told, as text, and asked.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A device whose kernels compute nothing, but ask what those of a real one ask. It has these capabilities.
struct Recording(&'static [&'static str]);

const ABLE: Recording = Recording(&["f16", "subgroups"]);

static RUNNER: ShaderRunner = ShaderRunner(|source, functions, _| {
    let Source { name, location, file, text, variants, is_raw, dispatch, params, vectors, .. } = source;
    let params: Vec<_> = params.iter().map(|param| format!("{}={:?}", param.name, param.value)).collect();
    let (params, workgroup, refusal) = (params.join(" "), source.workgroup, source.refusal);
    let lines = text.lines().count();
    let said = format!(
        "{name} {} {file} {lines} {variants:?} {is_raw} {dispatch:?} {vectors:?} {workgroup} {refusal:?} {params}",
        location.file
    );
    TOLD.lock().unwrap().push(said);
    Ok(Box::new(Asking { source, functions }))
});

/// Whether the device was told this.
#[track_caller]
fn was_told(expected: &str) {
    let told = TOLD.lock().unwrap().clone();
    assert!(told.iter().any(|told| told == expected), "{expected}\nis none of {told:#?}");
}

impl Device for Recording {
    fn name(&self) -> &str {
        "/device:GPU:0"
    }

    fn device_type(&self) -> DeviceType {
        GPU
    }

    fn capabilities(&self) -> &[&'static str] {
        self.0
    }

    fn runner(&self) -> Option<&(dyn std::any::Any + Send + Sync)> {
        Some(&RUNNER)
    }
}

struct Asking {
    source: &'static Source,
    functions: Box<dyn LaunchFunctions>,
}

/// Memory that the host cannot read.
struct Far;

impl DeviceMemory for Far {
    fn device(&self) -> &str {
        "/device:GPU:0"
    }

    fn num_bytes(&self) -> usize {
        0
    }
}

impl DynKernel for Asking {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let source = self.source;
        // What is not in host memory is on the device.
        let inputs: Vec<Tensor> = (0..ctx.num_inputs())
            .map(|index| {
                let input = ctx.input_at(index).unwrap();
                match source.host_memory.contains(&&*source.op.inputs[index].name) {
                    true => input.clone(),
                    false => Tensor::from_device(input.dtype(), input.shape().clone(), Arc::new(Far)),
                }
            })
            .collect();
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        let launch = RawLaunch { inputs: &inputs, outputs: &[] };
        let shapes = self.functions.outputs(launch)?;
        let launch = RawLaunch { outputs: &shapes, ..launch };
        let computed = self.functions.computed(launch)?;
        let groups = match source.dispatch {
            Dispatch::Function => self.functions.groups(launch)?,
            _ => [0; 3],
        };
        TOLD.lock().unwrap().push(format!("{} {shapes:?} {computed:?} {groups:?}", source.name));
        for (index, shape) in shapes.into_iter().enumerate() {
            ctx.set_output_at(index, Tensor::zeros(ctx.output_dtype_at(index)?, shape)?)?;
        }
        Ok(())
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

fn registry() -> &'static Arc<Registry> {
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
        "ShadeOnGpu library/tests/shaders.rs shade.wgsl 3 [[(\"T\", Float)]] false Rows { of: \"x\" } [\"x\"] 32 None \
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
    was_told("RepeatOnGpu library/tests/shaders.rs shade.wgsl 3 [[]] true Function [] 64 None ");

    // A panic is an error of the run.
    let error = run(&ABLE, "Repeat", &[("fails", AttrValue::Bool(true))], vec![x]).unwrap_err();
    assert_eq!(error.code(), Code::Internal, "{error}");
    assert!(error.message().contains("told to fail"), "{error}");
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

/// A GPU that runs no shaders.
struct Other;

impl Device for Other {
    fn name(&self) -> &str {
        "/device:GPU:1"
    }

    fn device_type(&self) -> DeviceType {
        GPU
    }
}

#[test]
fn a_device_that_runs_no_shaders_says_so() {
    let error = run(&Other, "Repeat", &[], vec![Tensor::vector(&[1i32]).unwrap()]).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented, "{error}");
    assert!(error.message().contains("/device:GPU:1 runs no shaders, as `RepeatOnGpu`"), "{error}");
    assert!(error.message().contains("library/tests/shaders.rs"), "{error}");
}

#[test]
fn a_function_of_elements_keeps_its_rule_and_its_error() {
    let ones = Tensor::zeros(DataType::Float, [2]).unwrap();
    // Its shape function says nothing, which the library is asked for, and has no answer to.
    let error = run(&ABLE, "Near", &[("T", AttrValue::Type(DataType::Float))], vec![ones.clone(), ones]).unwrap_err();
    assert!(error.message().contains("let `NearOnGpu` say `outputs = function`"), "{error}");
    was_told(
        "NearOnGpu library/tests/shaders.rs shade.wgsl 3 [[(\"T\", Float)]] false ElementWise(Broadcast) [] 64 \
         Some((OutOfRange, \"too far\")) ",
    );
}

unsafe extern "C" fn says_nothing(_: *mut c_void, _: *const KernlinkLaunch, _: *mut TF_Status) {}

unsafe extern "C" fn says_wrongly(_: *mut c_void, launch: *const KernlinkLaunch, status: *mut TF_Status) {
    // SAFETY: as a library would, but for what it says.
    unsafe {
        let (negative, dims) = ([-1i64], [2i64]);
        let said = match (*(*launch).inputs).shape.rank {
            0 => (9, KernlinkShape { dims: dims.as_ptr(), rank: 1 }),
            1 => (0, KernlinkShape { dims: negative.as_ptr(), rank: 1 }),
            2 => (0, KernlinkShape { dims: ptr::null(), rank: 1 }),
            _ => (0, KernlinkShape { dims: dims.as_ptr(), rank: -1 }),
        };
        ((*launch).set_output)(launch, said.0, said.1, status);
    }
}

fn declaration() -> Shader {
    Shader {
        name: "Hand".into(),
        text: "fn element(i: u32) {}".into(),
        dispatch: Some(DispatchMessage { rule: Rule::Elements.into(), rows: 1, ..DispatchMessage::default() }),
        workgroup: 64,
        ..Shader::default()
    }
}

fn functions() -> KernlinkShaderFunctions {
    let size = size_of::<KernlinkShaderFunctions>();
    let data = ptr::null();
    KernlinkShaderFunctions { size, data, create: None, outputs: Some(says_nothing), computed: None, groups: None }
}

/// Declares a kernel as a library in C would; gives what the setter and the registration say.
fn declare(
    device: &CStr,
    bytes: &[u8],
    functions: *const KernlinkShaderFunctions,
    dtypes: &[DataType],
) -> [(i32, String); 2] {
    // SAFETY: as a library would.
    unsafe {
        let status = TF_NewStatus();
        let said = || (TF_GetCode(status), CStr::from_ptr(TF_Message(status)).to_string_lossy().into_owned());
        let builder = TF_NewKernelBuilder(c"Repeat".as_ptr(), device.as_ptr(), None, None, None);
        Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), functions, status);
        let set = said();
        for dtype in dtypes {
            TF_KernelBuilder_TypeConstraint(builder, c"T".as_ptr(), dtype.number(), status);
        }
        let (registered, _) = collect(|| {
            TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
            said()
        });
        TF_DeleteStatus(status);
        [set, registered]
    }
}

#[test]
fn what_a_library_declares_wrongly_is_refused() {
    let good = declaration().encode_to_vec();
    assert_eq!(declare(c"GPU", &good, &functions(), &[]), [(0, String::new()), (0, String::new())]);

    let refused = |change: &dyn Fn(&mut Shader), what: &str| {
        let mut shader = declaration();
        change(&mut shader);
        let [(code, said), registered] = declare(c"GPU", &shader.encode_to_vec(), &functions(), &[]);
        assert_eq!(code, Code::InvalidArgument as i32, "{what}");
        assert!(said.contains(what), "{said}");
        assert_ne!(registered.0, 0, "{what}");
    };
    refused(&|shader| shader.dispatch = None, "`Hand` has no dispatch rule");
    refused(
        &|shader| shader.dispatch.as_mut().unwrap().rule = 99,
        "has a dispatch rule that this version does not know",
    );
    refused(&|shader| shader.dispatch.as_mut().unwrap().rows = 0, "has a dispatch rule");
    refused(&|shader| shader.workgroup = 0, "has workgroups without threads");
    refused(&|shader| shader.dispatch.as_mut().unwrap().rule = Rule::Function.into(), "lacks a function");
    let param =
        |kind: ParamKind, ty: &str| ParamMessage { name: "p".into(), kind: kind.into(), ty: ty.into(), rank: 0 };
    refused(&|shader| shader.params = vec![param(ParamKind::Computed, "u32")], "lacks a function");
    refused(&|shader| shader.params = vec![param(ParamKind::Attr, "f64")], "has a parameter `p`");
    refused(&|shader| shader.params = vec![param(ParamKind::Unknown, "")], "has a parameter `p`");
    refused(&|shader| shader.params = vec![param(ParamKind::Shape, "")], "has a parameter `p`");
    let wide = |shader: &mut Shader| shader.params = vec![ParamMessage { rank: 300, ..param(ParamKind::Shape, "") }];
    refused(&wide, "has a parameter `p`");
    refused(&|shader| shader.params = vec![param(ParamKind::Attr, ""); 1025], "has 1025 parameters, more than 1024");
    refused(&|shader| shader.interface = INTERFACE + 1, "is for interface");
    let none = || vec![Constraint { attr: "fails".into(), ..Constraint::default() }];
    refused(&|shader| shader.constraints = none(), "has not values of one kind for attr `fails`");

    let [set, _] = declare(c"GPU", &[0xff, 0xff, 0xff], &functions(), &[]);
    assert!(set.0 == Code::InvalidArgument as i32 && set.1.contains("cannot be read"), "{set:?}");
    let small = KernlinkShaderFunctions { size: 8, ..functions() };
    let [set, _] = declare(c"GPU", &good, &small, &[]);
    assert!(set.1.contains("of another version"), "{set:?}");
    let [set, _] = declare(c"GPU", &good, ptr::null(), &[]);
    assert!(set.1.contains("null pointer"), "{set:?}");
    let [_, registered] = declare(c"CPU", &good, &functions(), &[]);
    assert!(registered.1.contains("is a shader, which runs on a GPU, not on CPU"), "{registered:?}");
    // SAFETY: null pointers are errors.
    unsafe {
        let status = TF_NewStatus();
        Kernlink_KernelBuilder_SetShader(ptr::null_mut(), good.as_ptr().cast(), good.len(), &functions(), status);
        assert_eq!(TF_GetCode(status), Code::InvalidArgument as i32);
        TF_DeleteStatus(status);
    }
}

#[test]
fn a_shader_that_does_not_suit_its_op_is_refused_with_the_first_node() {
    let refused = |op: OpDefBuilder, change: &dyn Fn(&mut Shader), what: &str| {
        let registry = Arc::new(Registry::from_ops([]).unwrap());
        registry.register_op(op.build().unwrap(), None).unwrap();
        let mut shader = declaration();
        change(&mut shader);
        let registered = || {
            // SAFETY: as a library would.
            unsafe {
                let status = TF_NewStatus();
                let builder = TF_NewKernelBuilder(c"Hand".as_ptr(), c"GPU".as_ptr(), None, None, None);
                let bytes = shader.encode_to_vec();
                Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions(), status);
                TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
                assert_eq!(TF_GetCode(status), 0, "{what}");
                TF_DeleteStatus(status);
            }
        };
        collect(registered).1.commit(&registry).unwrap();
        let inputs = registry.op("Hand").unwrap().def.inputs.len();
        let inputs = (0..inputs).map(|_| Tensor::scalar(1.0f32)).collect();
        let error = run_op(&registry, &ABLE, "Hand", AttrMap::new(), inputs).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().contains(what), "`{what}` is not in {error}");
    };
    let op = || OpDefBuilder::new("Hand").input("x: float").output("y: float").attr("factor: float = 1");
    refused(OpDefBuilder::new("Hand").input("x: float"), &|_| {}, "it has no output for the shader to write");
    refused(OpDefBuilder::new("Hand").output("y: double"), &|_| {}, "`y` is double, with which no shader computes");
    refused(OpDefBuilder::new("Hand").output("y: N * float").attr("N: int = 1"), &|_| {}, "`y` is a list");
    let of = |shader: &mut Shader| shader.dispatch.as_mut().unwrap().of = "z".into();
    refused(op(), &of, "it has no argument `z`");
    let named =
        |kind: ParamKind, name: &str| ParamMessage { name: name.into(), kind: kind.into(), rank: 1, ty: String::new() };
    refused(op(), &|shader| shader.params = vec![named(ParamKind::Shape, "w")], "it has no argument `w`");
    refused(op(), &|shader| shader.params = vec![named(ParamKind::Attr, "w")], "has no attr `w`");
    refused(op(), &|shader| shader.vectors = vec!["w".into()], "it has no argument `w`");
    let of_elements = |shader: &mut Shader| {
        shader.dispatch.as_mut().unwrap().rule = Rule::Equal.into();
        shader.params = vec![named(ParamKind::Shape, "x")];
    };
    refused(op(), &of_elements, "a function of elements has attrs for parameters");
}

#[test]
fn constraints_of_each_kind_cross() {
    let constraint = |attr: &str| Constraint { attr: attr.into(), ..Constraint::default() };
    let mut shader = declaration();
    shader.constraints = vec![
        Constraint { strings: vec!["a".into(), "b".into()], ..constraint("text") },
        Constraint { ints: vec![-3], ..constraint("number") },
        Constraint { bools: vec![true], ..constraint("flag") },
    ];
    let registry = Arc::new(Registry::from_ops([]).unwrap());
    let op = OpDefBuilder::new("Hand").input("x: float").output("y: float");
    let op = op.attr("text: string = 'b'").attr("number: int = -3").attr("flag: bool = true");
    registry.register_op(op.build().unwrap(), None).unwrap();
    // SAFETY: as a library would.
    let ((), batch) = unsafe {
        collect(|| {
            let status = TF_NewStatus();
            let builder = TF_NewKernelBuilder(c"Hand".as_ptr(), c"GPU".as_ptr(), None, None, None);
            let bytes = shader.encode_to_vec();
            Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions(), status);
            TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
            TF_DeleteStatus(status);
        })
    };
    batch.commit(&registry).unwrap();
    let code = |name: &str, value: AttrValue| {
        let attrs = AttrMap::from_iter([(name.to_owned(), value)]);
        run_op(&registry, &ABLE, "Hand", attrs, vec![Tensor::scalar(1.0f32)]).unwrap_err().code()
    };
    // Where it is chosen, it says no shapes.
    assert_eq!(code("text", AttrValue::from("a")), Code::Internal);
    assert_eq!(code("text", AttrValue::from("c")), Code::NotFound);
    assert_eq!(code("number", AttrValue::Int(3)), Code::NotFound);
    assert_eq!(code("flag", AttrValue::Bool(false)), Code::NotFound);
}

/// A library whose functions for the op `Hand` say what cannot be.
#[test]
fn what_a_library_says_wrongly_of_a_run_is_an_error_of_it() {
    let asks = |outputs| {
        // SAFETY: as a library would.
        let ((), batch) = unsafe {
            collect(|| {
                let status = TF_NewStatus();
                let builder = TF_NewKernelBuilder(c"Hand".as_ptr(), c"GPU".as_ptr(), None, None, None);
                let bytes = declaration().encode_to_vec();
                let functions = KernlinkShaderFunctions { outputs: Some(outputs), ..functions() };
                Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions, status);
                TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
                assert_eq!(TF_GetCode(status), 0);
                TF_DeleteStatus(status);
            })
        };
        let fresh = Arc::new(Registry::from_ops([]).unwrap());
        let op = OpDefBuilder::new("Hand").input("x: float").output("y: float").build().unwrap();
        fresh.register_op(op, None).unwrap();
        batch.commit(&fresh).unwrap();
        move |dims: &[usize]| {
            let x = Tensor::zeros(DataType::Float, dims.to_vec()).unwrap();
            run_op(&fresh, &ABLE, "Hand", AttrMap::new(), vec![x]).unwrap_err()
        }
    };
    let says = |error: Error, code: Code, what: &str| {
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(what), "{error}");
    };
    says(asks(says_nothing)(&[]), Code::Internal, "does not say the shapes of all outputs");
    let wrong = asks(says_wrongly);
    says(wrong(&[]), Code::InvalidArgument, "there is no output 9");
    says(wrong(&[1]), Code::InvalidArgument, "a negative size");
    says(wrong(&[1, 1]), Code::InvalidArgument, "null pointer");
    says(wrong(&[1, 1, 1]), Code::InvalidArgument, "a negative rank");
}

#[test]
fn the_function_is_found_by_its_name() {
    assert_eq!(SET_SHADER, c"Kernlink_KernelBuilder_SetShader");
    assert!(!common::lookup(SET_SHADER).is_null());
}

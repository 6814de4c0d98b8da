//! What crosses the boundary in a run of a shader, and how long that takes.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::{size_of, size_of_val};
use std::ptr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::collect::linked_kernels;
use kernlink::device::{Device, DeviceType, GPU};
use kernlink::dtype::DataType;
use kernlink::graph::complete_attrs;
use kernlink::kernel::shader::{LaunchFunctions, ShaderNode, ShaderRunner, Source};
use kernlink::kernel::{DynKernel, RawContext};
use kernlink::op::{OpDefBuilder, Signature};
use kernlink::registry::Registry;
use kernlink::runtime::run_op;
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::abi::shader::{Dispatch as DispatchMessage, Param, ParamKind, Rule, Shader};
use kernlink_library::abi::*;
use kernlink_library::host::registration::collect;
use kernlink_library::host::{
    Kernlink_KernelBuilder_SetShader, TF_DeleteStatus, TF_DeleteTensor, TF_GetCode, TF_KernelBuilder_HostMemory,
    TF_NewKernelBuilder, TF_NewStatus, TF_RegisterKernelBuilder, TF_TensorByteSize,
};
use prost::Message as _;

use crate::device::{ABLE, ask, there};
use crate::offered::registry;

thread_local! {
    /// Calls into the library, calls back, and the bytes that both are told.
    static CROSSED: Cell<[usize; 3]> = const { Cell::new([0; 3]) };
}

fn crossed(calls: [usize; 2], bytes: usize) {
    let [into, back, all] = CROSSED.get();
    CROSSED.set([into + calls[0], back + calls[1], all + bytes]);
}

/// The bytes of a launch, with all that it leads to.
///
/// # Safety
/// It is the host's.
unsafe fn told(launch: *const KernlinkLaunch) -> usize {
    // SAFETY: as the caller says.
    unsafe {
        let launch = &*launch;
        let inputs = (0..launch.num_inputs).map(|at| (*launch.inputs.add(at)).shape);
        let outputs = (0..launch.num_outputs).map(|at| *launch.outputs.add(at));
        let dims: usize = inputs.chain(outputs).map(|shape| shape.rank as usize * size_of::<i64>()).sum();
        size_of_val(launch)
            + launch.num_inputs * size_of::<KernlinkInput>()
            + launch.num_outputs * size_of::<KernlinkShape>()
            + dims
    }
}

unsafe extern "C" fn outputs(_: *mut c_void, launch: *const KernlinkLaunch, status: *mut TF_Status) {
    // SAFETY: as a library would.
    unsafe {
        crossed([1, 1], told(launch) + size_of::<KernlinkShape>() + 2 * size_of::<i64>());
        ((*launch).set_output)(launch, 0, (*(*launch).inputs).shape, status);
    }
}

unsafe extern "C" fn computed(
    _: *mut c_void,
    launch: *const KernlinkLaunch,
    words: *mut u32,
    count: usize,
    status: *mut TF_Status,
) {
    // SAFETY: as a library would.
    unsafe {
        let axis = ((*launch).input)(launch, 1, status);
        crossed([1, 1], told(launch) + count * size_of::<u32>() + TF_TensorByteSize(axis));
        TF_DeleteTensor(axis);
        words.write(7);
    }
}

unsafe extern "C" fn groups(_: *mut c_void, launch: *const KernlinkLaunch, groups: *mut u32, _: *mut TF_Status) {
    // SAFETY: as a library would.
    unsafe {
        crossed([1, 0], told(launch) + 3 * size_of::<u32>());
        ptr::copy_nonoverlapping([1, 2, 3].as_ptr(), groups, 3);
    }
}

/// Calls and bytes of one run of a shader with a matrix on the device, an input in host memory, and an output.
fn of_one_run(rule: Rule, params: Vec<Param>) -> [usize; 3] {
    let dispatch = DispatchMessage { rule: rule.into(), rows: 1, ..DispatchMessage::default() };
    let shader = Shader {
        name: "Counted".into(),
        text: "-".into(),
        workgroup: 1,
        dispatch: Some(dispatch),
        params,
        ..Shader::default()
    };
    let functions = KernlinkShaderFunctions {
        size: size_of::<KernlinkShaderFunctions>(),
        data: ptr::null(),
        create: None,
        outputs: Some(outputs),
        computed: Some(computed),
        groups: Some(groups),
    };
    let registry = Arc::new(Registry::from_ops([]).unwrap());
    let op = OpDefBuilder::new("Counted").input("x: float").input("axis: int32").output("y: float");
    registry.register_op(op.build().unwrap(), None).unwrap();
    let bytes = shader.encode_to_vec();
    // SAFETY: as a library would.
    let ((), batch) = unsafe {
        collect(|| {
            let status = TF_NewStatus();
            let builder = TF_NewKernelBuilder(c"Counted".as_ptr(), c"GPU".as_ptr(), None, None, None);
            TF_KernelBuilder_HostMemory(builder, c"axis".as_ptr());
            Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions, status);
            TF_RegisterKernelBuilder(c"counted".as_ptr(), builder, status);
            assert_eq!(TF_GetCode(status), 0);
            TF_DeleteStatus(status);
        })
    };
    batch.commit(&registry).unwrap();
    CROSSED.set([0; 3]);
    let inputs = vec![Tensor::zeros(DataType::Float, [4, 6]).unwrap(), Tensor::scalar(1i32)];
    run_op(&registry, &ABLE, "Counted", AttrMap::new(), inputs).unwrap();
    CROSSED.get()
}

#[test]
fn a_run_crosses_once_for_each_function_that_it_has() {
    let param = Param { name: "p".into(), kind: ParamKind::Computed.into(), ty: "u32".into(), rank: 0 };
    // Of the matrix and the scalar, and then the output, too.
    let (asked, answered) = (64 + 2 * 24 + 16, 64 + 2 * 24 + 16 + 16 + 16);
    let shapes = asked + 16 + 16;
    assert_eq!(of_one_run(Rule::Elements, vec![]), [1, 1, shapes]);
    assert_eq!(of_one_run(Rule::Elements, vec![param.clone()]), [2, 2, shapes + answered + 4 + 4]);
    assert_eq!(of_one_run(Rule::Function, vec![param]), [3, 2, shapes + answered + 4 + 4 + answered + 12]);
}

/// A device that measures, when it makes a kernel, how long it takes to ask for a run of it: linked first, and then by the library.
struct Measuring;

static MEASURED: Mutex<Option<[Duration; 2]>> = Mutex::new(None);

static RUNNER: ShaderRunner = ShaderRunner(|source, functions, node| {
    let x = Tensor::zeros(DataType::Float, [4, 6])?;
    let inputs = there(source, &[&x, &Tensor::vector(&[1i32])?]);
    let inputs: Vec<&Tensor> = inputs.iter().take(source.op.inputs.len()).collect();
    let linked = linked_kernels().find(|kernel| kernel.op == source.op.name && kernel.shader.is_some());
    let linked = linked.and_then(|kernel| kernel.shader).ok_or_else(|| Error::not_found("it is not linked"))?;
    let mut attrs = node.attrs.clone();
    complete_attrs(source.op, &mut attrs)?;
    let (op, signature) = (linked.source.op, Signature::new(source.op, &attrs)?);
    let shape_fn =
        kernlink::collect::linked_ops().find(|entry| entry.def.name == op.name).and_then(|entry| entry.shape_fn);
    let own = (linked.functions)(&ShaderNode { attrs: &attrs, signature: &signature, shape_fn, graph_def_version: 0 })?;
    assert_eq!(ask(source, &*own, &inputs)?, ask(source, &*functions, &inputs)?);
    *MEASURED.lock().unwrap() = Some([own, functions].map(|functions| best_of(source, &*functions, &inputs)));
    Ok(Box::new(Nothing))
});

const ROUNDS: u32 = 2000;

fn best_of(source: &Source, functions: &dyn LaunchFunctions, inputs: &[&Tensor]) -> Duration {
    let round = |_| {
        let begin = Instant::now();
        (0..ROUNDS).for_each(|_| drop(ask(source, functions, inputs).unwrap()));
        begin.elapsed() / ROUNDS
    };
    (0..9).map(round).min().unwrap_or_default()
}

struct Nothing;

impl DynKernel for Nothing {
    fn compute(&self, _: &mut RawContext<'_>) -> Result<()> {
        Err(Error::cancelled("it is measured, and does not run"))
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

impl Device for Measuring {
    fn name(&self) -> &str {
        "/device:GPU:0"
    }

    fn device_type(&self) -> DeviceType {
        GPU
    }

    fn capabilities(&self) -> &[&'static str] {
        ABLE.capabilities()
    }

    fn runner(&self) -> Option<&(dyn std::any::Any + Send + Sync)> {
        Some(&RUNNER)
    }
}

/// `cargo test --release -p kernlink-library --features guest,host --test shaders cost -- --ignored --nocapture`
#[test]
#[ignore = "it measures: for release builds"]
fn what_the_boundary_adds_to_a_run() {
    let float = ("T", AttrValue::Type(DataType::Float));
    let shaded = [float.clone(), ("_kernel", AttrValue::String("shaded".into()))];
    let matrix = || Tensor::zeros(DataType::Float, [4, 6]).unwrap();
    let ints = Tensor::zeros(DataType::Int32, [4, 6]).unwrap();
    for (what, op, attrs, inputs) in [
        (
            "two functions, an input in host memory",
            "Shade",
            &shaded[..],
            vec![matrix(), Tensor::vector(&[1i32]).unwrap()],
        ),
        ("shapes and workgroups", "Repeat", &[], vec![ints]),
        ("shapes alone", "Choose", &[float], vec![matrix()]),
    ] {
        let attrs: AttrMap = attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let error = run_op(registry(), &Measuring, op, attrs, inputs).unwrap_err();
        assert!(error.message().contains("it is measured"), "{error}");
        let [linked, loaded] = MEASURED.lock().unwrap().take().unwrap();
        let ratio = loaded.as_secs_f64() / linked.as_secs_f64();
        println!("{op}, {what}: linked {linked:?}, of a library {loaded:?} a run: {ratio:.1} times");
    }
}

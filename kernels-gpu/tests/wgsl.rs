//! Kernels of which only the shader is written: what they compute, and what is said of wrong ones.

#[path = "../src/testing.rs"]
mod testing;

use std::sync::Arc;

use kernlink_framework as kernlink;

use kernlink::attr::AttrValue;
use kernlink::device::Device as _;
use kernlink::dtype::{DataType, f16};
use kernlink::graph::{Graph, NodeBuilder};
use kernlink::kernel::{GPU, Location, RawConstruction, RawContext, RunInfo};
use kernlink::op::Op;
use kernlink::registry::{NodeQuery, Registry};
use kernlink::shape::Shape;
use kernlink::shape_inference::InferenceContext;
use kernlink::step::block_on;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use kernlink_kernels_gpu::wgsl::{Dispatch, Launch, Made, Operands, Param, ParamType, ParamValue, Source};
use kernlink_kernels_gpu::{GpuDevice, Program};
use kernlink_macros::{register_kernel, register_op};
use kernlink_ops as ops;
use kernlink_ops::shapes as shape;
use testing::{Opened, without};

kernlink::provider!(ops = 6, kernels = 3 + 1 + 1 + 1 + 1 + 1 + 3 + 3);

/// The framework with the GPU in it, as programs see it.
mod facade {
    pub(crate) use kernlink_framework::*;
    pub(crate) use kernlink_kernels_gpu as gpu;
}

/// `x * factor + offset`
#[register_op(
    crate = crate::facade,
    attr("T: {float, half, int32}"),
    attr("factor: float = 2.0"),
    attr("offset: int = 1"),
    input("x: T"),
    output("y: T"),
    shape_fn = shape::unchanged
)]
pub struct Scale;

#[register_kernel(
    crate = crate::facade,
    device = Gpu,
    op = Scale,
    T = [f32, f16, i32],
    wgsl = "wgsl/scale.wgsl",
    dispatch = elements("y", 4),
    vectors = ["x", "y"],
    params = [factor, offset]
)]
struct ScaleOnGpu;

#[register_kernel(
    crate = crate::facade,
    device = Gpu,
    op = Scale,
    T = [f32],
    label = "raw",
    wgsl = "wgsl/raw_scale.wgsl",
    raw,
    params = [factor]
)]
struct RawScaleOnGpu;

#[register_kernel(
    crate = crate::facade,
    device = Gpu,
    op = Scale,
    T = [f32],
    label = "rare",
    requires = ["cooperative-matrix"],
    wgsl = "wgsl/scale.wgsl",
    vectors = ["x", "y"],
    params = [factor, offset]
)]
struct RareScaleOnGpu;

/// The sum of each row.
#[register_op(crate = crate::facade, input("x: float"), output("y: float"))]
pub struct RowSum;

#[register_kernel(
    crate = crate::facade,
    device = Gpu,
    op = RowSum,
    wgsl = "wgsl/row_sum.wgsl",
    dispatch = rows("x"),
    outputs = |launch| {
        let dims = launch.input_shape(RowSum::X).dims();
        Ok(Shape::from(&dims[..dims.len().saturating_sub(1)]))
    },
    workgroup = 32
)]
struct RowSumOnGpu;

/// Each row of a picture the other way round.
#[register_op(crate = crate::facade, input("x: int32"), output("y: int32"), shape_fn = shape::unchanged)]
pub struct Mirror;

#[register_kernel(
    crate = crate::facade,
    device = Gpu,
    op = Mirror,
    wgsl = "wgsl/mirror.wgsl",
    dispatch = tiles("y", 8, 4),
    params = [shape("x", 3)]
)]
struct MirrorOnGpu;

/// How often each number below `size` is there.
#[register_op(
    crate = crate::facade,
    input("values: int32"),
    input("size: int32"),
    output("counts: int32"),
    shape_fn = histogram_shape
)]
pub struct Histogram;

fn histogram_shape(ctx: &mut InferenceContext<'_>) -> Result<()> {
    let size = ctx.make_dim_for_scalar_input(1)?;
    let counts = ctx.make_shape([size]);
    ctx.set_output(0, counts);
    Ok(())
}

#[register_kernel(
    crate = crate::facade,
    device = Gpu,
    op = Histogram,
    host_memory = ["size"],
    wgsl = "wgsl/histogram.wgsl",
    dispatch = groups,
    params = [
        size: u32 = |launch| Ok(launch.output_shape(Histogram::COUNTS)?.num_elements() as u32),
        length: u32 = |launch| Ok(launch.input_shape(Histogram::VALUES).num_elements() as u32),
    ]
)]
struct HistogramOnGpu;

fn groups(launch: &Launch<'_, Histogram>) -> Result<[u32; 3]> {
    let size = launch.input(Histogram::SIZE).to_scalar::<i32>()?;
    Ok([size.unsigned_abs().div_ceil(64), 1, 1])
}

/// `x` where it is greater than `y / step`, else that.
#[register_op(
    crate = crate::facade,
    attr("T: {float, half, int32}"),
    attr("step: int = 1"),
    input("x: T"),
    input("y: T"),
    output("z: T"),
    shape_fn = shape::broadcast_binary_op
)]
pub struct AtLeast;

/// `x` where it is less than `y / step`, else that.
#[register_op(
    crate = crate::facade,
    attr("T: {float, half, int32}"),
    attr("step: int = 1"),
    input("x: T"),
    input("y: T"),
    output("z: T"),
    shape_fn = shape::broadcast_binary_op
)]
pub struct AtMost;

#[register_kernel(
    crate = crate::facade,
    device = Gpu,
    op = [AtLeast, AtMost],
    T = [f32, f16, i32],
    wgsl = "wgsl/bounds.wgsl",
    dispatch = element_wise(broadcast),
    params = [step],
    refusal = (InvalidArgument, "the step is zero")
)]
struct BoundsOnGpu;

// ---- what they compute ----

struct Setting {
    registry: Arc<Registry>,
    gpu: Opened,
}

impl Setting {
    /// What a node makes of its inputs on the GPU. Those called `size` are in host memory.
    fn run<O: Op>(&self, attrs: &[(&str, AttrValue)], inputs: &[Tensor]) -> Result<Tensor> {
        let mut graph = Graph::new(&self.registry);
        let mut sources = Vec::new();
        for input in inputs {
            sources.push(ops::placeholder(&mut graph, input.dtype()).build()?);
        }
        let mut node = NodeBuilder::new(&mut graph, O::DEF);
        sources.iter().for_each(|&source| _ = node.input(source));
        attrs.iter().for_each(|(name, value)| _ = node.attr(name, value.clone()));
        let id = node.build()?;
        let node = graph.node(id);
        let query = NodeQuery {
            node: &node.name,
            op: &O::DEF.name,
            attrs: &node.attrs,
            device: GPU,
            capabilities: self.gpu.capabilities(),
        };
        let kernel = self.registry.find_kernel(query)?;
        let made = kernel.make(&RawConstruction {
            node: &node.name,
            op: O::DEF,
            attrs: &node.attrs,
            signature: &node.signature,
            registry: &self.registry,
            device: GPU,
            constants: &[],
            surroundings: None,
        })?;
        let arguments = O::DEF.inputs.iter().zip(inputs);
        let there = arguments.map(|(arg, input)| match kernel.host_memory.contains(&&*arg.name) {
            true => Ok(Some(input.clone())),
            false => self.gpu.to_device(input).map(Some),
        });
        let (mut there, mut outputs) = (there.collect::<Result<Vec<_>>>()?, [None]);
        let mut run = RunInfo::default();
        run.device = Some(&*self.gpu);
        let signature = (O::DEF, &*node.signature);
        made.compute(&mut RawContext::in_run(&node.name, signature, &mut there, &mut outputs, None, run))?;
        let output = outputs[0].take().expect("the kernel has set its output");
        assert!(output.device_memory().is_some());
        block_on(self.gpu.to_host(&output))
    }
}

// One test, because software drivers do not stand several devices at a time.
#[test]
fn shaders_are_bound_to_their_ops() -> Result<()> {
    let setting =
        Setting { registry: Arc::new(Registry::linked(&[&KERNLINK_PROVIDER])?), gpu: without(&["cooperative-matrix"]) };

    // Elements, four a thread, for each dtype.
    for count in [0, 1, 4, 7, 1001] {
        let floats: Vec<f32> = (0..count).map(|i| i as f32).collect();
        let y = setting.run::<Scale>(&[("offset", AttrValue::Int(-3))], &[Tensor::vector(&floats)?])?;
        assert!(y.as_slice::<f32>()?.iter().zip(&floats).all(|(y, x)| *y == x * 2.0 - 3.0), "{count}: {y}");
        assert_eq!(y.num_elements(), count);
        let integers: Vec<i32> = (0..count as i32).collect();
        let y = setting.run::<Scale>(&[("factor", AttrValue::Float(-3.0))], &[Tensor::vector(&integers)?])?;
        assert!(y.as_slice::<i32>()?.iter().zip(&integers).all(|(y, x)| *y == x * -3 + 1), "{count}: {y}");
    }
    let half = Tensor::vector(&[1.0f32, 2.5, -4.0].map(f16::from_f32))?;
    if setting.gpu.capabilities().contains(&"f16") {
        let y = setting.run::<Scale>(&[], &[half])?;
        assert_eq!(y.as_slice::<f16>()?, [3.0f32, 6.0, -7.0].map(f16::from_f32));
    } else {
        let error = setting.run::<Scale>(&[], &[half]).unwrap_err();
        assert!(error.message().contains("f16"), "{error}");
    }

    // A raw one, with its own bindings and parameters.
    let label = |label: &str| [("_kernel", AttrValue::String(label.into()))];
    let y = setting.run::<Scale>(&label("raw"), &[Tensor::vector(&[1.5f32; 70])?])?;
    assert_eq!(y.as_slice::<f32>()?, [3.0; 70]);

    // What the device cannot.
    let error = setting.run::<Scale>(&label("rare"), &[Tensor::scalar(1f32)]).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("cooperative-matrix"), "{error}");

    // Rows.
    for dims in [&[3, 100][..], &[2, 2, 33], &[5], &[], &[4, 0], &[0, 4]] {
        let elements: Vec<f32> = (0..dims.iter().product::<usize>()).map(|i| i as f32).collect();
        let length = dims.last().copied().unwrap_or(1);
        let sums: Vec<f32> = match length {
            0 => vec![0.0; dims[..dims.len() - 1].iter().product()],
            length => elements.chunks(length).map(|row| row.iter().sum()).collect(),
        };
        let y = setting.run::<RowSum>(&[], &[Tensor::from_elements(dims, &elements)?])?;
        assert_eq!(y.as_slice::<f32>()?, sums, "{dims:?}");
        assert_eq!(y.shape().dims(), &dims[..dims.len().saturating_sub(1)]);
    }

    // Tiles.
    for [batch, rows, columns] in [[1, 8, 4], [2, 9, 5], [3, 1, 17], [1, 30, 1], [2, 0, 3]] {
        let pixels: Vec<i32> = (0..(batch * rows * columns) as i32).collect();
        let mirrored: Vec<i32> = pixels.chunks(columns).flat_map(|row| row.iter().rev().copied()).collect();
        let y = setting.run::<Mirror>(&[], &[Tensor::from_elements([batch, rows, columns], &pixels)?])?;
        assert_eq!(y.as_slice::<i32>()?, mirrored, "{batch} {rows} {columns}");
    }
    let error = setting.run::<Mirror>(&[], &[Tensor::vector(&[1i32])?]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("`x` must have rank 3"), "{error}");

    // As many workgroups as a function says, an input in host memory, shapes that depend on its value.
    for size in [1, 3, 200] {
        let values: Vec<i32> = (0..500).map(|i| i * i % 211).collect();
        let counts: Vec<i32> = (0..size).map(|n| values.iter().filter(|&&v| v == n).count() as i32).collect();
        let y = setting.run::<Histogram>(&[], &[Tensor::vector(&values)?, Tensor::scalar(size)])?;
        assert_eq!(y.as_slice::<i32>()?, counts);
    }

    // A function of elements for each of two ops, of operands that broadcast, with an import.
    let (x, y) =
        (Tensor::from_elements([2, 4], &[1f32, 9.0, f32::NAN, 5.0, 7.0, -8.0, 2.0, 2.0])?, Tensor::scalar(6f32));
    let most = setting.run::<AtMost>(&[("step", AttrValue::Int(2))], &[x.clone(), y.clone()])?;
    assert_eq!(most.shape().dims(), [2, 4]);
    assert_eq!(most.as_slice::<f32>()?, [1.0, 3.0, 3.0, 3.0, 3.0, -8.0, 2.0, 2.0]);
    let column = Tensor::from_elements([2, 1], &[4f32, 1.0])?;
    let least = setting.run::<AtLeast>(&[], &[x, column])?;
    assert_eq!(least.as_slice::<f32>()?[..2], [4.0, 9.0]);
    assert_eq!(least.as_slice::<f32>()?[4..], [7.0, 1.0, 2.0, 2.0]);
    let whole =
        setting.run::<AtLeast>(&[("step", AttrValue::Int(3))], &[Tensor::vector(&[1i32, 5])?, Tensor::scalar(9)])?;
    assert_eq!(whole.as_slice::<i32>()?, [3, 5]);
    Ok(())
}

#[test]
fn dtypes_bring_the_capabilities_that_they_need() -> Result<()> {
    let registry = Registry::linked(&[&KERNLINK_PROVIDER])?;
    let mut found: Vec<_> = registry.kernels_of("Scale").iter().map(|def| (def.type_name, def.requires)).collect();
    found.sort();
    assert_eq!(found.len(), 5);
    assert!(found.contains(&("ScaleOnGpu<f16>", &["f16"])), "{found:?}");
    assert!(found.contains(&("ScaleOnGpu<f32>", &[])), "{found:?}");
    assert!(found.contains(&("RareScaleOnGpu<f32>", &["cooperative-matrix"])), "{found:?}");
    Ok(())
}

// ---- what is said of wrong ones ----

/// A shader for `Scale` of floats in a file that is not there.
fn doubled(text: &'static str) -> Source {
    Source {
        name: "ScaleOnGpu",
        location: Location { file: "src/scale.rs", line: 7 },
        file: "shaders/scale.wgsl",
        text,
        op: Scale::DEF,
        host_memory: &[],
        requires: &[],
        variants: &[&[("T", DataType::Float)]],
        is_raw: false,
        dispatch: Dispatch::Elements { of: "y", each: 1 },
        params: &[],
        vectors: &[],
        workgroup: 64,
        refusal: None,
        provider: &KERNLINK_PROVIDER,
        made: Made::new(),
    }
}

fn program(source: Source) -> Result<Program> {
    let source: &'static Source = Box::leak(Box::new(source));
    kernlink_kernels_gpu::wgsl::program(source, source.variants[0])
}

/// What is said of it.
#[track_caller]
fn refused(source: Source) -> String {
    let error = program(source).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("`ScaleOnGpu` (src/scale.rs:7)"), "{error}");
    error.message().to_owned()
}

#[track_caller]
fn assert_says(message: &str, pieces: &[&str]) {
    for piece in pieces {
        assert!(message.contains(piece), "`{piece}` is missing in: {message}");
    }
}

#[test]
fn mistakes_in_wgsl_are_reported_with_their_lines() {
    program(doubled("fn element(i: u32) { y[i] = x[i]; }")).unwrap();
    // A word that is not there, also if the file enables something first, or what is generated does.
    let message = refused(doubled("// doubles\nfn element(i: u32) {\n    y[i] = z[i];\n}"));
    assert_says(&message, &["src/shaders/scale.wgsl:3:12: the shader is not valid", "z[i]", "with T = float"]);
    let half = Source {
        requires: &["f16"],
        variants: &[&[("T", DataType::Half)]],
        ..doubled("// doubles\nfn element(i: u32) {\n    y[i] = z[i];\n}")
    };
    assert_says(&refused(half), &["src/shaders/scale.wgsl:3:12", "with T = half"]);
    // Bad syntax, a type that does not fit, a write to what is only read.
    assert_says(&refused(doubled("fn element(i: u32) {\n    y[i] = ;\n}")), &["scale.wgsl:2:12"]);
    assert_says(&refused(doubled("fn element(i: u32) {\n    y[i] = i;\n}")), &["scale.wgsl:2:"]);
    assert_says(&refused(doubled("fn element(i: u32) {\n\n    x[i] = y[i];\n}")), &["scale.wgsl:3:"]);
    // A parameter that is not listed.
    assert_says(&refused(doubled("fn element(i: u32) {\n    y[i] = params.factor;\n}")), &["scale.wgsl:2:", "factor"]);
}

#[test]
fn what_the_file_must_define_is_said() {
    assert_says(&refused(doubled("fn elements(i: u32) {}")), &["scale.wgsl", "must define `fn element(i: u32)`"]);
    assert_says(&refused(doubled("fn element(i: i32) { y[i] = 0.0; }")), &["must define `fn element(i: u32)`"]);
    let rows = Source { dispatch: Dispatch::Rows { of: "x" }, ..doubled("fn element(i: u32) { y[i] = x[i]; }") };
    assert_says(&refused(rows), &["must define `fn row(r: u32, lane: u32)`"]);
    let tiles = Source { dispatch: Dispatch::Tiles { of: "x", rows: 8, columns: 8 }, ..doubled("") };
    assert_says(&refused(tiles), &["must define `fn tile(batch: u32, row: u32, column: u32, lane: u32)`"]);
    let function = Source { dispatch: Dispatch::Function, ..doubled("fn element(i: u32) { y[i] = x[i]; }") };
    assert_says(&refused(function), &["must define `@compute @workgroup_size(WORKGROUP) fn main(...)`"]);
    assert_says(&refused(doubled("fn element(i: u32) { _ = x[i]; }")), &["never writes output `y`"]);
    let of_elements = |text| Source { dispatch: Dispatch::ElementWise(Operands::Equal), ..doubled(text) };
    assert_says(&refused(of_elements("fn scale(x: T) -> T { return x; }")), &["scale.wgsl", "must define `fn Scale`"]);
    assert_says(&refused(of_elements("fn Scale(x: T) -> T { return z; }")), &["scale.wgsl", "identifier: `z`"]);
    let import = doubled("//@ import math, maths\nfn element(i: u32) { y[i] = x[i]; }");
    assert_says(&refused(import), &["scale.wgsl", "no module `maths`", "`math`, `special`"]);
}

#[test]
fn capabilities_that_are_not_required_are_named() {
    let text = "fn element(i: u32) {\n    y[i] = subgroupAdd(x[i]);\n}";
    assert_says(&refused(doubled(text)), &["scale.wgsl:2:", "add `requires = [\"subgroups\"]`"]);
    program(Source { requires: &["subgroups"], ..doubled(text) }).unwrap();
    let text = "enable f16;\nfn element(i: u32) {\n    y[i] = f32(f16(x[i]));\n}";
    assert_says(&refused(doubled(text)), &["scale.wgsl", "add `requires = [\"f16\"]`"]);
    let text = "fn element(i: u32) {\n    y[i] = f32(i64(i) + 1li);\n}";
    assert_says(&refused(doubled(text)), &["scale.wgsl", "add `requires = [\"i64\"]`"]);
}

#[test]
fn bindings_of_raw_shaders_are_compared_with_the_op() {
    const MAIN: &str = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) at: vec3<u32>) { \
                        to[at.x] = from_[at.x]; }\n";
    const COUNT: &str = "struct Params { count: u32 } var<immediate> params: Params;\n";
    const FROM: &str = "@group(0) @binding(0) var<storage, read> from_: array<f32>;\n";
    const TO: &str = "@group(0) @binding(1) var<storage, read_write> to: array<f32>;\n";
    let raw = |pieces: &[&str]| Source { is_raw: true, ..doubled(pieces.concat().leak()) };
    program(raw(&[MAIN, COUNT, FROM, TO])).unwrap();
    let vectors = |text: &str| text.replace("array<f32>", "array<vec4<f32>>");
    program(raw(&[MAIN, COUNT, &vectors(FROM), &vectors(TO)])).unwrap();
    let integers = |text: &str| text.replace("f32", "i32");
    // The type, the access, the number, the group, the parameters.
    let message = refused(raw(&[MAIN, COUNT, &integers(FROM), &integers(TO)]));
    assert_says(&message, &["src/shaders/scale.wgsl:3: input `x` is float, so its elements are f32, not i32"]);
    let message = refused(raw(&[MAIN, COUNT, &FROM.replace("read>", "read_write>"), TO]));
    assert_says(&message, &["scale.wgsl:3: input `x` must be `var<storage, read>`"]);
    let message = refused(raw(&["@compute @workgroup_size(64) fn main() {}\n", COUNT, FROM]));
    assert_says(&message, &["output `y` is not bound", "@binding(1) var<storage, read_write> y: array<f32>"]);
    let message = refused(raw(&[MAIN, COUNT, FROM, TO, &TO.replace("1", "2").replace("to:", "too:")]));
    assert_says(&message, &["scale.wgsl:5: op Scale has no binding 2 in group 0; group 0 has 0 `x`, 1 `y`"]);
    let message = refused(raw(&[MAIN, FROM, TO]));
    assert_says(&message, &["struct Params { count: u32 } var<immediate> params: Params;"]);
    let factor = Param { name: "factor", value: ParamValue::Computed(ParamType::F32) };
    let message = refused(Source { params: vec![factor].leak(), ..raw(&[MAIN, COUNT, FROM, TO]) });
    assert_says(&message, &["scale.wgsl:2: the parameters are { count: u32, factor: f32 }", "has { count: u32 }"]);
}

//! Random executions of ops, for the fuzz target `run_op` and the test `fuzz_ops`.
//!
//! Most cases are a golden case with a few mutations, so that they pass an op's first checks; the others are made from
//! the op's declaration alone. All randomness comes from [`Choices`].

use std::collections::HashMap;
use std::sync::Arc;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::Device;
use kernlink::dtype::{DataType, TString, bf16, f16};
use kernlink::graph::{Graph, complete_attrs};
use kernlink::kernel::{ConstraintValues, KernelDef};
use kernlink::op::{AllowedValues, AttrBase, AttrDef, OpDef, Signature};
use kernlink::proto::{self, GraphDef, NodeDef};
use kernlink::registry::{NodeQuery, Registry};
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::Tensor;
use kernlink::{Code, Error, Result};

/// Where random decisions come from: a generator, or a fuzzer's bytes.
pub(crate) struct Choices<'a>(pub(crate) &'a mut dyn FnMut() -> u16);

impl Choices<'_> {
    /// A number below `count`, which is positive.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::from((self.0)()) % count
    }

    /// Whether the rarer of two things, one in `count`, happens.
    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn bits(&mut self) -> u64 {
        (0..4).fold(0, |bits, _| bits << 16 | u64::from((self.0)()))
    }
}

/// A size that arithmetic takes, but for which there is no memory. Half of what is extreme is this, so that sizes, indices and
/// counts that must agree often do.
const LARGE: usize = 1 << 30;

/// A generator of numbers that is the same everywhere (SplitMix64).
pub(crate) fn generator(mut seed: u64) -> impl FnMut() -> u16 {
    move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = seed;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) as u16
    }
}

/// An op with all that a run of it needs.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) op: String,
    pub(crate) attrs: AttrMap,
    pub(crate) inputs: Vec<Tensor>,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.op)?;
        for (name, value) in self.attrs.iter() {
            write!(f, " {name}={value}")?;
        }
        for input in &self.inputs {
            write!(f, "\n    {} {} {}", input.dtype(), input.shape(), input.values_text())?;
        }
        Ok(())
    }
}

/// The nodes of a golden graph whose inputs are all constant.
pub(crate) fn seeds(graph: &GraphDef) -> Vec<Case> {
    fn constant<'g>(by_name: &HashMap<&'g str, &'g NodeDef>, mut name: &'g str) -> Option<Tensor> {
        loop {
            let node = by_name.get(name)?;
            match node.op.as_str() {
                "Const" => match proto::attr_from_proto(node.attr.get("value")?).ok()? {
                    AttrValue::Tensor(tensor) => return Some(tensor),
                    _ => return None,
                },
                "PlaceholderWithDefault" => name = node.input.first()?,
                _ => return None,
            }
        }
    }
    let by_name: HashMap<&str, &NodeDef> = graph.node.iter().map(|node| (node.name.as_str(), node)).collect();
    let case = |node: &NodeDef| -> Option<Case> {
        let attrs = node.attr.iter().map(|(name, value)| Some((name.clone(), proto::attr_from_proto(value).ok()?)));
        Some(Case {
            op: node.op.clone(),
            attrs: attrs.collect::<Option<AttrMap>>()?,
            inputs: node.input.iter().map(|input| constant(&by_name, input)).collect::<Option<_>>()?,
        })
    };
    let wanted =
        |node: &&NodeDef| !matches!(node.op.as_str(), "Const" | "Placeholder") && !node.name.contains("/actual/");
    graph.node.iter().filter(wanted).filter_map(case).collect()
}

/// Ops that wait until another run puts something in.
const WAITS_FOR_OTHERS: [&str; 11] = [
    "_HostRecv",
    "_Recv",
    "MapPeek",
    "MapUnstage",
    "MapUnstageNoKey",
    "OrderedMapPeek",
    "OrderedMapUnstage",
    "OrderedMapUnstageNoKey",
    "StagePeek",
    "UnbatchGrad",
    "Unstage",
];

/// Whether a run of the op by itself ends. Ops that write files do: their names are relative to the working directory.
pub(crate) fn ends_alone(op: &str) -> bool {
    !WAITS_FOR_OTHERS.contains(&op)
}

/// What cases are made of: every registered op with its kernels and its golden cases.
pub(crate) struct Material(Vec<Subject>);

struct Subject {
    op: &'static OpDef,
    kernels: Vec<&'static KernelDef>,
    seeds: Vec<Case>,
}

impl Material {
    pub(crate) fn new(registry: &Registry, seeds: impl IntoIterator<Item = Case>) -> Material {
        let mut by_op: HashMap<String, Vec<Case>> = HashMap::new();
        seeds.into_iter().for_each(|seed| by_op.entry(seed.op.clone()).or_default().push(seed));
        let subject = |op: &'static OpDef| Subject {
            op,
            kernels: registry.kernels_of(&op.name),
            seeds: by_op.remove(&*op.name).unwrap_or_default(),
        };
        Material(registry.ops().map(|entry| entry.def).filter(|op| ends_alone(&op.name)).map(subject).collect())
    }

    /// Leaves out all but these ops.
    ///
    /// # Panics
    /// If there is no op, or none that ends by itself, with one of these names.
    pub(crate) fn retain(&mut self, ops: &[&str]) {
        let is_there = |op: &str| self.0.iter().any(|subject| subject.op.name == op);
        let unknown: Vec<&str> = ops.iter().copied().filter(|op| !is_there(op)).collect();
        assert!(unknown.is_empty(), "no ops, or none that end by themselves: {unknown:?}");
        self.0.retain(|subject| ops.contains(&&*subject.op.name));
    }

    /// Whether there are golden cases of the op.
    pub(crate) fn has_seeds(&self, op: &str) -> bool {
        self.0.iter().any(|subject| subject.op.name == op && !subject.seeds.is_empty())
    }

    /// How many ops there are, and how many golden cases of them.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.0.len(), self.0.iter().map(|subject| subject.seeds.len()).sum())
    }

    /// One of the golden cases.
    pub(crate) fn seed(&self, choices: &mut Choices) -> &Case {
        loop {
            let subject = &self.0[choices.below(self.0.len())];
            if !subject.seeds.is_empty() {
                return &subject.seeds[choices.below(subject.seeds.len())];
            }
        }
    }
}

/// A random case, of each op as often; `None` if the choices lead nowhere.
pub(crate) fn random_case(choices: &mut Choices, material: &Material) -> Option<Case> {
    let subject = &material.0[choices.below(material.0.len())];
    let mut case = if subject.seeds.is_empty() || choices.one_in(6) {
        fresh(choices, subject)?
    } else {
        subject.seeds[choices.below(subject.seeds.len())].clone()
    };
    for _ in 0..1 + choices.below(3) {
        mutate(choices, &mut case, subject);
        fit_inputs(choices, &mut case, subject.op)?;
    }
    Some(case)
}

/// How far a case got.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// Its attrs or inputs are wrong, or there is no kernel for them.
    Refused,
    /// Its kernel refused it.
    Failed,
    /// To its end.
    Ran,
}

/// Whether attrs and dtypes are such that there is a kernel to run.
fn finds_kernel(case: &Case, registry: &Registry, device: &dyn Device) -> bool {
    let find = || {
        let (op, mut attrs) = (registry.op(&case.op)?.def, case.attrs.clone());
        complete_attrs(op, &mut attrs)?;
        let (device, capabilities) = (device.device_type(), device.capabilities());
        registry.find_kernel(NodeQuery { node: &case.op, op: &case.op, attrs: &attrs, device, capabilities })
    };
    find().is_ok()
}

/// Runs a case, and lets shape inference see it.
///
/// # Errors
/// What must not happen, whatever the input: a panic, an output that is not set, shapes that contradict those inferred.
pub(crate) fn check(
    case: &Case,
    registry: &Arc<Registry>,
    device: &dyn Device,
    choices: &mut Choices,
) -> Result<Outcome, String> {
    let result = kernlink::runtime::run_op(registry, device, &case.op, case.attrs.clone(), case.inputs.clone());
    if let Err(error) = &result {
        is_fault(error)?;
    }
    let hidden = choices.one_in(2);
    // Kernels of batch norms take 4 and 5 dimensions whatever attr `data_format` says, by which inference goes.
    let format = match case.attrs.get("data_format") {
        Some(AttrValue::String(format)) => format.len(),
        _ => "NHWC".len(),
    };
    let other_rank = case.inputs.first().is_some_and(|x| x.rank() != format);
    // TensorFlow's own inference contradicts its kernels for these, and ours is like it.
    let lenient = matches!(
        case.op.as_str(),
        "CropAndResizeGradBoxes"
            | "MatrixSetDiagV2"
            | "MatrixSetDiagV3"
            | "MaxPoolWithArgmax"
            | "PlaceholderWithDefault"
            | "ResizeBicubicGrad"
            | "ResizeBilinearGrad"
            | "ResourceConditionalAccumulator"
            | "ScaleAndTranslateGrad"
            | "SoftmaxCrossEntropyWithLogits"
            | "StackV2"
            | "StringNGrams"
            | "TensorArrayV3"
            | "TensorArrayGradV3"
            | "TensorArrayGradWithShape"
    ) || case.op.starts_with("FusedBatchNorm") && other_rank
        || matches!(case.attrs.get("incompatible_shape_error"), Some(AttrValue::Bool(false)));
    if let Some(inferred) = infer(case, registry, hidden, choices)?
        && let Ok(outputs) = &result
    {
        for (index, (output, shape)) in outputs.iter().zip(&inferred).enumerate() {
            if !lenient && output.reference().is_none() && !shape.accepts(output.shape()) {
                return Err(format!("output {index} has shape {} but {shape} was inferred", output.shape()));
            }
        }
    }
    if let Ok(outputs) = &result {
        outputs.iter().for_each(|output| drop(output.values_text()));
    }
    Ok(match result {
        Ok(_) => Outcome::Ran,
        Err(_) if finds_kernel(case, registry, device) => Outcome::Failed,
        Err(_) => Outcome::Refused,
    })
}

/// Refuses an error that is the fault of Kernlink and not of the input.
///
/// # Errors
/// The fault.
pub(crate) fn is_fault(error: &Error) -> Result<(), String> {
    let faults = ["the kernel panicked", "did not set output", "was not computed", "shared with another tensor"];
    match error.code() == Code::Internal && faults.iter().any(|fault| error.message().contains(fault)) {
        true => Err(error.to_string()),
        false => Ok(()),
    }
}

/// The shapes that inference finds, with the values of the inputs or, `hidden`, without and with part of their shapes.
fn infer(
    case: &Case,
    registry: &Arc<Registry>,
    hidden: bool,
    choices: &mut Choices,
) -> Result<Option<Vec<PartialShape>>, String> {
    let mut graph = GraphDef::default();
    let mut node = NodeDef { name: "case".to_owned(), op: case.op.clone(), ..NodeDef::default() };
    for (name, value) in case.attrs.iter() {
        let Ok(value) = proto::attr_to_proto(value) else { return Ok(None) };
        node.attr.insert(name.to_owned(), value);
    }
    for (index, input) in case.inputs.iter().enumerate() {
        let mut source = NodeDef { name: format!("input{index}"), op: "Const".to_owned(), ..NodeDef::default() };
        let mut attrs = vec![("dtype", AttrValue::Type(input.dtype()))];
        if hidden {
            source.op = "Placeholder".to_owned();
            let dims: Vec<Option<usize>> =
                input.shape().iter().map(|&dim| (!choices.one_in(3)).then_some(dim)).collect();
            let shape = if choices.one_in(3) { PartialShape::unknown() } else { PartialShape::from_known(dims) };
            attrs.push(("shape", AttrValue::Shape(shape)));
        } else {
            attrs.push(("value", AttrValue::Tensor(input.clone())));
        }
        for (name, value) in attrs {
            let Ok(value) = proto::attr_to_proto(&value) else { return Ok(None) };
            source.attr.insert(name.to_owned(), value);
        }
        node.input.push(source.name.clone());
        graph.node.push(source);
    }
    graph.node.push(node);
    let imported = match Graph::import(&graph, registry) {
        Ok(imported) => imported,
        Err(error) => return is_fault(&error).map(|()| None),
    };
    Ok(imported.find("case").map(|id| imported.node(id).output_shapes.clone()))
}

/// A case made from the constraints of one of the op's kernels, if it has any, and its declaration.
fn fresh(choices: &mut Choices, &Subject { op, ref kernels, .. }: &Subject) -> Option<Case> {
    let kernel = kernels.get(choices.below(kernels.len().max(1)));
    let mut attrs = AttrMap::new();
    for attr in op.attrs.iter() {
        let constraint =
            kernel.and_then(|kernel| kernel.constraints.iter().find(|constraint| constraint.attr == attr.name));
        let value = match constraint.map(|constraint| constraint.values) {
            Some(ConstraintValues::Types(types)) if attr.ty.list => {
                AttrValue::ListType((0..choices.below(4)).map(|_| choices.of(types)).collect())
            }
            Some(ConstraintValues::Types(types)) => AttrValue::Type(choices.of(types)),
            Some(ConstraintValues::Strings(strings)) => choices.of(strings).into(),
            Some(ConstraintValues::Ints(ints)) => AttrValue::Int(choices.of(ints)),
            Some(ConstraintValues::Bools(bools)) => AttrValue::Bool(choices.of(bools)),
            None if attr.default.is_some() && !choices.one_in(3) => continue,
            None => attr_value(choices, attr, op),
        };
        attrs.insert(&*attr.name, value);
    }
    let mut case = Case { op: op.name.to_string(), attrs, inputs: Vec::new() };
    fit_inputs(choices, &mut case, op)?;
    Some(case)
}

/// Makes the inputs as many, and of those dtypes, as the attrs say.
fn fit_inputs(choices: &mut Choices, case: &mut Case, op: &OpDef) -> Option<()> {
    let mut complete = case.attrs.clone();
    // Attrs that are wrong in themselves are refused before any input is looked at.
    let Ok(signature) = complete_attrs(op, &mut complete).and_then(|()| Signature::new(op, &complete)) else {
        return Some(());
    };
    if signature.inputs.len() > 16 {
        return None;
    }
    case.inputs.truncate(signature.inputs.len());
    for (index, slot) in signature.inputs.iter().enumerate() {
        match case.inputs.get(index) {
            Some(input) if input.dtype() == slot.dtype => {}
            Some(input) => case.inputs[index] = tensor(choices, slot.dtype, input.shape().clone()),
            None => {
                let shape = case.inputs.first().filter(|_| choices.one_in(2)).map(|input| input.shape().clone());
                let shape = shape.unwrap_or_else(|| random_shape(choices));
                case.inputs.push(tensor(choices, slot.dtype, shape));
            }
        }
    }
    Some(())
}

fn mutate(choices: &mut Choices, case: &mut Case, &Subject { op, ref kernels, .. }: &Subject) {
    let kind = choices.below(10);
    if kind < 2 && !op.attrs.is_empty() {
        let attr = &op.attrs[choices.below(op.attrs.len())];
        let mut value = attr_value(choices, attr, op);
        if attr.ty.base == AttrBase::Type && !attr.ty.list {
            // Dtypes without a kernel are refused at once; they are not worth many tries.
            let constraint = kernels
                .get(choices.below(kernels.len().max(1)))
                .and_then(|kernel| kernel.constraints.iter().find(|constraint| constraint.attr == attr.name));
            if let Some(ConstraintValues::Types(types)) = constraint.map(|constraint| constraint.values) {
                value = AttrValue::Type(choices.of(types));
            }
        }
        case.attrs.insert(&*attr.name, value);
        return;
    }
    if case.inputs.is_empty() {
        return;
    }
    let index = choices.below(case.inputs.len());
    let (dtype, mut shape) = (case.inputs[index].dtype(), case.inputs[index].shape().clone());
    match kind {
        0..=4 => return replace_element(choices, &mut case.inputs[index]),
        5 => shape = random_shape(choices),
        6 if shape.rank() > 0 => {
            let axis = choices.below(shape.rank());
            shape.dims_mut()[axis] = choices.of(&[0, 0, 1, 2, 3, 7]);
        }
        7 if shape.rank() > 0 => drop(shape.remove(choices.below(shape.rank()))),
        7 | 8 if shape.rank() < 10 => shape.insert(choices.below(shape.rank() + 1), choices.of(&[1, 1, 2, 0])),
        // Many rows of nothing: kernels count them.
        9 => {
            if shape.rank() < 2 {
                shape = Shape::from(vec![1, 1]);
            }
            let large = choices.below(shape.rank());
            let empty = (large + 1 + choices.below(shape.rank() - 1)) % shape.rank();
            shape.dims_mut()[large] = choices.of(&[LARGE, LARGE, LARGE, 1 << 20, 1 << 31, 1 << 40, 1 << 62]);
            shape.dims_mut()[empty] = 0;
            if shape.check().is_err() {
                shape.dims_mut().iter_mut().for_each(|dim| *dim = if *dim < LARGE { (*dim).min(1) } else { *dim });
            }
        }
        _ => {}
    }
    if shape.check().is_ok() && shape.num_elements() <= 1 << 14 {
        case.inputs[index] = tensor(choices, dtype, shape);
    }
}

pub(crate) fn replace_element(choices: &mut Choices, tensor: &mut Tensor) {
    let count = tensor.num_elements();
    if count == 0 {
        return;
    }
    let (position, dtype) = (choices.below(count), tensor.dtype());
    if dtype == DataType::String {
        let mut texts = tensor.as_slice::<TString>().map(<[TString]>::to_vec).unwrap_or_default();
        texts[position] = string(choices);
        *tensor = Tensor::from_elements(tensor.shape().clone(), &texts).expect("as many as before");
    } else if let Ok(bytes) = tensor.bytes() {
        let mut bytes = bytes.to_vec();
        let size = dtype.size();
        bytes[position * size..][..size].copy_from_slice(&element(choices, dtype, true));
        *tensor = Tensor::from_bytes(dtype, tensor.shape().clone(), &bytes).expect("as many as before");
    }
}

pub(crate) fn random_shape(choices: &mut Choices) -> Shape {
    let rank = choices.of(&[0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 6, 8, 9]);
    let mut dims: Vec<usize> = (0..rank).map(|_| choices.of(&[1, 1, 2, 2, 3, 3, 4, 5, 0])).collect();
    while dims.iter().product::<usize>() > 1 << 12 {
        dims.pop();
    }
    Shape::from(dims)
}

pub(crate) fn tensor(choices: &mut Choices, dtype: DataType, shape: Shape) -> Tensor {
    let count = shape.num_elements();
    let extreme = choices.one_in(4);
    if dtype == DataType::String {
        let texts: Vec<TString> = (0..count).map(|_| string(choices)).collect();
        return Tensor::from_elements(shape, &texts).expect("as many as the shape says");
    }
    if !dtype.is_pod() {
        return Tensor::zeros(dtype, shape).expect("small");
    }
    let bytes: Vec<u8> = (0..count).flat_map(|_| element(choices, dtype, extreme)).collect();
    Tensor::from_bytes(dtype, shape, &bytes).expect("as many as the shape says")
}

fn string(choices: &mut Choices) -> TString {
    let texts: [&[u8]; 6] = [b"", b"a", b"abc", "\u{e4}\u{20ac}".as_bytes(), b"\xff\x00\xfe", &[b'x'; 300]];
    TString::from(choices.of(&texts).to_vec())
}

/// The bytes of one element.
fn element(choices: &mut Choices, dtype: DataType, extreme: bool) -> Vec<u8> {
    use DataType::*;
    let small = choices.below(10) as i64 - 3;
    let integer = match extreme && choices.one_in(2) {
        false => small,
        true if choices.one_in(2) => LARGE as i64,
        true => choices.of(&[
            i64::MIN,
            i64::MAX,
            i64::MAX - 1,
            i64::MIN + 1,
            i64::from(i32::MIN),
            i64::from(i32::MAX),
            1 << 20,
            100_000_000,
            1 << 28,
            1 << 30,
            1 << 31,
            1 << 32,
            (1 << 62) + 1,
            -(1 << 33),
            255,
            256,
            -128,
            i64::from(i16::MIN),
        ]),
    };
    let mut float = || match extreme && choices.one_in(2) {
        false => choices.below(13) as f64 * 0.5 - 2.0,
        true => choices.of(&[
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            3.4e38,
            1e-45,
            65504.0,
            1e6,
            3e8,
            9.3e18,
            -2147483649.0,
            0.999_999_999,
        ]),
    };
    match dtype {
        Float => (float() as f32).to_ne_bytes().to_vec(),
        Double => float().to_ne_bytes().to_vec(),
        Half => f16::from_f64(float()).to_ne_bytes().to_vec(),
        Bfloat16 => bf16::from_f64(float()).to_ne_bytes().to_vec(),
        Complex64 => [(float() as f32).to_ne_bytes(), (float() as f32).to_ne_bytes()].concat(),
        Complex128 => [float().to_ne_bytes(), float().to_ne_bytes()].concat(),
        Bool => vec![(integer & 1) as u8],
        Int64 | Uint64 => integer.to_ne_bytes().to_vec(),
        Int32 | Uint32 | Qint32 => {
            let wide = if integer > i64::from(i32::MAX) { i32::MAX } else { integer as i32 };
            wide.to_ne_bytes().to_vec()
        }
        Int16 | Uint16 | Qint16 | Quint16 => (integer as i16).to_ne_bytes().to_vec(),
        // Every byte is a value, those beyond the range of the 2-bit and 4-bit integers too: messages may hold them.
        _ => match extreme {
            true => vec![choices.bits() as u8; dtype.size()],
            false => vec![small as u8; dtype.size()],
        },
    }
}

pub(crate) fn attr_value(choices: &mut Choices, attr: &AttrDef, op: &OpDef) -> AttrValue {
    let allowed_type = |choices: &mut Choices| match &attr.allowed {
        Some(AllowedValues::Types(types)) => choices.of(types),
        _ => choices.of(DataType::ALL),
    };
    let text = |choices: &mut Choices| -> TString {
        match &attr.allowed {
            Some(AllowedValues::Strings(strings)) if !choices.one_in(16) => {
                let index = choices.below(strings.len());
                TString::from(&*strings[index])
            }
            _ => choices.of(&["NHWC", "NCHW", "VALID", "SAME", "EXPLICIT", "", "x"]).into(),
        }
    };
    let counts = op.inputs.iter().chain(op.outputs.iter()).any(|arg| arg.number_attr.as_deref() == Some(&*attr.name));
    let int = |choices: &mut Choices| -> i64 {
        match (counts, choices.one_in(4)) {
            (true, _) => choices.of(&[1, 2, 3, 5, 0, -1]),
            (false, true) => {
                choices.of(&[i64::MIN, i64::MAX, -1, 1 << 22, 1 << 30, 1 << 31, 1 << 32, i64::from(i32::MIN), -7])
            }
            (false, false) => choices.below(6) as i64 - 1,
        }
    };
    let float = |choices: &mut Choices| choices.of(&[0.0f32, 1.0, -1.0, 0.5, f32::NAN, f32::INFINITY, f32::MAX, 1e-30]);
    let shape = |choices: &mut Choices| match choices.below(4) {
        0 => PartialShape::unknown(),
        1 => PartialShape::from_known([None, Some(2)]),
        2 => PartialShape::from_known([Some(1 << 40), Some(1 << 20)]),
        _ => (&random_shape(choices)).into(),
    };
    let length = choices.of(&[0, 1, 2, 3, 4, 4, 4, 5, 8]);
    match (attr.ty.base, attr.ty.list) {
        (AttrBase::Type, false) => AttrValue::Type(allowed_type(choices)),
        (AttrBase::Type, true) => AttrValue::ListType((0..choices.below(4)).map(|_| allowed_type(choices)).collect()),
        (AttrBase::String, false) => AttrValue::String(text(choices)),
        (AttrBase::String, true) => AttrValue::ListString((0..length).map(|_| text(choices)).collect()),
        (AttrBase::Int, false) => AttrValue::Int(int(choices)),
        (AttrBase::Int, true) => AttrValue::ListInt((0..length).map(|_| int(choices)).collect()),
        (AttrBase::Float, false) => AttrValue::Float(float(choices)),
        (AttrBase::Float, true) => AttrValue::ListFloat((0..length).map(|_| float(choices)).collect()),
        (AttrBase::Bool, false) => AttrValue::Bool(choices.one_in(2)),
        (AttrBase::Bool, true) => AttrValue::ListBool((0..length).map(|_| choices.one_in(2)).collect()),
        (AttrBase::Shape, false) => AttrValue::Shape(shape(choices)),
        (AttrBase::Shape, true) => AttrValue::ListShape((0..length).map(|_| shape(choices)).collect()),
        (AttrBase::Tensor, false) => {
            let (dtype, shape) = (choices.of(DataType::ALL), random_shape(choices));
            AttrValue::Tensor(tensor(choices, dtype, shape))
        }
        _ => AttrValue::EmptyList,
    }
}

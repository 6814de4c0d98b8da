//! Kernels of a library of which only the shader is written, for devices that run shaders.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{ptr, slice};

use kernlink_framework::dtype::DataType;
use kernlink_framework::kernel::shader::{
    Dispatch, LaunchFunctions, Made, Operands, Param, ParamType, ParamValue, RawLaunch, Source, make,
};
use kernlink_framework::kernel::{DynKernel, KernelDefBuilder, Location, Provider, RawConstruction};
use kernlink_framework::op::OpDef;
use kernlink_framework::proto::Message as _;
use kernlink_framework::shape::{MAX_RANK, Shape, check_rank};
use kernlink_framework::tensor::Tensor;
use kernlink_framework::{Error, Result};

use super::kernel::{Builder, Functions, Kernel};
use super::status::code_of;
use super::{CTensor, LibraryInUse, Status, report};
use crate::abi::shader::{self as message, ParamKind, Rule, SET_SHADER};
use crate::abi::{
    INTERFACE, KernlinkInput, KernlinkLaunch, KernlinkShaderFunctions, KernlinkShape, SetShader, TF_KernelBuilder,
    TF_Status, TF_Tensor,
};

/// Shaders of libraries are checked, and are of no crate of this program.
static RUN_TIME: Provider = Provider::RUN_TIME;

/// The functions beyond those of TensorFlow's C API, by their names.
pub(super) fn extensions() -> [(&'static str, *const c_void); 1] {
    let function: SetShader = Kernlink_KernelBuilder_SetShader;
    [(SET_SHADER.to_str().unwrap_or_default(), function as *const c_void)]
}

/// Tells a builder the shader of its kernel; see [`SetShader`].
pub unsafe extern "C" fn Kernlink_KernelBuilder_SetShader(
    builder: *mut TF_KernelBuilder,
    shader: *const c_void,
    length: usize,
    functions: *const KernlinkShaderFunctions,
    status: *mut TF_Status,
) {
    let set = || {
        // SAFETY: as said in `host`.
        let builder = unsafe { Builder::from_c(builder) };
        let builder = builder.ok_or_else(|| Error::invalid_argument("the kernel's builder is a null pointer"))?;
        let read = || match &builder.shader {
            // SAFETY: the library's pointers.
            None => unsafe { read(shader, length, functions) },
            Some(first) => {
                let name = &first.said.name;
                Err(Error::invalid_argument(format!("the builder is told a second shader: it has that of `{name}`")))
            }
        };
        let declared = read().map_err(|error| error.context(builder.kernel())).inspect_err(|error| {
            // The library may go on: then it is what the registration fails with.
            builder.failure.get_or_insert_with(|| error.clone());
        })?;
        builder.shader = Some(declared);
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), set) };
}

/// Reads what a library tells.
///
/// # Safety
/// Each pointer is null, or leads to what [`SetShader`] says.
unsafe fn read(shader: *const c_void, length: usize, functions: *const KernlinkShaderFunctions) -> Result<Declared> {
    let invalid = |what: String| Err(Error::invalid_argument(what));
    if shader.is_null() || functions.is_null() {
        return invalid("the shader or its functions are a null pointer".to_owned());
    }
    if !functions.is_aligned() {
        return invalid("the shader's functions are at no address of such a struct".to_owned());
    }
    if length > MAX_MESSAGE {
        return invalid(format!("the shader's message has {length} bytes, more than {MAX_MESSAGE}"));
    }
    // SAFETY: not null; every library knows the first field.
    let size = unsafe { (&raw const (*functions).size).read() };
    if size < size_of::<KernlinkShaderFunctions>() {
        return invalid(format!(
            "the shader's functions take {size} bytes, too few: the library is of another version"
        ));
    }
    // SAFETY: the library says that so many bytes are there, and that it is such a struct.
    let (bytes, functions) = unsafe { (slice::from_raw_parts(shader.cast::<u8>(), length), *functions) };
    let said = message::Shader::decode(bytes)
        .map_err(|error| Error::invalid_argument(format!("the shader's message cannot be read: {error}")))?;
    Declared::new(said, functions)
}

/// The most bytes of a message: more than any shader has, and what the other end cannot have meant.
const MAX_MESSAGE: usize = 1 << 24;

/// The most bytes of a name and of what else errors repeat.
const MAX_NAME: usize = 4096;

/// The most parameters, those of shapes counted by their dimensions: more than any device takes.
const MAX_PARAMS: usize = 1024;

/// The most rows and columns of a tile: more than a workgroup has threads.
const MAX_TILE: u32 = 1 << 16;

/// A shader as a library declared it.
pub(super) struct Declared {
    said: message::Shader,
    functions: KernlinkShaderFunctions,
}

/// What errors repeat of a shader, beside its name, each with what it is.
fn repeated(said: &message::Shader) -> impl Iterator<Item = (&'static str, &String)> {
    let files = [("source file", &said.registered_in), ("file", &said.file)];
    let refusal = [("message of what it refuses", &said.refusal_message)];
    let dispatched = said.dispatch.iter().map(|rule| ("dispatch rule for an argument", &rule.of));
    let params = said.params.iter().flat_map(|param| [("parameter", &param.name), ("parameter's type", &param.ty)]);
    let vectors = said.vectors.iter().map(|vector| ("vectored argument", vector));
    let requires = said.requires.iter().map(|required| ("required capability", required));
    let attrs = said.constraints.iter().flat_map(|constraint| {
        let values = constraint.strings.iter().map(|value| ("value of a constrained attr", value));
        values.chain([("constrained attr", &constraint.attr)])
    });
    files.into_iter().chain(refusal).chain(dispatched).chain(params).chain(vectors).chain(requires).chain(attrs)
}

fn views(texts: &'static [String]) -> &'static [&'static str] {
    texts.iter().map(String::as_str).collect::<Vec<_>>().leak()
}

impl Declared {
    fn new(said: message::Shader, functions: KernlinkShaderFunctions) -> Result<Declared> {
        let invalid = |what: &str| Error::invalid_argument(format!("the shader of `{}` {what}", said.name));
        if said.name.is_empty() || said.text.is_empty() {
            return Err(invalid("has no name or no text"));
        }
        if said.name.len() > MAX_NAME {
            let message = format!("the shader has a name of {} bytes, more than {MAX_NAME}", said.name.len());
            return Err(Error::invalid_argument(message));
        }
        if let Some((what, text)) = repeated(&said).find(|(_, text)| text.len() > MAX_NAME) {
            return Err(invalid(&format!("has a {what} of {} bytes, more than {MAX_NAME}", text.len())));
        }
        if said.interface > INTERFACE {
            return Err(invalid(&format!("is for interface {}, and this program has {INTERFACE}", said.interface)));
        }
        let Some(rule) = &said.dispatch else { return Err(invalid("has no dispatch rule")) };
        if said.workgroup == 0 {
            return Err(invalid("has workgroups without threads"));
        }
        let words = said.params.iter().map(|param| match param.kind() {
            ParamKind::Shape => param.rank as usize,
            _ => 1,
        });
        let words: usize = words.sum();
        if words > MAX_PARAMS {
            return Err(invalid(&format!("has {words} parameters, more than {MAX_PARAMS}")));
        }
        if rule.rows > MAX_TILE || rule.columns > MAX_TILE {
            return Err(invalid(&format!("has tiles of more than {MAX_TILE} rows or columns")));
        }
        for constraint in &said.constraints {
            let kinds = [constraint.strings.len(), constraint.ints.len(), constraint.bools.len()];
            if kinds.iter().filter(|values| **values > 0).count() != 1 {
                return Err(invalid(&format!("has not values of one kind for attr `{}`", constraint.attr)));
            }
        }
        let is_computed = said.params.iter().any(|param| param.kind() == ParamKind::Computed);
        let lacks_computed = is_computed && functions.computed.is_none();
        let lacks_groups = rule.rule() == Rule::Function && functions.groups.is_none();
        if functions.outputs.is_none() || lacks_computed || lacks_groups {
            return Err(invalid("lacks a function that is asked before its runs"));
        }
        for param in &said.params {
            if !is_known(param) {
                return Err(invalid(&format!("has a parameter `{}` that this version does not know", param.name)));
            }
        }
        if dispatch(rule, "").is_none() {
            return Err(invalid("has a dispatch rule that this version does not know"));
        }
        Ok(Declared { said, functions })
    }

    /// Adds what the kernel requires and is for.
    pub(super) fn constrain(&self, mut kernel: KernelDefBuilder) -> KernelDefBuilder {
        for name in &self.said.requires {
            kernel = kernel.requires(name);
        }
        for constraint in &self.said.constraints {
            let attr = &constraint.attr;
            let strings: Vec<_> = constraint.strings.iter().map(String::as_str).collect();
            kernel = match (&strings[..], &constraint.ints[..]) {
                ([], []) => kernel.bools(attr, &constraint.bools),
                ([], ints) => kernel.ints(attr, ints),
                (strings, _) => kernel.strings(attr, strings),
            };
        }
        kernel
    }

    /// Where the code of its functions is.
    pub(super) fn addresses(&self) -> [usize; 4] {
        let KernlinkShaderFunctions { create, outputs, computed, groups, .. } = self.functions;
        let create = create.map_or(0, |create| create as usize);
        let [outputs, groups] = [outputs.map_or(0, |f| f as usize), groups.map_or(0, |f| f as usize)];
        [create, outputs, computed.map_or(0, |computed| computed as usize), groups]
    }

    /// The dtypes that it is for, by attr.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if an attr has several dtypes.
    pub(super) fn variant(&self, types: &[(String, Vec<DataType>)]) -> Result<Vec<(String, DataType)>> {
        let one = |(attr, types): &(String, Vec<DataType>)| match types[..] {
            [dtype] => Ok((attr.clone(), dtype)),
            _ => {
                let message = format!("the shader of `{}` is for several dtypes of `{attr}`", self.said.name);
                Err(Error::invalid_argument(message))
            }
        };
        types.iter().map(one).collect()
    }

    /// Adds what the builder was told besides, for a kernel that is registered: as its registration, all texts stay for good.
    pub(super) fn complete(
        self,
        variant: Vec<(String, DataType)>,
        host_memory: Vec<String>,
        delete: Functions,
    ) -> Complete {
        let said: &'static message::Shader = Box::leak(Box::new(self.said));
        let variant = variant.into_iter().map(|(attr, dtype)| (&*attr.leak(), dtype)).collect::<Vec<_>>().leak();
        let rule = said.dispatch.as_ref();
        Complete {
            dispatch: rule.and_then(|rule| dispatch(rule, &rule.of)).unwrap_or(Dispatch::Function),
            said,
            functions: self.functions,
            variant,
            host_memory: views(host_memory.leak()),
            delete,
            source: OnceLock::new(),
        }
    }
}

fn param_type(ty: &str) -> Option<ParamType> {
    [ParamType::I32, ParamType::U32, ParamType::F32].into_iter().find(|known| known.wgsl() == ty)
}

fn is_known(said: &message::Param) -> bool {
    let has_type = param_type(&said.ty).is_some();
    match said.kind() {
        ParamKind::Attr => has_type || said.ty.is_empty(),
        ParamKind::Computed => has_type,
        ParamKind::Shape => (1..=MAX_RANK).contains(&(said.rank as usize)),
        ParamKind::Unknown => false,
    }
}

fn param(said: &'static message::Param) -> Option<Param> {
    let value = match (said.kind(), param_type(&said.ty)) {
        (ParamKind::Attr, ty) => ParamValue::Attr(ty),
        (ParamKind::Computed, Some(ty)) => ParamValue::Computed(ty),
        (ParamKind::Shape, _) => ParamValue::Shape { rank: said.rank },
        _ => return None,
    };
    Some(Param { name: &said.name, value })
}

/// The rule, about argument `of`.
fn dispatch(said: &message::Dispatch, of: &'static str) -> Option<Dispatch> {
    let (rows, columns) = (said.rows, said.columns);
    Some(match said.rule() {
        Rule::Elements if rows > 0 => Dispatch::Elements { of, each: rows },
        Rule::Rows => Dispatch::Rows { of },
        Rule::Tiles if rows > 0 && columns > 0 => Dispatch::Tiles { of, rows, columns },
        Rule::Broadcast => Dispatch::ElementWise(Operands::Broadcast),
        Rule::Equal => Dispatch::ElementWise(Operands::Equal),
        Rule::Alike => Dispatch::ElementWise(Operands::Alike),
        Rule::Function => Dispatch::Function,
        Rule::Unknown | Rule::Elements | Rule::Tiles => return None,
    })
}

/// A shader with all that its kernels are made of.
pub(super) struct Complete {
    said: &'static message::Shader,
    functions: KernlinkShaderFunctions,
    dispatch: Dispatch,
    /// The dtypes that it is for, by attr.
    variant: &'static [(&'static str, DataType)],
    host_memory: &'static [&'static str],
    /// With the function that deletes what was made for a node.
    delete: Functions,
    /// Made with the first kernel, when the op is there.
    source: OnceLock<&'static Source>,
}

impl Complete {
    fn source(&self, op: &'static OpDef) -> &'static Source {
        let said = self.said;
        self.source.get_or_init(|| {
            Box::leak(Box::new(Source {
                name: &said.name,
                location: Location { file: &said.registered_in, line: said.registered_at },
                file: &said.file,
                text: &said.text,
                op,
                host_memory: self.host_memory,
                requires: views(&said.requires),
                variants: vec![self.variant].leak(),
                is_raw: said.is_raw,
                dispatch: self.dispatch,
                params: said.params.iter().filter_map(param).collect::<Vec<_>>().leak(),
                vectors: views(&said.vectors),
                workgroup: said.workgroup,
                refusal: (said.refusal_code != 0).then(|| (code_of(said.refusal_code), &*said.refusal_message)),
                provider: &RUN_TIME,
                made: Made::new(),
            }))
        })
    }

    /// The kernel of a node.
    ///
    /// # Errors
    /// Those of the library and of the device.
    pub(super) fn kernel(&self, library: &Arc<LibraryInUse>, node: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
        let source = self.source(node.registry.op(&node.op.name)?.def);
        let functions = self.functions;
        let version = node.graph_def_version();
        let kernel = Kernel::made_by(self.delete, library, node, |ctx| match functions.create {
            // SAFETY: the library's function, with its own data and a context that lives as long as the call.
            Some(create) => unsafe { create(functions.data, ctx, version) },
            None => ptr::null_mut(),
        })?;
        let computed = source.params.iter().filter(|param| matches!(param.value, ParamValue::Computed(_))).count();
        let outputs = node.signature.outputs.len();
        make(source, Box::new(Asked { source, kernel, functions, outputs, computed }), node)
    }
}

/// A library's functions, for a node.
struct Asked {
    source: &'static Source,
    kernel: Kernel,
    functions: KernlinkShaderFunctions,
    outputs: usize,
    /// How many parameters functions say.
    computed: usize,
}

/// What is behind a launch.
struct Told<'a> {
    inputs: &'a [&'a Tensor],
    said: Mutex<Said>,
}

/// What a library says of the outputs.
struct Said {
    shapes: Vec<Option<Shape>>,
    /// What was said last of an output if it cannot be, of which a library that looks at no status would not tell.
    refused: Vec<(usize, Error)>,
}

impl Said {
    /// Takes the shape of an output, in the place of what was said of it before.
    fn say(&mut self, index: usize, shape: Result<Shape>) -> Result<()> {
        // What is no output counts as one.
        let place = index.min(self.shapes.len());
        self.refused.retain(|(refused, _)| *refused != place);
        let kept = shape.and_then(|shape| match self.shapes.get_mut(index) {
            Some(kept) => {
                *kept = Some(shape);
                Ok(())
            }
            None => Err(Error::invalid_argument(format!("there is no output {index} to be said"))),
        });
        kept.inspect_err(|error| self.refused.push((place, error.clone())))
    }

    /// The shapes, unless the library's status or what it was told of one is an error. The library knows best: its own error comes
    /// first, and one of ours is told by the shader's name also where the library passes it on.
    fn outcome(self, status: Result<()>, name: impl FnOnce() -> String) -> Result<Vec<Option<Shape>>> {
        let mut refused = self.refused.into_iter().map(|(_, error)| error);
        let ours = match &status {
            Ok(()) => refused.next(),
            Err(own) => refused.find(|ours| ours.code() == own.code() && ours.message() == own.message()),
        };
        match ours {
            Some(error) => Err(error.context(name())),
            None => status.map(|()| self.shapes),
        }
    }
}

impl<'a> Told<'a> {
    /// # Safety
    /// The pointer is null, or one that [`Asked::ask`] handed over, or a copy of what it leads to, during the call.
    #[track_caller]
    unsafe fn from_c(launch: *const KernlinkLaunch) -> Result<&'a Told<'a>> {
        // SAFETY: as the caller says.
        let told = unsafe { launch.as_ref().and_then(|launch| launch.host.cast::<Told<'a>>().as_ref()) };
        told.ok_or_else(|| Error::invalid_argument("the launch is a null pointer"))
    }
}

/// The dimensions of a shape, as C counts.
fn dims(shape: &Shape) -> Vec<i64> {
    shape.dims().iter().map(|&size| size as i64).collect()
}

fn view(dims: &[i64]) -> KernlinkShape {
    KernlinkShape { dims: dims.as_ptr(), rank: dims.len() as c_int }
}

/// Gives an input in host memory.
unsafe extern "C" fn input(launch: *const KernlinkLaunch, index: usize, status: *mut TF_Status) -> *mut TF_Tensor {
    let give = || {
        // SAFETY: a library hands on what it is called with.
        let told = unsafe { Told::from_c(launch) }?;
        let input = told.inputs.get(index).ok_or_else(|| Error::out_of_range("input index out of range"))?;
        if input.device_memory().is_some() {
            let message =
                format!("input {index} is not in host memory: the kernel's builder is told which arguments are");
            return Err(Error::invalid_argument(message));
        }
        CTensor::read_only((*input).clone()).map(CTensor::into_c)
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, ptr::null_mut(), give) }
}

/// Takes the shape of an output.
unsafe extern "C" fn set_output(
    launch: *const KernlinkLaunch,
    index: usize,
    shape: KernlinkShape,
    status: *mut TF_Status,
) {
    let set = || {
        // SAFETY: a library hands on what it is called with.
        let told = unsafe { Told::from_c(launch) }?;
        // SAFETY: the library says that so many sizes are there.
        let shape = unsafe { read_shape(shape) };
        told.said.lock().unwrap_or_else(PoisonError::into_inner).say(index, shape)
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), set) };
}

/// # Safety
/// The library says that so many sizes are there.
unsafe fn read_shape(shape: KernlinkShape) -> Result<Shape> {
    let rank = usize::try_from(shape.rank).map_err(|_| Error::invalid_argument("a shape has a negative rank"))?;
    // Before any size is looked at.
    check_rank(rank)?;
    let dims = match rank {
        0 => &[],
        _ if shape.dims.is_null() => return Err(Error::invalid_argument("a shape's sizes are a null pointer")),
        _ if !shape.dims.is_aligned() => {
            return Err(Error::invalid_argument("a shape's sizes are at no address of such numbers"));
        }
        // SAFETY: as the caller says.
        _ => unsafe { slice::from_raw_parts(shape.dims, rank) },
    };
    let sizes = dims.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<_>, _>>();
    let shape = Shape::from(sizes.map_err(|_| Error::invalid_argument("a shape has a negative size"))?);
    shape.check()?;
    Ok(shape)
}

impl Asked {
    /// The shader, as errors name it.
    fn name(&self) -> String {
        format!("the shader of `{}` ({})", self.source.name, self.source.location)
    }

    /// Calls a function of the library's; gives the shapes of the outputs that it says.
    fn ask(
        &self,
        launch: RawLaunch<'_>,
        outputs: usize,
        call: impl FnOnce(*mut c_void, *const KernlinkLaunch, *mut TF_Status),
    ) -> Result<Vec<Option<Shape>>> {
        let input_dims: Vec<_> = launch.inputs.iter().map(|input| dims(input.shape())).collect();
        let output_dims: Vec<_> = launch.outputs.iter().map(dims).collect();
        let shapes: Vec<_> = output_dims.iter().map(|dims| view(dims)).collect();
        let described = launch.inputs.iter().zip(&input_dims);
        let described =
            described.map(|(input, dims)| KernlinkInput { dtype: input.dtype().number(), shape: view(dims) });
        let described: Vec<_> = described.collect();
        let said = Said { shapes: vec![None; outputs], refused: Vec::new() };
        let told = Told { inputs: launch.inputs, said: Mutex::new(said) };
        let launch = KernlinkLaunch {
            size: size_of::<KernlinkLaunch>(),
            host: ptr::from_ref(&told).cast(),
            inputs: described.as_ptr(),
            num_inputs: described.len(),
            outputs: if shapes.is_empty() { ptr::null() } else { shapes.as_ptr() },
            num_outputs: shapes.len(),
            input,
            set_output,
        };
        let mut status = Status::default();
        call(self.kernel.made(), &raw const launch, ptr::from_mut(&mut status).cast());
        let said = told.said.into_inner().unwrap_or_else(PoisonError::into_inner);
        said.outcome(status.outcome(), || self.name())
    }
}

impl LaunchFunctions for Asked {
    fn outputs(&self, launch: RawLaunch<'_>) -> Result<Vec<Shape>> {
        let said = self.ask(launch, self.outputs, |kernel, launch, status| {
            if let Some(outputs) = self.functions.outputs {
                // SAFETY: the library's function, with what it made and what lives as long as the call.
                unsafe { outputs(kernel, launch, status) };
            }
        })?;
        let shape = |(index, shape): (usize, Option<Shape>)| {
            let missing = || format!("the library does not say the shape of output {index}");
            shape.ok_or_else(|| Error::invalid_argument(missing()).context(self.name()))
        };
        said.into_iter().enumerate().map(shape).collect()
    }

    fn computed(&self, launch: RawLaunch<'_>) -> Result<Vec<u32>> {
        let mut words = vec![0; self.computed];
        self.ask(launch, 0, |kernel, launch, status| {
            if let Some(computed) = self.functions.computed {
                // SAFETY: as above; there is room for so many.
                unsafe { computed(kernel, launch, words.as_mut_ptr(), words.len(), status) };
            }
        })?;
        Ok(words)
    }

    fn groups(&self, launch: RawLaunch<'_>) -> Result<[u32; 3]> {
        let mut numbers = [0; 3];
        self.ask(launch, 0, |kernel, launch, status| {
            if let Some(groups) = self.functions.groups {
                // SAFETY: as above; there is room for three.
                unsafe { groups(kernel, launch, numbers.as_mut_ptr(), status) };
            }
        })?;
        Ok(numbers)
    }
}

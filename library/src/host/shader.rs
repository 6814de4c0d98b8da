//! Kernels of a library of which only the shader is written, for devices that run shaders.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};
use std::{ptr, slice};

use kernlink_framework::dtype::DataType;
use kernlink_framework::kernel::shader::{
    Dispatch, LaunchFunctions, Made, Operands, Param, ParamType, ParamValue, RawLaunch, Source, make,
};
use kernlink_framework::kernel::{DynKernel, KernelDefBuilder, Location, Provider, RawConstruction};
use kernlink_framework::proto::Message as _;
use kernlink_framework::shape::Shape;
use kernlink_framework::tensor::Tensor;
use kernlink_framework::{Code, Error, Result};

use super::kernel::{Builder, Functions, Kernel};
use super::status::code_of;
use super::{CTensor, LibraryInUse, Status, report};
use crate::abi::shader::{self as message, ParamKind, Rule, SET_SHADER};
use crate::abi::{
    KernlinkInput, KernlinkLaunch, KernlinkShaderFunctions, KernlinkShape, SetShader, TF_KernelBuilder, TF_Status,
};

/// The functions beyond those of TensorFlow's C API, by their names.
pub fn extensions() -> [(&'static str, *const c_void); 1] {
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
        if shader.is_null() || functions.is_null() {
            return Err(Error::invalid_argument("the shader or its functions are a null pointer"));
        }
        // SAFETY: not null; every library knows the first field.
        let size = unsafe { (&raw const (*functions).size).read() };
        if size < size_of::<KernlinkShaderFunctions>() {
            let message =
                format!("the shader's functions take {size} bytes, too few: the library is of another version");
            return Err(Error::invalid_argument(message));
        }
        // SAFETY: the library says that so many bytes are there, and that it is such a struct.
        let (bytes, functions) = unsafe { (slice::from_raw_parts(shader.cast::<u8>(), length), *functions) };
        let said = message::Shader::decode(bytes)
            .map_err(|error| Error::invalid_argument(format!("the shader's message cannot be read: {error}")))?;
        builder.shader = Some(Declared::new(said, functions)?);
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), set) };
}

/// A shader as a library declared it.
pub(super) struct Declared {
    said: message::Shader,
    functions: KernlinkShaderFunctions,
    dispatch: Dispatch,
    params: Vec<Param>,
    refusal: Option<(Code, &'static str)>,
}

/// What stays for good, as the registration that it is of.
fn leak(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn leak_all(texts: &[String]) -> &'static [&'static str] {
    texts.iter().map(|text| leak(text)).collect::<Vec<_>>().leak()
}

impl Declared {
    fn new(said: message::Shader, functions: KernlinkShaderFunctions) -> Result<Declared> {
        let invalid = |what: &str| Error::invalid_argument(format!("the shader of `{}` {what}", said.name));
        let dispatch = said.dispatch.as_ref().ok_or_else(|| invalid("has no dispatch rule"))?;
        let (of, rows, columns) = (leak(&dispatch.of), dispatch.rows, dispatch.columns);
        if said.workgroup == 0 {
            return Err(invalid("has workgroups without threads"));
        }
        let dispatch = match dispatch.rule() {
            Rule::Elements if rows > 0 => Dispatch::Elements { of, each: rows },
            Rule::Rows => Dispatch::Rows { of },
            Rule::Tiles if rows > 0 && columns > 0 => Dispatch::Tiles { of, rows, columns },
            Rule::Broadcast => Dispatch::ElementWise(Operands::Broadcast),
            Rule::Equal => Dispatch::ElementWise(Operands::Equal),
            Rule::Alike => Dispatch::ElementWise(Operands::Alike),
            Rule::Function => Dispatch::Function,
            _ => return Err(invalid("has a dispatch rule that this version does not know")),
        };
        let is_asked = |asked: bool, function: bool| !asked || function;
        let is_computed = said.params.iter().any(|param| param.kind() == ParamKind::Computed);
        if functions.outputs.is_none()
            || !is_asked(is_computed, functions.computed.is_some())
            || !is_asked(dispatch == Dispatch::Function, functions.groups.is_some())
        {
            return Err(invalid("lacks a function that is asked before its runs"));
        }
        let param = |param: &message::Param| {
            let ty = match &*param.ty {
                "i32" => Some(ParamType::I32),
                "u32" => Some(ParamType::U32),
                "f32" => Some(ParamType::F32),
                _ => None,
            };
            let value = match (param.kind(), ty) {
                (ParamKind::Attr, ty) if ty.is_some() || param.ty.is_empty() => ParamValue::Attr(ty),
                (ParamKind::Computed, Some(ty)) => ParamValue::Computed(ty),
                (ParamKind::Shape, _) => ParamValue::Shape { rank: param.rank },
                _ => return Err(invalid(&format!("has a parameter `{}` that this version does not know", param.name))),
            };
            Ok(Param { name: leak(&param.name), value })
        };
        let params = said.params.iter().map(param).collect::<Result<_>>()?;
        let refusal = match said.refusal_code {
            0 => None,
            code => Some((code_of(code), leak(&said.refusal_message))),
        };
        Ok(Declared { dispatch, params, refusal, functions, said })
    }

    /// Adds what the kernel requires and is for.
    pub(super) fn constrain(&self, mut kernel: KernelDefBuilder) -> KernelDefBuilder {
        for name in &self.said.requires {
            kernel = kernel.requires(name);
        }
        for constraint in &self.said.constraints {
            let (attr, strings) = (&constraint.attr, constraint.strings.iter().map(|s| &**s).collect::<Vec<_>>());
            kernel = match (&strings[..], &constraint.ints[..], &constraint.bools[..]) {
                ([_, ..], _, _) => kernel.strings(attr, &strings),
                (_, [_, ..], _) => kernel.ints(attr, &constraint.ints),
                (_, _, bools) => kernel.bools(attr, bools),
            };
        }
        kernel
    }

    /// Where the code of its functions is.
    pub(super) fn addresses(&self) -> [usize; 3] {
        let KernlinkShaderFunctions { outputs, computed, groups, .. } = self.functions;
        [outputs.map_or(0, |f| f as usize), computed.map_or(0, |f| f as usize), groups.map_or(0, |f| f as usize)]
    }

    /// What makes the kernel of a node; the rest is what the builder was told.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if an attr has several dtypes.
    pub(super) fn create(
        self,
        types: &[(String, Vec<DataType>)],
        host_memory: &[String],
        made: Functions,
    ) -> Result<impl Fn(&Arc<LibraryInUse>, &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> + Send + Sync + 'static>
    {
        let one = |(attr, types): &(String, Vec<DataType>)| match types[..] {
            [dtype] => Ok((leak(attr), dtype)),
            _ => {
                let message = format!("the shader of `{}` is for several dtypes of `{attr}`", self.said.name);
                Err(Error::invalid_argument(message))
            }
        };
        let variant: &'static [_] = types.iter().map(one).collect::<Result<Vec<_>>>()?.leak();
        let host_memory = leak_all(host_memory);
        let source: OnceLock<&'static Source> = OnceLock::new();
        Ok(move |library: &Arc<LibraryInUse>, node: &RawConstruction<'_>| {
            let op = node.registry.op(&node.op.name)?.def;
            let source: &'static Source = source.get_or_init(|| -> &'static Source {
                Box::leak(Box::new(Source {
                    name: leak(&self.said.name),
                    location: Location { file: leak(&self.said.registered_in), line: self.said.registered_at },
                    file: leak(&self.said.file),
                    text: leak(&self.said.text),
                    op,
                    host_memory,
                    requires: leak_all(&self.said.requires),
                    variants: vec![variant].leak(),
                    is_raw: self.said.is_raw,
                    dispatch: self.dispatch,
                    params: self.params.clone().leak(),
                    vectors: leak_all(&self.said.vectors),
                    workgroup: self.said.workgroup,
                    refusal: self.refusal,
                    provider: &Provider::RUN_TIME,
                    made: Made::new(),
                }))
            });
            let kernel = Kernel::new(made, library, node)?;
            let computed = self.params.iter().filter(|param| matches!(param.value, ParamValue::Computed(_))).count();
            let outputs = node.signature.outputs.len();
            make(source, Box::new(Asked { kernel, functions: self.functions, outputs, computed }), node)
        })
    }
}

/// A library's functions, for a node.
struct Asked {
    kernel: Kernel,
    functions: KernlinkShaderFunctions,
    outputs: usize,
    /// How many parameters functions say.
    computed: usize,
}

/// A run, as C sees it, and what it is told.
#[repr(C)]
struct Launch {
    c: KernlinkLaunch,
    said: RefCell<Vec<Option<Shape>>>,
}

/// The dimensions of a shape, as C counts.
fn dims(shape: &Shape) -> Vec<i64> {
    shape.dims().iter().map(|&size| size as i64).collect()
}

fn view(dims: &[i64]) -> KernlinkShape {
    KernlinkShape { dims: dims.as_ptr(), rank: dims.len() as c_int }
}

/// Takes the shape of an output.
unsafe extern "C" fn set_output(
    launch: *const KernlinkLaunch,
    index: usize,
    shape: KernlinkShape,
    status: *mut TF_Status,
) {
    let set = || {
        // SAFETY: what `Asked::ask` handed over, whose first field it is, during the call.
        let launch = unsafe { launch.cast::<Launch>().as_ref() };
        let launch = launch.ok_or_else(|| Error::invalid_argument("the launch is a null pointer"))?;
        let rank = usize::try_from(shape.rank).map_err(|_| Error::invalid_argument("a shape has a negative rank"))?;
        let dims = match rank {
            0 => &[],
            // SAFETY: the library says that there are so many.
            _ if !shape.dims.is_null() => unsafe { slice::from_raw_parts(shape.dims, rank) },
            _ => return Err(Error::invalid_argument("a shape's sizes are a null pointer")),
        };
        let sizes = dims.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<_>, _>>();
        let shape = Shape::from(sizes.map_err(|_| Error::invalid_argument("a shape has a negative size"))?);
        shape.check()?;
        let mut said = launch.said.borrow_mut();
        let place = said.get_mut(index);
        *place.ok_or_else(|| Error::invalid_argument(format!("there is no output {index} to be said")))? = Some(shape);
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), set) };
}

impl Asked {
    /// Calls a function of the library's; gives the shapes of the outputs that it says.
    fn ask(
        &self,
        launch: RawLaunch<'_>,
        outputs: usize,
        call: impl FnOnce(*mut c_void, *const KernlinkLaunch, *mut TF_Status),
    ) -> Result<Vec<Option<Shape>>> {
        let on_host = |tensor: &&Tensor| match tensor.device_memory() {
            Some(_) => Ok(None),
            None => CTensor::read_only((*tensor).clone()).map(Some),
        };
        let elements = launch.inputs.iter().map(on_host).collect::<Result<Vec<_>>>()?;
        let input_dims: Vec<_> = launch.inputs.iter().map(|input| dims(input.shape())).collect();
        let output_dims: Vec<_> = launch.outputs.iter().map(dims).collect();
        let shapes: Vec<_> = output_dims.iter().map(|dims| view(dims)).collect();
        let inputs =
            launch.inputs.iter().zip(&input_dims).zip(elements).map(|((input, dims), elements)| KernlinkInput {
                dtype: input.dtype().number(),
                shape: view(dims),
                tensor: elements.map_or(ptr::null_mut(), CTensor::into_c),
            });
        let inputs: Vec<_> = inputs.collect();
        let launch = Launch {
            c: KernlinkLaunch {
                size: size_of::<KernlinkLaunch>(),
                inputs: inputs.as_ptr(),
                num_inputs: inputs.len(),
                outputs: if shapes.is_empty() { ptr::null() } else { shapes.as_ptr() },
                num_outputs: shapes.len(),
                set_output,
            },
            said: RefCell::new(vec![None; outputs]),
        };
        let mut status = Status::default();
        call(self.kernel.made(), ptr::from_ref(&launch).cast(), ptr::from_mut(&mut status).cast());
        status.outcome()?;
        Ok(launch.said.into_inner())
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
        let missing = || Error::internal("the library does not say the shapes of all outputs of its shader");
        said.into_iter().collect::<Option<_>>().ok_or_else(missing)
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

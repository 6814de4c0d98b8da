//! `TF_KernelBuilder`: registrations of kernels, and the kernels that are made of them.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

use kernlink_framework::dtype::DataType;
use kernlink_framework::kernel::{
    CPU, DeviceType, DynKernel, GPU, KernelDef, KernelDefBuilder, RawConstruction, RawContext, compute_and_wait,
};
use kernlink_framework::proto::{KernelDef as KernelProto, Message as _};
use kernlink_framework::step::BoxFuture;
use kernlink_framework::{Code, Error, Result};

use super::construction::Construction;
use super::context::{Call, Done};
use super::in_use::Use;
use super::registration::{failed, take_kernel, take_told_kernel, take_unused};
use super::shader::Declared;
use super::{LibraryInUse, guarded, report, text};
use crate::abi::{
    ComputeAsyncFunction, ComputeFunction, CreateFunction, DeleteFunction, TF_DataType, TF_KernelBuilder,
    TF_OpKernelConstruction, TF_Status,
};

/// What is behind a `TF_KernelBuilder`.
pub(super) struct Builder {
    op: Result<String>,
    device: Result<String>,
    functions: Functions,
    /// The dtypes of each attr that is constrained.
    types: Vec<(String, Vec<DataType>)>,
    host_memory: Vec<String>,
    label: String,
    priority: i32,
    /// The first call that failed, which had no status to say so.
    pub(super) failure: Option<Error>,
    /// The shader, of a kernel of which no more is written.
    pub(super) shader: Option<Declared>,
}

/// A library's functions for a kernel.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    create: Option<CreateFunction>,
    compute: Compute,
    delete: Option<DeleteFunction>,
}

impl Functions {
    fn is_async(&self) -> bool {
        matches!(self.compute, Compute::Later(_))
    }

    /// Where their code is.
    fn addresses(&self) -> [usize; 3] {
        let compute = match self.compute {
            Compute::Missing => 0,
            Compute::Now(compute) => compute as usize,
            Compute::Later(compute) => compute as usize,
        };
        [compute, self.create.map_or(0, |create| create as usize), self.delete.map_or(0, |delete| delete as usize)]
    }
}

#[derive(Clone, Copy)]
enum Compute {
    Missing,
    Now(ComputeFunction),
    Later(ComputeAsyncFunction),
}

/// A kernel of a library, for a node.
pub(super) struct Kernel {
    /// What the library made for the node.
    made: *mut c_void,
    functions: Functions,
    graph_def_version: i32,
    /// Keeps the library from being unloaded.
    _library: Use,
}

// SAFETY: TensorFlow's kernels are called on any thread, several at once: a library's functions are written for that.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    pub(super) fn new(functions: Functions, library: &Arc<LibraryInUse>, node: &RawConstruction<'_>) -> Result<Kernel> {
        Kernel::made_by(functions, library, node, |ctx| match functions.create {
            // SAFETY: the library's function, with a context that lives as long as the call.
            Some(create) => unsafe { create(ctx) },
            None => ptr::null_mut(),
        })
    }

    /// The same with what `create` makes.
    ///
    /// # Errors
    /// What the library says of the construction.
    pub(super) fn made_by(
        functions: Functions,
        library: &Arc<LibraryInUse>,
        node: &RawConstruction<'_>,
        create: impl FnOnce(*mut TF_OpKernelConstruction) -> *mut c_void,
    ) -> Result<Kernel> {
        let entered = library.enter()?;
        if matches!(functions.compute, Compute::Later(_)) {
            library.has_threads();
        }
        let construction = Construction::new(node);
        let made = create(construction.to_c());
        let graph_def_version = node.surroundings.map_or(0, |surroundings| surroundings.graph_def_version);
        // If it failed, what was made is deleted, as by TensorFlow.
        let kernel = Kernel { made, functions, graph_def_version, _library: entered };
        construction.outcome().map(|()| kernel)
    }

    /// What the library made for the node.
    pub(super) fn made(&self) -> *mut c_void {
        self.made
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        if let Some(delete) = self.functions.delete {
            // SAFETY: the library's function, with what it made, once.
            unsafe { delete(self.made) };
        }
    }
}

impl DynKernel for Kernel {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        match self.functions.compute {
            Compute::Now(compute) => {
                let call = Call::new(ctx, self.graph_def_version);
                // SAFETY: the library's function, with what it made and a context that lives as long as the call.
                unsafe { compute(self.made, call.to_c()) };
                call.finish()
            }
            Compute::Later(_) => compute_and_wait(self, ctx),
            Compute::Missing => Err(Error::internal("a kernel without a function is not registered")),
        }
    }

    fn is_async(&self) -> bool {
        self.functions.is_async()
    }

    fn compute_async<'a>(&'a self, ctx: &'a mut RawContext<'_>) -> BoxFuture<'a, Result<()>> {
        let Compute::Later(compute) = self.functions.compute else {
            return Box::pin(std::future::ready(self.compute(ctx)));
        };
        Box::pin(async move {
            let call = Box::new(Call::new(ctx, self.graph_def_version));
            let (done, ended) = Done::callback();
            // SAFETY: the library's function, with what it made, and a context that lives until it has called back: `ended`
            // waits for that even if this future is dropped before, and is dropped before the context.
            unsafe { compute(self.made, call.to_c(), done) };
            ended.await;
            call.finish()
        })
    }

    fn is_expensive(&self) -> bool {
        true
    }
}

/// The framework's name of a device type that C named, if the framework has it.
fn device_type(name: &str) -> Option<DeviceType> {
    [CPU, GPU].into_iter().find(|device| device.0 == name)
}

impl Builder {
    fn into_c(self) -> *mut TF_KernelBuilder {
        Box::into_raw(Box::new(self)).cast()
    }

    /// Constrains an attr. All constraints on one must hold, as in TensorFlow.
    fn constrain(&mut self, attr: &str, types: Vec<DataType>) {
        match self.types.iter_mut().find(|(other, _)| other == attr) {
            Some((_, left)) => left.retain(|dtype| types.contains(dtype)),
            None => self.types.push((attr.to_owned(), types)),
        }
    }

    /// # Safety
    /// The pointer is null or a builder that nothing else uses meanwhile.
    pub(super) unsafe fn from_c<'a>(builder: *mut TF_KernelBuilder) -> Option<&'a mut Builder> {
        // SAFETY: as the caller says.
        unsafe { builder.cast::<Builder>().as_mut() }
    }

    /// The kernel, as errors name it.
    pub(super) fn kernel(&self) -> String {
        match &self.op {
            Ok(op) => format!("a kernel of {op}"),
            Err(_) => "a kernel".to_owned(),
        }
    }

    fn register(self) -> Result<()> {
        let (op, device) = (self.op?, self.device?);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.shader.is_some() && device != GPU.0 {
            let message = format!("the kernel of {op} is a shader, which runs on a {GPU}, not on {device}");
            return Err(Error::invalid_argument(message));
        }
        match (self.functions.compute, &self.shader) {
            (Compute::Missing, None) => {
                return Err(Error::invalid_argument(format!("the kernel of {op} has no function that computes")));
            }
            (Compute::Now(_) | Compute::Later(_), Some(_)) => {
                return Err(Error::invalid_argument(format!(
                    "the kernel of {op} has a shader and a function that computes"
                )));
            }
            (Compute::Missing, Some(_)) if self.functions.create.is_some() => {
                return Err(Error::invalid_argument(format!(
                    "the kernel of {op} has a shader and the builder's function that creates: that of the shader's functions does"
                )));
            }
            _ => {}
        }
        // As in TensorFlow, what no node can get is taken and never chosen.
        let functions = self.functions;
        let mut code = functions.addresses().to_vec();
        code.extend(self.shader.iter().flat_map(Declared::addresses));
        let Some(device) = device_type(&device) else {
            return take_unused(&code, format!("{op} on {device}: there is no such device, only {CPU} and {GPU}"));
        };
        if let Some((attr, _)) = self.types.iter().find(|(_, types)| types.is_empty()) {
            return take_unused(&code, format!("{op} on {device}: its constraints on {attr} leave no dtype"));
        }
        let told = format!(
            "{:?}",
            (&op, device, &self.types, &self.host_memory, &self.label, self.priority, &code, functions.is_async())
        );
        let (types, host_memory) = (&self.types, &self.host_memory);
        let described = || {
            let kernel = KernelDefBuilder::new(&op, device).label(&self.label).priority(self.priority);
            let kernel = types.iter().fold(kernel, |kernel, (attr, types)| kernel.types(attr, types));
            host_memory.iter().fold(kernel, |kernel, argument| kernel.host_memory(argument))
        };
        if let Some(shader) = self.shader {
            let kernel = shader.constrain(described());
            let variant = shader.variant(&self.types)?;
            return take_kernel(&code, |library| -> &'static KernelDef {
                let shader = shader.complete(variant, self.host_memory, functions);
                let (kernel, library) = (kernel.location(library.origin()), library.clone());
                kernel.create_with(move |node| shader.kernel(&library, node))
            });
        }
        take_told_kernel(&code, told, |library| -> &'static KernelDef {
            let (kernel, library) = (described().location(library.origin()), library.clone());
            kernel.create_with(move |node| Ok(Box::new(Kernel::new(functions, &library, node)?)))
        })
    }
}

/// # Safety
/// The pointers are null or texts.
unsafe fn new_builder(
    op: *const c_char,
    device: *const c_char,
    create: Option<CreateFunction>,
    compute: Compute,
    delete: Option<DeleteFunction>,
) -> *mut TF_KernelBuilder {
    guarded(ptr::null_mut(), || {
        // SAFETY: as the caller says.
        let read = |what, pointer| unsafe { text(what, pointer) }.map(str::to_owned);
        Builder {
            op: read("the op's name", op),
            device: read("the device's type", device),
            functions: Functions { create, compute, delete },
            types: Vec::new(),
            host_memory: Vec::new(),
            label: String::new(),
            priority: 0,
            failure: None,
            shader: None,
        }
        .into_c()
    })
}

/// Begins the registration of a kernel.
pub unsafe extern "C" fn TF_NewKernelBuilder(
    op: *const c_char,
    device: *const c_char,
    create: Option<CreateFunction>,
    compute: Option<ComputeFunction>,
    delete: Option<DeleteFunction>,
) -> *mut TF_KernelBuilder {
    // SAFETY: as said in `host`.
    unsafe { new_builder(op, device, create, compute.map_or(Compute::Missing, Compute::Now), delete) }
}

/// Begins the registration of a kernel that calls back once it is done.
pub unsafe extern "C" fn TF_NewAsyncKernelBuilder(
    op: *const c_char,
    device: *const c_char,
    create: Option<CreateFunction>,
    compute: Option<ComputeAsyncFunction>,
    delete: Option<DeleteFunction>,
) -> *mut TF_KernelBuilder {
    // SAFETY: as said in `host`.
    unsafe { new_builder(op, device, create, compute.map_or(Compute::Missing, Compute::Later), delete) }
}

/// Only nodes whose attr has this dtype.
pub unsafe extern "C" fn TF_KernelBuilder_TypeConstraint(
    builder: *mut TF_KernelBuilder,
    attr: *const c_char,
    dtype: TF_DataType,
    status: *mut TF_Status,
) {
    let add = || {
        // SAFETY: as said in `host`.
        let (builder, attr) = unsafe { (Builder::from_c(builder), text("the attr's name", attr)?) };
        let builder = builder.ok_or_else(|| Error::invalid_argument("the kernel's builder is a null pointer"))?;
        let dtype = DataType::from_number(dtype)
            .ok_or_else(|| Error::new(Code::Unimplemented, format!("Unexpected type {dtype}")))
            .inspect_err(|error| {
                builder.failure.get_or_insert_with(|| error.clone());
            })?;
        builder.constrain(attr, vec![dtype]);
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), add) };
}

/// Keeps an argument in the host's memory.
pub unsafe extern "C" fn TF_KernelBuilder_HostMemory(builder: *mut TF_KernelBuilder, argument: *const c_char) {
    guarded((), || {
        // SAFETY: as said in `host`.
        let (builder, argument) = unsafe { (Builder::from_c(builder), text("the argument's name", argument)) };
        let Some(builder) = builder else { return };
        match argument {
            Ok(argument) => builder.host_memory.push(argument.to_owned()),
            Err(error) => drop(builder.failure.get_or_insert(error)),
        }
    });
}

/// Of several kernels that match, the highest wins.
pub unsafe extern "C" fn TF_KernelBuilder_Priority(builder: *mut TF_KernelBuilder, priority: i32) {
    // SAFETY: as said in `host`.
    if let Some(builder) = unsafe { Builder::from_c(builder) } {
        builder.priority = priority;
    }
}

/// Only nodes that ask for this label in their attr `_kernel`.
pub unsafe extern "C" fn TF_KernelBuilder_Label(builder: *mut TF_KernelBuilder, label: *const c_char) {
    guarded((), || {
        // SAFETY: as said in `host`.
        let (builder, label) = unsafe { (Builder::from_c(builder), text("the label", label)) };
        let Some(builder) = builder else { return };
        match label {
            Ok(label) => label.clone_into(&mut builder.label),
            Err(error) => drop(builder.failure.get_or_insert(error)),
        }
    });
}

/// Registers the kernel, and frees the builder. The name is for people.
pub unsafe extern "C" fn TF_RegisterKernelBuilder(
    _: *const c_char,
    builder: *mut TF_KernelBuilder,
    status: *mut TF_Status,
) {
    let register = || {
        if builder.is_null() {
            return Err(Error::invalid_argument("the kernel's builder is a null pointer"));
        }
        // SAFETY: it came from one of these functions, and is freed once.
        unsafe { Box::from_raw(builder.cast::<Builder>()) }.register().inspect_err(failed)
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), register) };
}

/// [`TF_RegisterKernelBuilder`], with what a serialized `KernelDef` says, if there is one, instead of what the
/// builder was told.
pub unsafe extern "C" fn TF_RegisterKernelBuilderWithKernelDef(
    kernel_def: *const c_char,
    name: *const c_char,
    builder: *mut TF_KernelBuilder,
    status: *mut TF_Status,
) {
    let read = || {
        // SAFETY: as said in `host`.
        let builder = unsafe { Builder::from_c(builder) };
        let builder = builder.ok_or_else(|| Error::invalid_argument("the kernel's builder is a null pointer"))?;
        if kernel_def.is_null() {
            return Ok(());
        }
        // SAFETY: a text of the caller's: the function takes no length, so that a message with a zero ends there.
        let bytes = unsafe { std::ffi::CStr::from_ptr(kernel_def) }.to_bytes();
        let def = KernelProto::decode(bytes)
            .map_err(|error| Error::invalid_argument(format!("the KernelDef cannot be read: {error}")))?;
        builder.types.clear();
        for constraint in &def.constraint {
            let values = constraint.allowed_values.as_ref().map(kernlink_framework::proto::attr_from_proto);
            match values.transpose()? {
                Some(kernlink_framework::attr::AttrValue::ListType(types)) => {
                    builder.constrain(&constraint.name, types);
                }
                _ => {
                    let message = format!("the KernelDef's constraint on `{}` is no list of dtypes", constraint.name);
                    return Err(Error::unimplemented(message));
                }
            }
        }
        (builder.op, builder.device) = (Ok(def.op), Ok(def.device_type));
        (builder.host_memory, builder.label, builder.priority) = (def.host_memory_arg, def.label, def.priority);
        Ok(())
    };
    let noted = || {
        read().inspect_err(|error| {
            // SAFETY: as said in `host`.
            if let Some(builder) = unsafe { Builder::from_c(builder) } {
                builder.failure.get_or_insert_with(|| error.clone());
            }
        })
    };
    // SAFETY: as said in `host`. The builder is taken in any case.
    unsafe {
        report(ptr::null_mut(), (), noted);
        TF_RegisterKernelBuilder(name, builder, status);
    }
}

/// Frees a builder that is not registered.
pub unsafe extern "C" fn TF_DeleteKernelBuilder(builder: *mut TF_KernelBuilder) {
    if !builder.is_null() {
        // SAFETY: it came from one of these functions, and is freed once.
        drop(unsafe { Box::from_raw(builder.cast::<Builder>()) });
    }
}

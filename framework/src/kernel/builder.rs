//! Registrations of kernels at run time.

use std::sync::atomic::AtomicU64;

use super::{
    AsyncOpKernel, AttrConstraint, ConstraintValues, CreateClosure, CreateKernel, DeviceType, DynKernel, ElementWise,
    KernelDef, Location, OpKernel, Provider, RawConstruction, create_async_kernel, create_kernel,
};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::{AllowedValues, AttrBase, Op, OpDef};

/// Declares a kernel for [`Registry::register_kernel`](crate::registry::Registry::register_kernel), as
/// `#[register_kernel]` does at compile time.
///
/// ```
/// # use kernlink_framework as kernlink;
/// use kernlink::dtype::DataType;
/// use kernlink::kernel::{CPU, DynKernel, KernelDefBuilder, RawConstruction};
///
/// fn create(_: &RawConstruction<'_>) -> kernlink::Result<Box<dyn DynKernel>> {
///     Err(kernlink::Error::unimplemented("not yet"))
/// }
///
/// let kernel = KernelDefBuilder::new("MatMul", CPU).types("T", &[DataType::Float]).priority(1).create(create);
/// assert_eq!(kernel.priority, 1);
/// ```
#[derive(Debug)]
#[must_use = "`kernel`, `async_kernel` or `create` makes the registration"]
pub struct KernelDefBuilder {
    op: String,
    device: DeviceType,
    constraints: Vec<AttrConstraint>,
    host_memory: Vec<&'static str>,
    requires: Vec<&'static str>,
    label: String,
    priority: i32,
    location: Location,
}

impl KernelDefBuilder {
    /// A kernel of the op with this name for a device type, for all attrs.
    #[track_caller]
    pub fn new(op: impl Into<String>, device: DeviceType) -> KernelDefBuilder {
        let location = std::panic::Location::caller();
        KernelDefBuilder {
            op: op.into(),
            device,
            constraints: Vec::new(),
            host_memory: Vec::new(),
            requires: Vec::new(),
            label: String::new(),
            priority: 0,
            location: Location { file: location.file(), line: location.line() },
        }
    }

    /// Only nodes whose attr, of type `type` or `list(type)`, is one of these dtypes, or a list of them.
    pub fn types(self, attr: &str, types: &[DataType]) -> KernelDefBuilder {
        self.constraint(attr, ConstraintValues::Types(types.to_vec().leak()))
    }

    /// Only nodes whose attr, of type `string`, is one of these.
    pub fn strings(self, attr: &str, strings: &[&str]) -> KernelDefBuilder {
        let strings: Vec<&'static str> = strings.iter().map(|string| leak(string)).collect();
        self.constraint(attr, ConstraintValues::Strings(strings.leak()))
    }

    /// Only nodes whose attr, of type `int`, is one of these.
    pub fn ints(self, attr: &str, ints: &[i64]) -> KernelDefBuilder {
        self.constraint(attr, ConstraintValues::Ints(ints.to_vec().leak()))
    }

    /// Only nodes whose attr, of type `bool`, is one of these.
    pub fn bools(self, attr: &str, bools: &[bool]) -> KernelDefBuilder {
        self.constraint(attr, ConstraintValues::Bools(bools.to_vec().leak()))
    }

    fn constraint(mut self, attr: &str, values: ConstraintValues) -> KernelDefBuilder {
        self.constraints.push(AttrConstraint { attr: leak(attr), values });
        self
    }

    /// Keeps an argument in host memory.
    pub fn host_memory(mut self, argument: &str) -> KernelDefBuilder {
        self.host_memory.push(leak(argument));
        self
    }

    /// Only on devices that have this capability, such as `f16`.
    pub fn requires(mut self, capability: &str) -> KernelDefBuilder {
        self.requires.push(leak(capability));
        self
    }

    /// Only nodes that ask for this label in their attr `_kernel`.
    pub fn label(mut self, label: impl Into<String>) -> KernelDefBuilder {
        self.label = label.into();
        self
    }

    /// Of several kernels that match, the highest wins.
    pub fn priority(mut self, priority: i32) -> KernelDefBuilder {
        self.priority = priority;
        self
    }

    /// The registration of a kernel type. It stays in memory for the rest of the program.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the kernel is of another op.
    #[track_caller]
    pub fn kernel<O: Op, K: OpKernel<O>>(self) -> Result<&'static KernelDef> {
        let create = CreateKernel::Function(create_kernel::<O, K>);
        self.of_op::<O>(std::any::type_name::<K>(), K::ELEMENT_WISE, false, create)
    }

    /// [`KernelDefBuilder::kernel`] for a kernel that waits.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the kernel is of another op.
    #[track_caller]
    pub fn async_kernel<O: Op, K: AsyncOpKernel<O>>(self) -> Result<&'static KernelDef> {
        let create = CreateKernel::Function(create_async_kernel::<O, K>);
        self.of_op::<O>(std::any::type_name::<K>(), None, true, create)
    }

    #[track_caller]
    fn of_op<O: Op>(
        self,
        kernel: &'static str,
        element_wise: Option<ElementWise>,
        waits: bool,
        create: CreateKernel,
    ) -> Result<&'static KernelDef> {
        if O::DEF.name != self.op {
            let message = format!("{kernel} is a kernel of op {}, not of {}", O::DEF.name, self.op);
            return Err(Error::invalid_argument(message));
        }
        Ok(self.finish(kernel, element_wise, waits, create))
    }

    /// The registration of a function that makes the kernel for a node. It stays in memory for the rest of the
    /// program.
    pub fn create(self, create: fn(&RawConstruction<'_>) -> Result<Box<dyn DynKernel>>) -> &'static KernelDef {
        self.finish("function", None, false, CreateKernel::Function(create))
    }

    /// [`KernelDefBuilder::create`] for a closure.
    pub fn create_with(
        self,
        create: impl Fn(&RawConstruction<'_>) -> Result<Box<dyn DynKernel>> + Send + Sync + 'static,
    ) -> &'static KernelDef {
        let create: CreateClosure = Box::new(create);
        self.finish("closure", None, false, CreateKernel::Closure(Box::leak(Box::new(create))))
    }

    /// Says where the registration is, in place of the caller's line.
    pub fn location(mut self, location: Location) -> KernelDefBuilder {
        self.location = location;
        self
    }

    fn finish(
        self,
        type_name: &'static str,
        element_wise: Option<ElementWise>,
        waits: bool,
        create: CreateKernel,
    ) -> &'static KernelDef {
        Box::leak(Box::new(KernelDef {
            op: leak(&self.op),
            device: self.device,
            constraints: self.constraints.leak(),
            host_memory: self.host_memory.leak(),
            requires: self.requires.leak(),
            label: leak(&self.label),
            priority: self.priority,
            system: false,
            selected: true,
            type_name,
            provider: &Provider::RUN_TIME,
            location: self.location,
            element_wise,
            shader: None,
            waits,
            create,
            created: AtomicU64::new(0),
        }))
    }
}

fn leak(text: &str) -> &'static str {
    text.to_owned().leak()
}

/// Checks a registration against its op, as `#[register_kernel]` does at compile time.
///
/// # Errors
/// INVALID_ARGUMENT if it constrains an attr that the op does not have or by which no kernel is chosen, states values
/// that the attr cannot have, or keeps an argument in host memory that the op does not have. All such faults are in
/// one error.
pub fn check_against_op(kernel: &KernelDef, op: &OpDef) -> Result<()> {
    let mut faults = Vec::new();
    if kernel.device.0.is_empty() {
        faults.push("its device type is empty".to_owned());
    }
    for (i, constraint) in kernel.constraints.iter().enumerate() {
        let attr = constraint.attr;
        if kernel.constraints[..i].iter().any(|other| other.attr == attr) {
            faults.push(format!("it constrains attr `{attr}` twice"));
        }
        if constraint.values.is_empty() {
            faults.push(format!("it allows no value of attr `{attr}`"));
        }
        let Some(def) = op.attr(attr) else {
            // Attrs of the runtime's own are on nodes, not in ops.
            if !attr.starts_with('_') {
                let attrs: Vec<_> = op.attrs.iter().map(|attr| &*attr.name).collect();
                faults.push(format!("op {} has no attr `{attr}`: its attrs are {}", op.name, attrs.join(", ")));
            }
            continue;
        };
        let (base, list_too) = match constraint.values {
            ConstraintValues::Types(_) => (AttrBase::Type, true),
            ConstraintValues::Strings(_) => (AttrBase::String, false),
            ConstraintValues::Ints(_) => (AttrBase::Int, false),
            ConstraintValues::Bools(_) => (AttrBase::Bool, false),
        };
        if def.ty.base != base || (def.ty.list && !list_too) {
            faults.push(format!("attr `{attr}` of op {} is {}, which {constraint} cannot be of", op.name, def.ty));
            continue;
        }
        let refused: Vec<String> = match (constraint.values, &def.allowed) {
            (ConstraintValues::Types(types), Some(AllowedValues::Types(allowed))) => {
                types.iter().filter(|dtype| !allowed.contains(dtype)).map(ToString::to_string).collect()
            }
            (ConstraintValues::Strings(strings), Some(AllowedValues::Strings(allowed))) => {
                strings.iter().filter(|&&text| !allowed.iter().any(|a| a == text)).map(|s| format!("\"{s}\"")).collect()
            }
            (ConstraintValues::Ints(ints), _) => {
                ints.iter().filter(|&&int| def.minimum.is_some_and(|min| int < min)).map(ToString::to_string).collect()
            }
            _ => Vec::new(),
        };
        if !refused.is_empty() {
            faults.push(format!("attr `{attr}` of op {} does not allow {}", op.name, refused.join(", ")));
        }
    }
    for &argument in kernel.host_memory {
        if op.input_index(argument).is_none() && op.output_index(argument).is_none() {
            faults.push(format!("op {} has no argument `{argument}` to keep in host memory", op.name));
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("the kernel {kernel} does not suit its op: {}", faults.join("; "))))
}

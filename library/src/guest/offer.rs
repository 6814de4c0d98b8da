//! Offers a crate's ops and kernels to the host.

use std::collections::{BTreeMap, BTreeSet};

use kernlink_framework::Result;
use kernlink_framework::attr::AttrBase;
use kernlink_framework::collect::{OpEntry, linked_gradients, linked_kernels, linked_ops, linked_rewrites};
use kernlink_framework::dtype::DataType;
use kernlink_framework::kernel::shader::ShaderDef;
use kernlink_framework::kernel::{CPU, ConstraintValues, KernelDef, Provider};
use kernlink_framework::op::{ArgDef, ArgType, OpDef};

use super::functions::{Host, HostKind};
use super::refusals::Refusals;
use super::status::{Status, text};
use super::{kernel, shader, shape};
use crate::abi::TF_KernelBuilder;

/// Offers what `provider` registered; returns what is left out.
pub(super) fn offer(host: &Host, status: &Status, provider: &'static Provider) -> Refusals {
    let mut refusals = Refusals::default();
    let mut refused = BTreeSet::new();
    for entry in linked_ops().filter(|entry| entry.selected && std::ptr::eq(entry.provider, provider)) {
        let offered = match unsuitable(entry.def) {
            Some(reason) => Err(reason),
            None => offer_op(host, status, entry).map_err(|error| error.message().to_owned()),
        };
        if let Err(reason) = offered {
            refusals.add("ops", &*entry.def.name, reason);
            refused.insert(&*entry.def.name);
        }
    }
    let kernels = linked_kernels().filter(|kernel| kernel.selected && std::ptr::eq(kernel.provider, provider));
    let mut registrations = BTreeMap::new();
    let (mut own, mut shaders) = (Vec::new(), Vec::new());
    for kernel in kernels.filter(|kernel| !refused.contains(kernel.op)) {
        if kernel.device != CPU {
            let Some(shader) = kernel.shader.filter(|_| host.set_shader.is_some()) else {
                refusals.add("kernels", kernel.op, not_for(host, kernel));
                continue;
            };
            own.push(kernel);
            shaders.extend(Registration::all_of(kernel).into_iter().map(|registration| (registration, kernel, shader)));
            continue;
        }
        own.push(kernel);
        for registration in Registration::all_of(kernel) {
            if registration.types.iter().any(|(_, dtype)| is_object(host, *dtype)) {
                let reason = "of this dtype no elements get to the host";
                refusals.add("kernels", registration.to_string(), reason);
                continue;
            }
            *registrations.entry(registration).or_insert(false) |= kernel.waits && host.kind == HostKind::Kernlink;
        }
    }
    kernel::add(own);
    for (registration, waits) in registrations {
        if let Err(error) = registration.offer(host, status, waits) {
            refusals.add("kernels", registration.to_string(), error.message());
        }
    }
    for (registration, kernel, shader) in shaders {
        if let Err(error) = registration.offer_shader(host, status, kernel, shader) {
            refusals.add("kernels", format!("{registration} on {}", kernel.device), error.message());
        }
    }
    let (no_gradient, no_rewrite) = match host.kind {
        HostKind::TensorFlow => {
            ("TensorFlow's C API has none; Python's tf.RegisterGradient adds one", "TensorFlow's C API has none")
        }
        HostKind::Kernlink => ("a program that links the crate has them", "a program that links the crate has them"),
    };
    for gradient in linked_gradients().filter(|gradient| std::ptr::eq(gradient.provider, provider)) {
        refusals.add("gradients", gradient.name, no_gradient);
    }
    for rewrite in linked_rewrites().filter(|rewrite| std::ptr::eq(rewrite.provider, provider)) {
        refusals.add("rewrites", rewrite.name, no_rewrite);
    }
    refusals
}

/// Why a kernel for another device than the host processor is not offered.
fn not_for(host: &Host, kernel: &KernelDef) -> String {
    let device = kernel.device;
    match host.kind {
        HostKind::TensorFlow => format!("TensorFlow's C API has no kernels for a {device} of Kernlink's"),
        HostKind::Kernlink if kernel.shader.is_some() => "this version of the host takes no shaders".to_owned(),
        HostKind::Kernlink => {
            format!(
                "a library brings kernels for a {device} as shaders alone, `#[register_kernel(wgsl = \"file.wgsl\")]`"
            )
        }
    }
}

/// Whether elements of this dtype are objects that cannot get to the host, or back.
fn is_object(host: &Host, dtype: i32) -> bool {
    match DataType::from_number(dtype) {
        Some(DataType::Resource) => host.kind == HostKind::TensorFlow,
        Some(DataType::Variant) => true,
        _ => false,
    }
}

/// Why an op cannot be offered, if so.
fn unsuitable(op: &OpDef) -> Option<String> {
    for arg in op.inputs.iter().chain(op.outputs.iter()) {
        if arg.is_ref {
            return Some(format!("`{}` is a reference, which a library cannot hold", arg.name));
        }
        if arg.ty == ArgType::Fixed(DataType::Variant) {
            return Some(format!("`{}` is a variant, whose value no other program knows", arg.name));
        }
    }
    for attr in op.attrs.iter() {
        if attr.ty.base == AttrBase::Func {
            return Some(format!("`{}` is a function, which a library cannot call", attr.name));
        }
        if attr.default.as_ref().is_some_and(|default| default.to_string().contains('?'))
            && attr.ty.base == AttrBase::Tensor
        {
            return Some(format!("the default of `{}` is a tensor that no spec can state", attr.name));
        }
    }
    None
}

fn offer_op(host: &Host, status: &Status, entry: &'static OpEntry) -> Result<()> {
    let op = entry.def;
    let spec = |item: &dyn std::fmt::Display| text(&item.to_string());
    // TensorFlow's C API can make no handles of resources: they go as strings, in every host, as graphs of one run in the other.
    // Ops with resources are stateful, so that they keep their order all the same.
    let is_string = |arg: &ArgDef| arg.ty == ArgType::Fixed(DataType::Resource);
    let argument = |arg: &ArgDef| match is_string(arg) {
        true => spec(&ArgDef { ty: ArgType::Fixed(DataType::String), ..arg.clone() }),
        false => spec(arg),
    };
    // SAFETY: the texts outlive the calls that take them, and the builder is used until it is registered, which frees it.
    unsafe {
        let builder = (host.TF_NewOpDefinitionBuilder)(text(&op.name).as_ptr());
        for attr in op.attrs.iter() {
            (host.TF_OpDefinitionBuilderAddAttr)(builder, spec(attr).as_ptr());
        }
        for input in op.inputs.iter() {
            (host.TF_OpDefinitionBuilderAddInput)(builder, argument(input).as_ptr());
        }
        for output in op.outputs.iter() {
            (host.TF_OpDefinitionBuilderAddOutput)(builder, argument(output).as_ptr());
        }
        // TensorFlow's setters set the flags whatever the value.
        let flags = [
            (op.is_commutative, host.TF_OpDefinitionBuilderSetIsCommutative),
            (op.is_aggregate, host.TF_OpDefinitionBuilderSetIsAggregate),
            (op.is_stateful, host.TF_OpDefinitionBuilderSetIsStateful),
            (op.allows_uninitialized_input, host.TF_OpDefinitionBuilderSetAllowsUninitializedInput),
        ];
        for (_, set) in flags.iter().filter(|(is_set, _)| *is_set) {
            set(builder, true);
        }
        if let Some(deprecation) = &op.deprecation {
            let explanation = text(&deprecation.explanation);
            (host.TF_OpDefinitionBuilderDeprecated)(builder, deprecation.version, explanation.as_ptr());
        }
        (host.TF_OpDefinitionBuilderSetShapeInferenceFunction)(builder, Some(shape::function_of(entry)));
        status.check(|status| (host.TF_RegisterOpDefinition)(builder, status))
    }
}

/// A kernel as a host's registry tells it from others. What else a kernel constrains is looked at when one is made for a node:
/// hosts take constraints on dtypes alone, and of one attr only one dtype.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Registration {
    op: &'static str,
    label: &'static str,
    priority: i32,
    host_memory: Vec<&'static str>,
    /// The dtypes of attrs, by their numbers.
    types: Vec<(&'static str, i32)>,
}

impl Registration {
    /// One for each combination of dtypes.
    fn all_of(kernel: &'static KernelDef) -> Vec<Registration> {
        let op = linked_ops().find(|entry| entry.def.name == kernel.op).map(|entry| entry.def);
        let is_one_type = |attr: &str| op.and_then(|op| op.attr(attr)).is_some_and(|attr| !attr.ty.list);
        let mut combinations = vec![Vec::new()];
        for constraint in kernel.constraints {
            let ConstraintValues::Types(types) = constraint.values else { continue };
            if !is_one_type(constraint.attr) {
                continue;
            }
            let longer = combinations.iter().flat_map(|chosen: &Vec<_>| {
                let with =
                    |dtype: &DataType| chosen.iter().copied().chain([(constraint.attr, dtype.number())]).collect();
                types.iter().map(with)
            });
            combinations = longer.collect();
        }
        let of = |types| Registration {
            op: kernel.op,
            label: kernel.label,
            priority: kernel.priority,
            host_memory: kernel.host_memory.to_vec(),
            types,
        };
        combinations.into_iter().map(of).collect()
    }

    fn offer(&self, host: &Host, status: &Status, waits: bool) -> Result<()> {
        let (op, device) = (text(self.op), text(CPU.0));
        let (create, delete) = (Some(kernel::create as _), Some(kernel::delete as _));
        // SAFETY: the texts outlive the calls.
        let builder = unsafe {
            match waits {
                true => {
                    let compute = Some(kernel::compute_async as _);
                    (host.TF_NewAsyncKernelBuilder)(op.as_ptr(), device.as_ptr(), create, compute, delete)
                }
                false => {
                    let compute = Some(kernel::compute as _);
                    (host.TF_NewKernelBuilder)(op.as_ptr(), device.as_ptr(), create, compute, delete)
                }
            }
        };
        // SAFETY: the builder is used no more.
        unsafe { self.register(host, status, builder) }
    }

    /// The same of a kernel of which only the shader is written.
    fn offer_shader(&self, host: &Host, status: &Status, kernel: &'static KernelDef, shader: ShaderDef) -> Result<()> {
        let (op, device) = (text(self.op), text(kernel.device.0));
        let delete = Some(shader::delete as _);
        // SAFETY: the texts outlive the call, and the builder is used until it is freed: by its registration or here.
        unsafe {
            let builder = (host.TF_NewKernelBuilder)(op.as_ptr(), device.as_ptr(), None, None, delete);
            if let Err(error) = shader::set_shader(host, status, builder, kernel, shader) {
                (host.TF_DeleteKernelBuilder)(builder);
                return Err(error);
            }
            self.register(host, status, builder)
        }
    }

    /// Tells a builder what kernels of all kinds have, and registers it.
    ///
    /// # Safety
    /// The builder is the host's, and is used no more.
    unsafe fn register(&self, host: &Host, status: &Status, builder: *mut TF_KernelBuilder) -> Result<()> {
        let (op, label) = (text(self.op), text(self.label));
        // SAFETY: the texts outlive the calls, and the builder is used until it is freed: by its registration or below.
        unsafe {
            for (attr, dtype) in &self.types {
                let attr = text(attr);
                let constrained = status
                    .check(|status| (host.TF_KernelBuilder_TypeConstraint)(builder, attr.as_ptr(), *dtype, status));
                if let Err(error) = constrained {
                    (host.TF_DeleteKernelBuilder)(builder);
                    return Err(error);
                }
            }
            for argument in &self.host_memory {
                (host.TF_KernelBuilder_HostMemory)(builder, text(argument).as_ptr());
            }
            if self.priority != 0 {
                (host.TF_KernelBuilder_Priority)(builder, self.priority);
            }
            if !self.label.is_empty() {
                (host.TF_KernelBuilder_Label)(builder, label.as_ptr());
            }
            status.check(|status| (host.TF_RegisterKernelBuilder)(op.as_ptr(), builder, status))
        }
    }
}

/// `Scale, T = float`
impl std::fmt::Display for Registration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.op)?;
        for (attr, dtype) in &self.types {
            let dtype = DataType::from_number(*dtype).map_or("?", DataType::name);
            write!(f, " ({attr} = {dtype})")?;
        }
        Ok(())
    }
}

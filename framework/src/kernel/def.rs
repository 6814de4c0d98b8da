//! `KernelDef`: the registration of a kernel, as constant data that the linker collects.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::shader::ShaderDef;
use super::{DynKernel, ElementWise, RawConstruction};
use crate::device::DeviceType;
use crate::dtype::DataType;
use crate::error::{Result, catch_panic};

/// Where something was declared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Location {
    /// The source file, as the compiler names it; of what a library registered, the library.
    pub file: &'static str,
    /// The line, from 1; 0 in a library, whose lines nobody knows.
    pub line: u32,
}

impl Location {
    /// A library that was loaded.
    pub const fn library(file: &'static str) -> Location {
        Location { file, line: 0 }
    }

    /// Where something of this provider is from, for people: `at src/lib.rs:12 (crate my-ops)`, or `in the library
    /// /tmp/libmy_ops.so`.
    pub fn origin(&self, provider: &Provider) -> String {
        match self.line {
            0 => format!("in the library {}", self.file),
            _ => format!("at {self} (crate {})", provider.name),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// A crate that registers ops, kernels or gradients. Made by [`provider!`](crate::provider), once a crate.
///
/// It carries the number of registrations that the crate promises, because a linker can lose them silently:
/// the registry compares.
#[derive(Debug)]
#[non_exhaustive]
pub struct Provider {
    /// The crate's name.
    pub name: &'static str,
    /// What the crate is a part of, if several crates are one provider to users: they trust each other's kernels.
    pub part_of: Option<&'static str>,
    /// How many ops the crate promises; `None` promises nothing.
    pub ops: Option<usize>,
    /// How many kernels the crate promises; `None` promises nothing.
    pub kernels: Option<usize>,
    /// How many gradients the crate promises; `None` promises nothing.
    pub gradients: Option<usize>,
    /// Returns the Cargo feature of the crate that brings an op or its kernels, for errors.
    pub feature_of: Option<fn(&str) -> Option<&'static str>>,
    /// Says of an op that the crate knows of, but has with none of its features, why that is and what to do, for errors.
    pub lacks: Option<fn(&str) -> Option<&'static str>>,
    /// Where the provider was declared.
    pub location: Location,
}

impl Provider {
    /// Whether `other` is the same provider, or a part of the same.
    pub(crate) fn is_with(&self, other: &Provider) -> bool {
        std::ptr::eq(self, other) || (self.part_of.is_some() && self.part_of == other.part_of)
    }

    /// A provider that is whole by itself, promises nothing and tells nothing of ops that it lacks.
    pub const fn new(name: &'static str, location: Location) -> Provider {
        Provider {
            name,
            part_of: None,
            ops: None,
            kernels: None,
            gradients: None,
            feature_of: None,
            lacks: None,
            location,
        }
    }

    /// With what it is a part of; see [`Provider::part_of`](#structfield.part_of).
    pub const fn with_whole(mut self, part_of: Option<&'static str>) -> Provider {
        self.part_of = part_of;
        self
    }

    /// With how many ops, kernels and gradients it promises; `None` promises nothing.
    pub const fn with_promises(
        mut self,
        ops: Option<usize>,
        kernels: Option<usize>,
        gradients: Option<usize>,
    ) -> Provider {
        (self.ops, self.kernels, self.gradients) = (ops, kernels, gradients);
        self
    }

    /// With what it tells of ops that it lacks; see [`Provider::feature_of`](#structfield.feature_of) and
    /// [`Provider::lacks`](#structfield.lacks).
    pub const fn with_reasons(
        mut self,
        feature_of: Option<fn(&str) -> Option<&'static str>>,
        lacks: Option<fn(&str) -> Option<&'static str>>,
    ) -> Provider {
        (self.feature_of, self.lacks) = (feature_of, lacks);
        self
    }

    /// Stands for the crate of what is registered at run time.
    pub const RUN_TIME: Provider = Provider::new("(registered at run time)", Location { file: file!(), line: line!() });
}

/// The provider that a crate is: implemented by [`provider!`](crate::provider), for a type that is the crate's own.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this crate registers ops, kernels, rewrites or gradients, but has no `kernlink::provider!();` at its root",
    label = "registered here",
    note = "add the line `kernlink::provider!();` once, at the root of the crate and not in a module: in src/lib.rs, in \
            src/main.rs, or in the file of the test, the example or the benchmark itself"
)]
pub trait CrateProvider {
    /// The provider.
    const PROVIDER: &'static Provider;
}

/// Tells which type the root of a crate calls `KernlinkProvider`. Written by the macros.
#[doc(hidden)]
pub trait ProviderAtRoot {
    /// That type; where there is none, one that is no [`CrateProvider`].
    type Provider;
}

/// One registration of a kernel. Made by `#[register_kernel]`.
pub struct KernelDef {
    /// The op's name.
    pub op: &'static str,
    /// The device on which the kernel runs.
    pub device: DeviceType,
    /// The attr values that the kernel supports; all constraints must hold.
    pub constraints: &'static [AttrConstraint],
    /// Arguments that stay in host memory.
    pub host_memory: &'static [&'static str],
    /// Capabilities of the device without which the kernel cannot run, such as `f16`.
    pub requires: &'static [&'static str],
    /// Chosen only by nodes whose `_kernel` attr says so; empty for ordinary kernels.
    pub label: &'static str,
    /// Of several kernels that match, the highest wins.
    pub priority: i32,
    /// Whether the kernel ignores selective registration.
    pub system: bool,
    /// Whether selective registration kept the kernel. One that it left out is never chosen: it stands for itself in
    /// the error that says so.
    pub selected: bool,
    /// The Rust type, as written.
    pub type_name: &'static str,
    /// The crate that registered it.
    pub provider: &'static Provider,
    /// Where.
    pub location: Location,
    /// What it computes of each element, if it computes each by itself.
    pub element_wise: Option<ElementWise>,
    /// The shader that is all of it that is written, if so.
    pub shader: Option<ShaderDef>,
    /// Whether the kernel may wait, as an [`AsyncOpKernel`](super::AsyncOpKernel) does. Of one that a function makes it is not
    /// known before it is made.
    pub waits: bool,
    /// Makes the kernel for a node.
    pub create: CreateKernel,
    /// How many kernels were made from this registration.
    pub created: AtomicU64,
}

/// What makes a kernel for a node.
#[derive(Clone, Copy)]
pub enum CreateKernel {
    /// A function, as for what is linked.
    Function(fn(&RawConstruction<'_>) -> Result<Box<dyn DynKernel>>),
    /// What knows more than a function can, as for kernels of a library. Behind two pointers, so that the many that are
    /// functions take less room.
    Closure(&'static CreateClosure),
}

/// See [`CreateKernel::Closure`].
pub type CreateClosure = Box<dyn Fn(&RawConstruction<'_>) -> Result<Box<dyn DynKernel>> + Send + Sync>;

/// The values of one attr for which a kernel is registered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttrConstraint {
    /// The attr's name.
    pub attr: &'static str,
    /// The values.
    pub values: ConstraintValues,
}

/// The values in an [`AttrConstraint`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ConstraintValues {
    /// For attrs of type `type`, and `list(type)`, of which every element must be among them.
    Types(&'static [DataType]),
    /// For attrs of type `string`.
    Strings(&'static [&'static str]),
    /// For attrs of type `int`.
    Ints(&'static [i64]),
    /// For attrs of type `bool`.
    Bools(&'static [bool]),
}

impl KernelDef {
    /// Makes the kernel for a node.
    ///
    /// # Errors
    /// Those of the kernel's constructor; INTERNAL if it panics.
    pub fn make(&self, node: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
        self.created.fetch_add(1, Ordering::Relaxed);
        catch_panic("the kernel's constructor", || match self.create {
            CreateKernel::Function(create) => create(node),
            CreateKernel::Closure(create) => create(node),
        })
    }
}

impl ConstraintValues {
    /// Whether there is no value, so that no node satisfies the constraint.
    pub const fn is_empty(&self) -> bool {
        match self {
            ConstraintValues::Types(types) => types.is_empty(),
            ConstraintValues::Strings(strings) => strings.is_empty(),
            ConstraintValues::Ints(ints) => ints.is_empty(),
            ConstraintValues::Bools(bools) => bools.is_empty(),
        }
    }
}

impl ConstraintValues {
    /// The values as text, each by itself.
    pub(crate) fn texts(&self) -> Vec<String> {
        fn all<T>(items: &[T], show: impl Fn(&T) -> String) -> Vec<String> {
            items.iter().map(show).collect()
        }
        match self {
            ConstraintValues::Types(types) => all(types, DataType::to_string),
            ConstraintValues::Strings(strings) => all(strings, |string| format!("\"{string}\"")),
            ConstraintValues::Ints(ints) => all(ints, i64::to_string),
            ConstraintValues::Bools(bools) => all(bools, bool::to_string),
        }
    }
}

impl fmt::Display for AttrConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in [{}]", self.attr, self.values.texts().join(", "))
    }
}

impl fmt::Display for KernelDef {
    /// `MatMul on CPU, T in [float], registered at kernels/math/src/matmul/mod.rs:20`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, self.constraints)
    }
}

impl KernelDef {
    /// The text of the kernel, with these constraints for its own.
    pub(crate) fn fmt_with(&self, f: &mut fmt::Formatter<'_>, constraints: &[impl fmt::Display]) -> fmt::Result {
        write!(f, "{} on {}", self.op, self.device)?;
        for constraint in constraints {
            write!(f, ", {constraint}")?;
        }
        if !self.label.is_empty() {
            write!(f, ", label \"{}\"", self.label)?;
        }
        if self.priority != 0 {
            write!(f, ", priority {}", self.priority)?;
        }
        if !self.requires.is_empty() {
            write!(f, ", requires {}", self.requires.join(", "))?;
        }
        write!(f, ", registered at {}", self.location)
    }
}

impl fmt::Debug for KernelDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

//! The file of a shader with what the registration says of it.

use std::any::Any;
use std::path::Path;
use std::sync::OnceLock;

use crate::dtype::DataType;
use crate::error::Code;
use crate::kernel::{Location, Meet, Provider};
use crate::op::{AttrBase, OpDef};

/// The threads of a workgroup unless a shader says otherwise.
pub const WORKGROUP: u32 = 64;

/// The shader of a kernel, as registered.
pub struct Source {
    /// The struct that stands for the kernel.
    pub name: &'static str,
    /// Where it is registered.
    pub location: Location,
    /// The file, relative to that of the registration.
    pub file: &'static str,
    /// What stands in it.
    pub text: &'static str,
    /// The op's declaration.
    pub op: &'static OpDef,
    /// Arguments that stay in host memory.
    pub host_memory: &'static [&'static str],
    /// Capabilities of the device that every variant requires.
    pub requires: &'static [&'static str],
    /// The combinations of dtypes, by attr.
    pub variants: &'static [&'static [(&'static str, DataType)]],
    /// Whether the file is the whole shader.
    pub is_raw: bool,
    /// How many threads there are.
    pub dispatch: Dispatch,
    /// The parameters, but for those of the dispatch rule.
    pub params: &'static [Param],
    /// Arguments that are bound as arrays of vectors.
    pub vectors: &'static [&'static str],
    /// The threads of a workgroup.
    pub workgroup: u32,
    /// The error for elements that an element-wise function refuses.
    pub refusal: Option<(Code, &'static str)>,
    /// The crate that registers it.
    pub provider: &'static Provider,
    /// What devices made of it.
    pub made: Made,
}

/// How many threads a shader has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// One for each `each` elements of argument `of`, or of the first output.
    Elements {
        /// The argument, or nothing for the first output.
        of: &'static str,
        /// The elements of a thread.
        each: u32,
    },
    /// A workgroup for each row of an argument.
    Rows {
        /// The argument.
        of: &'static str,
    },
    /// A workgroup for each tile of the last two dimensions of an argument.
    Tiles {
        /// The argument.
        of: &'static str,
        /// The rows of a tile.
        rows: u32,
        /// The columns of a tile.
        columns: u32,
    },
    /// One for each element of the output, or for four, for which generated code calls the function that has the op's name
    /// with an element of each input.
    ElementWise(Operands),
    /// As many workgroups as a function says.
    Function,
}

/// What an element-wise function asks of its operands' shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// They broadcast.
    Broadcast,
    /// They are equal.
    Equal,
    /// They have as many elements. The first is that of the result.
    Alike,
}

impl Operands {
    /// The same, as a kernel says it of itself.
    pub const fn meet(self) -> Meet {
        match self {
            Operands::Broadcast => Meet::Broadcast,
            Operands::Equal => Meet::Equal,
            Operands::Alike => Meet::Alike,
        }
    }
}

/// A parameter of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name; of a shape the argument's.
    pub name: &'static str,
    /// What it is.
    pub value: ParamValue,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamValue {
    /// The value of the attr of that name, as the attr's own type if there is none here.
    Attr(Option<ParamType>),
    /// What a function says.
    Computed(ParamType),
    /// The dimensions of the argument of that name.
    Shape {
        /// How many there are.
        rank: u32,
    },
}

/// The type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamType {
    /// An integer with a sign.
    I32,
    /// An integer without one.
    U32,
    /// A floating-point number.
    F32,
}

impl ParamType {
    /// The type's name in WGSL.
    pub fn wgsl(self) -> &'static str {
        match self {
            ParamType::I32 => "i32",
            ParamType::U32 => "u32",
            ParamType::F32 => "f32",
        }
    }
}

/// What devices made of a [`Source`] so far, of a type of theirs. Programs have devices of one kind.
#[derive(Default)]
pub struct Made(OnceLock<Box<dyn Any + Send + Sync>>);

impl Made {
    /// Nothing yet.
    pub const fn new() -> Made {
        Made(OnceLock::new())
    }

    /// What was made, empty at first; `None` if it is of another type.
    pub fn get<T: Any + Send + Sync + Default>(&self) -> Option<&T> {
        self.0.get_or_init(|| Box::new(T::default())).downcast_ref()
    }
}

impl Source {
    /// The file, as errors name it.
    pub fn path(&self) -> String {
        let folder = Path::new(self.location.file).parent();
        folder.unwrap_or(Path::new("")).join(self.file).display().to_string().replace('\\', "/")
    }

    /// The type of a parameter that is an attr.
    ///
    /// # Errors
    /// What is wrong, if the attr cannot be a parameter of that type.
    pub fn attr_type(&self, param: &Param) -> std::result::Result<ParamType, String> {
        let attr = self.op.attr(param.name).filter(|attr| !attr.ty.list);
        match (attr.map(|attr| attr.ty.base), param.value) {
            (Some(AttrBase::Float), ParamValue::Attr(Some(ty))) if ty != ParamType::F32 => {
                Err(format!("attr `{}` is a float: as a parameter it is an f32", param.name))
            }
            (Some(AttrBase::Int | AttrBase::Float | AttrBase::Bool), ParamValue::Attr(Some(ty))) => Ok(ty),
            (Some(AttrBase::Int), _) => Ok(ParamType::I32),
            (Some(AttrBase::Float), _) => Ok(ParamType::F32),
            (Some(AttrBase::Bool), _) => Ok(ParamType::U32),
            _ => Err(format!("op {} has no attr `{}` that can be a parameter", self.op.name, param.name)),
        }
    }

    /// Whether the parameters begin with the number of elements, rows or tiles.
    pub fn is_counted(&self) -> bool {
        self.dispatch != Dispatch::Function
    }
}

//! `#[register_kernel(device = Gpu, wgsl = "file.wgsl")]`: kernels of which only the shader is written.

mod expand;
mod parse;

use proc_macro2::{Ident, Span};
use syn::{Expr, LitInt, LitStr};

pub(super) use self::expand::{Written, checks, kernel, requires, type_lists, written};
pub(super) use self::parse::{names_a_shader, without_a_file};

/// The arguments that go with `wgsl`.
pub(super) const ARGUMENTS: &[&str] =
    &["wgsl", "dispatch", "params", "outputs", "vectors", "workgroup", "raw", "refusal"];

/// What the arguments that go with `wgsl` say.
#[derive(Clone, Default)]
pub(super) struct Shader {
    pub(super) file: Option<LitStr>,
    pub(super) dispatch: Option<Dispatch>,
    pub(super) params: Vec<Param>,
    pub(super) outputs: Option<Expr>,
    pub(super) vectors: Vec<LitStr>,
    pub(super) workgroup: Option<LitInt>,
    pub(super) is_raw: bool,
    /// The code and the message of what a function refuses.
    pub(super) refusal: Option<(Ident, Expr)>,
}

/// How many threads there are.
#[derive(Clone)]
pub(super) enum Dispatch {
    /// `elements("y", 4)`
    Elements(LitStr, u32),
    /// `rows("x")`
    Rows(LitStr),
    /// `tiles("y", 16, 16)`
    Tiles(LitStr, u32, u32),
    /// `element_wise(broadcast)`, and what the rule is called in Rust.
    ElementWise(Ident),
    /// A function.
    Function(Expr),
}

/// A parameter of the shader.
#[derive(Clone)]
pub(super) enum Param {
    /// The value of an attr, as the type that is given or as the attr's own.
    Attr(Ident, Option<ParamType>),
    /// What a function says.
    Computed(Ident, ParamType, Expr),
    /// The dimensions of an argument with so many of them.
    Shape(LitStr, u32, Span),
}

/// The type of a parameter.
#[derive(Clone, Copy)]
pub(super) enum ParamType {
    I32,
    U32,
    F32,
}

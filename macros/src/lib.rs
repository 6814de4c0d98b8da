//! Kernlink's attribute macros: `#[register_op]` declares an op, `#[register_kernel]` registers a kernel for one.
//!
//! Both parse first, then expand. Errors accumulate and are reported together, each on the token that it is about.
//!
//! A crate that uses them has `kernlink::provider!();` at its root.

mod count;
mod errors;
mod gradient;
mod hash;
mod ident;
mod kernel;
mod op;
mod path;
mod provider;
mod rewrite;
mod seen;
mod span;

use proc_macro::TokenStream;

/// Declares an op, with TensorFlow's own spec strings, on a unit struct that then stands for the op; on an enum, several ops.
///
/// ```ignore
/// /// Keeps the element at `preserve_index` and sets every other one to zero.
/// #[register_op(
///     attr("T: {float, double, int32}"),
///     attr("preserve_index: int >= 0 = 0", "Which element to keep."),
///     input("to_zero: T"),
///     output("zeroed: T"),
///     shape_fn = shape::unchanged,
/// )]
/// pub struct ZeroOut;
/// ```
///
/// The doc comment is the op's documentation: its first paragraph is the summary. The specs are parsed when the crate
/// is compiled. The arguments, in any order:
///
/// | argument | meaning |
/// |---|---|
/// | `attr("spec")`, `input("spec")`, `output("spec")` | as `.Attr`, `.Input` and `.Output` in C++; a second string documents it |
/// | `name = "Ns>Op"` | the op's name, if it is not the struct's |
/// | `shape_fn = path` | a `fn(&mut InferenceContext) -> Result<()>`, or a closure that captures nothing |
/// | `stateful` | has state or effects: never folded, merged or run twice |
/// | `commutative`, `aggregate` | what optimisers may do |
/// | `allows_uninitialized_input`, `distributed_communication` | as in TensorFlow |
/// | `system` | selective registration leaves the op in |
/// | `deprecated(version, "why")` | from this GraphDef version on the op is refused |
/// | `crate = path` | where `kernlink` is, if not at `::kernlink` |
///
/// For `ZeroOut` it writes
///
/// - `impl Op for ZeroOut`, and adds the declaration to those that the registry finds;
/// - `ZeroOut::TO_ZERO` and `ZeroOut::ZEROED`, which name the arguments in kernels;
/// - `struct ZeroOutAttrs`, one field for each attr: what kernels see as `ctx.attrs()`;
/// - `fn zero_out(scope, to_zero)`, the wrapper: it takes a graph, to which it adds a node, or an eager context, in which
///   it runs the op; then the inputs, and the attrs that have no default and do not follow from the inputs. It returns a
///   `ZeroOutBuilder` with a method for each other attr, with `name`, `device`, `attr` and `control_input`, and with
///   `build`. Its documentation states dtypes, constraints and defaults, from the specs.
/// - where two attrs that the wrapper takes have one type, so that exchanged values would compile: `struct
///   MaxPoolRequired`, one field for each attr that it takes. It is the wrapper's last parameter, in the place of these
///   attrs. Its fields borrow strings (`&str`) and lists (`&[i64]`).
/// - for an op with several outputs a struct with a field for each, `TopKV2Output` for `TopKV2`: what `build` returns.
///
/// The wrapper is called as TensorFlow's Python function: `MatMul` is `mat_mul`, `Ns>MyOp` is `ns_my_op`, `_Arg` is
/// `__arg`. Names that Rust has taken get a trailing `_`.
///
/// # Families
///
/// Ops that share most of their declaration are the variants of an enum. The attribute on it says what all share, `#[op(...)]`
/// on a variant what differs, with the same arguments.
///
/// ```ignore
/// #[register_op(
///     attr("T: {half, float, double}"),
///     input("x: T", "An angle in radians."),
///     output("y: T"),
///     shape_fn = shape::unchanged,
/// )]
/// pub enum Trigonometry {
///     /// The sine.
///     Sin,
///     /// The cosine of complex angles, too.
///     #[op(attr("T: {half, float, double, complex64}"))]
///     Cos,
///     /// The sine and the cosine, scaled.
///     #[op(input("scale: T", "A scalar."), output("z: T", before = "y"), shape_fn = sin_cos_shape)]
///     SinCos,
///     /// `SinCos`, in state.
///     #[op(like = SinCos, stateful)]
///     StatefulSinCos,
/// }
/// ```
///
/// Each variant becomes a struct, with the enum's visibility, and all that is listed above; of the enum nothing is left.
///
/// - An `attr`, `input` or `output` of a name that the family has replaces the family's, in its place; without a text of its
///   own it keeps the family's. Any other is added: at the end, or where `before = "name"` or `after = "name"` after the spec
///   and its text says. `shape_fn` and `deprecated` replace the family's, flags are added to its flags. What only some of the
///   ops have is not the family's: nothing can be taken away.
/// - `like = Op` starts from what is said of another op, which stands above, in the place of the family.
/// - `name` is said on variants only, `crate` on the enum only.
/// - A doc comment on the enum is part of the documentation of each op, after the op's own. Other attributes on it, such as
///   `#[cfg(...)]`, are each op's.
#[proc_macro_attribute]
pub fn register_op(args: TokenStream, item: TokenStream) -> TokenStream {
    op::register(args.into(), item.into()).into()
}

/// Registers a kernel: on its `impl OpKernel<Op> for Kernel`, on a function, or on a type alias.
///
/// ```ignore
/// #[register_kernel(device = Cpu, T = [f32, f64, i32])]
/// impl<T: Number> OpKernel<ZeroOut> for ZeroOutKernel<T> { /* ... */ }
///
/// #[register_kernel(device = Cpu, op = Abs, T = [f32, f64])]
/// type AbsKernel<T> = Unary<Abs, T>;
///
/// #[register_kernel(device = Cpu, op = [LookupTableFind, LookupTableFindV2])]
/// fn find(ctx: &mut RawContext<'_>) -> Result<()> { /* ... */ }
/// ```
///
/// A function takes the context of one op, `KernelContext<'_, Op>`, or of any, `RawContext<'_>`; before it `&State` if it
/// keeps something for its node: `Attrs<Op>`, another `State: KernelState`, or what `state` makes. `async` functions
/// may wait. A private function may be called as the wrapper of its op, `zero_out` for `ZeroOut`, and stand beside it: other
/// code then means the wrapper by this name, and cannot call the function.
///
/// `O` stands for each of the ops of a list: as a generic parameter (`fn f<O: Op>(ctx: &mut KernelContext<'_, O>)`,
/// `impl<O: Op> OpKernel<O> for K`, `type K<O, T> = Unary<O, T>`), or, where it is not declared, as the name of the op in
/// an item that is written once for each: arguments and attrs have their names then (`O::INPUT`, `ctx.attrs().size`).
/// Several attributes on one item are each a registration; those without `op` are for the ops of the first, those without
/// `state` make theirs as the first; an item that is written once for each op is written for the ops of those with `op`, too.
///
/// | argument | meaning |
/// |---|---|
/// | `device = Cpu` | `Cpu`, `Gpu`, `Default`, or another device type as a string |
/// | `op = Abs`, `op = [Abs, Neg]` | the ops, where the item does not name one |
/// | `cheap` | on a function: it takes less time than handing it to another thread |
/// | `ATTR = [...]` | the values of an attr for which the kernel is: dtypes, strings, integers or bools |
/// | `handles_only` | on a function: it takes handles of variables and does not ask for the values |
/// | `state = f` | what makes the `State` of a function: a `fn(&KernelConstruction<Op>) -> Result<State>`, or a closure |
/// | `element_wise = e` | what a function computes of each element, as `OpKernel::ELEMENT_WISE` |
/// | `host_memory = ["shape"]` | arguments that stay in host memory |
/// | `requires = ["f16"]` | capabilities of the device without which the kernel cannot run |
/// | `label = "x"` | the kernel is for nodes whose `_kernel` attr says so |
/// | `priority = 1` | of several kernels that match, the highest wins |
/// | `system` | selective registration leaves the kernel in |
/// | `crate = path` | where `kernlink` is, if not at `::kernlink` |
///
/// A listed attr that is also a generic parameter makes one registration for each value; any other is a constraint of
/// every registration. Dtypes are Rust's (`f32`, `bf16`, `Complex64`, `TString`), TensorFlow's (`float`, `bfloat16`,
/// `complex128`, `string`) or sets (`numbertype`, `realnumbertype`, `quantizedtype`). Beware: TensorFlow's `complex64`
/// is Rust's `Complex32`.
///
/// # Kernels in WGSL
///
/// With `wgsl` it stands on a unit struct, and the shader is all there is to write. The feature `gpu` is needed, or `gpu-shaders`;
/// `kernlink::gpu::wgsl` says what a shader sees.
///
/// ```ignore
/// #[register_kernel(device = Gpu, op = ZeroOut, T = [f32, i32], wgsl = "zero_out.wgsl", params = [preserve_index])]
/// struct ZeroOutOnGpu;
/// ```
///
/// | argument | meaning |
/// |---|---|
/// | `wgsl = "file.wgsl"` | the shader, beside the source file as with `include_str!` |
/// | `dispatch = elements("y")` | a thread for each element of an argument: the default, with the first output |
/// | `dispatch = elements("y", 4)` | a thread for each four elements |
/// | `dispatch = rows("x")` | a workgroup for each row: the elements along the last dimension |
/// | `dispatch = tiles("y", 16, 16)` | a workgroup for each tile of the last two dimensions |
/// | `dispatch = function` | as many workgroups as `fn(&Launch<Op>) -> Result<[u32; 3]>` says |
/// | `params = [size, size: u32]` | an attr, as the type that it has or as another |
/// | `params = [top: i32 = function]` | what `fn(&Launch<Op>) -> Result<i32>` says |
/// | `params = [shape("x", 4)]` | the dimensions of an argument, which must be as many: `params.x_shape_0` and on |
/// | `outputs = function` | the outputs' shapes (`fn(&Launch<Op>) -> Result<Shape>`), if the op's shape function does not do |
/// | `vectors = ["x", "y"]` | arguments that are bound as arrays of four-element vectors |
/// | `workgroup = 64` | the threads of a workgroup |
/// | `raw` | the file is the whole shader, with bindings, parameters and entry point |
///
/// Attrs, dtypes and arguments that the op does not have do not compile, and neither do two registrations of the same
/// kernel in one crate.
#[proc_macro_attribute]
pub fn register_kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    kernel::register(args.into(), item.into()).into()
}

/// Registers a rewrite of graphs: a pattern of nodes, and a function that adds what takes their place.
///
/// ```ignore
/// /// Puts the bias into the convolution.
/// #[register_rewrite(
///     name = "fuse-conv-bias",
///     pattern = BiasAdd { value: conv @ Conv2D { input, filter, data_format = "NHWC" }, bias },
///     creates = [_FusedConv2D],
///     benefit = 2,
/// )]
/// fn fuse_conv_bias(
///     m: &mut Rewrite<'_, '_>,
///     conv: &Matched<Conv2D>,
///     input: Output,
///     filter: Output,
///     bias: Output,
/// ) -> Result<Option<Output>> { /* ... */ }
/// ```
///
/// The first node of the pattern is the root, whose outputs are replaced. In braces stand the inputs of an op by their
/// names, each with what it must be, and attrs with their values:
///
/// | in the pattern | meaning |
/// |---|---|
/// | `input`, `input: x` | any output, captured; of one name twice, the same output |
/// | `const y`, `y: const c` | a constant that is not fed, captured |
/// | `input: Op { ... }`, `input: node @ Op { ... }` | an output of such a node; with a name the node is captured |
/// | `input: A { ... }.values` | another output of the node than its first |
/// | `Add \| AddV2 { x, y }` | a node of one of these ops |
/// | `input: _` | anything |
/// | `values: xs @ ..`, `values: [a, b]` | a list of tensors: all of it, captured; exactly so many |
/// | `padding = "SAME"`, `T = float` | an attr that is a string, an integer, a bool or a dtype |
/// | `..` | at the end: inputs that are not named may be anything |
///
/// Of ops that are `commutative` both orders of inputs are tried. The function takes the captures by their names, in any
/// order: outputs as `Output`, nodes as `&Matched<Op>` (of one of several ops: `&MatchedNode`), lists as `&[Output]`. It
/// returns what takes the place of the root's output, a `Vec<Output>` if the root has several, or `None` to refuse.
///
/// | argument | meaning |
/// |---|---|
/// | `name = "fuse-conv-bias"` | by which it is switched off |
/// | `pattern = ...` | what it looks for |
/// | `creates = [Op]` | the ops of which it makes nodes, beside `Const` |
/// | `creates = [Op for Other]` | the same, but only for a node of the other op that the pattern has among several |
/// | `benefit = 2` | of several that apply, the one with the highest comes first; 1 if not said |
/// | `shared` | nodes of the match other than the root may be used elsewhere, too: they stay |
/// | `internal` | TensorFlow does not run the result: graphs that are written go without |
/// | `inexact` | results may differ in the last bits: it runs only where that is asked for |
/// | `crate = path` | where `kernlink` is, if not at `::kernlink` |
///
/// Ops, inputs and attrs that do not exist do not compile, nor does a capture that one of pattern and function lacks.
#[proc_macro_attribute]
pub fn register_rewrite(args: TokenStream, item: TokenStream) -> TokenStream {
    rewrite::register(args.into(), item.into()).into()
}

/// How many ops the sources of this crate declare with `#[register_op]`, for `provider!` at the crate's root.
///
/// ```ignore
/// kernlink::provider!(
///     ops = kernlink::registered_ops!(),
///     kernels = kernlink::registered_kernels!(),
///     gradients = kernlink::registered_gradients!(),
/// );
/// ```
///
/// It reads the file where it stands and the modules below that, with their `#[cfg(...)]`. Registrations that a macro
/// writes, or that `include!` brings, it does not see: a crate with such states its numbers itself.
#[proc_macro]
pub fn registered_ops(arguments: TokenStream) -> TokenStream {
    count::registered(count::Kind::Ops, arguments.into()).into()
}

/// How many kernels the sources of this crate register with `#[register_kernel]`; see [`registered_ops!`].
#[proc_macro]
pub fn registered_kernels(arguments: TokenStream) -> TokenStream {
    count::registered(count::Kind::Kernels, arguments.into()).into()
}

/// How many gradients the sources of this crate register with `#[register_gradient]` and `not_differentiable!`, one for each
/// of their ops; see [`registered_ops!`].
#[proc_macro]
pub fn registered_gradients(arguments: TokenStream) -> TokenStream {
    count::registered(count::Kind::Gradients, arguments.into()).into()
}

/// Registers the gradient of an op: how what flows back to its outputs flows on to its inputs.
///
/// ```ignore
/// /// `d(x y) = dx y + x dy`
/// #[register_gradient(op = Mul)]
/// fn mul(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> { /* ... */ }
/// ```
///
/// The function adds ops to the scope by the functions that `#[register_op]` writes: in a graph they become nodes, on a tape
/// they are computed at once. Its parameters are called as what they stand for, and their types say what is wanted of it.
/// What is no parameter is not there, and a tape does not keep it.
///
/// | parameter | meaning |
/// |---|---|
/// | `x: Value`, `x: Vec<Value>` | the value of input or output `x`, or the values of a list |
/// | `x: ShapeOf`, `x: Vec<ShapeOf>` | its shape alone, in the memory of which nothing else is kept |
/// | `d_y: Value`, `d_y: Vec<Value>` | what flows back to output `y`; zeros if nothing does, but something to another output |
/// | `d_y: Option<Value>`, `d_y: Vec<Option<Value>>` | the same, `None` if nothing flows back to it |
/// | `d_y: Gradient` | the same, which may be [`IndexedSlices`]; the others are made dense |
/// | `a: bool`, `a: i64`, `a: DataType`, ... | the attr `a` |
///
/// It returns a `Result` with what flows on to each input, in order: one of the types below, or a tuple or array of them.
///
/// | returned | meaning |
/// |---|---|
/// | `Value` | this |
/// | `Option<Value>` | this, or nothing |
/// | `NoGradient` | nothing, ever |
/// | `Gradient` | this, which may be [`IndexedSlices`] |
/// | `Vec<Value>`, `Vec<Option<Value>>` | for an input that is a list |
///
/// | argument | meaning |
/// |---|---|
/// | `op = MatMul`, `op = [Add, AddV2]` | the op, or several of which the same is true |
/// | `name = "Clipped"` | the gradient is for nodes whose attr `_gradient_op_type` asks for it by this name |
/// | `crate = path` | where `kernlink` is, if not at `::kernlink` |
///
/// Names that the op does not have do not compile, nor do a value where the op has a list, or as many gradients as it does not
/// have inputs. Neither do two gradients of one op or of one name in one crate.
///
/// [`IndexedSlices`]: https://www.tensorflow.org/api_docs/python/tf/IndexedSlices
#[proc_macro_attribute]
pub fn register_gradient(args: TokenStream, item: TokenStream) -> TokenStream {
    gradient::register(args.into(), item.into()).into()
}

/// Registers that nothing flows back through some ops: `not_differentiable!(Shape, Size)`.
///
/// A gradient through them is nothing, without an error. Of an op of which neither this nor a gradient is registered, it is an
/// error. A crate that registers both for one op does not compile.
#[proc_macro]
pub fn not_differentiable(ops: TokenStream) -> TokenStream {
    gradient::not_differentiable(ops.into()).into()
}

//! Ops declared while the program runs: the same specs as in `#[register_op]`, with the same errors.

use std::borrow::Cow;

use kernlink_spec::{Allowed, AttrSpec, CheckedArg, DefaultValue, Dtype, OpError, Place, Scalar, parse_op};

use super::{AllowedValues, ArgDef, ArgType, AttrBase, AttrDef, AttrDefault, Deprecation, OpDef, doc};
use crate::dtype::DataType;
use crate::error::{Error, Result};

/// Declares an op while the program runs.
///
/// It takes the specs of `#[register_op]`, which are TensorFlow's, and tells the same errors. The order of the calls
/// is the order of the parts, but a spec may refer to an attr that is given later. An argument that is literally a
/// `resource` makes the op stateful, and an attr that states how many tensors an argument has is at least 1 unless its
/// spec says otherwise.
///
/// ```
/// use kernlink_framework::op::OpDefBuilder;
///
/// let op = OpDefBuilder::new("ZeroOut")
///     .attr("T: {float, double, int32}")
///     .attr("preserve_index: int >= 0 = 0")
///     .input("to_zero: T")
///     .output("zeroed: T")
///     .doc("Keeps one element.\n\npreserve_index: Which one.")
///     .build()?;
/// assert_eq!(op.attrs[1].description, "Which one.");
/// # Ok::<(), kernlink_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "`build` makes the op"]
pub struct OpDefBuilder {
    name: String,
    attrs: Vec<String>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// The flags and the deprecation.
    op: OpDef,
    doc: Option<String>,
    errors: Vec<String>,
}

impl OpDefBuilder {
    /// An op of this name: `CamelCase`, `Namespace>CamelCase`, or `_Internal`.
    pub fn new(name: impl Into<String>) -> OpDefBuilder {
        OpDefBuilder {
            name: name.into(),
            attrs: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            op: OpDef::EMPTY,
            doc: None,
            errors: Vec::new(),
        }
    }

    /// Adds an attr, such as `"T: {float, int32} = DT_FLOAT"` or `"N: int >= 2"`.
    pub fn attr(mut self, spec: impl Into<String>) -> Self {
        self.attrs.push(spec.into());
        self
    }

    /// Adds an input, such as `"values: N * T"` or `"ref: Ref(T)"`.
    pub fn input(mut self, spec: impl Into<String>) -> Self {
        self.inputs.push(spec.into());
        self
    }

    /// Adds an output, such as `"sum: T"`.
    pub fn output(mut self, spec: impl Into<String>) -> Self {
        self.outputs.push(spec.into());
        self
    }

    /// The op has state or effects: it is never folded, merged or run twice.
    pub fn stateful(mut self) -> Self {
        self.op.is_stateful = true;
        self
    }

    /// `op(a, b) == op(b, a)` for all inputs.
    pub fn commutative(mut self) -> Self {
        self.op.is_commutative = true;
        self
    }

    /// The op takes at least two inputs of one type to one output of that type, in any order and grouping.
    pub fn aggregate(mut self) -> Self {
        self.op.is_aggregate = true;
        self
    }

    /// The op may be given a reference to an uninitialised tensor.
    pub fn allows_uninitialized_input(mut self) -> Self {
        self.op.allows_uninitialized_input = true;
        self
    }

    /// The op may return UNAVAILABLE as its own error.
    pub fn distributed_communication(mut self) -> Self {
        self.op.is_distributed_communication = true;
        self
    }

    /// The op is refused in graphs of this GraphDef version and later. `why` says what to use instead.
    pub fn deprecated(mut self, version: i32, why: impl Into<String>) -> Self {
        if self.op.deprecation.is_some() {
            self.errors.push("deprecated(...) is called twice: remove one of the calls".to_owned());
        }
        self.op.deprecation = Some(Deprecation { version, explanation: why.into().into() });
        self
    }

    /// Documents the op and its parts in one text, as TensorFlow does.
    ///
    /// The first line is the summary; the lines after it the description, up to the first line that begins with
    /// `word:`. Each such line begins the text of the argument or attr of that name.
    pub fn doc(mut self, text: impl Into<String>) -> Self {
        if self.doc.is_some() {
            self.errors.push("extra call to doc(...): remove one of the calls".to_owned());
        }
        self.doc = Some(text.into());
        self
    }

    /// The op.
    ///
    /// # Errors
    /// INVALID_ARGUMENT with every error of every spec, a line or more each: which spec of which op, what is wrong,
    /// and the piece of the spec that is meant.
    #[track_caller]
    pub fn build(self) -> Result<OpDef> {
        let OpDefBuilder { name, attrs, inputs, outputs, op, doc, mut errors } = self;
        // Internal names are free; that the macro's are not is for the sake of its wrappers.
        let checked_name = if name.starts_with('_') { "_" } else { &name };
        let checked = parse_op(checked_name, &attrs, &inputs, &outputs).map_err(|found| {
            let of = |error: OpError| {
                let (kind, spec) = match error.place {
                    Place::Name => ("name", &name),
                    Place::Attr(i) => ("attr", &attrs[i]),
                    Place::Input(i) => ("input", &inputs[i]),
                    Place::Output(i) => ("output", &outputs[i]),
                };
                format!("{kind}({spec:?}): {}", error.error.render(spec))
            };
            errors.extend(found.into_iter().map(of));
        });
        let mut op = OpDef { name: name.clone().into(), ..op };
        if let Ok(checked) = &checked {
            op.attrs = checked.attrs.iter().map(attr_def).collect();
            op.inputs = checked.inputs.iter().map(arg_def).collect();
            op.outputs = checked.outputs.iter().map(arg_def).collect();
            op.is_stateful |= checked.uses_resource;
        }
        // The names that the text may use are known only if all specs parse.
        if checked.is_ok()
            && let Err(found) = doc::apply(doc.as_deref().unwrap_or_default(), &mut op)
        {
            errors.extend(found.into_iter().map(|error| format!("doc(...): {error}")));
        }
        if errors.is_empty() {
            return Ok(op);
        }
        let errors: Vec<_> = errors.into_iter().map(|error| format!("op {name}: {error}")).collect();
        Err(Error::invalid_argument(errors.join("\n")))
    }
}

fn dtype(dtype: Dtype) -> DataType {
    DataType::from_number(dtype.number).expect("the grammar's dtypes are the framework's")
}

fn arg_def(arg: &CheckedArg) -> ArgDef {
    let ty = match &arg.ty {
        kernlink_spec::ArgType::Fixed(fixed) => ArgType::Fixed(dtype(*fixed)),
        kernlink_spec::ArgType::Attr(attr) => ArgType::Attr(attr.clone().into()),
        kernlink_spec::ArgType::ListAttr(attr) => ArgType::ListAttr(attr.clone().into()),
    };
    ArgDef {
        name: arg.name.clone().into(),
        description: Cow::Borrowed(""),
        ty,
        number_attr: arg.number_attr.clone().map(Cow::Owned),
        is_ref: arg.is_ref,
    }
}

fn attr_def(attr: &AttrSpec) -> AttrDef {
    let allowed = attr.allowed.as_ref().map(|allowed| match allowed {
        Allowed::Types(types) => AllowedValues::Types(types.iter().copied().map(dtype).collect()),
        Allowed::Strings(strings) => AllowedValues::Strings(strings.iter().cloned().map(Cow::Owned).collect()),
    });
    AttrDef {
        name: attr.name.clone().into(),
        ty: attr.ty,
        default: attr.default.as_ref().map(|default| default_value(default, attr.ty.base)),
        description: Cow::Borrowed(""),
        minimum: attr.minimum,
        allowed,
    }
}

/// The elements of a list that are of one type; the grammar makes no others.
macro_rules! each {
    ($values:expr, $pattern:pat => $value:expr) => {
        $values.iter().filter_map(|value| if let $pattern = value { Some($value) } else { None }).collect()
    };
}

fn default_value(default: &DefaultValue, base: AttrBase) -> AttrDefault {
    match default {
        DefaultValue::One(value) => match value.clone() {
            Scalar::String(bytes) => AttrDefault::String(bytes.into()),
            Scalar::Int(value) => AttrDefault::Int(value),
            Scalar::Float(value) => AttrDefault::Float(value),
            Scalar::Bool(value) => AttrDefault::Bool(value),
            Scalar::Type(value) => AttrDefault::Type(dtype(value)),
            Scalar::Shape(dims) => AttrDefault::Shape(dims.map(Cow::Owned)),
            Scalar::Tensor(bytes) => AttrDefault::Tensor(bytes.into()),
            Scalar::Func(bytes) => AttrDefault::Func(bytes.into()),
        },
        DefaultValue::List(values) => match base {
            AttrBase::String => AttrDefault::ListString(each!(values, Scalar::String(bytes) => bytes.clone().into())),
            AttrBase::Int => AttrDefault::ListInt(each!(values, Scalar::Int(value) => *value)),
            AttrBase::Float => AttrDefault::ListFloat(each!(values, Scalar::Float(value) => *value)),
            AttrBase::Bool => AttrDefault::ListBool(each!(values, Scalar::Bool(value) => *value)),
            AttrBase::Type => AttrDefault::ListType(each!(values, Scalar::Type(value) => dtype(*value))),
            AttrBase::Shape => {
                AttrDefault::ListShape(each!(values, Scalar::Shape(dims) => dims.clone().map(Cow::Owned)))
            }
            AttrBase::Tensor => AttrDefault::ListTensor(each!(values, Scalar::Tensor(bytes) => bytes.clone().into())),
            AttrBase::Func => AttrDefault::ListFunc(each!(values, Scalar::Func(bytes) => bytes.clone().into())),
        },
    }
}

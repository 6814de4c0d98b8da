//! Tests of shape functions in TensorFlow's notation.
//!
//! Shapes of inputs are written `?`, `[]` or `[1,?,3]`, separated by `;`. For each output is expected:
//!
//! | | |
//! |---|---|
//! | `?` | unknown rank, and not the shape of an input |
//! | `in0`, `in0\|in2` | the very shape of one of these inputs |
//! | `[2,?,d0_1]` | for each dimension a size that is not an input's dimension, or an unknown size that is not, or the very dimension 1 of input 0 |
//! | `e` | in place of all outputs: the function fails |
//!
//! Alternatives are separated by `|`.
//!
//! A [`ShapeTest`] also holds what the notation does not say: attrs, constant inputs, shapes that inputs hold, what is
//! behind a resource handle, the version of the graph. `infer_ok(&test, inputs, outputs)` is TensorFlow's
//! `INFER_OK(op, inputs, outputs)`, and `infer_error(text, &test, inputs)` its `INFER_ERROR(text, op, inputs)`.
//!
//! ```
//! use kernlink_framework as kernlink;
//! use kernlink::shape_inference::{common, testing::{ShapeTest, infer_error, infer_ok}};
//!
//! let test = ShapeTest::anonymous(2, 1, common::merge_both_inputs_shape);
//! infer_ok(&test, "[1,?];?", "in0");
//! infer_ok(&test, "[?,2];[1,?]", "[d1_0,d0_1]");
//! infer_error("Shapes must be equal rank", &test, "[1];[1,2]");
//! ```

use std::borrow::Cow;

use super::context::set_at;
use super::{DimHandle, InferenceContext, ShapeAndType, ShapeFn, ShapeHandle};
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::{AllowedValues, ArgDef, ArgType, AttrBase, AttrDef, AttrType, Op, OpDef, Signature};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// What a resource or variant holds: a shape and a dtype for each tensor.
type Held = Vec<(PartialShape, Option<DataType>)>;

/// A shape function, the op that it is for, and the attrs and constant inputs of the node that it is tested on.
#[derive(Clone)]
pub struct ShapeTest {
    op: OpDef,
    shape_fn: ShapeFn,
    attrs: AttrMap,
    input_tensors: Vec<Option<Tensor>>,
    input_tensors_as_shapes: Vec<Option<PartialShape>>,
    input_handles: Vec<(usize, Held)>,
    graph_def_version: Option<i32>,
}

impl ShapeTest {
    /// For a node of `op`. Attrs that are not set have their default; dtypes without one are float, or the first one
    /// that is allowed; the lengths of lists follow from the number of inputs.
    pub fn new(op: &OpDef, shape_fn: ShapeFn) -> ShapeTest {
        ShapeTest {
            op: op.clone(),
            shape_fn,
            attrs: AttrMap::new(),
            input_tensors: Vec::new(),
            input_tensors_as_shapes: Vec::new(),
            input_handles: Vec::new(),
            graph_def_version: None,
        }
    }

    /// As [`ShapeTest::new`], for an op that is a type.
    pub fn of<O: Op>(shape_fn: ShapeFn) -> ShapeTest {
        ShapeTest::new(O::DEF, shape_fn)
    }

    /// For an op without attrs whose inputs and outputs are single tensors.
    pub fn anonymous(inputs: usize, outputs: usize, shape_fn: ShapeFn) -> ShapeTest {
        let args = |prefix: &str, count: usize| -> Vec<ArgDef> {
            let arg = |index| ArgDef {
                name: format!("{prefix}{index}").into(),
                description: Cow::Borrowed(""),
                ty: ArgType::Fixed(DataType::Float),
                number_attr: None,
                is_ref: false,
            };
            (0..count).map(arg).collect()
        };
        let op = OpDef {
            name: Cow::Borrowed("Test"),
            inputs: args("in", inputs).into(),
            outputs: args("out", outputs).into(),
            ..OpDef::EMPTY
        };
        ShapeTest::new(&op, shape_fn)
    }

    /// Adds an attr without default to the op.
    pub fn declare_attr(mut self, name: &str, ty: AttrType) -> ShapeTest {
        self.op.attrs.to_mut().push(AttrDef {
            name: name.to_owned().into(),
            ty,
            default: None,
            description: Cow::Borrowed(""),
            minimum: None,
            allowed: None,
        });
        self
    }

    /// Sets an attr of the node.
    pub fn attr(mut self, name: &str, value: impl Into<AttrValue>) -> ShapeTest {
        self.attrs.insert(name, value);
        self
    }

    /// Makes input `index` a constant.
    pub fn input_tensor(mut self, index: usize, tensor: Tensor) -> ShapeTest {
        set_at(&mut self.input_tensors, index, tensor);
        self
    }

    /// Makes something known of input `index`, which holds a shape.
    pub fn input_tensor_as_shape(mut self, index: usize, shape: PartialShape) -> ShapeTest {
        set_at(&mut self.input_tensors_as_shapes, index, shape);
        self
    }

    /// Says what the resource or variant at input `index` holds: a shape and a dtype for each tensor.
    pub fn input_handle(mut self, index: usize, held: &[(PartialShape, Option<DataType>)]) -> ShapeTest {
        self.input_handles.push((index, held.to_vec()));
        self
    }

    /// Says for which version of GraphDef the graph was written.
    pub fn graph_def_version(mut self, version: i32) -> ShapeTest {
        self.graph_def_version = Some(version);
        self
    }

    /// Runs the shape function on inputs of these shapes, and `inspect` on the context that it leaves: for what the
    /// notation does not say, such as what resources hold.
    ///
    /// # Errors
    /// If the function fails, or the notation is wrong.
    pub fn inspect<R>(&self, inputs: &str, inspect: impl FnOnce(&InferenceContext<'_>) -> R) -> Result<R, String> {
        let mut seen = None;
        self.run(inputs, |c, result| {
            result.map_err(|error| error.to_string())?;
            seen = Some(inspect(c));
            Ok(())
        })?;
        seen.ok_or_else(|| "the function did not run".to_owned())
    }

    /// The attrs of a node with this many inputs.
    fn complete_attrs(&self, num_inputs: usize) -> AttrMap {
        let single = self.op.inputs.iter().filter(|arg| !arg.is_list()).count();
        let length = num_inputs.saturating_sub(single);
        let mut attrs = self.attrs.clone();
        for attr in self.op.attrs.iter().filter(|attr| self.attrs.get(&attr.name).is_none()) {
            let dtype = match &attr.allowed {
                Some(AllowedValues::Types(types)) if !types.contains(&DataType::Float) => types.first().copied(),
                _ => Some(DataType::Float),
            };
            let value = match (&attr.default, attr.ty, dtype) {
                // Tensors and functions do not matter to shapes, and stay unset.
                (Some(default), ..) => default.plain_value().ok().flatten(),
                (None, AttrType { base: AttrBase::Type, list: false }, Some(dtype)) => Some(AttrValue::Type(dtype)),
                (None, AttrType { base: AttrBase::Type, list: true }, Some(dtype)) => {
                    Some(AttrValue::ListType(vec![dtype; length]))
                }
                (None, AttrType { base: AttrBase::Int, list: false }, _) if self.op.is_inferred(&attr.name) => {
                    Some(AttrValue::Int(length as i64))
                }
                _ => None,
            };
            if let Some(value) = value {
                attrs.insert(attr.name.clone(), value);
            }
        }
        attrs
    }

    /// Runs the shape function on inputs of these shapes, and `check` on what it made of them.
    fn run(
        &self,
        inputs: &str,
        check: impl FnOnce(&InferenceContext<'_>, Result<()>) -> Result<(), String>,
    ) -> Result<(), String> {
        let shapes = parse_shapes(inputs)?;
        let attrs = self.complete_attrs(shapes.len());
        let signature = Signature::new(&self.op, &attrs).map_err(|error| error.to_string())?;
        if signature.inputs.len() != shapes.len() {
            return Err(format!("{} input shapes are given for {} inputs", shapes.len(), signature.inputs.len()));
        }
        let mut context = InferenceContext::new(&self.op, &attrs, &signature, shapes, self.input_tensors.clone());
        context.set_input_tensors_as_shapes(&self.input_tensors_as_shapes);
        if let Some(version) = self.graph_def_version {
            context.set_graph_def_version(version);
        }
        for (index, held) in &self.input_handles {
            let held: Vec<_> = held
                .iter()
                .map(|(shape, dtype)| ShapeAndType { shape: context.make_shape_from_partial(shape), dtype: *dtype })
                .collect();
            context.set_input_handle_shapes_and_types(*index, &held);
        }
        let result = context.run(self.shape_fn);
        check(&context, result)
    }

    /// Whether inputs of these shapes give the expected outputs.
    ///
    /// # Errors
    /// What is otherwise.
    pub fn check(&self, inputs: &str, outputs: &str) -> Result<(), String> {
        self.run(inputs, |c, result| match (result, outputs) {
            (Err(_), "e") => Ok(()),
            (Ok(()), "e") => Err(format!("the function should fail, but gave {:?}", c.output_shapes())),
            (Err(error), _) => Err(format!("the function failed: {error}")),
            (Ok(()), _) => {
                let expected: Vec<&str> = if outputs.is_empty() { Vec::new() } else { outputs.split(';').collect() };
                if expected.len() != c.num_outputs() {
                    return Err(format!("{} outputs are expected of {}", expected.len(), c.num_outputs()));
                }
                expected.iter().enumerate().try_for_each(|(index, expected)| check_output(c, index, expected))
            }
        })
    }

    /// The error that inputs of these shapes give.
    ///
    /// # Errors
    /// If they give none, or the notation is wrong.
    pub fn error(&self, inputs: &str) -> Result<Error, String> {
        let mut found = None;
        self.run(inputs, |c, result| {
            found = result.err();
            if found.is_some() { Ok(()) } else { Err(format!("the function gave {:?}", c.output_shapes())) }
        })?;
        found.ok_or_else(|| "the function did not fail".to_owned())
    }
}

/// Checks that inputs of these shapes give the expected outputs.
///
/// # Panics
/// If they do not.
#[track_caller]
pub fn infer_ok(test: &ShapeTest, inputs: &str, outputs: &str) {
    if let Err(message) = test.check(inputs, outputs) {
        panic!("{}({inputs}) should give {outputs}: {message}", test.op.name);
    }
}

/// Checks that inputs of these shapes give an error with `message` in its text.
///
/// # Panics
/// If they do not.
#[track_caller]
pub fn infer_error(message: &str, test: &ShapeTest, inputs: &str) {
    match test.error(inputs) {
        Ok(error) if error.message().contains(message) => {}
        Ok(error) => panic!("{}({inputs}) should fail with `{message}`, not with: {error}", test.op.name),
        Err(other) => panic!("{}({inputs}) should fail with `{message}`: {other}", test.op.name),
    }
}

/// Shapes as `[1,?];?` writes them.
fn parse_shapes(text: &str) -> Result<Vec<PartialShape>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(';').map(parse_shape).collect()
}

fn parse_shape(text: &str) -> Result<PartialShape, String> {
    if text == "?" {
        return Ok(PartialShape::unknown());
    }
    let dims = brackets(text)?;
    let dims = dims.iter().map(|dim| match *dim {
        "?" => Ok(None),
        dim => dim.parse::<usize>().map(Some).map_err(|_| format!("`{dim}` in `{text}` is no size")),
    });
    Ok(PartialShape::from_known(dims.collect::<Result<Vec<_>, _>>()?))
}

fn brackets(text: &str) -> Result<Vec<&str>, String> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner {
        Some("") => Ok(Vec::new()),
        Some(inner) => Ok(inner.split(',').collect()),
        None => Err(format!("`{text}` is no shape")),
    }
}

fn check_output(c: &InferenceContext<'_>, index: usize, expected: &str) -> Result<(), String> {
    let output = c.output(index);
    let is_input = (0..c.num_inputs()).find(|&input| c.input(input) == output);
    let wrong = |what: String| {
        let origin = is_input.map_or(String::new(), |input| format!(", the shape of input {input}"));
        Err(format!("output {index} {what}, but is {}{origin}", c.debug_string(output)))
    };
    if expected.starts_with("in") {
        let names = expected.split('|').map(|name| name.strip_prefix("in").and_then(|n| n.parse::<usize>().ok()));
        let names: Option<Vec<usize>> = names.collect();
        let names = names.ok_or_else(|| format!("`{expected}` does not name inputs"))?;
        return match is_input {
            Some(_) if names.iter().any(|&name| name < c.num_inputs() && c.input(name) == output) => Ok(()),
            _ => wrong(format!("should be the shape of {expected}")),
        };
    }
    if is_input.is_some() {
        return wrong(format!("should be {expected} and not the shape of an input"));
    }
    if expected == "?" {
        return if c.rank_known(output) { wrong("should be of unknown rank".to_owned()) } else { Ok(()) };
    }
    let dims = brackets(expected)?;
    match c.dims(output) {
        Some(actual) if actual.len() == dims.len() => {
            for (axis, (&actual, expected)) in actual.iter().zip(dims).enumerate() {
                let fits = expected.split('|').map(|expected| dim_fits(c, actual, expected));
                if !fits.collect::<Result<Vec<_>, _>>()?.contains(&true) {
                    let found = describe_dim(c, actual);
                    return wrong(format!("should have {expected}, not {found}, as dimension {axis}"));
                }
            }
            Ok(())
        }
        _ => wrong(format!("should be {expected}")),
    }
}

/// The dimensions of inputs that are `dim`, as (input, axis).
fn origins(c: &InferenceContext<'_>, dim: DimHandle) -> Vec<(usize, usize)> {
    let dims = |shape: ShapeHandle| c.dims(shape).unwrap_or_default();
    (0..c.num_inputs())
        .flat_map(|input| dims(c.input(input)).into_iter().enumerate().map(move |(axis, other)| (input, axis, other)))
        .filter(|&(_, _, other)| other == dim)
        .map(|(input, axis, _)| (input, axis))
        .collect()
}

fn describe_dim(c: &InferenceContext<'_>, dim: DimHandle) -> String {
    match origins(c, dim).first() {
        Some((input, axis)) => format!("d{input}_{axis}"),
        None => c.value(dim).map_or("?".to_owned(), |size| size.to_string()),
    }
}

fn dim_fits(c: &InferenceContext<'_>, dim: DimHandle, expected: &str) -> Result<bool, String> {
    let origins = origins(c, dim);
    if let Some(place) = expected.strip_prefix('d') {
        let (input, axis) = place.split_once('_').ok_or_else(|| format!("`{expected}` names no dimension"))?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| format!("`{expected}` names no dimension"));
        return Ok(origins.contains(&(number(input)?, number(axis)?)));
    }
    let size = match expected {
        "?" => None,
        size => Some(size.parse::<i64>().map_err(|_| format!("`{size}` is no size"))?),
    };
    Ok(origins.is_empty() && c.value(dim) == size)
}

/// Runs `test` on a context with inputs of these shapes and two outputs: for what shape functions are built from.
///
/// # Panics
/// If the notation is wrong.
pub fn context(inputs: &str, test: impl FnOnce(&mut InferenceContext<'_>)) {
    let shapes = parse_shapes(inputs).expect("the notation is right");
    let op = ShapeTest::anonymous(shapes.len(), 2, super::common::no_outputs).op;
    let attrs = AttrMap::new();
    let signature = Signature::new(&op, &attrs).expect("nothing depends on attrs");
    test(&mut InferenceContext::new(&op, &attrs, &signature, shapes, Vec::new()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(test: &ShapeTest, inputs: &str, outputs: &str) -> String {
        test.check(inputs, outputs).unwrap_err()
    }

    #[test]
    fn shapes_of_inputs_are_told_from_equal_ones() {
        let same = ShapeTest::anonymous(2, 1, |c| {
            c.set_output(0, c.input(1));
            Ok(())
        });
        infer_ok(&same, "[1];[1]", "in1");
        infer_ok(&same, "[1];[1]", "in0|in1");
        assert!(
            message(&same, "[1];[1]", "in0").contains("should be the shape of in0, but is [1], the shape of input 1")
        );
        assert!(message(&same, "[1];[1]", "[1]").contains("not the shape of an input"));
        assert!(message(&same, "?;?", "?").contains("not the shape of an input"));
    }

    #[test]
    fn dimensions_of_inputs_are_told_from_equal_ones() {
        let dims = ShapeTest::anonymous(1, 1, |c| {
            c.set_output(0, c.make_shape([c.dim(c.input(0), 1), c.make_dim(7), c.unknown_dim()]));
            Ok(())
        });
        infer_ok(&dims, "[1,2]", "[d0_1,7,?]");
        infer_ok(&dims, "[1,2]", "[d0_0|d0_1,7,?]");
        assert!(message(&dims, "[1,2]", "[2,7,?]").contains("should have 2, not d0_1, as dimension 0"));
        assert!(message(&dims, "[1,?]", "[?,7,?]").contains("should have ?, not d0_1"));
        assert!(message(&dims, "[1,2]", "[d0_0,7,?]").contains("should have d0_0, not d0_1"));
        assert!(message(&dims, "[1,2]", "[d0_1,8,?]").contains("should have 8, not 7"));
        assert!(message(&dims, "[1,2]", "[d0_1,7,7]").contains("should have 7, not ?"));
        assert!(message(&dims, "[1,2]", "[d0_1,7]").contains("should be [d0_1,7], but is [2,7,?]"));
        assert!(message(&dims, "[1,2]", "?").contains("unknown rank"));
    }

    #[test]
    fn failures() {
        let fails = ShapeTest::anonymous(1, 1, |_| Err(Error::invalid_argument("never")));
        infer_ok(&fails, "?", "e");
        infer_error("never for op 'Test' with input shapes: [1,?].", &fails, "[1,?]");
        assert!(message(&fails, "?", "?").contains("never"));
        let works = ShapeTest::anonymous(1, 1, super::super::common::scalar);
        assert!(message(&works, "?", "e").contains("should fail"));
        assert!(works.error("?").is_err());
        assert!(message(&works, "?", "[];[]").contains("2 outputs are expected of 1"));
        assert!(message(&works, "?;?", "[]").contains("2 input shapes are given for 1 inputs"));
        for wrong in ["1", "[1", "[x]", "[-1]", "[1, 2]"] {
            assert!(works.check(wrong, "[]").is_err(), "{wrong}");
        }
        assert!(works.check("?", "[]").is_ok());
    }
}

//! Literals as inputs of ops: they take the dtype that the op asks for.

use super::scope::{NodeInput, Operand};
use crate::attr::{AttrMap, AttrValue};
use crate::dispatch_pod;
use crate::dtype::{Complex64, DataType, Element, Pod, Scalar};
use crate::op::{AllowedValues, ArgDef, ArgType, AttrDefault, OpDef};
use crate::tensor::Tensor;

impl<V> Operand<V> {
    /// A literal as a constant of this dtype, if it becomes that; everything else as it is.
    #[must_use]
    pub fn with_dtype(self, dtype: DataType) -> Operand<V> {
        match self {
            Operand::Literal(literal) => Operand::Constant(settled(&literal, dtype).unwrap_or(literal)),
            other => other,
        }
    }
}

/// Makes literals constants of the dtypes that their arguments have: a fixed dtype, or that of an attr which is given, or
/// which follows from other inputs that are no literals. Where only literals say what an attr is, they are what TensorFlow
/// makes of Python's numbers; see [`of_literals`]. What cannot be is a fault.
#[inline]
pub(crate) fn settle<V>(
    op: &OpDef,
    inputs: &mut [NodeInput<V>],
    attrs: &AttrMap,
    type_of: impl Fn(&V) -> Option<DataType>,
    faults: &mut Vec<String>,
) {
    let is_literal = |operand: &Operand<V>| matches!(operand, Operand::Literal(_));
    if inputs.iter().any(|input| input.operands().iter().any(is_literal)) {
        settle_literals(op, inputs, attrs, type_of, faults);
    }
}

#[inline(never)]
fn settle_literals<V>(
    op: &OpDef,
    inputs: &mut [NodeInput<V>],
    attrs: &AttrMap,
    type_of: impl Fn(&V) -> Option<DataType>,
    faults: &mut Vec<String>,
) {
    for (index, arg) in op.inputs.iter().enumerate().take(inputs.len()) {
        if !inputs[index].operands().iter().any(|operand| matches!(operand, Operand::Literal(_))) {
            continue;
        }
        match &arg.ty {
            ArgType::Fixed(dtype) => settle_operands(arg, &mut inputs[index], |_, _| Some(*dtype), None, faults),
            ArgType::ListAttr(attr) => {
                let given = match attrs.get(attr) {
                    Some(AttrValue::ListType(dtypes)) => Some(dtypes),
                    _ => None,
                };
                let dtype = |position: usize, literal: &Tensor| match given {
                    Some(dtypes) => dtypes.get(position).copied(),
                    None => Some(of_literals(op, attr, || std::iter::once(literal))),
                };
                settle_operands(arg, &mut inputs[index], dtype, None, faults);
            }
            // All that share the attr at once, as long as its literals can be told from the inputs that decide.
            ArgType::Attr(attr) => {
                let (dtype, source) = of_attr(op, attr, attrs, inputs, &type_of);
                for (arg, input) in op.inputs.iter().zip(inputs.iter_mut()).filter(|(arg, _)| is_of_attr(arg, attr)) {
                    settle_operands(arg, input, |_, _| Some(dtype), source, faults);
                }
            }
        }
    }
}

/// Makes the literals of an input constants of the dtype at their positions; without one they keep their own.
fn settle_operands<V>(
    arg: &ArgDef,
    input: &mut NodeInput<V>,
    dtype: impl Fn(usize, &Tensor) -> Option<DataType>,
    source: Option<&ArgDef>,
    faults: &mut Vec<String>,
) {
    let operands = match input {
        NodeInput::Single(operand) => std::slice::from_mut(operand),
        NodeInput::List(operands) => operands,
    };
    for (position, operand) in operands.iter_mut().enumerate() {
        let Operand::Literal(literal) = operand else { continue };
        let constant = match dtype(position, literal) {
            Some(dtype) => settled(literal, dtype).unwrap_or_else(|what| {
                faults.push(fault(arg, &what, dtype, source));
                // Of the right dtype, so that nothing else is at fault.
                Tensor::zeros(dtype, [0]).unwrap_or_else(|_| literal.clone())
            }),
            None => literal.clone(),
        };
        *operand = Operand::Constant(constant);
    }
}

fn is_of_attr(arg: &ArgDef, attr: &str) -> bool {
    matches!(&arg.ty, ArgType::Attr(other) if other == attr)
}

/// The dtype that an attr has, and the input from which it follows.
fn of_attr<'o, V>(
    op: &'o OpDef,
    attr: &str,
    attrs: &AttrMap,
    inputs: &[NodeInput<V>],
    type_of: impl Fn(&V) -> Option<DataType>,
) -> (DataType, Option<&'o ArgDef>) {
    if let Some(AttrValue::Type(dtype)) = attrs.get(attr) {
        return (*dtype, None);
    }
    let args = || op.inputs.iter().zip(inputs).filter(|(arg, _)| is_of_attr(arg, attr));
    for (arg, input) in args() {
        let known = input.operands().iter().find_map(|operand| match operand {
            Operand::Value(value) => type_of(value),
            Operand::Constant(tensor) => Some(tensor.dtype()),
            Operand::Literal(_) => None,
        });
        if let Some(dtype) = known {
            return (dtype, Some(arg));
        }
    }
    let literals = || {
        args().flat_map(|(_, input)| input.operands()).filter_map(|operand| match operand {
            Operand::Literal(literal) => Some(literal),
            _ => None,
        })
    };
    (of_literals(op, attr, literals), None)
}

/// The dtype of an attr of which only literals are known, as TensorFlow's wrappers for Python decide: `int32` if all are
/// integers, or else `float`, if the attr lists that as allowed; or else the attr's default, if all of them become that.
/// Attrs that list only wider numbers get `int64` or `double`, which TensorFlow refuses. What is left is `int32` or
/// `float`, which the check of the attr refuses if it is not allowed.
fn of_literals<'t, I: Iterator<Item = &'t Tensor>>(op: &OpDef, attr: &str, literals: impl Fn() -> I) -> DataType {
    let is_float = literals().any(|literal| literal.dtype() == DataType::Double);
    let (usual, wider) =
        if is_float { (DataType::Float, DataType::Double) } else { (DataType::Int32, DataType::Int64) };
    let Some(def) = op.attrs.iter().find(|def| def.name == attr) else { return usual };
    let allowed = match &def.allowed {
        Some(AllowedValues::Types(dtypes)) => Some(dtypes),
        _ => None,
    };
    if allowed.is_some_and(|dtypes| dtypes.contains(&usual)) {
        return usual;
    }
    match (&def.default, allowed) {
        (Some(AttrDefault::Type(default)), _) if literals().all(|literal| settled(literal, *default).is_ok()) => {
            *default
        }
        (_, Some(dtypes)) if dtypes.contains(&wider) => wider,
        _ => usual,
    }
}

/// Says that a literal cannot have the dtype that it should.
#[cold]
fn fault(arg: &ArgDef, what: &str, dtype: DataType, source: Option<&ArgDef>) -> String {
    let reason = match source {
        Some(source) => format!(", the dtype of input '{}'", source.name),
        None => String::new(),
    };
    format!("Input '{}' is given as {what}, which is no {dtype}{reason}", arg.name)
}

/// The elements of a literal as those of another dtype: integers become any number that has their value, floats become
/// floats, to which they are rounded, and complex numbers. What is finite stays so.
///
/// # Errors
/// What the literal is, if it does not become that.
pub(crate) fn settled(literal: &Tensor, dtype: DataType) -> Result<Tensor, String> {
    fn convert<T: Pod>(values: &mut dyn Iterator<Item = Scalar>, shape: &[usize]) -> Result<Tensor, String> {
        let wanted = T::default().to_scalar();
        let mut elements = values.map(|value| {
            let same_kind = match (wanted, value) {
                (Scalar::Float(_), Scalar::Integer(value)) => Scalar::Float(value as f64),
                (Scalar::Complex(_), Scalar::Integer(value)) => Scalar::Complex(Complex64::new(value as f64, 0.0)),
                (Scalar::Complex(_), Scalar::Float(value)) => Scalar::Complex(Complex64::new(value, 0.0)),
                _ => value,
            };
            let element = T::from_scalar(same_kind).filter(|element| is_exact(element.to_scalar(), value));
            element.ok_or_else(|| match value {
                Scalar::Integer(value) => value.to_string(),
                Scalar::Float(value) if same_kind_of(wanted) => format!("{value:?} (too large)"),
                Scalar::Float(value) => format!("{value:?}"),
                other => format!("{other:?}"),
            })
        });
        if shape.is_empty()
            && let Some(element) = elements.next()
        {
            return Ok(Tensor::scalar(element?));
        }
        let elements: Vec<T> = elements.collect::<Result<_, _>>()?;
        Tensor::from_elements(shape, &elements).map_err(|error| error.message().to_owned())
    }
    fn same_kind_of(wanted: Scalar) -> bool {
        matches!(wanted, Scalar::Float(_) | Scalar::Complex(_))
    }
    fn is_exact(converted: Scalar, value: Scalar) -> bool {
        match (converted, value) {
            (Scalar::Float(float) | Scalar::Complex(Complex64 { re: float, .. }), Scalar::Integer(value)) => {
                float == value as f64
            }
            (Scalar::Float(float) | Scalar::Complex(Complex64 { re: float, .. }), Scalar::Float(value)) => {
                float.is_finite() || !value.is_finite()
            }
            _ => true,
        }
    }
    fn scalars<T: Pod>(literal: &Tensor) -> impl Iterator<Item = Scalar> {
        literal.as_slice::<T>().unwrap_or_default().iter().map(|element| element.to_scalar())
    }
    let shape = literal.shape().dims();
    let converted = match literal.dtype() {
        same if same == dtype => return Ok(literal.clone()),
        i32::DTYPE => dispatch_pod!(dtype, T => convert::<T>(&mut scalars::<i32>(literal), shape)),
        f64::DTYPE => dispatch_pod!(dtype, T => convert::<T>(&mut scalars::<f64>(literal), shape)),
        _ => None,
    };
    converted.unwrap_or_else(|| Err(literal.dtype().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::{Complex32, Int4, QInt8, bf16, f16};
    use crate::op::OpDefBuilder;
    use crate::tensor::IntoTensor;

    fn literal(value: impl IntoTensor) -> Tensor {
        Tensor::new(value).unwrap()
    }

    fn becomes<T: Pod + PartialEq>(value: impl IntoTensor, expected: &[T]) {
        let tensor = settled(&literal(value), T::DTYPE).unwrap();
        assert_eq!(tensor.as_slice::<T>().unwrap(), expected);
    }

    #[test]
    fn what_literals_become() {
        becomes(2, &[2.0f32]);
        becomes([1, -2], &[f16::ONE, -f16::from_f32(2.0)]);
        becomes([[1, 255]], &[1u8, 255]);
        becomes(7, &[QInt8(7)]);
        becomes(-8, &[Int4(-8)]);
        becomes(3, &[Complex32::new(3.0, 0.0)]);
        becomes([0.1, f64::INFINITY, 1e-300], &[0.1f32, f32::INFINITY, 0.0]);
        becomes(1e300, &[1e300]);
        becomes(0.5, &[bf16::from_f32(0.5)]);
        becomes(0.5, &[Complex32::new(0.5, 0.0)]);
        let shape = settled(&literal([[1, 2], [3, 4]]), DataType::Int64).unwrap();
        assert_eq!(shape.shape().dims(), [2, 2]);
        let refused = |value: Tensor, dtype| settled(&value, dtype).unwrap_err();
        assert_eq!(refused(literal([1, 300]), DataType::Uint8), "300");
        assert_eq!(refused(literal(-1), DataType::Uint64), "-1");
        assert_eq!(refused(literal(2.0), DataType::Int32), "2.0");
        assert_eq!(refused(literal([0.1, 1e300]), DataType::Float), "1e300 (too large)");
        assert_eq!(refused(literal(-65520.0), DataType::Half), "-65520.0 (too large)");
        assert_eq!(refused(literal(1e39), DataType::Bfloat16), "1e39 (too large)");
        assert_eq!(refused(literal(1e39), DataType::Complex64), "1e39 (too large)");
        assert_eq!(refused(literal(16777217), DataType::Float), "16777217");
        assert_eq!(refused(literal(1), DataType::Bool), "1");
        assert_eq!(refused(literal(1), DataType::String), "int32");
    }

    /// The dtypes that operands have in the end, and the faults.
    fn settle_all(op: OpDefBuilder, inputs: &[(Tensor, bool)], attrs: &AttrMap) -> (Vec<DataType>, Vec<String>) {
        let op = op.build().unwrap();
        let input = |(tensor, is_literal): &(Tensor, bool)| {
            NodeInput::Single(match is_literal {
                true => Operand::Literal(tensor.clone()),
                false => Operand::Value(tensor.clone()),
            })
        };
        let mut inputs: Vec<NodeInput<Tensor>> = inputs.iter().map(input).collect();
        let mut faults = Vec::new();
        settle(&op, &mut inputs, attrs, |tensor| Some(tensor.dtype()), &mut faults);
        let dtype = |operand: &Operand<Tensor>| match operand {
            Operand::Value(tensor) | Operand::Constant(tensor) => tensor.dtype(),
            Operand::Literal(_) => panic!("a literal is left"),
        };
        (inputs.iter().flat_map(NodeInput::operands).map(dtype).collect(), faults)
    }

    #[test]
    fn where_the_dtype_comes_from() {
        let binary = || OpDefBuilder::new("Binary").attr("T: type").input("x: T").input("y: T").output("z: T");
        let (none, half) = (AttrMap::new(), literal(f16::ONE));
        let given = |dtype: DataType| [("T".to_owned(), AttrValue::from(dtype))].into_iter().collect::<AttrMap>();
        let dtypes = |inputs: &[(Tensor, bool)], attrs: &AttrMap| settle_all(binary(), inputs, attrs).0;
        assert_eq!(dtypes(&[(half.clone(), false), (literal(2.5), true)], &none), [DataType::Half; 2]);
        assert_eq!(dtypes(&[(literal(2), true), (half.clone(), false)], &none), [DataType::Half; 2]);
        assert_eq!(dtypes(&[(literal(2), true), (literal(3), true)], &none), [DataType::Int32; 2]);
        assert_eq!(dtypes(&[(literal(2), true), (literal(0.5), true)], &none), [DataType::Float; 2]);
        assert_eq!(dtypes(&[(literal(2), true), (literal(3), true)], &given(DataType::Float)), [DataType::Float; 2]);
        let (_, faults) = settle_all(binary(), &[(literal(1u8), false), (literal(300), true)], &none);
        assert_eq!(faults, ["Input 'y' is given as 300, which is no uint8, the dtype of input 'x'"]);

        let fixed = OpDefBuilder::new("Fixed").input("index: int64").output("z: int64");
        assert_eq!(settle_all(fixed, &[(literal([1, 2]), true)], &none).0, [DataType::Int64]);
    }

    /// As `tf.raw_ops` answer, but for an attr that takes only wider numbers, which is refused there, and an integer before a
    /// float.
    #[test]
    fn literals_alone_are_what_tensorflow_makes_of_them() {
        let dtype = |attr: &str, value: Tensor| {
            let op = OpDefBuilder::new("Unary").attr(attr).input("x: T").output("y: T");
            let (dtypes, faults) = settle_all(op, &[(value, true)], &AttrMap::new());
            assert_eq!(faults, [""; 0]);
            dtypes[0]
        };
        // LeakyRelu, FFT, Sum's reduction_indices, Relu.
        let leaky = "T: {half, bfloat16, float, double} = DT_FLOAT";
        assert_eq!(dtype(leaky, literal(2)), DataType::Float);
        assert_eq!(dtype(leaky, literal(2.0)), DataType::Float);
        assert_eq!(dtype("T: {complex64, complex128} = DT_COMPLEX64", literal([1.0, 2.0])), DataType::Complex64);
        assert_eq!(dtype("T: {int32, int64} = DT_INT32", literal(0)), DataType::Int32);
        assert_eq!(dtype("T: {float, double, int32}", literal(1)), DataType::Int32);
        // What is allowed and usual goes before the default, which goes first where all is allowed.
        assert_eq!(dtype("T: {float, int32} = DT_FLOAT", literal(1)), DataType::Int32);
        assert_eq!(dtype("T: type = DT_INT64", literal(1)), DataType::Int64);
        assert_eq!(dtype("T: type = DT_INT64", literal(1.5)), DataType::Float);
        assert_eq!(dtype("T: {half, double}", literal(1.5)), DataType::Double);
        assert_eq!(dtype("T: {int8, int64}", literal(1)), DataType::Int64);
        // Sqrt and Softmax of integers are refused.
        assert_eq!(dtype("T: {half, float}", literal(1)), DataType::Int32);
    }

    #[test]
    fn each_literal_of_a_list_of_types_is_for_itself() {
        let op = || OpDefBuilder::new("Each").attr("T: list(type)").input("x: T").output("y: T").build().unwrap();
        let list = vec![Operand::<Tensor>::Literal(literal(1)), Operand::Literal(literal(0.5))];
        let mut inputs = [NodeInput::List(list)];
        settle(&op(), &mut inputs, &AttrMap::new(), |tensor| Some(tensor.dtype()), &mut Vec::new());
        let dtypes: Vec<_> = inputs[0].operands().iter().map(|operand| operand.tensor().unwrap().dtype()).collect();
        assert_eq!(dtypes, [DataType::Int32, DataType::Float]);
    }

    #[test]
    fn faults_name_the_input_that_decides() {
        let op = OpDefBuilder::new("Three").attr("T: type").input("x: T").input("y: T").input("z: T").output("o: T");
        let (_, faults) =
            settle_all(op, &[(literal(1), true), (literal(1u8), false), (literal(300), true)], &AttrMap::new());
        assert_eq!(faults, ["Input 'z' is given as 300, which is no uint8, the dtype of input 'y'"]);
    }
}

//! Literals as inputs of ops: they take the dtype that the op asks for.

use super::scope::{NodeInput, Operand};
use crate::attr::{AttrMap, AttrValue};
use crate::dispatch_pod;
use crate::dtype::{Complex64, DataType, Element, Pod, Scalar};
use crate::op::{ArgDef, ArgType, OpDef};
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
/// which follows from other inputs that are no literals. Literals among themselves are `int32` if all of them are, or
/// `double`. What cannot be is a fault.
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
    let known: Vec<Vec<Known>> = inputs
        .iter()
        .map(|input| {
            let operands = input.operands().iter();
            let known = operands.map(|operand| match operand {
                Operand::Value(value) => Known::Dtype(type_of(value)),
                Operand::Constant(tensor) => Known::Dtype(Some(tensor.dtype())),
                Operand::Literal(tensor) => Known::Literal(tensor.dtype()),
            });
            known.collect()
        })
        .collect();
    for (input, arg) in inputs.iter_mut().zip(op.inputs.iter()) {
        let operands = match input {
            NodeInput::Single(operand) => std::slice::from_mut(operand),
            NodeInput::List(operands) => operands,
        };
        for (position, operand) in operands.iter_mut().enumerate() {
            let Operand::Literal(literal) = operand else { continue };
            let (dtype, source) = match &arg.ty {
                ArgType::Fixed(dtype) => (Some(*dtype), None),
                ArgType::Attr(attr) => of_attr(op, attr, attrs, &known),
                ArgType::ListAttr(attr) => match attrs.get(attr) {
                    Some(AttrValue::ListType(dtypes)) => (dtypes.get(position).copied(), None),
                    _ => (None, None),
                },
            };
            let settled = match dtype {
                Some(dtype) => settled(literal, dtype).map_err(|what| fault(arg, &what, dtype, source)),
                None => Ok(literal.clone()),
            };
            *operand = Operand::Constant(settled.unwrap_or_else(|fault| {
                faults.push(fault);
                // Of the right dtype, so that nothing else is at fault.
                dtype.and_then(|dtype| Tensor::zeros(dtype, [0]).ok()).unwrap_or_else(|| literal.clone())
            }));
        }
    }
}

/// What is known of the dtype of an operand.
#[derive(Clone, Copy)]
enum Known {
    Dtype(Option<DataType>),
    Literal(DataType),
}

/// The dtype that an attr has, and the input from which it follows.
fn of_attr<'o>(
    op: &'o OpDef,
    attr: &str,
    attrs: &AttrMap,
    known: &[Vec<Known>],
) -> (Option<DataType>, Option<&'o ArgDef>) {
    if let Some(AttrValue::Type(dtype)) = attrs.get(attr) {
        return (Some(*dtype), None);
    }
    let of_attr = |arg: &ArgDef| matches!(&arg.ty, ArgType::Attr(other) if other == attr);
    let args = || op.inputs.iter().zip(known).filter(|(arg, _)| of_attr(arg));
    for (arg, known) in args() {
        if let Some(Known::Dtype(Some(dtype))) = known.iter().find(|known| matches!(known, Known::Dtype(Some(_)))) {
            return (Some(*dtype), Some(arg));
        }
    }
    let literals = args().flat_map(|(_, known)| known);
    let is_float = |known: &Known| matches!(known, Known::Literal(DataType::Double));
    (Some(if literals.into_iter().any(is_float) { DataType::Double } else { DataType::Int32 }), None)
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
/// floats, to which they are rounded, and complex numbers.
///
/// # Errors
/// What the literal is, if it does not become that.
fn settled(literal: &Tensor, dtype: DataType) -> Result<Tensor, String> {
    fn convert<T: Pod>(values: impl ExactSizeIterator<Item = Scalar>, shape: &[usize]) -> Result<Tensor, String> {
        let wanted = T::default().to_scalar();
        let elements: Vec<T> = values
            .map(|value| {
                let same_kind = match (wanted, value) {
                    (Scalar::Float(_), Scalar::Integer(value)) => Scalar::Float(value as f64),
                    (Scalar::Complex(_), Scalar::Integer(value)) => Scalar::Complex(Complex64::new(value as f64, 0.0)),
                    (Scalar::Complex(_), Scalar::Float(value)) => Scalar::Complex(Complex64::new(value, 0.0)),
                    _ => value,
                };
                let element = T::from_scalar(same_kind).filter(|element| is_exact(element.to_scalar(), value));
                element.ok_or_else(|| match value {
                    Scalar::Integer(value) => value.to_string(),
                    Scalar::Float(value) => format!("{value:?}"),
                    other => format!("{other:?}"),
                })
            })
            .collect::<Result<_, _>>()?;
        Tensor::from_elements(shape, &elements).map_err(|error| error.message().to_owned())
    }
    fn is_exact(converted: Scalar, value: Scalar) -> bool {
        match (converted, value) {
            (Scalar::Float(float) | Scalar::Complex(Complex64 { re: float, .. }), Scalar::Integer(value)) => {
                float == value as f64
            }
            _ => true,
        }
    }
    fn scalars<T: Pod>(literal: &Tensor) -> impl ExactSizeIterator<Item = Scalar> {
        literal.as_slice::<T>().unwrap_or_default().iter().map(|element| element.to_scalar())
    }
    let shape = literal.shape().dims();
    let converted = match literal.dtype() {
        same if same == dtype => return Ok(literal.clone()),
        i32::DTYPE => dispatch_pod!(dtype, T => convert::<T>(scalars::<i32>(literal), shape)),
        f64::DTYPE => dispatch_pod!(dtype, T => convert::<T>(scalars::<f64>(literal), shape)),
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
        becomes([0.1, 1e40], &[0.1f32, f32::INFINITY]);
        becomes(0.5, &[bf16::from_f32(0.5)]);
        becomes(0.5, &[Complex32::new(0.5, 0.0)]);
        let shape = settled(&literal([[1, 2], [3, 4]]), DataType::Int64).unwrap();
        assert_eq!(shape.shape().dims(), [2, 2]);
        let refused = |value: Tensor, dtype| settled(&value, dtype).unwrap_err();
        assert_eq!(refused(literal([1, 300]), DataType::Uint8), "300");
        assert_eq!(refused(literal(-1), DataType::Uint64), "-1");
        assert_eq!(refused(literal(2.0), DataType::Int32), "2.0");
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
        assert_eq!(dtypes(&[(literal(2), true), (literal(0.5), true)], &none), [DataType::Double; 2]);
        assert_eq!(dtypes(&[(literal(2), true), (literal(3), true)], &given(DataType::Float)), [DataType::Float; 2]);
        let (_, faults) = settle_all(binary(), &[(literal(1u8), false), (literal(300), true)], &none);
        assert_eq!(faults, ["Input 'y' is given as 300, which is no uint8, the dtype of input 'x'"]);

        let fixed = OpDefBuilder::new("Fixed").input("index: int64").output("z: int64");
        assert_eq!(settle_all(fixed, &[(literal([1, 2]), true)], &none).0, [DataType::Int64]);
    }
}

//! What operations on elements ask of shapes beyond that they broadcast.

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::Meet;
use kernlink::shape::Shape;
use kernlink::{bail, ensure};

use crate::broadcast::Broadcast;

/// The shape of what a function of elements of these shapes gives, of which no more than `limit` groups of dimensions may
/// broadcast.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit; UNIMPLEMENTED if they broadcast along more groups.
pub fn result_shape(meet: Meet, shapes: &[&Shape], limit: usize) -> Result<Shape> {
    Ok(match (meet, shapes) {
        (_, [x]) => (*x).clone(),
        (Meet::Equal | Meet::Alike, [x, others @ ..]) => {
            others.iter().try_for_each(|other| ensure_alike(x, other, meet == Meet::Alike))?;
            (*x).clone()
        }
        (Meet::Bounds, [x, bounds @ ..]) => {
            bounds.iter().try_for_each(|bound| ensure_bound(x, bound))?;
            (*x).clone()
        }
        (Meet::Condition, [of, then, otherwise]) => {
            condition(of, then, otherwise)?;
            (*then).clone()
        }
        (Meet::Broadcast, [x, others @ ..]) if others.iter().all(|other| other == x) => (*x).clone(),
        (Meet::Broadcast, &[x, y]) => match larger(x, y) {
            Some(shape) => shape.clone(),
            None => Broadcast::new([x, y], limit)?.shape,
        },
        (Meet::Broadcast, &[x, y, z]) => Broadcast::new([x, y, z], limit)?.shape,
        _ => return Err(Error::internal(format!("{} shapes do not meet as {meet:?}", shapes.len()))),
    })
}

/// The shape to which a single element broadcasts, the usual case, if one of these is that.
fn larger<'s>(x: &'s Shape, y: &'s Shape) -> Option<&'s Shape> {
    match (x.num_elements(), y.num_elements()) {
        (_, 1) if y.rank() <= x.rank() => Some(x),
        (1, _) if x.rank() <= y.rank() => Some(y),
        _ => None,
    }
}

/// Whether operands of shapes that [fit](result_shape) broadcast to the result as they are: each element of the result is
/// made of those in its place.
pub fn is_regular(meet: Meet, shapes: &[&Shape]) -> bool {
    match (meet, shapes) {
        (Meet::Alike, [x, others @ ..]) => others.iter().all(|other| other == x),
        (Meet::Condition, [of, then, ..]) => of == then || of.num_elements() == 1,
        _ => true,
    }
}

/// The shape under which the condition of a choice between tensors of these shapes is broadcast: it has theirs, or is a
/// scalar, or a vector with an element for each of their rows.
///
/// # Errors
/// INVALID_ARGUMENT if it does not fit, or the two differ.
pub fn condition(condition: &Shape, then: &Shape, otherwise: &Shape) -> Result<Shape> {
    ensure!(then == otherwise, InvalidArgument, "`t` and `e` must have the same shape, not {then} and {otherwise}");
    match condition[..] {
        [] => Ok(Shape::scalar()),
        _ if condition == then => Ok(condition.clone()),
        [rows] => {
            ensure!(
                then.first() == Some(&rows),
                InvalidArgument,
                "a condition with {rows} elements needs tensors with as many rows, not of shape {then}"
            );
            Ok(std::iter::once(rows).chain(then.iter().skip(1).map(|_| 1)).collect())
        }
        _ => bail!(
            InvalidArgument,
            "the condition must be a scalar, a vector, or of shape {then}, not of shape {condition}"
        ),
    }
}

/// Fails unless two inputs have one shape, or, if that is enough, one number of elements.
///
/// # Errors
/// INVALID_ARGUMENT if they have not.
pub fn ensure_alike(x: &Shape, y: &Shape, loosely: bool) -> Result<()> {
    ensure!(
        x == y || (loosely && x.num_elements() == y.num_elements()),
        InvalidArgument,
        "the two inputs must have the same shape, not {x} and {y}"
    );
    Ok(())
}

/// Fails unless a bound is a scalar or has the tensor's shape.
///
/// # Errors
/// INVALID_ARGUMENT if it has another.
pub fn ensure_bound(shape: &Shape, bound: &Shape) -> Result<()> {
    ensure!(
        bound.rank() == 0 || bound == shape,
        InvalidArgument,
        "a bound must be a scalar or have the shape {shape} of the tensor, not {bound}"
    );
    Ok(())
}

/// Fails unless input `index` of a sum has the first one's shape.
///
/// # Errors
/// INVALID_ARGUMENT if it has another.
pub fn ensure_term(first: &Shape, index: usize, other: &Shape) -> Result<()> {
    ensure!(
        other == first,
        InvalidArgument,
        "all inputs must have the shape {first} of the first, but input {index} has shape {other}"
    );
    Ok(())
}

/// What is said of integers that are divided by zero.
pub const BY_ZERO: &str = "Integer division by zero";

/// What is said of integers that are raised to negative ones.
pub const NEGATIVE_POWER: &str = "Integers to negative integer powers are not allowed";

/// Terms of a sum that are summed by themselves before they are added to what came before, as TensorFlow groups them:
/// the first two to nine, then eight at a time. The sums are rounded the same way only in the same order.
pub const GROUP: usize = 8;

/// How many of `terms`, more than one, make the first group.
pub fn first_group(terms: usize) -> usize {
    match terms % GROUP {
        few @ (0 | 1) => few + GROUP,
        few => few,
    }
}

/// Fails unless elements of one dtype can be read as elements of another.
///
/// # Errors
/// INVALID_ARGUMENT if they cannot.
pub fn ensure_bitcast(from: DataType, to: DataType) -> Result<()> {
    ensure!(from.is_pod() && to.is_pod(), InvalidArgument, "{from} cannot be read as {to}");
    let (large, small) = (from.size().max(to.size()), from.size().min(to.size()));
    ensure!(large % small == 0, InvalidArgument, "{from} cannot be read as {to}: their sizes do not divide");
    Ok(())
}

/// The shape of a tensor when its elements are read as elements of another dtype: a smaller one adds a dimension, a
/// larger one takes the last away.
///
/// # Errors
/// INVALID_ARGUMENT if the last dimension is not one element of the larger dtype.
pub fn bitcast(shape: &Shape, from: DataType, to: DataType) -> Result<Shape> {
    let mut shape = shape.clone();
    let (old, new) = (from.size(), to.size());
    if old > new {
        shape.push(old / new);
    } else if old < new {
        ensure!(
            shape.last() == Some(&(new / old)),
            InvalidArgument,
            "a tensor of shape {shape} cannot be bitcast from {from} to {to}: its last dimension must be {}",
            new / old
        );
        shape.remove(shape.rank() - 1);
    }
    shape.check()?;
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_stand_for_rows() {
        let then = Shape::from([2, 3]);
        let of = |dims: &[usize]| condition(&Shape::from(dims), &then, &then);
        assert_eq!(of(&[]).unwrap(), Shape::scalar());
        assert_eq!(of(&[2, 3]).unwrap(), then);
        assert_eq!(of(&[2]).unwrap(), Shape::from([2, 1]));
        assert!(of(&[3]).is_err());
        assert!(of(&[3, 2]).is_err());
        assert!(condition(&then, &then, &Shape::from([2])).is_err());
    }

    #[test]
    fn shapes_meet_as_functions_say() {
        let of = |meet, shapes: &[&[usize]]| {
            let shapes: Vec<Shape> = shapes.iter().map(|&dims| Shape::from(dims)).collect();
            result_shape(meet, &shapes.iter().collect::<Vec<_>>(), 5).ok()
        };
        for (meet, shapes, expected) in [
            (Meet::Broadcast, &[&[2, 3][..], &[]][..], Some(&[2, 3][..])),
            (Meet::Broadcast, &[&[1], &[2, 3]], Some(&[2, 3])),
            (Meet::Broadcast, &[&[3], &[1, 1]], Some(&[1, 3])),
            (Meet::Broadcast, &[&[0], &[1]], Some(&[0])),
            (Meet::Broadcast, &[&[2, 1], &[3]], Some(&[2, 3])),
            (Meet::Broadcast, &[&[2], &[3]], None),
            (Meet::Broadcast, &[&[], &[3], &[2, 1]], Some(&[2, 3])),
            (Meet::Equal, &[&[3], &[]], None),
            (Meet::Alike, &[&[2, 3], &[6]], Some(&[2, 3])),
            (Meet::Bounds, &[&[3], &[], &[3]], Some(&[3])),
            (Meet::Bounds, &[&[3], &[1], &[3]], None),
            (Meet::Condition, &[&[2], &[2, 3], &[2, 3]], Some(&[2, 3])),
            (Meet::Condition, &[&[3], &[2, 3], &[2, 3]], None),
        ] {
            assert_eq!(of(meet, shapes), expected.map(Shape::from), "{meet:?} {shapes:?}");
        }
    }

    #[test]
    fn terms_are_grouped() {
        assert_eq!([2, 7, 8, 9, 10, 17].map(first_group), [2, 7, 8, 9, 2, 9]);
    }

    #[test]
    fn bytes_are_kept() {
        let cast = |dims: &[usize], from, to| bitcast(&Shape::from(dims), from, to);
        assert_eq!(cast(&[2], DataType::Float, DataType::Uint8).unwrap(), Shape::from([2, 4]));
        assert_eq!(cast(&[2, 4], DataType::Uint8, DataType::Float).unwrap(), Shape::from([2]));
        assert!(cast(&[2, 3], DataType::Uint8, DataType::Float).is_err());
        assert!(ensure_bitcast(DataType::String, DataType::Uint8).is_err());
        assert!(ensure_bitcast(DataType::Complex64, DataType::Float).is_ok());
    }
}

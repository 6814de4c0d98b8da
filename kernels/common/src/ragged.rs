//! Ragged tensors in variants.

use kernlink::dtype::DataType;
use kernlink::tensor::{Tensor, Variant, VariantValue, scratch};
use kernlink::{Result, bail, ensure};

use crate::tensors::{add_to, zeros_like};

/// TensorFlow's name of the type.
pub const RAGGED: &str = "RaggedTensorVariant";

/// A ragged tensor.
pub struct Ragged {
    /// The splits of each ragged dimension.
    pub splits: Vec<Tensor>,
    /// The values, one row of the innermost dimension after the other.
    pub values: Tensor,
}

impl VariantValue for Ragged {
    fn type_name(&self) -> &'static str {
        RAGGED
    }

    fn parts(&self) -> Result<Option<(Vec<u8>, Vec<Tensor>)>> {
        Ok(Some((Vec::new(), scratch::collected(self.splits.iter().chain([&self.values]).cloned())?)))
    }

    fn from_parts(type_name: &str, _: &[u8], tensors: &[Tensor]) -> Option<Self> {
        let (values, splits) = tensors.split_last().filter(|_| type_name == RAGGED)?;
        for (level, inner) in splits.iter().zip(&tensors[1..]) {
            let is_last = std::ptr::eq(inner, values);
            let rows = inner.shape().dims().first()?.checked_sub(usize::from(!is_last))?;
            let divides = match level.dtype() {
                DataType::Int32 => divides(level.as_slice::<i32>().ok()?, rows),
                DataType::Int64 => divides(level.as_slice::<i64>().ok()?, rows),
                _ => false,
            };
            if level.rank() != 1 || level.dtype() != splits[0].dtype() || !divides {
                return None;
            }
        }
        Some(Ragged { splits: scratch::copied(splits).ok()?, values: values.clone() })
    }

    fn zeros_like(&self) -> Result<Variant> {
        Ok(Variant::new(Ragged { splits: self.splits.clone(), values: zeros_like(&self.values)? }))
    }

    fn add(&self, other: &Variant) -> Result<Variant> {
        let Some(other) = other.get::<Ragged>() else {
            bail!(InvalidArgument, "a ragged tensor and a variant of type '{}' cannot be added", other.type_name());
        };
        ensure!(
            self.values.dtype() == other.values.dtype(),
            InvalidArgument,
            "Can't add RaggedTensorVariants of different dtypes. One is {} and the other is {}",
            self.values.dtype(),
            other.values.dtype()
        );
        ensure!(
            self.splits.len() == other.splits.len(),
            InvalidArgument,
            "Can't add RaggedTensorVariants of different ragged rank. One is {} and the other is {}",
            self.splits.len(),
            other.splits.len()
        );
        for (own, other) in self.splits.iter().zip(&other.splits) {
            ensure!(
                own.dtype() == other.dtype() && own.shape() == other.shape() && own.bytes()? == other.bytes()?,
                InvalidArgument,
                "Can't add RaggedTensorVariants with different row_splits."
            );
        }
        let mut values = self.values.clone();
        add_to(&mut values, &other.values)?;
        Ok(Variant::new(Ragged { splits: self.splits.clone(), values }))
    }
}

/// Whether splits go from none to all of so many rows, and never back.
fn divides<T: Copy + Into<i64>>(splits: &[T], rows: usize) -> bool {
    let end = |split: Option<&T>| split.map(|&split| split.into());
    end(splits.first()) == Some(0)
        && end(splits.last()) == i64::try_from(rows).ok()
        && splits.windows(2).all(|pair| pair[0].into() <= pair[1].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(splits: &[&[i64]], values: usize) -> Option<Ragged> {
        let mut tensors: Vec<Tensor> =
            splits.iter().map(|splits| Tensor::from_elements([splits.len()], splits).unwrap()).collect();
        tensors.push(Tensor::from_elements([values], &vec![0.5_f32; values]).unwrap());
        Ragged::from_parts("RaggedTensorVariant", &[], &tensors)
    }

    #[test]
    fn splits_from_a_message_divide_what_is_within() {
        assert_eq!(read(&[&[0, 2, 2, 3]], 3).unwrap().splits.len(), 1);
        assert_eq!(read(&[&[0, 1, 3], &[0, 2, 2, 3]], 3).unwrap().splits.len(), 2);
        assert_eq!(read(&[], 3).unwrap().splits.len(), 0);
        assert_eq!(read(&[&[0]], 0).unwrap().values.num_elements(), 0);
        let bad: [&[&[i64]]; 7] =
            [&[&[]], &[&[0, 2]], &[&[1, 3]], &[&[0, 4]], &[&[0, 2, 1, 3]], &[&[0, 4], &[0, 2, 2, 3]], &[&[0, -1, 3]]];
        for splits in bad {
            assert!(read(splits, 3).is_none(), "{splits:?}");
        }
        let numbers = Tensor::from_elements([2], &[0_i64, 1]).unwrap();
        assert!(Ragged::from_parts("RaggedTensorVariant", &[], &[]).is_none());
        assert!(Ragged::from_parts("RaggedTensorVariant", &[], &[numbers.clone(), Tensor::scalar(1_f32)]).is_none());
        assert!(Ragged::from_parts("other", &[], &[numbers]).is_none());
    }
}

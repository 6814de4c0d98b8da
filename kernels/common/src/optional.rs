//! Optionals: values that may be missing.

use kernlink::tensor::{Tensor, Variant, VariantValue, scratch};
use kernlink::{Result, bail, ensure};

use crate::tensors::{add_to, zeros_like};

/// TensorFlow's name of the type.
pub const OPTIONAL: &str = "tensorflow::data::Optional";

/// A tuple of tensors, or nothing.
#[derive(Clone)]
pub struct OptionalValue(pub Option<Vec<Tensor>>);

impl VariantValue for OptionalValue {
    fn type_name(&self) -> &'static str {
        OPTIONAL
    }

    fn parts(&self) -> Result<Option<(Vec<u8>, Vec<Tensor>)>> {
        let tensors = scratch::copied(self.0.as_deref().unwrap_or_default())?;
        Ok(Some((vec![u8::from(self.0.is_some())], tensors)))
    }

    fn from_parts(type_name: &str, metadata: &[u8], tensors: &[Tensor]) -> Option<Self> {
        if type_name != OPTIONAL {
            return None;
        }
        match metadata {
            [0] => Some(OptionalValue(None)),
            [1] => Some(OptionalValue(Some(scratch::copied(tensors).ok()?))),
            _ => None,
        }
    }

    fn zeros_like(&self) -> Result<Variant> {
        let zeros = |tensors: &Vec<Tensor>| tensors.iter().map(zeros_like).collect::<Result<_>>();
        Ok(Variant::new(OptionalValue(self.0.as_ref().map(zeros).transpose()?)))
    }

    fn add(&self, other: &Variant) -> Result<Variant> {
        let Some(other) = other.get::<OptionalValue>() else {
            bail!(InvalidArgument, "an optional and a variant of type '{}' cannot be added", other.type_name());
        };
        let (a, b) = match (&self.0, &other.0) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return Ok(Variant::new(OptionalValue(None))),
            _ => bail!(InvalidArgument, "Cannot add optionals because one has a value and the other doesn't."),
        };
        ensure!(
            a.len() == b.len(),
            InvalidArgument,
            "Cannot add optionals because they have different numbers of components ({} vs. {}).",
            a.len(),
            b.len()
        );
        let add = |(a, b): (&Tensor, &Tensor)| {
            let mut sum = a.clone();
            add_to(&mut sum, b)?;
            Ok(sum)
        };
        Ok(Variant::new(OptionalValue(Some(a.iter().zip(b).map(add).collect::<Result<_>>()?))))
    }
}

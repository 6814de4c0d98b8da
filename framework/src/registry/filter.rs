//! Filters for kernels of an op.

use std::fmt;
use std::str::FromStr;

use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::kernel::{ConstraintValues, KernelDef};

/// Some kernels of an op: all of them, or those for a device type, a dtype, a label.
///
/// As text: `MatMul`, `MatMul:CPU`, `MatMul:CPU:float`, `MatMul:CPU:float:label`; a part that is left empty, as in
/// `MatMul::float`, stands for all. The label of ordinary kernels, which is empty, is written `MatMul:CPU:float:""`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct KernelFilter {
    /// The op.
    pub op: String,
    /// Only kernels for this device type.
    pub device: Option<String>,
    /// Only nodes with this dtype in an attr by which the kernel is chosen.
    pub dtype: Option<DataType>,
    /// Only kernels with this label.
    pub label: Option<String>,
}

impl KernelFilter {
    /// All kernels of an op.
    pub fn op(op: impl Into<String>) -> KernelFilter {
        KernelFilter { op: op.into(), device: None, dtype: None, label: None }
    }

    /// Only those for a device type.
    pub fn device(mut self, device: impl Into<String>) -> KernelFilter {
        self.device = Some(device.into());
        self
    }

    /// Only for nodes with this dtype in an attr by which the kernel is chosen.
    pub fn dtype(mut self, dtype: DataType) -> KernelFilter {
        self.dtype = Some(dtype);
        self
    }

    /// Only those with a label; empty for those without.
    pub fn label(mut self, label: impl Into<String>) -> KernelFilter {
        self.label = Some(label.into());
        self
    }

    /// Whether a kernel matches, at least for one of its dtypes.
    pub fn matches(&self, kernel: &KernelDef) -> bool {
        let has_dtype = |dtype: &DataType| {
            kernel.constraints.iter().any(|constraint| match constraint.values {
                ConstraintValues::Types(types) => types.contains(dtype),
                _ => false,
            })
        };
        self.op == kernel.op
            && self.device.as_ref().is_none_or(|device| device == kernel.device.0)
            && self.label.as_ref().is_none_or(|label| label == kernel.label)
            && self.dtype.as_ref().is_none_or(has_dtype)
    }

    /// Whether all that `other` matches is matched.
    pub(super) fn covers(&self, other: &KernelFilter) -> bool {
        fn wider<T: PartialEq>(mine: &Option<T>, other: &Option<T>) -> bool {
            mine.is_none() || mine == other
        }
        self.op == other.op
            && wider(&self.device, &other.device)
            && wider(&self.dtype, &other.dtype)
            && wider(&self.label, &other.label)
    }
}

impl FromStr for KernelFilter {
    type Err = Error;

    /// # Errors
    /// INVALID_ARGUMENT if there is no op, the dtype is unknown, or there are too many parts.
    fn from_str(text: &str) -> Result<KernelFilter> {
        let mut parts = text.splitn(4, ':').map(str::trim);
        let op = parts.next().filter(|op| !op.is_empty());
        let mut filter = KernelFilter::op(op.ok_or_else(|| {
            Error::invalid_argument(format!("`{text}` names no op: expected `Op`, or `Op:DEVICE:dtype:label`"))
        })?);
        if let Some(device) = parts.next().filter(|device| !device.is_empty()) {
            filter.device = Some(device.to_owned());
        }
        if let Some(word) = parts.next().filter(|word| !word.is_empty()) {
            let dtype = DataType::from_name(word).ok_or_else(|| {
                Error::invalid_argument(format!("`{word}` in `{text}` is no dtype: expected one such as `float`"))
            })?;
            filter.dtype = Some(dtype);
        }
        if let Some(label) = parts.next().filter(|label| !label.is_empty()) {
            filter.label = Some(label.trim_matches('"').to_owned());
        }
        Ok(filter)
    }
}

impl fmt::Display for KernelFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.op)?;
        if let Some(device) = &self.device {
            write!(f, " on {device}")?;
        }
        if let Some(dtype) = &self.dtype {
            write!(f, " for {}", dtype.name())?;
        }
        if let Some(label) = &self.label {
            write!(f, " with label \"{label}\"")?;
        }
        Ok(())
    }
}

//! Attrs and devices as a selection file has them.

use kernlink_spec::{SelectedValue, dtype_from_word};

use crate::attr::AttrValue;
use crate::kernel::CPU;

/// The value as it stands in a selection; `None` for one that is open or by which no kernel is chosen.
pub(super) fn selected(value: &AttrValue) -> Option<SelectedValue> {
    let dtype = |dtype: &crate::dtype::DataType| dtype_from_word(dtype.name());
    Some(match value {
        AttrValue::Type(value) => SelectedValue::Type(dtype(value)?),
        AttrValue::ListType(values) => SelectedValue::Types(values.iter().map(dtype).collect::<Option<_>>()?),
        AttrValue::EmptyList => SelectedValue::Types(Vec::new()),
        AttrValue::String(text) => SelectedValue::String(text.to_string_lossy().into_owned()),
        AttrValue::Int(value) => SelectedValue::Int(*value),
        AttrValue::Bool(value) => SelectedValue::Bool(*value),
        _ => return None,
    })
}

/// The types of the devices on which a node that asks for `device` may be run: the CPU, and what it asks for.
pub(super) fn devices(device: &str) -> Vec<String> {
    let asked = device.split('/').find_map(|part| {
        let part = part.strip_prefix("device:").unwrap_or(part);
        let (kind, _) = part.split_once(':')?;
        let is_type =
            !["job", "replica", "task"].contains(&kind) && kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_type && !kind.is_empty()).then(|| kind.to_ascii_uppercase())
    });
    let mut devices = vec![CPU.0.to_owned()];
    devices.extend(asked.filter(|asked| asked != CPU.0));
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_those_asked_for_and_the_cpu() {
        for (device, expected) in [
            ("", &["CPU"] as &[&str]),
            ("/cpu:0", &["CPU"]),
            ("/gpu:1", &["CPU", "GPU"]),
            ("/job:worker/replica:0/task:1/device:TPU:0", &["CPU", "TPU"]),
            ("/job:worker", &["CPU"]),
            ("/device:CPU:*", &["CPU"]),
            ("nonsense", &["CPU"]),
        ] {
            assert_eq!(devices(device), expected, "{device}");
        }
    }
}

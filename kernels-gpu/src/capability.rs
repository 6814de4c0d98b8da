//! What devices may be able to do, by the names under which kernels require it.

use kernlink::error::{Error, Result};

/// Names capabilities that devices are opened without, as if the adapter lacked them.
const WITHOUT: &str = "KERNLINK_GPU_WITHOUT";

/// The names, and the features of wgpu that stand behind them.
pub(crate) const CAPABILITIES: &[(&str, wgpu::Features)] = &[
    ("f16", wgpu::Features::SHADER_F16),
    ("i64", wgpu::Features::SHADER_INT64),
    ("subgroups", wgpu::Features::SUBGROUP),
    ("f32-atomics", wgpu::Features::SHADER_FLOAT32_ATOMIC),
    ("timestamps", wgpu::Features::TIMESTAMP_QUERY),
    ("cooperative-matrix", wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX),
];

/// The features behind the capabilities that `without` and the environment do not take away.
///
/// # Errors
/// INVALID_ARGUMENT for names that no capability has.
pub(crate) fn allowed(without: &[&str]) -> Result<wgpu::Features> {
    let named = std::env::var(WITHOUT).unwrap_or_default();
    let named = named.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty());
    let mut allowed = CAPABILITIES.iter().fold(wgpu::Features::empty(), |all, (_, feature)| all | *feature);
    for name in without.iter().copied().chain(named) {
        let Some((_, feature)) = CAPABILITIES.iter().find(|(known, _)| *known == name) else {
            let known: Vec<_> = CAPABILITIES.iter().map(|(known, _)| format!("`{known}`")).collect();
            return Err(Error::invalid_argument(format!("there is no capability `{name}`, only {}", known.join(", "))));
        };
        allowed.remove(*feature);
    }
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use kernlink::registry::Registry;

    use super::*;

    #[test]
    fn names_are_those_that_registrations_may_require() {
        assert!(CAPABILITIES.iter().map(|(name, _)| name).eq(kernlink::kernel::check::shader::CAPABILITIES));
    }

    #[test]
    fn kernels_require_what_there_is() {
        let registry = Registry::linked(&[&kernlink_ops::KERNLINK_PROVIDER, &crate::KERNLINK_PROVIDER]).unwrap();
        let required = registry.kernels().flat_map(|kernel| kernel.requires).collect::<Vec<_>>();
        assert!(!required.is_empty());
        for name in required {
            assert!(CAPABILITIES.iter().any(|(known, _)| known == name), "{name}");
        }
    }

    #[test]
    fn what_is_taken_away_must_exist() {
        let all = allowed(&[]).unwrap();
        assert_eq!(all - allowed(&["f16"]).unwrap(), wgpu::Features::SHADER_F16);
        assert!(allowed(&["fp16"]).unwrap_err().message().contains("no capability `fp16`, only `f16`, `i64`"));
    }
}

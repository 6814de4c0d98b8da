//! What devices may be able to do, by the names under which kernels require it.

use kernlink::error::{Error, Result};

/// Names capabilities that devices are opened without, as if the adapter lacked them.
const WITHOUT: &str = "KERNLINK_GPU_WITHOUT";

macro_rules! capabilities {
    ($first:literal => $first_feature:ident $(, $name:literal => $feature:ident)* $(,)?) => {
        /// The names, and the features of wgpu that stand behind them.
        pub(crate) const CAPABILITIES: &[(&str, wgpu::Features)] =
            &[($first, wgpu::Features::$first_feature) $(, ($name, wgpu::Features::$feature))*];

        const NAMES: &str = concat!("`", $first, "`" $(, ", `", $name, "`")*);

        const UNKNOWN: &str =
            concat!("`requires` names what no GPU can have: the capabilities are `", $first, "`" $(, ", `", $name, "`")*);
    };
}

capabilities! {
    "f16" => SHADER_F16,
    "i64" => SHADER_INT64,
    "subgroups" => SUBGROUP,
    "f32-atomics" => SHADER_FLOAT32_ATOMIC,
    "timestamps" => TIMESTAMP_QUERY,
    "cooperative-matrix" => EXPERIMENTAL_COOPERATIVE_MATRIX,
}

/// Whether a capability has this name.
const fn is_known(name: &str) -> bool {
    let mut i = 0;
    while i < CAPABILITIES.len() {
        let (known, name) = (CAPABILITIES[i].0.as_bytes(), name.as_bytes());
        let mut same = 0;
        while same < known.len() && same < name.len() && known[same] == name[same] {
            same += 1;
        }
        if same == known.len() && same == name.len() {
            return true;
        }
        i += 1;
    }
    false
}

/// What `#[register_kernel]` checks of each capability that a kernel written in WGSL requires, when it compiles: a kernel
/// that requires what does not exist would be taken for no device.
///
/// # Panics
/// Unless a capability has this name.
pub const fn assert_capability(name: &str) {
    assert!(is_known(name), "{}", UNKNOWN);
}

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
            return Err(Error::invalid_argument(format!("there is no capability `{name}`, only {NAMES}")));
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
    fn names_are_known_whole() {
        assert!(CAPABILITIES.iter().all(|(name, _)| is_known(name)));
        assert!(["", "f1", "f166", "F16", "fp16"].iter().all(|name| !is_known(name)));
    }

    #[test]
    fn kernels_require_what_there_is() {
        let registry = Registry::linked(&[&kernlink_ops::KERNLINK_PROVIDER, &crate::KERNLINK_PROVIDER]).unwrap();
        let required = registry.kernels().flat_map(|kernel| kernel.requires).collect::<Vec<_>>();
        assert!(!required.is_empty());
        for name in required {
            assert!(is_known(name), "{name}");
        }
    }

    #[test]
    fn what_is_taken_away_must_exist() {
        let all = allowed(&[]).unwrap();
        assert_eq!(all - allowed(&["f16"]).unwrap(), wgpu::Features::SHADER_F16);
        assert!(allowed(&["fp16"]).unwrap_err().message().contains("no capability `fp16`, only `f16`, `i64`"));
    }
}

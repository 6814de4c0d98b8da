//! Which graphics processor is taken.

use kernlink::error::{Error, Result};
use kernlink::step::block_on;

use crate::matmul::matrices::Matrices;

/// Names the adapter: part of its name, in any case, or its number in the list of all.
pub(crate) const VARIABLE: &str = "KERNLINK_GPU";
/// An adapter that a device can be opened on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdapterInfo {
    /// The name that the driver gives it.
    pub name: String,
    /// The interface through which it is reached, such as `vulkan`.
    pub backend: String,
    /// The driver, with its version.
    pub driver: String,
    /// Whether it is a program that stands in for a graphics processor.
    pub is_software: bool,
    /// The most threads of a subgroup.
    pub(crate) most_in_subgroup: u32,
    /// Cooperative matrices that products can be computed by.
    pub(crate) matrices: Option<Matrices>,
}

impl AdapterInfo {
    pub(crate) fn of(adapter: &wgpu::Adapter) -> AdapterInfo {
        let info = adapter.get_info();
        AdapterInfo {
            name: info.name,
            backend: info.backend.to_string(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            is_software: info.device_type == wgpu::DeviceType::Cpu,
            most_in_subgroup: info.subgroup_max_size,
            matrices: Matrices::of(adapter),
        }
    }
}

impl std::fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_software { ", software" } else { "" };
        write!(f, "{} ({}, {}{kind})", self.name, self.backend, self.driver)
    }
}

/// All adapters, the most capable kinds first.
pub(crate) fn all() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12,
        // Checks of the drivers' own layers are for those who change the device: WGPU_VALIDATION and WGPU_DEBUG.
        flags: wgpu::InstanceFlags::empty().with_env(),
        memory_budget_thresholds: wgpu::MemoryBudgetThresholds {
            for_resource_creation: Some(95),
            for_device_loss: None,
        },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let mut adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    adapters
}

/// All of them, for errors.
fn listed(adapters: &[wgpu::Adapter]) -> String {
    let lines = adapters.iter().enumerate();
    let lines: Vec<_> = lines.map(|(number, adapter)| format!("\n  {number}: {}", AdapterInfo::of(adapter))).collect();
    if lines.is_empty() { " there is no adapter at all".to_owned() } else { lines.concat() }
}

/// The adapter with a number.
pub(crate) fn numbered(mut adapters: Vec<wgpu::Adapter>, number: usize) -> Result<wgpu::Adapter> {
    if number >= adapters.len() {
        return Err(Error::not_found(format!("no adapter has the number {number}:{}", listed(&adapters))));
    }
    Ok(adapters.swap_remove(number))
}

/// The adapter that `wanted` names; without a name the first that is no software.
pub(crate) fn choose(adapters: Vec<wgpu::Adapter>, wanted: Option<&str>) -> Result<wgpu::Adapter> {
    let position = match wanted.map(str::trim).filter(|wanted| !wanted.is_empty()) {
        None => {
            let position = adapters.iter().position(|adapter| !AdapterInfo::of(adapter).is_software);
            position.ok_or_else(|| {
                Error::failed_precondition(format!(
                    "there is no graphics processor; a software adapter is taken only if {VARIABLE} names it:{}",
                    listed(&adapters)
                ))
            })?
        }
        Some(wanted) => {
            let wanted = wanted.to_lowercase();
            if let Ok(number) = wanted.parse() {
                return numbered(adapters, number);
            }
            let by_name = |adapter: &wgpu::Adapter| AdapterInfo::of(adapter).name.to_lowercase().contains(&wanted);
            adapters.iter().position(by_name).ok_or_else(|| {
                Error::not_found(format!("no adapter has a name with `{wanted}`:{}", listed(&adapters)))
            })?
        }
    };
    let found = adapters.into_iter().nth(position);
    found.ok_or_else(|| Error::internal("the position is within the list"))
}

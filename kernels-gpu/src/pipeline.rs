//! Compiled shaders, kept by their text: that holds dtypes, ranks and patterns, and no sizes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kernlink::error::{Error, Result};
use smallvec::SmallVec;

use crate::counters::Counter;
use crate::deep::with_stack_for;
use crate::device::{Gpu, lock};
use crate::fault::caught;
use crate::shader::{Access, Program};

/// A compiled shader.
pub(crate) struct Pipeline {
    pub(crate) compute: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
    /// Tells its layout from others.
    pub(crate) layout_id: u32,
    pub(crate) accesses: SmallVec<[Access; 8]>,
    pub(crate) words: u32,
    pub(crate) workgroup: u32,
    pub(crate) label: String,
    pub(crate) refusal: Option<u32>,
}

/// A layout of bind groups, and what tells it from others.
type Layout = (u32, wgpu::BindGroupLayout);

#[derive(Default)]
pub(crate) struct Pipelines {
    by_text: Mutex<HashMap<String, Arc<Pipeline>>>,
    layouts: Mutex<HashMap<SmallVec<[Access; 8]>, Layout>>,
}

impl Pipelines {
    /// The pipeline of a program.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shader is not valid; RESOURCE_EXHAUSTED if it binds or passes more than the device can.
    pub(crate) fn get(&self, gpu: &Gpu, program: &Program) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = lock(&self.by_text).get(&program.text) {
            return Ok(pipeline.clone());
        }
        let made = Arc::new(self.compile(gpu, program)?);
        Ok(lock(&self.by_text).entry(program.text.clone()).or_insert(made).clone())
    }

    fn layout(&self, gpu: &Gpu, accesses: &SmallVec<[Access; 8]>) -> Layout {
        let mut layouts = lock(&self.layouts);
        if let Some(found) = layouts.get(accesses) {
            return found.clone();
        }
        let entry = |(binding, access): (usize, &Access)| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: *access == Access::Read },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = accesses.iter().enumerate().map(entry).collect();
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
        gpu.counters.add(Counter::BindGroupLayouts);
        let made = (layouts.len() as u32, gpu.device.create_bind_group_layout(&descriptor));
        layouts.insert(accesses.clone(), made.clone());
        made
    }

    fn compile(&self, gpu: &Gpu, program: &Program) -> Result<Pipeline> {
        let limits = gpu.device.limits();
        let label = &program.label;
        if program.accesses.len() > limits.max_storage_buffers_per_shader_stage as usize {
            return Err(Error::resource_exhausted(format!(
                "shader `{label}` binds {} buffers, {} at most {}",
                program.accesses.len(),
                gpu.info.name,
                limits.max_storage_buffers_per_shader_stage
            )));
        }
        if program.words * 4 > limits.max_immediate_size {
            return Err(Error::resource_exhausted(format!(
                "shader `{label}` takes {} bytes of parameters, {} at most {}",
                program.words * 4,
                gpu.info.name,
                limits.max_immediate_size
            )));
        }
        let shared = limits.max_compute_workgroup_storage_size;
        if program.shared > u64::from(shared) {
            return Err(Error::resource_exhausted(format!(
                "the workgroups of shader `{label}` take {} bytes, those of {} at most {shared}",
                program.shared, gpu.info.name
            )));
        }
        let make = || {
            caught(&gpu.device, || self.make(gpu, program)).map_err(|error| match error {
                wgpu::Error::Validation { .. } => {
                    Error::invalid_argument(format!("shader `{label}`: {error}\nin\n{}", numbered(&program.text)))
                }
                // The driver's own compiler, or its memory.
                error => gpu.refused(&error).append(format!("\n  in the shader `{label}`")),
            })
        };
        if program.is_checked { with_stack_for(&program.text, make) } else { make() }
    }

    fn make(&self, gpu: &Gpu, program: &Program) -> Pipeline {
        let label = &program.label;
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl((&*program.text).into()),
        };
        let module = if program.is_checked {
            gpu.device.create_shader_module(descriptor)
        } else {
            // SAFETY: Kernlink's own shaders touch no element beyond their buffers, their loops end, and they guard
            // divisors, as the tests with all sizes show.
            unsafe { gpu.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
        };
        let (layout_id, layout) = self.layout(gpu, &program.accesses);
        let pipeline_layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: program.words * 4,
        });
        let compute = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: program.is_checked,
                ..Default::default()
            },
            cache: None,
        });
        gpu.counters.add(Counter::Pipelines);
        Pipeline {
            compute,
            layout,
            layout_id,
            accesses: program.accesses.clone(),
            words: program.words,
            workgroup: program.workgroup,
            label: label.clone(),
            refusal: program.refusal,
        }
    }
}

/// The text with the numbers of its lines.
fn numbered(text: &str) -> String {
    text.lines().enumerate().map(|(number, line)| format!("{:>4} {line}\n", number + 1)).collect()
}

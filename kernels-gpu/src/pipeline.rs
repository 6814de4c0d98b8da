//! Compiled shaders, kept by their text, which holds dtypes, ranks and patterns, and no sizes, and by how they are to be compiled.

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
    is_checked: bool,
}

impl Pipeline {
    /// Whether it is what a program with its text is compiled to. A library may have written the text of one of Kernlink's own
    /// shaders, which are trusted.
    fn suits(&self, program: &Program) -> bool {
        let of_program = (program.is_checked, program.words, program.workgroup, program.refusal);
        (self.is_checked, self.words, self.workgroup, self.refusal) == of_program && self.accesses == program.accesses
    }
}

/// A layout of bind groups, and what tells it from others.
type Layout = (u32, wgpu::BindGroupLayout);

#[derive(Default)]
pub(crate) struct Pipelines {
    by_text: Mutex<HashMap<String, Vec<Arc<Pipeline>>>>,
    layouts: Mutex<HashMap<SmallVec<[Access; 8]>, Layout>>,
}

impl Pipelines {
    /// The pipeline of a program.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shader is not valid; RESOURCE_EXHAUSTED if it binds or passes more than the device can.
    pub(crate) fn get(&self, gpu: &Gpu, program: &Program) -> Result<Arc<Pipeline>> {
        let suits = |pipeline: &&Arc<Pipeline>| pipeline.suits(program);
        if let Some(pipeline) = lock(&self.by_text).get(&program.text).and_then(|all| all.iter().find(suits)) {
            return Ok(pipeline.clone());
        }
        let made = Arc::new(self.compile(gpu, program)?);
        let mut by_text = lock(&self.by_text);
        let all = by_text.entry(program.text.clone()).or_default();
        // Another thread may have made it meanwhile.
        if let Some(pipeline) = all.iter().find(suits) {
            return Ok(pipeline.clone());
        }
        all.push(made.clone());
        Ok(made)
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
        if program.memory.workgroup > u64::from(shared) {
            return Err(Error::resource_exhausted(format!(
                "the workgroups of shader `{label}` take {} bytes, those of {} at most {shared}",
                program.memory.workgroup, gpu.info.name
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
            is_checked: program.is_checked,
        }
    }
}

/// The text with the numbers of its lines.
fn numbered(text: &str) -> String {
    text.lines().enumerate().map(|(number, line)| format!("{:>4} {line}\n", number + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::{Entry, ProgramBuilder, Scalar};
    use crate::testing::device;

    #[test]
    fn a_text_is_compiled_for_each_way_to_compile_it() {
        let device = device();
        let gpu = &device.gpu;
        let made = |builder: ProgramBuilder| {
            let builder = builder.read("x", Scalar::F32).write("y", Scalar::F32).param("at", "u32");
            builder.build(Entry::Elements, "fn element(i: u32) { y[i] = x[i + params.at]; }")
        };
        let get = |program: &Program| gpu.pipelines.get(gpu, program).unwrap();
        let (trusted, checked) = (made(Program::trusted("own")), made(Program::builder("of a library")));
        assert_eq!(trusted.text, checked.text);
        let first = get(&trusted);
        let second = get(&checked);
        assert!(second.is_checked && !first.is_checked && !Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&get(&trusted), &first) && Arc::ptr_eq(&get(&checked), &second));
        // Its parameter is that of a refusal.
        let refusing = Program { refusal: Some(1), ..checked.clone() };
        assert_eq!(get(&refusing).refusal, Some(1));
        assert_eq!(get(&checked).refusal, None);
        // A device refuses the accesses that the text has not, and takes no pipeline for others.
        let writing = Program { accesses: SmallVec::from_slice(&[Access::Write; 2]), ..checked.clone() };
        assert!(gpu.pipelines.get(gpu, &writing).is_err());
    }
}

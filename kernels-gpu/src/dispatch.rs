//! Runs of shaders: what they are bound to, and with how many threads.

use std::sync::Arc;

use kernlink::error::{Error, Result};
use kernlink::tensor::{DeviceMemory as _, Tensor};
use smallvec::SmallVec;

use crate::device::{GpuDevice, STEP, lock};
use crate::memory::Bound;
use crate::pipeline::Pipeline;
use crate::shader::Shader;

/// The most workgroups in one dimension of a dispatch, on every device.
const MOST_GROUPS: u64 = 65_535;

/// How many workgroups a dispatch has.
#[derive(Clone, Copy, Debug)]
pub enum Groups {
    /// One thread for each of so many elements, which become the parameter `count`.
    Elements(usize),
    /// One workgroup for each of so many rows, which become the parameter `count`.
    Rows(usize),
    /// So many in each dimension.
    Exactly([u32; 3]),
}

impl Groups {
    /// Whether there are no threads at all.
    pub(crate) fn are_none(&self) -> bool {
        match self {
            Groups::Elements(count) | Groups::Rows(count) => *count == 0,
            Groups::Exactly(groups) => groups.contains(&0),
        }
    }
}

/// A number of elements, as shaders count.
///
/// # Errors
/// RESOURCE_EXHAUSTED from 2^32 on.
pub(crate) fn counted(count: usize) -> Result<u32> {
    u32::try_from(count)
        .map_err(|_| Error::resource_exhausted(format!("{count} elements are more than a shader counts")))
}

/// What a dispatch consists of.
pub(crate) struct Prepared<'a> {
    pub(crate) pipeline: &'a Arc<Pipeline>,
    pub(crate) buffers: SmallVec<[Bound<'a>; 8]>,
    pub(crate) words: SmallVec<[u32; 32]>,
    pub(crate) groups: [u32; 3],
}

impl GpuDevice {
    /// Records a run of a shader on these tensors, in the order in which it declares them. What it declares as written
    /// must be no other of them, and nothing else may share it. With no threads at all nothing is recorded.
    ///
    /// `params` are its parameters' bits, but for `count`, which `groups` gives.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shader is not valid; INTERNAL if a tensor is not in the device's memory, or tensors or
    /// parameters are of another number than the shader declares, or for what earlier work met; RESOURCE_EXHAUSTED if
    /// the dispatch or a tensor is too large.
    #[track_caller]
    pub fn dispatch(&self, shader: &Shader, tensors: &[&Tensor], params: &[u32], groups: Groups) -> Result<()> {
        let Some(prepared) = self.prepare(shader, tensors, params, groups)? else {
            return Ok(());
        };
        let Prepared { pipeline, buffers, mut words, groups } = prepared;
        self.gpu.fault()?;
        let mut recorder = lock(&self.gpu.recorder);
        if let Some(refusal) = pipeline.refusal.and_then(|word| words.get_mut(word as usize)) {
            *refusal = recorder.refusing.parameter(*refusal, STEP.get());
        }
        recorder.dispatch(&self.gpu, pipeline, &buffers, &words, groups)
    }

    /// [`GpuDevice::dispatch`] but for the recording; none if there are no threads.
    #[track_caller]
    pub(crate) fn prepare<'a>(
        &self,
        shader: &'a Shader,
        tensors: &[&'a Tensor],
        params: &[u32],
        groups: Groups,
    ) -> Result<Option<Prepared<'a>>> {
        let pipeline = shader.pipeline(&self.gpu)?;
        let buffers: SmallVec<[Bound<'_>; 8]> =
            tensors.iter().map(|&tensor| self.bound(tensor, &pipeline.label)).collect::<Result<_>>()?;
        let mut words: SmallVec<[u32; 32]> = SmallVec::new();
        let too_many = |groups: &dyn std::fmt::Debug| {
            let label = &pipeline.label;
            Error::resource_exhausted(format!("shader `{label}`: {groups:?} workgroups are more than a dispatch takes"))
        };
        let fold = |count: u64| -> Result<[u32; 3]> {
            if count > MOST_GROUPS * MOST_GROUPS {
                return Err(too_many(&count));
            }
            let rows = count.div_ceil(MOST_GROUPS).max(1);
            Ok([count.div_ceil(rows) as u32, rows as u32, 1])
        };
        if groups.are_none() {
            return Ok(None);
        }
        let groups = match groups {
            Groups::Elements(count) => {
                words.push(counted(count)?);
                fold((count as u64).div_ceil(u64::from(pipeline.workgroup)))?
            }
            Groups::Rows(count) => {
                words.push(counted(count)?);
                fold(count as u64)?
            }
            Groups::Exactly(groups) => groups,
        };
        if groups.iter().any(|&count| u64::from(count) > MOST_GROUPS) {
            return Err(too_many(&groups));
        }
        words.extend_from_slice(params);
        Ok(Some(Prepared { pipeline, buffers, words, groups }))
    }

    /// What a shader is bound to for a tensor.
    #[track_caller]
    fn bound<'t>(&self, tensor: &'t Tensor, label: &str) -> Result<Bound<'t>> {
        let memory = self.memory(tensor)?;
        if memory.num_bytes() > self.gpu.limits.binding {
            return Err(self.too_large(tensor, memory.num_bytes(), label));
        }
        Ok(memory.bound())
    }

    #[cold]
    #[track_caller]
    fn too_large(&self, tensor: &Tensor, bytes: usize, label: &str) -> Error {
        let (name, most) = (&self.gpu.info.name, self.gpu.limits.binding);
        Error::resource_exhausted(format!(
            "shader `{label}` takes a {} tensor of shape {} whole: these are {bytes} bytes, of which {name} binds at most \
             {most} at once",
            tensor.dtype(),
            tensor.shape()
        ))
    }
}

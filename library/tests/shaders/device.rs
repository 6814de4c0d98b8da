//! Devices for the tests.

use std::sync::{Arc, Mutex};

use kernlink::Result;
use kernlink::device::{Device, DeviceType, GPU};
use kernlink::kernel::shader::{Dispatch, LaunchFunctions, ParamValue, RawLaunch, ShaderRunner, Source};
use kernlink::kernel::{DynKernel, RawContext};
use kernlink::op::ArgDef;
use kernlink::shape::Shape;
use kernlink::tensor::{DeviceMemory, Tensor};

/// What the device was told, as text, and asked.
pub(crate) static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A device whose kernels compute nothing, but ask what those of a real one ask. It has these capabilities.
pub(crate) struct Recording(pub(crate) &'static [&'static str]);

pub(crate) const ABLE: Recording = Recording(&["f16", "subgroups"]);

pub(crate) static RUNNER: ShaderRunner = ShaderRunner(|source, functions, _| {
    let Source { name, location, file, text, variants, is_raw, dispatch, params, vectors, .. } = source;
    let params: Vec<_> = params.iter().map(|param| format!("{}={:?}", param.name, param.value)).collect();
    let (params, workgroup, refusal) = (params.join(" "), source.workgroup, source.refusal);
    let lines = text.lines().count();
    let said = format!(
        "{name} {} {file} {lines} {variants:?} {is_raw} {dispatch:?} {vectors:?} {workgroup} {refusal:?} {params}",
        location.file
    );
    TOLD.lock().unwrap().push(said);
    Ok(Box::new(Asking { source, functions }))
});

/// Whether the device was told this.
#[track_caller]
pub(crate) fn was_told(expected: &str) {
    let told = TOLD.lock().unwrap().clone();
    assert!(told.iter().any(|told| told == expected), "{expected}\nis none of {told:#?}");
}

impl Device for Recording {
    fn name(&self) -> &str {
        "/device:GPU:0"
    }

    fn device_type(&self) -> DeviceType {
        GPU
    }

    fn capabilities(&self) -> &[&'static str] {
        self.0
    }

    fn runner(&self) -> Option<&(dyn std::any::Any + Send + Sync)> {
        Some(&RUNNER)
    }
}

struct Asking {
    source: &'static Source,
    functions: Box<dyn LaunchFunctions>,
}

/// Memory that the host cannot read.
struct Far;

impl DeviceMemory for Far {
    fn device(&self) -> &str {
        "/device:GPU:0"
    }

    fn num_bytes(&self) -> usize {
        0
    }
}

/// The inputs of a run: what is not in host memory is on the device.
pub(crate) fn there(source: &Source, inputs: &[&Tensor]) -> Vec<Tensor> {
    let far = |(input, arg): (&&Tensor, &ArgDef)| match source.host_memory.contains(&&*arg.name) {
        true => (*input).clone(),
        false => Tensor::from_device(input.dtype(), input.shape().clone(), Arc::new(Far)),
    };
    inputs.iter().zip(source.op.inputs.iter()).map(far).collect()
}

/// What a device asks before a run: the outputs' shapes, parameters, and workgroups if the rule is a function.
pub(crate) fn ask(
    source: &Source,
    functions: &dyn LaunchFunctions,
    inputs: &[&Tensor],
) -> Result<(Vec<Shape>, Vec<u32>, [u32; 3])> {
    let launch = RawLaunch { inputs, outputs: &[] };
    let shapes = functions.outputs(launch)?;
    let launch = RawLaunch { outputs: &shapes, ..launch };
    let is_computed = source.params.iter().any(|param| matches!(param.value, ParamValue::Computed(_)));
    let computed = if is_computed { functions.computed(launch)? } else { Vec::new() };
    let groups = match source.dispatch {
        Dispatch::Function => functions.groups(launch)?,
        _ => [0; 3],
    };
    Ok((shapes, computed, groups))
}

impl DynKernel for Asking {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let inputs = (0..ctx.num_inputs()).map(|index| ctx.input_at(index)).collect::<Result<Vec<_>>>()?;
        let inputs = there(self.source, &inputs);
        let (shapes, computed, groups) = ask(self.source, &*self.functions, &inputs.iter().collect::<Vec<_>>())?;
        TOLD.lock().unwrap().push(format!("{} {shapes:?} {computed:?} {groups:?}", self.source.name));
        for (index, shape) in shapes.into_iter().enumerate() {
            ctx.set_output_at(index, Tensor::zeros(ctx.output_dtype_at(index)?, shape)?)?;
        }
        Ok(())
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// A GPU that runs no shaders.
pub(crate) struct Other;

impl Device for Other {
    fn name(&self) -> &str {
        "/device:GPU:1"
    }

    fn device_type(&self) -> DeviceType {
        GPU
    }
}

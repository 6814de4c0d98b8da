//! ZeroOut and MedianPool on the GPU against themselves on the CPU.
//!
//! Without a GPU they run on Mesa's software driver (Debian's `mesa-vulkan-drivers`).

use std::sync::Arc;

use custom_ops::{median_pool, zero_out};
use kernlink::device::Device;
use kernlink::gpu::GpuDevice;
use kernlink::prelude::*;

/// What a graph with one op answers if that asks for a device.
fn on(
    gpu: &Arc<GpuDevice>,
    device: &str,
    x: &Tensor,
    build: impl Fn(&mut Graph, Output, &str) -> Result<Output>,
) -> Result<Tensor> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let input = ops::placeholder(&mut graph, x.dtype()).name("x").build()?;
    let y = build(&mut graph, input, device)?;
    let fetch = graph.output_name(y);
    // A CPU is added for what has no kernel on the GPU; strictly placed, the op itself cannot go there.
    let devices: [Arc<dyn Device>; 1] = [gpu.clone()];
    let session = Session::on_devices(graph, devices, &SessionOptions::new().strict_placement(true));
    assert_eq!(session.device_of(y.node)?, device);
    Ok(session.run(&[("x", x.clone())], &[&fetch], &[])?.remove(0))
}

/// Has both devices agree; gives what they answer.
#[track_caller]
fn agree(gpu: &Arc<GpuDevice>, x: &Tensor, build: impl Fn(&mut Graph, Output, &str) -> Result<Output>) -> Tensor {
    let [there, here] = ["/device:GPU:0", "/device:CPU:0"].map(|device| on(gpu, device, x, &build).unwrap());
    assert_eq!(there.shape(), here.shape());
    match x.dtype() {
        DataType::Int32 => assert_eq!(there.as_slice::<i32>().unwrap(), here.as_slice::<i32>().unwrap()),
        _ => {
            let pairs = there.as_slice::<f32>().unwrap().iter().zip(here.as_slice::<f32>().unwrap());
            pairs.for_each(|(there, here)| {
                assert!(there == here || (there.is_nan() && here.is_nan()), "{there} {here}")
            });
        }
    }
    there
}

// One test, because software drivers do not stand several devices at a time.
#[test]
fn both_devices_agree() -> Result<()> {
    let wanted = std::env::var("KERNLINK_GPU").unwrap_or_else(|_| "llvmpipe".to_owned());
    let gpu = Arc::new(GpuDevice::open_named(0, Some(&wanted))?);

    for count in [2, 5, 1000] {
        let x = Tensor::vector(&(1..=count).map(|i| i as f32).collect::<Vec<_>>())?;
        let y = agree(&gpu, &x, |g, x, device| zero_out(g, x).preserve_index(1).device(device).build());
        assert_eq!(y.as_slice::<f32>()?[1], 2.0);
    }
    let scalar = Tensor::scalar(1i32);
    let far = |g: &mut Graph, x, device: &str| zero_out(g, x).preserve_index(1).device(device).build();
    let errors = ["/device:GPU:0", "/device:CPU:0"].map(|device| on(&gpu, device, &scalar, far).unwrap_err());
    assert_eq!(errors[0].code(), Code::InvalidArgument);
    assert_eq!(errors[0].message(), errors[1].message());

    let mut seed = 1u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as i32 - 128
    };
    for (dims, ksize, stride) in [
        ([1, 7, 5, 3], 3, 1),
        ([2, 11, 10, 3], 5, 1),
        ([1, 8, 8, 2], 2, 2),
        ([1, 9, 9, 2], 3, 2),
        ([1, 6, 7, 1], 1, 3),
        ([0, 4, 4, 1], 3, 1),
    ] {
        let pixels: Vec<i32> = (0..dims.iter().product::<usize>()).map(|_| random()).collect();
        let mut floats: Vec<f32> = pixels.iter().map(|&x| x as f32 / 8.0).collect();
        if let Some(first) = floats.first_mut() {
            *first = f32::NAN;
        }
        for padding in ["SAME", "VALID"] {
            let build = |g: &mut Graph, x, device: &str| {
                median_pool(g, x, padding).ksize(ksize).stride(stride).device(device).build()
            };
            agree(&gpu, &Tensor::from_elements(dims, &pixels)?, build);
            agree(&gpu, &Tensor::from_elements(dims, &floats)?, build);
        }
    }
    Ok(())
}

//! The crate's library, loaded at run time into a program with a GPU: its shaders run there.
//!
//! Without a GPU they run on Mesa's software driver (Debian's `mesa-vulkan-drivers`).

#[path = "../../../library/tests/common/c.rs"]
mod c;

use std::path::PathBuf;
use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::device::Device;
use kernlink::gpu::GpuDevice;
use kernlink::graph::NodeBuilder;
use kernlink::prelude::*;

/// The library that Cargo built for this test, beside it; it is not linked to the crate.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libcustom_ops.so")
}

/// What a node of an op of the library's answers on a device, and where it was placed.
fn on(
    gpu: &Arc<GpuDevice>,
    device: &str,
    op: &str,
    x: &Tensor,
    attrs: &[(&str, AttrValue)],
) -> Result<(Vec<Tensor>, String)> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let input = ops::placeholder(&mut graph, x.dtype()).name("x").build()?;
    let op = graph.registry().op(op)?.def;
    let mut node = NodeBuilder::new(&mut graph, op);
    node.name("y").input(input).device(device);
    for (name, value) in attrs {
        node.attr(name, value.clone());
    }
    let node = node.build()?;
    let devices: [Arc<dyn Device>; 1] = [gpu.clone()];
    let session = Session::on_devices(graph, devices, &SessionOptions::new());
    let placed = session.device_of(node)?.to_owned();
    Ok((session.run(&[("x", x.clone())], &["y"], &[])?, placed))
}

/// The shader of a library in C: `x * factor + offset`, of which the offset is in host memory.
fn in_c(gpu: &Arc<GpuDevice>) -> Result<()> {
    let path = c::folder("in_c").join("libshader.so");
    c::compile(concat!(env!("CARGO_MANIFEST_DIR"), "/../../library/tests/c/shader.c"), &path, &[]);
    let library = kernlink::load_op_library(path)?;
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build()?;
    let offset = ops::placeholder(&mut graph, DataType::Int32).name("offset").build()?;
    let op = graph.registry().op("CShade")?.def;
    let mut node = NodeBuilder::new(&mut graph, op);
    node.name("y").input(x).input(offset).device("/device:GPU:0").attr("factor", AttrValue::Float(0.5));
    node.build()?;
    let devices: [Arc<dyn Device>; 1] = [gpu.clone()];
    let session = Session::on_devices(graph, devices, &SessionOptions::new());
    let run = |x: Tensor| session.run(&[("x", x), ("offset", Tensor::scalar(-3i32))], &["y"], &[]);
    let numbers: Vec<f32> = (0..1000).map(|number| number as f32).collect();
    let y = run(Tensor::from_vec([10, 100], numbers.clone())?)?;
    assert_eq!(y[0].shape().dims(), [10, 100]);
    assert_eq!(y[0].as_slice::<f32>()?, numbers.iter().map(|x| x * 0.5 - 3.0).collect::<Vec<_>>());
    let error = run(Tensor::scalar(1.0f32)).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("x must have elements in a row"), "{error}");
    assert!(library.unload().unwrap_err().message().contains("in use"));
    drop(session);
    library.unload()
}

// One test, because software drivers do not stand several devices at a time.
#[test]
fn shaders_of_a_library_run_on_the_gpu() -> Result<()> {
    let wanted = std::env::var("KERNLINK_GPU").unwrap_or_else(|_| "llvmpipe".to_owned());
    let gpu = Arc::new(GpuDevice::open_named(0, Some(&wanted))?);
    let library = kernlink::load_op_library(library())?;
    let on_gpu = library.kernels().iter().filter(|kernel| kernel.device.0 == "GPU").count();
    assert_eq!(on_gpu, 5, "{:?}", library.kernels());

    let pixels: Vec<f32> = (0..2 * 9 * 7 * 3).map(|i| ((i * 37) % 101) as f32 - 50.0).collect();
    let images = Tensor::from_vec([2, 9, 7, 3], pixels.clone())?;
    let ints = Tensor::from_vec([2, 9, 7, 3], pixels.iter().map(|&x| x as i32).collect())?;
    let empty = Tensor::zeros(DataType::Float, [0, 4, 4, 1])?;
    for (op, x, attrs) in [
        ("MedianPool", &images, &[("padding", AttrValue::from("SAME"))][..]),
        (
            "MedianPool",
            &images,
            &[("padding", AttrValue::from("VALID")), ("ksize", AttrValue::Int(5)), ("stride", AttrValue::Int(2))],
        ),
        (
            "MedianPool",
            &ints,
            &[("padding", AttrValue::from("SAME")), ("ksize", AttrValue::Int(2)), ("stride", AttrValue::Int(3))],
        ),
        ("MedianPool", &empty, &[("padding", AttrValue::from("SAME"))]),
        ("ZeroOut", &images, &[("preserve_index", AttrValue::Int(100))]),
        ("ZeroOut", &ints, &[]),
        ("SoftShrink", &images, &[("threshold", AttrValue::Float(3.5))]),
        ("SoftShrink", &empty, &[]),
    ] {
        let (there, placed) = on(&gpu, "/device:GPU:0", op, x, attrs)?;
        assert_eq!(placed, "/device:GPU:0", "{op} {attrs:?}");
        let (here, placed) = on(&gpu, "/device:CPU:0", op, x, attrs)?;
        assert_eq!(placed, "/device:CPU:0", "{op} {attrs:?}");
        assert_eq!(there[0].shape(), here[0].shape(), "{op} {attrs:?}");
        match x.dtype() {
            DataType::Int32 => assert_eq!(there[0].as_slice::<i32>()?, here[0].as_slice::<i32>()?, "{op} {attrs:?}"),
            _ => assert_eq!(there[0].as_slice::<f32>()?, here[0].as_slice::<f32>()?, "{op} {attrs:?}"),
        }
    }

    // Of a kernel that is not for these values of its attrs, or dtypes, there is the one for the CPU.
    let (clipped, placed) = on(
        &gpu,
        "",
        "MedianPool",
        &images,
        &[("padding", AttrValue::from("SAME")), ("activation", AttrValue::from("Relu"))],
    )?;
    assert_eq!(placed, "/device:CPU:0");
    assert!(clipped[0].as_slice::<f32>()?.iter().all(|median| *median >= 0.0));
    let doubles = Tensor::from_vec([2], vec![1.0f64, 2.0])?;
    assert_eq!(on(&gpu, "", "ZeroOut", &doubles, &[])?.1, "/device:CPU:0");

    // Errors of the library's functions arrive with their codes.
    let scalar = Tensor::scalar(1i32);
    let errors = ["/device:GPU:0", "/device:CPU:0"]
        .map(|device| on(&gpu, device, "ZeroOut", &scalar, &[("preserve_index", AttrValue::Int(1))]).unwrap_err());
    assert_eq!(errors[0].code(), Code::InvalidArgument);
    assert_eq!(errors[0].message(), errors[1].message());
    in_c(&gpu)?;
    let flat = Tensor::vector(&[1.0f32])?;
    let error = on(&gpu, "/device:GPU:0", "MedianPool", &flat, &[("padding", AttrValue::from("SAME"))]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    Ok(())
}

//! The device by itself, and kernels on large tensors. One device is open at a time (`testing`).

mod families;
mod hostile;
#[path = "../../src/testing.rs"]
mod testing;
mod windows;

use kernlink_framework as kernlink;

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::step::block_on;
use kernlink::tensor::Tensor;
use kernlink_kernels_gpu::{Entry, GpuDevice, Groups, Program, Scalar, Shader};
use testing::device;

#[test]
fn tensors_go_there_and_come_back() {
    let gpu = device();
    let there_and_back = |tensor: &Tensor| block_on(gpu.to_host(&gpu.to_device(tensor).unwrap())).unwrap();
    for count in [0, 1, 3, 64, 1000] {
        let floats: Vec<f32> = (0..count).map(|i| i as f32).collect();
        assert_eq!(there_and_back(&Tensor::vector(&floats).unwrap()).as_slice::<f32>().unwrap(), floats);
        let bools: Vec<bool> = (0..count).map(|i| i % 3 == 0).collect();
        assert_eq!(there_and_back(&Tensor::vector(&bools).unwrap()).as_slice::<bool>().unwrap(), bools);
        let bytes: Vec<u8> = (0..count).map(|i| i as u8).collect();
        assert_eq!(there_and_back(&Tensor::vector(&bytes).unwrap()).as_slice::<u8>().unwrap(), bytes);
    }
}

#[test]
fn shaders_run_in_the_order_in_which_they_are_recorded() {
    let gpu = device();
    let double = Shader::new(
        Program::builder("double")
            .read("x", Scalar::F32)
            .write("y", Scalar::F32)
            .param("plus", "f32")
            .build(Entry::Elements, "fn element(i: u32) { y[i] = x[i] * 2.0 + params.plus; }"),
    );
    for _ in 0..3 {
        let mut tensor = gpu.to_device(&Tensor::vector(&[1f32; 100_000]).unwrap()).unwrap();
        for _ in 0..200 {
            let next = gpu.allocate(DataType::Float, [100_000]).unwrap();
            gpu.dispatch(&double, &[&tensor, &next], &[(-1f32).to_bits()], Groups::Elements(100_000)).unwrap();
            tensor = next;
        }
        let host = block_on(gpu.to_host(&tensor)).unwrap();
        assert!(host.as_slice::<f32>().unwrap().iter().all(|&x| x == 1.0));
    }
    let counters: std::collections::HashMap<_, _> = gpu.counters().into_iter().collect();
    assert_eq!(counters["dispatches"], 600);
    assert!(counters["submissions"] <= 24, "{counters:?}");
    assert_eq!(counters["pipelines"], 1);
    assert!(counters["buffers"] <= 4, "{counters:?}");
}

#[test]
fn an_invalid_shader_is_named_with_its_line() {
    let gpu = device();
    let program = Program::builder("wrong").write("y", Scalar::F32);
    let shader = Shader::new(program.build(Entry::Elements, "fn element(i: u32) { y[i] = 1; y[i] = true; }"));
    let y = gpu.allocate(DataType::Float, [4]).unwrap();
    let error = gpu.dispatch(&shader, &[&y], &[], Groups::Elements(4)).unwrap_err();
    assert!(error.message().contains("`wrong`") && error.message().contains("true"), "{error}");
    // The device lives on.
    let tensor = gpu.to_device(&Tensor::scalar(1f32)).unwrap();
    assert_eq!(block_on(gpu.to_host(&tensor)).unwrap().to_scalar::<f32>().unwrap(), 1.0);
}

#[test]
fn what_is_larger_than_a_buffer_is_refused() {
    let gpu = device();
    let most = gpu.limits().max_buffer_size as usize;
    let error = gpu.allocate(DataType::Float, [most / 4 + 1]).unwrap_err();
    assert_eq!(error.code(), kernlink::Code::ResourceExhausted);
}

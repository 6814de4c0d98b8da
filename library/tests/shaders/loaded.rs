//! Libraries that a C compiler makes, with a shader: loaded, used wrongly, unloaded, on many threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::Device;
use kernlink::graph::{Graph, NodeBuilder};
use kernlink::op::OpDefBuilder;
use kernlink::registry::Registry;
use kernlink::runtime::{Session, SessionOptions, run_op};
use kernlink::tensor::Tensor;
use kernlink::{Code, Error, Result};
use kernlink_library::load::{OpLibrary, load_op_library};

use crate::c::{compile, folder};
use crate::device::{ABLE, was_told};

fn shader_library(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let path = folder.join(format!("lib{name}.so"));
    compile("shader.c", &path, arguments);
    path
}

fn empty() -> Arc<Registry> {
    Arc::new(Registry::from_ops([]).unwrap())
}

fn run(registry: &Arc<Registry>, op: &str, factor: f32, x: Tensor) -> Result<Tensor> {
    let attrs = AttrMap::from_iter([("factor".to_owned(), AttrValue::Float(factor))]);
    run_op(registry, &ABLE, op, attrs, vec![x, Tensor::scalar(-5i32)]).map(|mut outputs| outputs.remove(0))
}

fn numbers(count: usize) -> Tensor {
    Tensor::from_vec([count], vec![1.0f32; count]).unwrap()
}

#[track_caller]
fn says(error: &Error, code: Code, parts: &[&str]) {
    assert_eq!(error.code(), code, "{error}");
    for part in parts {
        assert!(error.message().contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn a_library_in_c_brings_a_shader() {
    let registry = empty();
    let library = load_op_library(shader_library(&folder("brings"), "shader", &[]), &registry).unwrap();
    assert_eq!((library.ops().len(), library.kernels().len(), library.unused()), (1, 1, &[][..]));
    assert_eq!(run(&registry, "CShade", 1.5, numbers(3)).unwrap().shape().dims(), [3]);
    let expected = [1.5f32.to_bits(), -5i32 as u32];
    was_told(&format!("CShadeOnGpu {:?} {expected:?} [0, 0, 0]", [numbers(3).shape()]));
    was_told(
        "CShadeOnGpu shader.c shade.wgsl 1 [[]] false Elements { of: \"\", each: 1 } [] 64 None \
         factor=Computed(F32) offset=Computed(I32)",
    );
    says(&run(&registry, "CShade", 0.0, numbers(3)).unwrap_err(), Code::OutOfRange, &["factor must not be 0"]);
    let scalar = run(&registry, "CShade", 1.0, Tensor::scalar(1.0f32)).unwrap_err();
    says(&scalar, Code::InvalidArgument, &["x must have elements in a row"]);
    library.unload().unwrap();
}

#[test]
fn a_library_in_c_that_declares_a_shader_wrongly_is_refused_by_name() {
    let folder = folder("wrongly");
    for (wrong, code, what) in [
        ("ON_CPU", Code::InvalidArgument, "CShade is a shader, which runs on a GPU, not on CPU"),
        ("COMPUTES", Code::InvalidArgument, "CShade has a shader and a function that computes"),
        ("CREATES", Code::InvalidArgument, "CShade has a shader and the builder's function that creates"),
        ("NO_FUNCTIONS", Code::InvalidArgument, "the shader of `CShadeOnGpu` lacks a function"),
        ("GARBAGE", Code::InvalidArgument, "the shader's message cannot be read"),
        ("HUGE_LENGTH", Code::InvalidArgument, "18446744073709551615 bytes, more than"),
        ("SMALL_STRUCT", Code::InvalidArgument, "take 16 bytes, too few"),
        ("NO_SUCH_ATTR", Code::InvalidArgument, "T"),
    ] {
        let registry = empty();
        let path = shader_library(&folder, wrong, &[&format!("-DWRONG={wrong}")]);
        let error = load_op_library(path, &registry).unwrap_err();
        says(&error, code, &[&format!("lib{wrong}.so"), what]);
        assert_eq!((registry.ops().count(), registry.kernels().count()), (0, 0));
    }
    // What only a node shows.
    let registry = empty();
    load_op_library(shader_library(&folder, "NO_ATTR", &["-DWRONG=NO_ATTR"]), &registry).unwrap();
    let inputs = vec![numbers(1), Tensor::scalar(0i32)];
    let error = run_op(&registry, &ABLE, "CShade", AttrMap::new(), inputs).unwrap_err();
    assert!(error.message().contains("factor") && error.code() != Code::Internal, "{error}");
}

#[test]
fn of_two_libraries_with_one_kernel_the_second_is_refused() {
    let folder = folder("twice");
    let registry = empty();
    let first = load_op_library(shader_library(&folder, "first", &[]), &registry).unwrap();
    let second = shader_library(&folder, "second", &["-DKERNEL_ONLY"]);
    let refused = load_op_library(&second, &registry).unwrap_err();
    says(&refused, Code::AlreadyExists, &["libfirst.so", "libsecond.so", "CShade"]);
    assert_eq!(run(&registry, "CShade", 1.0, numbers(2)).unwrap().num_elements(), 2);
    first.unload().unwrap();
    // Its turn, as soon as there is an op.
    let second = load_op_library(&second, &registry).unwrap();
    assert!(second.unused()[0].contains("there is no such op so far"), "{:?}", second.unused());
    let first =
        load_op_library(shader_library(&folder, "third", &["-DWRONG=0", "-DKERNEL_ONLY", "-DOP=\"None\""]), &registry);
    assert!(first.unwrap().unused()[0].contains("None"));
}

/// A session with a node of the library's on the GPU.
fn session(registry: &Arc<Registry>) -> Session {
    let mut graph = Graph::new(registry);
    let given = [("X", "x"), ("Offset", "offset")].map(|(op, name)| {
        let mut node = NodeBuilder::new(&mut graph, registry.op(op).unwrap().def);
        node.name(name);
        let node = node.build().unwrap();
        graph.outputs_of(node, 0)[0]
    });
    let mut node = NodeBuilder::new(&mut graph, registry.op("CShade").unwrap().def);
    node.name("y").input(given[0]).input(given[1]).device("/device:GPU:0");
    node.build().unwrap();
    let devices: [Arc<dyn Device>; 1] = [Arc::new(ABLE)];
    Session::on_devices(graph, devices, &SessionOptions::new())
}

fn fetch(session: &Session) -> Result<usize> {
    session
        .run(&[("x", numbers(4)), ("offset", Tensor::scalar(1i32))], &["y"], &[])
        .map(|outputs| outputs[0].num_elements())
}

#[test]
fn a_session_keeps_the_library_and_one_that_is_older_than_its_unloading_fails() {
    let registry = empty();
    for (name, output) in [("X", "y: float"), ("Offset", "y: int32")] {
        registry.register_op(OpDefBuilder::new(name).output(output).build().unwrap(), None).unwrap();
    }
    let path = shader_library(&folder("stays"), "shader", &[]);
    let library = load_op_library(&path, &registry).unwrap();
    let lives = session(&registry);
    assert_eq!(fetch(&lives).unwrap(), 4);
    says(&library.unload().unwrap_err(), Code::FailedPrecondition, &["libshader.so cannot be unloaded", "in use"]);
    assert_eq!(fetch(&lives).unwrap(), 4);
    drop(lives);
    let left = session(&registry);
    library.unload().unwrap();
    let error = fetch(&left).unwrap_err();
    assert!(matches!(error.code(), Code::NotFound | Code::FailedPrecondition), "{error}");
    assert!(error.message().contains("CShade"), "{error}");
    let again = load_op_library(&path, &registry).unwrap();
    assert_eq!(fetch(&session(&registry)).unwrap(), 4);
    again.unload().unwrap();
}

#[test]
fn threads_load_run_and_unload() {
    let folder = folder("threads");
    let registry = empty();
    let shared = shader_library(&folder, "shared", &[]);
    let own: Vec<_> = (0..2)
        .map(|number| shader_library(&folder, &format!("own{number}"), &[&format!("-DOP=\"Own{number}\"")]))
        .collect();
    let done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let loading: Vec<_> = own
            .iter()
            .enumerate()
            .map(|(number, path)| {
                let registry = &registry;
                scope.spawn(move || {
                    for round in 1..20 {
                        let library: OpLibrary = load_op_library(path, registry).unwrap();
                        let y = run(registry, &format!("Own{number}"), round as f32, numbers(round)).unwrap();
                        assert_eq!(y.num_elements(), round);
                        library.unload().unwrap();
                    }
                })
            })
            .chain([scope.spawn(|| {
                for _ in 0..40 {
                    let library = load_op_library(&shared, &registry).unwrap();
                    let refused = library.unload().err();
                    // Somebody runs it.
                    refused.iter().for_each(|error| says(error, Code::FailedPrecondition, &["libshared.so"]));
                }
            })])
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    match run(&registry, "CShade", 1.0, numbers(2)) {
                        Ok(y) => assert_eq!(y.num_elements(), 2),
                        Err(error) => {
                            assert!(matches!(error.code(), Code::NotFound | Code::FailedPrecondition), "{error}");
                        }
                    }
                }
            });
        }
        let outcomes: Vec<_> = loading.into_iter().map(|thread| thread.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    });
}

//! Loading libraries that a C compiler makes: good ones, bad ones, and how they go.

#![cfg(target_os = "linux")]

#[path = "common/c.rs"]
mod c;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernlink_framework::attr::{AttrMap, AttrValue};
use kernlink_framework::device::CpuDevice;
use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::graph::{Graph, NodeBuilder};
use kernlink_framework::op::OpDefBuilder;
use kernlink_framework::registry::Registry;
use kernlink_framework::runtime::{Session, run_op};
use kernlink_framework::tensor::Tensor;
use kernlink_framework::{Code, Error, Result};
use kernlink_library::load::{OpLibrary, load_libraries, load_library_dir, load_op_library};

use self::c::{compile, folder};

/// A library of a test's own, of `ops.c`.
fn ops_library(test: &str, arguments: &[&str]) -> PathBuf {
    let path = folder(test).join("libops.so");
    compile("ops.c", &path, arguments);
    path
}

fn empty() -> Arc<Registry> {
    Arc::new(Registry::from_ops([]).unwrap())
}

fn run(registry: &Arc<Registry>, op: &str, attrs: &[(&str, AttrValue)], inputs: Vec<Tensor>) -> Result<Tensor> {
    let attrs = attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<AttrMap>();
    let outputs = run_op(registry, &CpuDevice::new(1).unwrap(), op, attrs, inputs)?;
    Ok(outputs.into_iter().next().unwrap())
}

fn floats(values: &[f32]) -> Vec<Tensor> {
    vec![Tensor::vector(values).unwrap()]
}

/// Its code and message hold all of these.
#[track_caller]
fn says(error: &Error, code: Code, parts: &[&str]) {
    assert_eq!(error.code(), code, "{error}");
    for part in parts {
        assert!(error.message().contains(part), "`{part}` is not in: {error}");
    }
}

/// What `tests/library/c_library.py` expects of TensorFlow.
#[test]
fn a_library_in_c_computes_as_in_tensorflow() {
    let registry = empty();
    let library = load_op_library(ops_library("computes", &["-DDETACHED"]), &registry).unwrap();
    let names: Vec<&str> = library.ops().map(|op| &*op.name).collect();
    assert_eq!(names, ["CScale", "CGreet", "CLater", "CBorrowed"]);
    assert_eq!(library.kernels().len(), 4);
    let unused = library.unused().join("; ");
    assert!(unused.contains("constraints on T leave no dtype") && unused.contains("CScale on XYZ"), "{unused}");
    let origin = registry.op("CScale").unwrap().origin();
    assert_eq!(origin, format!("in the library {}", library.path().display()));

    let attrs = [("factor", AttrValue::Float(3.0)), ("offsets", vec![1i64, 2].into())];
    let y = run(&registry, "CScale", &attrs, floats(&[1.0, 2.5])).unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap(), [6.0, 10.5]);
    let y = run(&registry, "CScale", &[], floats(&[1.0])).unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap(), [2.0]);
    let refused = run(&registry, "CScale", &[], floats(&[-1.0])).unwrap_err();
    says(&refused, Code::InvalidArgument, &["x must not be negative"]);
    let refused = run(&registry, "CScale", &[("factor", AttrValue::Float(0.0))], floats(&[1.0])).unwrap_err();
    says(&refused, Code::OutOfRange, &["factor must not be 0"]);

    let names = ["world", "a name that is too long to be kept within the string"].map(TString::from).to_vec();
    let texts = run(&registry, "CGreet", &[], vec![Tensor::from_vec([2], names.clone()).unwrap()]).unwrap();
    let expected = ["hello, world", "hello, a name that is too long to be kept within the string"].map(TString::from);
    assert_eq!(texts.as_slice::<TString>().unwrap(), expected);
    let plain = [("greeting", AttrValue::from(TString::from("")))];
    let texts = run(&registry, "CGreet", &plain, vec![Tensor::from_vec([2], names.clone()).unwrap()]).unwrap();
    assert_eq!(texts.as_slice::<TString>().unwrap(), names);

    let of = |dtype: DataType| [("T", AttrValue::from(dtype))];
    let y = run(&registry, "CLater", &of(DataType::Float), floats(&[1.0, 2.0])).unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap(), [1.0, 2.0]);
    let refused = run(&registry, "CLater", &of(DataType::Float), floats(&[])).unwrap_err();
    says(&refused, Code::InvalidArgument, &["x is empty"]);
    let refused = run(&registry, "CLater", &of(DataType::Int32), vec![Tensor::vector(&[1i32]).unwrap()]).unwrap_err();
    says(&refused, Code::NotFound, &["CLater"]);
    let y = run(&registry, "CBorrowed", &[], vec![]).unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);

    let mut graph = Graph::new(&registry);
    let borrowed = NodeBuilder::new(&mut graph, registry.op("CBorrowed").unwrap().def).build().unwrap();
    let output = graph.outputs_of(borrowed, 0)[0];
    let mut node = NodeBuilder::new(&mut graph, registry.op("CScale").unwrap().def);
    node.input(output);
    let scaled = node.build().unwrap();
    assert_eq!(graph.shape(graph.outputs_of(scaled, 0)[0]).to_string(), "<unknown>");
}

#[test]
fn a_file_is_loaded_once_whatever_leads_to_it() {
    let registry = empty();
    let path = ops_library("once", &[]);
    let first = load_op_library(&path, &registry).unwrap();
    let generation = registry.generation();
    let link = path.with_file_name("liblink.so");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let hard = path.with_file_name("libhard.so");
    std::fs::hard_link(&path, &hard).unwrap();
    for other in [&path, &link, &hard] {
        assert!(load_op_library(other, &registry).unwrap() == first);
    }
    assert_eq!(registry.generation(), generation);
    says(&load_op_library(&path, &empty()).unwrap_err(), Code::FailedPrecondition, &["another registry"]);
    // Another file with the same ops is another library.
    let copy = path.with_file_name("libcopy.so");
    std::fs::copy(&path, &copy).unwrap();
    let refused = load_op_library(&copy, &registry).unwrap_err();
    says(&refused, Code::AlreadyExists, &["op CScale is declared in the library", "once/libops.so", "once/libcopy.so"]);
}

#[test]
fn threads_that_load_at_once_get_one_library() {
    let registry = empty();
    let path = ops_library("threads", &[]);
    let libraries: Vec<OpLibrary> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| load_op_library(&path, &registry).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(libraries.iter().all(|library| *library == libraries[0]));
    assert_eq!((registry.ops().count(), registry.generation()), (4, 1));
}

/// A library with a fault.
fn hostile(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let path = folder.join(format!("lib{name}.so"));
    compile("hostile.c", &path, &[arguments, &["-Wno-unused-function"]].concat());
    path
}

#[test]
fn what_cannot_be_loaded_says_why_and_leaves_nothing() {
    let folder = folder("refused");
    let registry =
        Arc::new(Registry::from_ops([OpDefBuilder::new("Known").output("y: float").build().unwrap()]).unwrap());
    let refused = |path: &Path, code: Code, parts: &[&str]| {
        let error = load_op_library(path, &registry).unwrap_err();
        says(&error, code, &[&[path.file_name().and_then(OsStr::to_str).unwrap()], parts].concat());
        assert_eq!((registry.ops().count(), registry.kernels().count(), registry.generation()), (1, 0, 0));
    };
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    refused(&folder.join("libnone.so"), Code::NotFound, &["there is no such file"]);
    refused(&folder, Code::NotFound, &["it is a folder", "name a file in it"]);
    refused(&write("libempty.so", b""), Code::NotFound, &["it is empty", "cdylib"]);
    refused(&write("libtext.so", b"# no library"), Code::NotFound, &["it is no shared library", "cdylib"]);
    refused(&write("libx.dll", b"MZ\x90\0"), Code::NotFound, &["Windows"]);
    refused(&write("libx.dylib", b"\xcf\xfa\xed\xfe"), Code::NotFound, &["macOS"]);
    refused(&write("libx.a", b"!<arch>\n"), Code::NotFound, &["static library"]);
    refused(Path::new("/dev/null"), Code::NotFound, &["neither a file nor a folder"]);

    let good = hostile(&folder, "good", &["-DOP=\"New\""]);
    let bytes = std::fs::read(&good).unwrap();
    let changed = |name: &str, at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        write(name, &bytes)
    };
    refused(&changed("lib32.so", 4, 1), Code::NotFound, &["32-bit"]);
    refused(
        &changed("libother_machine.so", 18, 243),
        Code::NotFound,
        &["it is for RISC-V", "build it for this machine"],
    );
    refused(&changed("libobject.so", 16, 1), Code::NotFound, &["an object or a program"]);
    for length in [20, 63, 64, 100, 4096, bytes.len() / 2, bytes.len() - 1] {
        refused(&write("libcut.so", &bytes[..length]), Code::NotFound, &["damaged or cut short"]);
    }

    let plain = folder.join("libplain.so");
    compile("plain.c", &plain, &[]);
    refused(&plain, Code::InvalidArgument, &["no library of ops", "kernlink::library!()"]);
    let other = hostile(&folder, "other", &["-DOTHER_INTERFACE", "-DOP=\"New\""]);
    refused(&other, Code::FailedPrecondition, &["for interface 7", "has interface 1", "same version of Kernlink"]);
    let missing = hostile(&folder, "missing", &["-DMISSING_FUNCTION", "-DOP=\"New\""]);
    refused(&missing, Code::NotFound, &["TF_DoesNotExistAnywhere", "kernels.h"]);
    let cpp = hostile(&folder, "cpp", &["-DCPP", "-DOP=\"New\""]);
    refused(&cpp, Code::NotFound, &["C++", "_ZN10tensorflow8OpKernel7ComputeEv", "TensorFlow's own ABI"]);
    let nobodys = hostile(&folder, "nobodys", &["-DMISSING_OTHER", "-DOP=\"New\""]);
    refused(&nobodys, Code::NotFound, &["some_function_of_nobody"]);
    let nothing = hostile(&folder, "nothing", &[]);
    refused(&nothing, Code::InvalidArgument, &["it registered nothing"]);
    let half = hostile(&folder, "half", &["-DHALF"]);
    refused(&half, Code::InvalidArgument, &["HostileBad: TF_OpDefinitionBuilderAddAttr(op, \"T: nonsense\")"]);
    let known = hostile(&folder, "known", &["-DOP=\"Known\"", "-DKERNEL=\"Known\""]);
    refused(
        &known,
        Code::AlreadyExists,
        &["op Known is declared at ", "registered at run time", "and again in the library"],
    );
    // Nothing of them is in the way of one that is right.
    assert_eq!(load_op_library(&good, &registry).unwrap().ops().next().unwrap().name, "New");
}

#[test]
fn a_kernel_of_a_library_takes_the_place_of_another_and_gives_it_back() {
    let folder = folder("replaces");
    let registry = empty();
    let first =
        load_op_library(hostile(&folder, "first", &["-DOP=\"Seven\"", "-DKERNEL=\"Seven\""]), &registry).unwrap();
    let path = folder.join("libclash.so");
    compile("hostile.c", &path, &["-DKERNEL=\"Seven\"", "-Wno-unused-function"]);
    says(
        &load_op_library(&path, &registry).unwrap_err(),
        Code::AlreadyExists,
        &["libfirst.so", "libclash.so", "priority"],
    );
    let value = |registry| run(registry, "Seven", &[], vec![]).map(|y| y.as_slice::<f32>().unwrap()[0]);
    assert_eq!(value(&registry).unwrap(), 7.0);

    let path = folder.join("libhigher.so");
    compile("hostile.c", &path, &["-DKERNEL=\"Seven\"", "-DPRIORITY=2", "-DVALUE=8", "-Wno-unused-function"]);
    let second = load_op_library(&path, &registry).unwrap();
    assert_eq!(value(&registry).unwrap(), 8.0);
    let refused = first.unload().unwrap_err();
    says(&refused, Code::FailedPrecondition, &["op Seven cannot go", "libhigher.so"]);
    assert_eq!(value(&registry).unwrap(), 8.0);
    second.unload().unwrap();
    assert_eq!(value(&registry).unwrap(), 7.0);
    first.unload().unwrap();
    assert_eq!((registry.ops().count(), registry.kernels().count()), (0, 0));
    assert_eq!(value(&registry).unwrap_err().code(), Code::NotFound);
}

#[test]
fn a_library_stays_as_long_as_anything_of_it_lives() {
    let registry = empty();
    let path = ops_library("unload", &[]);
    let library = load_op_library(&path, &registry).unwrap();
    let graph = || {
        let mut graph = Graph::new(&registry);
        let mut node = NodeBuilder::new(&mut graph, registry.op("CBorrowed").unwrap().def);
        node.name("y");
        node.build().unwrap();
        graph
    };
    let fetch = |session: &Session| session.run(&[], &["y"], &[]).map(|mut y| y.remove(0));

    // A tensor in the library's memory.
    let y = run(&registry, "CBorrowed", &[], vec![]).unwrap();
    assert_eq!(library.users(), 1);
    says(&library.unload().unwrap_err(), Code::FailedPrecondition, &["libops.so cannot be unloaded", "in use"]);
    assert_eq!(y.as_slice::<f32>().unwrap()[3], 4.0);
    drop(y);
    // A kernel that a session keeps.
    let session = Session::new(graph()).unwrap();
    assert_eq!(fetch(&session).unwrap().as_slice::<f32>().unwrap()[3], 4.0);
    assert_eq!(library.users(), 1);
    assert!(library.unload().is_err());
    drop(session);
    let session = Session::new(graph()).unwrap();

    library.unload().unwrap();
    assert_eq!((registry.ops().count(), registry.kernels().count(), library.users()), (0, 0, 0));
    says(&library.unload().unwrap_err(), Code::FailedPrecondition, &["unloaded already"]);
    // What is left of it can be looked at, and does not run.
    assert_eq!(library.ops().count(), 4);
    assert!(fetch(&session).is_err());

    let again = load_op_library(&path, &registry).unwrap();
    assert!(again != library);
    assert_eq!(fetch(&Session::new(graph()).unwrap()).unwrap().as_slice::<f32>().unwrap()[3], 4.0);
    // Threads of the library may be in its code after they have called back.
    run(&registry, "CLater", &[("T", DataType::Float.into())], floats(&[1.0])).unwrap();
    says(&again.unload().unwrap_err(), Code::FailedPrecondition, &["calls back"]);
}

#[test]
fn libraries_that_are_linked_to_tensorflow_need_none() {
    let folder = folder("linked");
    let framework = folder.join("libtensorflow_framework.so.2");
    compile("plain.c", &framework, &["-Wl,-soname,libtensorflow_framework.so.2"]);
    let path = folder.join("liblinked.so");
    compile("ops.c", &path, &["-Wl,--no-as-needed", framework.to_str().unwrap()]);
    std::fs::remove_file(framework).unwrap();
    let registry = empty();
    load_op_library(&path, &registry).unwrap();
    let y = run(&registry, "CScale", &[], floats(&[1.0])).unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap(), [2.0]);
}

#[test]
fn folders_are_loaded_as_far_as_their_files_can_be() {
    let folder = folder("folders");
    compile("ops.c", &folder.join("libtfkernel_ops.so"), &[]);
    // Neither of the name nor with the symbol.
    compile("ops.c", &folder.join("libother.so"), &[]);
    compile("plain.c", &folder.join("libplain.so"), &[]);
    std::fs::write(folder.join("libtfkernel_bad.so"), "text").unwrap();
    std::fs::write(folder.join("tfkernel.so"), "text").unwrap();
    std::fs::create_dir(folder.join("libtfkernel_folder.so")).unwrap();
    hostile(&folder, "interface", &["-DOTHER_INTERFACE", "-DOP=\"New\""]);
    let registry = empty();
    let libraries = load_library_dir(&folder, &registry).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let loaded: Vec<String> = libraries.loaded.iter().map(|library| name(library.path())).collect();
    assert_eq!(loaded, ["libtfkernel_ops.so"]);
    let skipped: Vec<(String, Code)> =
        libraries.skipped.iter().map(|(path, error)| (name(path), error.code())).collect();
    let expected = [("libinterface.so", Code::FailedPrecondition), ("libtfkernel_bad.so", Code::NotFound)];
    assert_eq!(skipped, expected.map(|(name, code)| (name.to_owned(), code)));
    assert_eq!(registry.ops().count(), 4);
    assert_eq!(load_library_dir(folder.join("none"), &registry).unwrap_err().code(), Code::NotFound);

    let both = [folder.clone(), folder.join("libtfkernel_ops.so")];
    let again = load_libraries(both, &registry).unwrap();
    assert!(again.loaded.len() == 2 && again.loaded[0] == libraries.loaded[0] && again.loaded[1] == again.loaded[0]);
    let error = load_libraries([folder.join("libtfkernel_bad.so")], &registry).unwrap_err();
    says(&error, Code::NotFound, &["libtfkernel_bad.so"]);
}

/// A library of `edges.c`.
fn edges(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let path = folder.join(format!("lib{name}.so"));
    compile("edges.c", &path, arguments);
    path
}

/// A text as C has it, for a definition.
fn define(name: &str, value: &Path) -> String {
    format!("-D{name}={:?}", value.to_str().unwrap())
}

#[test]
fn what_needs_no_loader_goes_on_while_a_constructor_waits() {
    let folder = folder("waits");
    let registry = empty();
    let ops = ops_library("waits_for", &[]);
    let loaded = load_op_library(&ops, &registry).unwrap();
    let waits = edges(&folder, "waits", &[&define("WAITS", &folder)]);
    std::thread::scope(|scope| {
        let loading = scope.spawn(|| load_op_library(&waits, &registry).unwrap());
        while !folder.join("started").exists() {
            assert!(!loading.is_finished(), "it ended before its constructor waited");
            std::thread::yield_now();
        }
        // Another library that is loaded, and files that are none.
        assert!(load_op_library(&ops, &registry).unwrap() == loaded);
        assert!(load_op_library(folder.join("none.so"), &registry).is_err());
        assert!(load_op_library(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), &registry).is_err());
        std::fs::write(folder.join("go"), "").unwrap();
        // Whoever wants the same file waits for it.
        let again = load_op_library(&waits, &registry).unwrap();
        let first = loading.join().unwrap();
        assert!(again == first);
        assert_eq!(first.ops().next().unwrap().name, "Waited");
    });
}

#[test]
fn a_validator_may_load_a_library_and_not_the_one_it_is_asked_about() {
    let folder = folder("validator");
    let registry = empty();
    let seven = hostile(&folder, "seven", &["-DOP=\"Seven\""]);
    let other = hostile(&folder, "other", &["-DOP=\"Other\""]);
    let (own, inner) = (seven.clone(), Arc::downgrade(&registry));
    registry.add_validator(Arc::new(move |op| {
        let Some(registry) = inner.upgrade().filter(|_| op.name == "Seven") else { return Ok(()) };
        says(&load_op_library(&own, &registry).unwrap_err(), Code::FailedPrecondition, &["this thread is loading"]);
        load_op_library(&other, &registry).map(drop)
    }));
    load_op_library(&seven, &registry).unwrap();
    assert!(registry.find_op("Seven").is_some() && registry.find_op("Other").is_some());
}

#[test]
fn a_tensor_in_the_memory_of_a_library_that_a_library_needs_keeps_both() {
    let folder = folder("helper");
    compile("helper.c", &folder.join("libhelper.so"), &["-Wl,-soname,libhelper.so"]);
    let link = ["-DHELPER", "-Wl,-rpath,$ORIGIN", "-L", folder.to_str().unwrap(), "-lhelper"];
    let path = edges(&folder, "helped", &link);
    let registry = empty();
    let library = load_op_library(&path, &registry).unwrap();
    let y = run(&registry, "Helped", &[], vec![]).unwrap();
    assert_eq!(library.users(), 1);
    says(&library.unload().unwrap_err(), Code::FailedPrecondition, &["in use"]);
    assert_eq!(y.as_slice::<f32>().unwrap()[7], 8.0);
    drop(y);

    // Of two that need it, each keeps it.
    let second = folder.join("libsecond.so");
    std::fs::copy(&path, &second).unwrap();
    let others = empty();
    let second = load_op_library(&second, &others).unwrap();
    library.unload().unwrap();
    let y = run(&others, "Helped", &[], vec![]).unwrap();
    assert!(second.unload().is_err());
    assert_eq!(y.as_slice::<f32>().unwrap()[7], 8.0);
    drop(y);
    second.unload().unwrap();
}

#[test]
fn a_library_that_needs_another_says_where_that_is_looked_for() {
    let folder = folder("needs");
    let helper = folder.join("libhelper_needed.so");
    compile("helper.c", &helper, &["-Wl,-soname,libhelper_needed.so"]);
    let path = edges(&folder, "needs", &["-DHELPER", "-L", folder.to_str().unwrap(), "-lhelper_needed"]);
    let registry = empty();
    let refused = load_op_library(&path, &registry).unwrap_err();
    says(&refused, Code::NotFound, &["libneeds.so", "it is linked to libhelper_needed.so", "LD_LIBRARY_PATH", "rpath"]);
    assert_eq!((registry.ops().count(), registry.kernels().count()), (0, 0));
}

#[test]
fn what_stands_in_for_tensorflow_goes_with_a_library_that_fails() {
    let folder = folder("stands_in");
    let framework = folder.join("libtensorflow_cc.so.2");
    compile("plain.c", &framework, &["-Wl,-soname,libtensorflow_cc.so.2"]);
    let arguments = ["-DHALF", "-Wl,--no-as-needed", framework.to_str().unwrap()];
    let path = hostile(&folder, "half", &arguments);
    std::fs::remove_file(framework).unwrap();
    let error = load_op_library(&path, &empty()).unwrap_err();
    assert!(error.message().contains("libhalf.so"), "{error}");
    // SAFETY: a text; nothing is opened that is not open.
    let left = unsafe { libc::dlopen(c"libtensorflow_cc.so.2".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    assert!(left.is_null());
}

#[test]
fn a_kernel_joins_its_op_however_that_came() {
    let folder = folder("joins");
    let registry = empty();
    let path = hostile(&folder, "kernel", &["-DKERNEL=\"Later\""]);
    let library = load_op_library(&path, &registry).unwrap();
    assert!(library.unused()[0].contains("there is no such op so far"), "{:?}", library.unused());
    registry.register_op(OpDefBuilder::new("Later").output("y: float").build().unwrap(), None).unwrap();
    // With the next library, whatever is in it.
    load_op_library(hostile(&folder, "next", &["-DOP=\"Next\""]), &registry).unwrap();
    assert_eq!(run(&registry, "Later", &[], vec![]).unwrap().as_slice::<f32>().unwrap(), [7.0]);
    library.unload().unwrap();
    assert_eq!(registry.kernels().count(), 0);
}

#[test]
fn a_registration_on_a_thread_of_the_library_names_the_library() {
    let folder = folder("thread");
    let said = folder.join("said");
    let registry = empty();
    let path = edges(&folder, "thread", &["-DOP=\"Apart\"", &define("THREAD", &said)]);
    let library = load_op_library(path, &registry).unwrap();
    assert_eq!((library.ops().len(), library.kernels().len()), (1, 0));
    let said = std::fs::read_to_string(said).unwrap();
    for part in ["9 ", "libthread.so", "on another thread than the one that loads it"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_library_without_section_headers_loads() {
    for (name, hash) in [("gnu", "-Wl,--hash-style=gnu"), ("sysv", "-Wl,--hash-style=sysv")] {
        let path = ops_library(&format!("sections_{name}"), &[hash]);
        let mut bytes = std::fs::read(&path).unwrap();
        // Where they are, and how many, of which one has the names.
        bytes[40..48].fill(0);
        bytes[60..64].fill(0);
        let stripped = path.with_file_name("libstripped.so");
        std::fs::write(&stripped, bytes).unwrap();
        let registry = empty();
        let library = load_op_library(&stripped, &registry).unwrap();
        assert_eq!(library.ops().len(), 4);
    }
}

//! What a library in C declares, rightly and wrongly, and what it answers.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::DataType;
use kernlink::op::OpDefBuilder;
use kernlink::proto::kernel_def::AttrConstraint;
use kernlink::proto::{KernelDef, attr_to_proto};
use kernlink::registry::Registry;
use kernlink::runtime::run_op;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use kernlink_library::abi::shader::Dispatch as DispatchMessage;
use kernlink_library::abi::shader::{Constraint, Param as ParamMessage, ParamKind, Rule, SET_SHADER, Shader};
use kernlink_library::abi::*;
use kernlink_library::host::registration::collect;
use kernlink_library::host::{
    Kernlink_KernelBuilder_SetShader, TF_DeleteKernelBuilder, TF_DeleteStatus, TF_GetCode,
    TF_KernelBuilder_TypeConstraint, TF_Message, TF_NewKernelBuilder, TF_NewStatus, TF_RegisterKernelBuilder,
    TF_RegisterKernelBuilderWithKernelDef, TF_SetStatus,
};
use prost::Message as _;

use crate::common;
use crate::device::ABLE;

unsafe extern "C" fn says_nothing(_: *mut c_void, _: *const KernlinkLaunch, _: *mut TF_Status) {}

/// What is wrong is told by the dimensions of the input.
unsafe extern "C" fn says_wrongly(_: *mut c_void, launch: *const KernlinkLaunch, status: *mut TF_Status) {
    // SAFETY: as a library would, but for what it says.
    unsafe {
        let (one, negative, most) = ([2i64], [-1i64], [i64::MAX; 3]);
        let shape = |dims: &[i64], rank| KernlinkShape { dims: dims.as_ptr(), rank };
        let nowhere = KernlinkShape { dims: ptr::null(), rank: 1 };
        let asked = (*(*launch).inputs).shape;
        let set = (*launch).set_output;
        match (asked.rank, if asked.rank == 1 { *asked.dims } else { 0 }) {
            (0, _) => set(launch, 9, shape(&one, 1), status),
            (1, 1) => set(launch, 0, shape(&negative, 1), status),
            (1, 2) => set(launch, 0, shape(&most, 3), status),
            // More than there are.
            (1, 3) => set(launch, 0, shape(&one, c_int::MAX), status),
            (1, 4) => set(launch, usize::MAX, shape(&one, 1), status),
            (1, 5) => set(ptr::null(), 0, shape(&one, 1), status),
            // What comes after it is right.
            (1, 6) => {
                set(launch, 0, shape(&negative, 1), ptr::null_mut());
                set(launch, 0, shape(&one, 1), status);
            }
            (1, 7) => {
                let dims = one.as_ptr().wrapping_byte_add(1);
                set(launch, 0, KernlinkShape { dims, rank: 1 }, status);
            }
            (1, 8) => drop(((*launch).input)(launch, 1, status)),
            (1, 9) => drop(((*launch).input)(launch, 0, status)),
            (1, 10) => drop(((*launch).input)(ptr::null(), 0, status)),
            // The library knows better what is wrong.
            (1, 11) => {
                set(launch, 0, shape(&negative, 1), ptr::null_mut());
                TF_SetStatus(status, Code::OutOfRange as i32, c"eleven are too many".as_ptr());
            }
            // What comes later is right, of another output than there is.
            (1, 12) => {
                set(launch, 1, shape(&one, 1), status);
                set(launch, 0, shape(&one, 1), status);
            }
            // What comes later is wrong.
            (1, 13) => {
                set(launch, 0, shape(&one, 1), status);
                set(launch, 0, shape(&negative, 1), ptr::null_mut());
            }
            // The last that is wrong is what the status says.
            (1, 14) => {
                set(launch, 0, shape(&most, 3), status);
                set(launch, 7, shape(&one, 1), status);
                set(launch, 0, shape(&negative, 1), status);
            }
            (2, _) => set(launch, 0, nowhere, status),
            _ => set(launch, 0, shape(&one, -1), status),
        }
    }
}

fn declaration() -> Shader {
    Shader {
        name: "Hand".into(),
        text: "fn element(i: u32) {}".into(),
        dispatch: Some(DispatchMessage { rule: Rule::Elements.into(), rows: 1, ..DispatchMessage::default() }),
        workgroup: 64,
        ..Shader::default()
    }
}

fn functions() -> KernlinkShaderFunctions {
    let size = size_of::<KernlinkShaderFunctions>();
    let data = ptr::null();
    KernlinkShaderFunctions { size, data, create: None, outputs: Some(says_nothing), computed: None, groups: None }
}

/// Declares a kernel as a library in C would; gives what the setter and the registration say.
fn declare(
    device: &CStr,
    bytes: &[u8],
    functions: *const KernlinkShaderFunctions,
    dtypes: &[DataType],
) -> [(i32, String); 2] {
    // SAFETY: as a library would.
    unsafe {
        let status = TF_NewStatus();
        let said = || (TF_GetCode(status), CStr::from_ptr(TF_Message(status)).to_string_lossy().into_owned());
        let builder = TF_NewKernelBuilder(c"Repeat".as_ptr(), device.as_ptr(), None, None, None);
        Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), functions, status);
        let set = said();
        for dtype in dtypes {
            TF_KernelBuilder_TypeConstraint(builder, c"T".as_ptr(), dtype.number(), status);
        }
        let (registered, _) = collect(|| {
            TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
            said()
        });
        TF_DeleteStatus(status);
        [set, registered]
    }
}

#[test]
fn what_a_library_declares_wrongly_is_refused() {
    let good = declaration().encode_to_vec();
    assert_eq!(declare(c"GPU", &good, &functions(), &[]), [(0, String::new()), (0, String::new())]);

    let refused = |change: &dyn Fn(&mut Shader), what: &str| {
        let mut shader = declaration();
        change(&mut shader);
        let [(code, said), registered] = declare(c"GPU", &shader.encode_to_vec(), &functions(), &[]);
        assert_eq!(code, Code::InvalidArgument as i32, "{what}");
        assert!(said.contains(what), "{said}");
        // A library that looks at no status is told so, too.
        assert_eq!(registered, (code, said));
    };
    refused(&|shader| shader.dispatch = None, "`Hand` has no dispatch rule");
    refused(
        &|shader| shader.dispatch.as_mut().unwrap().rule = 99,
        "has a dispatch rule that this version does not know",
    );
    refused(&|shader| shader.dispatch.as_mut().unwrap().rows = 0, "has a dispatch rule");
    refused(&|shader| shader.workgroup = 0, "has workgroups without threads");
    refused(&|shader| shader.dispatch.as_mut().unwrap().rule = Rule::Function.into(), "lacks a function");
    let param =
        |kind: ParamKind, ty: &str| ParamMessage { name: "p".into(), kind: kind.into(), ty: ty.into(), rank: 0 };
    refused(&|shader| shader.params = vec![param(ParamKind::Computed, "u32")], "lacks a function");
    refused(&|shader| shader.params = vec![param(ParamKind::Attr, "f64")], "has a parameter `p`");
    refused(&|shader| shader.params = vec![param(ParamKind::Unknown, "")], "has a parameter `p`");
    refused(&|shader| shader.params = vec![param(ParamKind::Shape, "")], "has a parameter `p`");
    let wide = |shader: &mut Shader| shader.params = vec![ParamMessage { rank: 300, ..param(ParamKind::Shape, "") }];
    refused(&wide, "has a parameter `p`");
    refused(&|shader| shader.params = vec![param(ParamKind::Attr, ""); 1025], "has 1025 parameters, more than 1024");
    refused(&|shader| shader.interface = INTERFACE + 1, "is for interface");
    let none = || vec![Constraint { attr: "fails".into(), ..Constraint::default() }];
    refused(&|shader| shader.constraints = none(), "has not values of one kind for attr `fails`");

    refused(&|shader| shader.name.clear(), "has no name or no text");
    refused(&|shader| shader.text.clear(), "has no name or no text");
    refused(&|shader| shader.name = "n".repeat(5000), "a kernel of Repeat: the shader has a name of 5000 bytes");
    let long = || "n".repeat(5000);
    let constraint = |attr: String, strings: Vec<String>| Constraint { attr, strings, ..Constraint::default() };
    let of_hand = |change: &dyn Fn(&mut Shader), what: &str| {
        refused(change, &format!("the shader of `Hand` has a {what} of 5000 bytes, more than 4096"));
    };
    of_hand(&|shader| shader.registered_in = long(), "source file");
    of_hand(&|shader| shader.file = long(), "file");
    of_hand(&|shader| shader.refusal_message = long(), "message of what it refuses");
    of_hand(&|shader| shader.dispatch.as_mut().unwrap().of = long(), "dispatch rule for an argument");
    of_hand(&|shader| shader.params = vec![ParamMessage { name: long(), ..param(ParamKind::Attr, "") }], "parameter");
    of_hand(&|shader| shader.params = vec![param(ParamKind::Attr, &long())], "parameter's type");
    of_hand(&|shader| shader.vectors = vec!["x".into(), long()], "vectored argument");
    of_hand(&|shader| shader.requires = vec!["f16".into(), long()], "required capability");
    of_hand(&|shader| shader.constraints = vec![constraint(long(), vec!["a".into()])], "constrained attr");
    of_hand(&|shader| shader.constraints = vec![constraint("a".into(), vec![long()])], "value of a constrained attr");
    let wide = ParamMessage { rank: 200, ..param(ParamKind::Shape, "") };
    refused(&|shader| shader.params = vec![wide.clone(); 6], "has 1200 parameters, more than 1024");
    refused(&|shader| shader.dispatch.as_mut().unwrap().rows = u32::MAX, "has tiles of more than 65536 rows");

    let [set, _] = declare(c"GPU", &[0xff, 0xff, 0xff], &functions(), &[]);
    assert!(
        set.0 == Code::InvalidArgument as i32
            && set.1.contains("a kernel of Repeat: the shader's message cannot be read"),
        "{set:?}"
    );
    let small = KernlinkShaderFunctions { size: 8, ..functions() };
    let [set, _] = declare(c"GPU", &good, &small, &[]);
    assert!(set.1.contains("of another version") && set.1.contains("a kernel of Repeat: "), "{set:?}");
    let [set, _] = declare(c"GPU", &good, ptr::null(), &[]);
    assert!(set.1.contains("null pointer"), "{set:?}");
    let [_, registered] = declare(c"CPU", &good, &functions(), &[]);
    assert!(registered.1.contains("is a shader, which runs on a GPU, not on CPU"), "{registered:?}");
    let [set, _] = declare(c"GPU", &good, ptr::from_ref(&functions()).wrapping_byte_add(1), &[]);
    assert!(set.1.contains("at no address"), "{set:?}");
    // SAFETY: null pointers and lengths that cannot be are errors.
    unsafe {
        let status = TF_NewStatus();
        let builder = TF_NewKernelBuilder(c"Repeat".as_ptr(), c"GPU".as_ptr(), None, None, None);
        for length in [usize::MAX, isize::MAX as usize, 1 << 30] {
            Kernlink_KernelBuilder_SetShader(builder, good.as_ptr().cast(), length, &functions(), status);
            assert!(CStr::from_ptr(TF_Message(status)).to_string_lossy().contains("bytes, more than"));
        }
        TF_DeleteKernelBuilder(builder);
        Kernlink_KernelBuilder_SetShader(ptr::null_mut(), good.as_ptr().cast(), good.len(), &functions(), status);
        assert_eq!(TF_GetCode(status), Code::InvalidArgument as i32);
        TF_DeleteStatus(status);
    }
}

#[test]
fn a_builder_has_one_shader() {
    let said = |first: &Shader, second: &Shader| {
        // SAFETY: as a library would.
        unsafe {
            let status = TF_NewStatus();
            let said = || (TF_GetCode(status), CStr::from_ptr(TF_Message(status)).to_string_lossy().into_owned());
            let builder = TF_NewKernelBuilder(c"Repeat".as_ptr(), c"GPU".as_ptr(), None, None, None);
            for shader in [first, second] {
                let bytes = shader.encode_to_vec();
                Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions(), status);
            }
            let set = said();
            let (registered, _) = collect(|| {
                TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
                said()
            });
            TF_DeleteStatus(status);
            assert_eq!(set, registered);
            set
        }
    };
    let other = Shader { name: "Other".into(), ..declaration() };
    let refused = "a kernel of Repeat: the builder is told a second shader: it has that of `Hand`";
    assert_eq!(said(&declaration(), &other), (Code::InvalidArgument as i32, refused.to_owned()));
    assert_eq!(said(&declaration(), &declaration()), (Code::InvalidArgument as i32, refused.to_owned()));
}

/// Only what is registered stays for good.
#[test]
#[cfg(target_os = "linux")]
fn what_is_not_registered_is_freed() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() >> 10
    };
    let shader = Shader { text: "// ".repeat(4 << 20), ..declaration() };
    let bytes = shader.encode_to_vec();
    let before = resident();
    for number in 0..40 {
        // SAFETY: as a library would.
        unsafe {
            let status = TF_NewStatus();
            // One is deleted, one is for a device that runs no shaders, and one for several dtypes of an attr.
            let device = if number % 3 == 1 { c"CPU" } else { c"GPU" };
            let builder = TF_NewKernelBuilder(c"Repeat".as_ptr(), device.as_ptr(), None, None, None);
            Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions(), status);
            assert_eq!(TF_GetCode(status), 0);
            match number % 3 {
                0 => TF_DeleteKernelBuilder(builder),
                1 => drop(collect(|| TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status))),
                _ => {
                    let several = AttrValue::ListType(vec![DataType::Float, DataType::Half]);
                    let allowed_values = Some(attr_to_proto(&several).unwrap());
                    let constraint = vec![AttrConstraint { name: "T".into(), allowed_values }];
                    let (op, device_type) = ("Repeat".into(), "GPU".into());
                    let def = KernelDef { op, device_type, constraint, ..KernelDef::default() };
                    let def = CString::new(def.encode_to_vec()).unwrap();
                    let name = c"hand".as_ptr();
                    let register = || TF_RegisterKernelBuilderWithKernelDef(def.as_ptr(), name, builder, status);
                    drop(collect(register));
                }
            }
            assert_eq!(TF_GetCode(status) != 0, number % 3 != 0);
            TF_DeleteStatus(status);
        }
    }
    // Of 40 times 12 MiB.
    let kept = resident().saturating_sub(before);
    assert!(kept < 200, "{kept} MiB are kept");
}

#[test]
fn a_shader_that_does_not_suit_its_op_is_refused_with_the_first_node() {
    let refused = |op: OpDefBuilder, change: &dyn Fn(&mut Shader), what: &str| {
        let registry = Arc::new(Registry::from_ops([]).unwrap());
        registry.register_op(op.build().unwrap(), None).unwrap();
        let mut shader = declaration();
        change(&mut shader);
        let registered = || {
            // SAFETY: as a library would.
            unsafe {
                let status = TF_NewStatus();
                let builder = TF_NewKernelBuilder(c"Hand".as_ptr(), c"GPU".as_ptr(), None, None, None);
                let bytes = shader.encode_to_vec();
                Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions(), status);
                TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
                assert_eq!(TF_GetCode(status), 0, "{what}");
                TF_DeleteStatus(status);
            }
        };
        collect(registered).1.commit(&registry).unwrap();
        let inputs = registry.op("Hand").unwrap().def.inputs.len();
        let inputs = (0..inputs).map(|_| Tensor::scalar(1.0f32)).collect();
        let error = run_op(&registry, &ABLE, "Hand", AttrMap::new(), inputs).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().contains(what), "`{what}` is not in {error}");
    };
    let op = || OpDefBuilder::new("Hand").input("x: float").output("y: float").attr("factor: float = 1");
    refused(OpDefBuilder::new("Hand").input("x: float"), &|_| {}, "it has no output for the shader to write");
    refused(OpDefBuilder::new("Hand").output("y: double"), &|_| {}, "`y` is double, with which no shader computes");
    refused(OpDefBuilder::new("Hand").output("y: N * float").attr("N: int = 1"), &|_| {}, "`y` is a list");
    let of = |shader: &mut Shader| shader.dispatch.as_mut().unwrap().of = "z".into();
    refused(op(), &of, "it has no argument `z`");
    let named =
        |kind: ParamKind, name: &str| ParamMessage { name: name.into(), kind: kind.into(), rank: 1, ty: String::new() };
    refused(op(), &|shader| shader.params = vec![named(ParamKind::Shape, "w")], "it has no argument `w`");
    refused(op(), &|shader| shader.params = vec![named(ParamKind::Attr, "w")], "has no attr `w`");
    refused(op(), &|shader| shader.vectors = vec!["w".into()], "it has no argument `w`");
    let of_elements = |shader: &mut Shader| {
        shader.dispatch.as_mut().unwrap().rule = Rule::Equal.into();
        shader.params = vec![named(ParamKind::Shape, "x")];
    };
    refused(op(), &of_elements, "a function of elements has attrs for parameters");
}

#[test]
fn constraints_of_each_kind_cross() {
    let constraint = |attr: &str| Constraint { attr: attr.into(), ..Constraint::default() };
    let mut shader = declaration();
    shader.constraints = vec![
        Constraint { strings: vec!["a".into(), "b".into()], ..constraint("text") },
        Constraint { ints: vec![-3], ..constraint("number") },
        Constraint { bools: vec![true], ..constraint("flag") },
    ];
    let registry = Arc::new(Registry::from_ops([]).unwrap());
    let op = OpDefBuilder::new("Hand").input("x: float").output("y: float");
    let op = op.attr("text: string = 'b'").attr("number: int = -3").attr("flag: bool = true");
    registry.register_op(op.build().unwrap(), None).unwrap();
    // SAFETY: as a library would.
    let ((), batch) = unsafe {
        collect(|| {
            let status = TF_NewStatus();
            let builder = TF_NewKernelBuilder(c"Hand".as_ptr(), c"GPU".as_ptr(), None, None, None);
            let bytes = shader.encode_to_vec();
            Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions(), status);
            TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
            TF_DeleteStatus(status);
        })
    };
    batch.commit(&registry).unwrap();
    let code = |name: &str, value: AttrValue| {
        let attrs = AttrMap::from_iter([(name.to_owned(), value)]);
        run_op(&registry, &ABLE, "Hand", attrs, vec![Tensor::scalar(1.0f32)]).unwrap_err().code()
    };
    // Where it is chosen, it says no shapes.
    assert_eq!(code("text", AttrValue::from("a")), Code::InvalidArgument);
    assert_eq!(code("text", AttrValue::from("c")), Code::NotFound);
    assert_eq!(code("number", AttrValue::Int(3)), Code::NotFound);
    assert_eq!(code("flag", AttrValue::Bool(false)), Code::NotFound);
}

/// A library whose functions for the op `Hand` say what cannot be.
#[test]
fn what_a_library_says_wrongly_of_a_run_is_an_error_of_it() {
    let asks = |outputs| {
        // SAFETY: as a library would.
        let ((), batch) = unsafe {
            collect(|| {
                let status = TF_NewStatus();
                let builder = TF_NewKernelBuilder(c"Hand".as_ptr(), c"GPU".as_ptr(), None, None, None);
                let bytes = declaration().encode_to_vec();
                let functions = KernlinkShaderFunctions { outputs: Some(outputs), ..functions() };
                Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions, status);
                TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
                assert_eq!(TF_GetCode(status), 0);
                TF_DeleteStatus(status);
            })
        };
        let fresh = Arc::new(Registry::from_ops([]).unwrap());
        let op = OpDefBuilder::new("Hand").input("x: float").output("y: float").build().unwrap();
        fresh.register_op(op, None).unwrap();
        batch.commit(&fresh).unwrap();
        move |dims: &[usize]| {
            let x = Tensor::zeros(DataType::Float, dims.to_vec()).unwrap();
            run_op(&fresh, &ABLE, "Hand", AttrMap::new(), vec![x]).map(|outputs| outputs[0].shape().clone())
        }
    };
    let says = |outcome: Result<Shape>, code: Code, what: &str| {
        let error = outcome.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(what), "{error}");
    };
    says(
        asks(says_nothing)(&[]),
        Code::InvalidArgument,
        "the shader of `Hand` (): the library does not say the shape of output 0",
    );
    let wrong = asks(says_wrongly);
    says(wrong(&[]), Code::InvalidArgument, "there is no output 9");
    let named = "the shader of `Hand` (): a shape has a negative size";
    says(wrong(&[1]), Code::InvalidArgument, named);
    says(wrong(&[2]), Code::InvalidArgument, "has more than 2^63 - 1 elements");
    says(wrong(&[3]), Code::InvalidArgument, "rank 2147483647 is above 254");
    says(wrong(&[4]), Code::InvalidArgument, "there is no output 18446744073709551615");
    says(wrong(&[5]), Code::InvalidArgument, "the launch is a null pointer");
    assert_eq!(wrong(&[6]).unwrap(), Shape::from([2]));
    says(wrong(&[7]), Code::InvalidArgument, "at no address");
    says(wrong(&[8]), Code::OutOfRange, "input index out of range");
    says(wrong(&[9]), Code::InvalidArgument, "not in host memory");
    says(wrong(&[10]), Code::InvalidArgument, "the launch is a null pointer");
    says(wrong(&[11]), Code::OutOfRange, "eleven are too many");
    says(wrong(&[12]), Code::InvalidArgument, "the shader of `Hand` (): there is no output 1");
    says(wrong(&[13]), Code::InvalidArgument, named);
    says(wrong(&[14]), Code::InvalidArgument, named);
    says(wrong(&[1, 1]), Code::InvalidArgument, "null pointer");
    says(wrong(&[1, 1, 1]), Code::InvalidArgument, "a negative rank");
}

/// A message that was damaged on its way is refused, or declares something: in no case anything of this program fails.
#[test]
fn damaged_messages_are_errors() {
    let mut whole = declaration();
    whole.constraints = vec![Constraint { attr: "factor".into(), ints: vec![1], ..Constraint::default() }];
    whole.params =
        vec![ParamMessage { name: "factor".into(), kind: ParamKind::Attr.into(), ty: "i32".into(), rank: 0 }];
    whole.vectors = vec!["x".into()];
    let good = whole.encode_to_vec();
    let mut random = 1u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let mut outcomes = [0; 3];
    for _ in 0..2000 {
        let mut bytes = good.clone();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] = next(256) as u8,
                1 => bytes[at] ^= 1 << next(8),
                2 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, next(256) as u8),
            }
        }
        let registry = Arc::new(Registry::from_ops([]).unwrap());
        let op = OpDefBuilder::new("Hand").input("x: float").output("y: float").attr("factor: int = 1");
        registry.register_op(op.build().unwrap(), None).unwrap();
        // SAFETY: as a library would.
        let (set, batch) = unsafe {
            collect(|| {
                let status = TF_NewStatus();
                let builder = TF_NewKernelBuilder(c"Hand".as_ptr(), c"GPU".as_ptr(), None, None, None);
                Kernlink_KernelBuilder_SetShader(builder, bytes.as_ptr().cast(), bytes.len(), &functions(), status);
                let set = TF_GetCode(status);
                TF_RegisterKernelBuilder(c"hand".as_ptr(), builder, status);
                TF_DeleteStatus(status);
                set
            })
        };
        let committed = batch.commit(&registry).map(drop);
        let outcome = match committed {
            Err(error) => (0, error),
            Ok(()) => {
                let inputs = vec![Tensor::scalar(1.0f32)];
                (1 + set as usize, run_op(&registry, &ABLE, "Hand", AttrMap::new(), inputs).unwrap_err())
            }
        };
        outcomes[outcome.0] += 1;
        assert!(!matches!(outcome.1.code(), Code::Internal | Code::Unknown), "{}", outcome.1);
    }
    assert!(outcomes[0] > 100 && outcomes[1] > 100 && outcomes[2] == 0, "{outcomes:?}");
}

#[test]
fn the_function_is_found_by_its_name() {
    assert_eq!(SET_SHADER, c"Kernlink_KernelBuilder_SetShader");
    assert!(!common::lookup(SET_SHADER).is_null());
}

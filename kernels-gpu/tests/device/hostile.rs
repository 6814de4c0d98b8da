//! Shaders of which nobody knows what stands in them, as those of libraries: whatever it is, there is an error that names them, and
//! the device serves the next.

use std::sync::Arc;

use kernlink_framework as kernlink;

use kernlink::attr::AttrMap;
use kernlink::device::Device as _;
use kernlink::kernel::shader::{
    Dispatch, LaunchFunctions, Made, Operands, Param, ParamType, ParamValue, RawLaunch, Source, WORKGROUP, make,
};
use kernlink::kernel::{GPU, KernelDefBuilder, Location, Provider};
use kernlink::op::OpDefBuilder;
use kernlink::registry::Registry;
use kernlink::runtime::run_op;
use kernlink::shape::Shape;
use kernlink::step::block_on;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use kernlink_kernels_gpu::GpuDevice;

static PROVIDER: Provider = Provider::RUN_TIME;

/// What the functions of a registration say.
#[derive(Clone)]
struct Answers {
    shape: Shape,
    words: Vec<u32>,
    groups: [u32; 3],
}

impl LaunchFunctions for Answers {
    fn outputs(&self, _: RawLaunch<'_>) -> Result<Vec<Shape>> {
        Ok(vec![self.shape.clone()])
    }

    fn computed(&self, _: RawLaunch<'_>) -> Result<Vec<u32>> {
        Ok(self.words.clone())
    }

    fn groups(&self, _: RawLaunch<'_>) -> Result<[u32; 3]> {
        Ok(self.groups)
    }
}

/// A shader of op `Hand`, from `x: float` to `y: float`, as a library declares it.
struct Hand {
    text: String,
    name: String,
    is_raw: bool,
    dispatch: Dispatch,
    params: Vec<(String, ParamValue)>,
    workgroup: u32,
    answers: Answers,
}

/// One that doubles.
fn hand(text: &str) -> Hand {
    Hand {
        text: text.to_owned(),
        name: "HandOnGpu".to_owned(),
        is_raw: false,
        dispatch: Dispatch::Elements { of: "", each: 1 },
        params: Vec::new(),
        workgroup: WORKGROUP,
        answers: Answers { shape: Shape::from([4]), words: Vec::new(), groups: [1, 1, 1] },
    }
}

const DOUBLE: &str = "fn element(i: u32) { y[i] = 2.0 * x[i]; }";

impl Hand {
    fn run(self, gpu: &GpuDevice) -> Result<Vec<f32>> {
        let registry = Arc::new(Registry::from_ops([]).unwrap());
        registry.register_op(OpDefBuilder::new("Hand").input("x: float").output("y: float").build().unwrap(), None)?;
        let Hand { text, name, is_raw, dispatch, params, workgroup, answers } = self;
        let params: Vec<_> = params.into_iter().map(|(name, value)| Param { name: &*name.leak(), value }).collect();
        let source: &'static Source = Box::leak(Box::new(Source {
            name: name.leak(),
            location: Location { file: "hand.rs", line: 7 },
            file: "hand.wgsl",
            text: text.leak(),
            op: registry.op("Hand")?.def,
            host_memory: &[],
            requires: &[],
            variants: &[&[]],
            is_raw,
            dispatch,
            params: params.leak(),
            vectors: &[],
            workgroup,
            refusal: None,
            provider: &PROVIDER,
            made: Made::new(),
        }));
        let kernel = KernelDefBuilder::new("Hand", GPU);
        registry.register_kernel(kernel.create_with(move |node| make(source, Box::new(answers.clone()), node)))?;
        let x = gpu.to_device(&Tensor::vector(&[1f32, 2.0, 3.0, 4.0])?)?;
        let y = run_op(&registry, gpu, "Hand", AttrMap::new(), vec![x])?.remove(0);
        Ok(block_on(gpu.to_host(&y))?.as_slice::<f32>()?.to_vec())
    }

    fn raw(self) -> Hand {
        Hand { is_raw: true, dispatch: Dispatch::Function, ..self }
    }

    fn saying(self, shape: impl Into<Shape>) -> Hand {
        Hand { answers: Answers { shape: shape.into(), ..self.answers.clone() }, ..self }
    }
}

/// Runs each, and then one that is right.
#[track_caller]
fn refused(gpu: &GpuDevice, hand: Hand, code: Code, what: &str) {
    let begin: String = hand.text.chars().take(80).collect();
    let error = hand.run(gpu).expect_err(&begin);
    let message: String = error.message().chars().take(2000).collect();
    assert_eq!(error.code(), code, "{begin}: {message}");
    assert!(message.contains("HandOnGpu") && message.contains(what), "`{what}` is not said of {begin}: {message}");
    assert_eq!(crate::hostile::hand(DOUBLE).run(gpu).unwrap(), [2.0, 4.0, 6.0, 8.0]);
}

fn raw(body: &str) -> Hand {
    let bindings = "@group(0) @binding(0) var<storage, read> x: array<f32>;\n\
                    @group(0) @binding(1) var<storage, read_write> y: array<f32>;\n";
    hand(&format!("{bindings}{body}")).raw()
}

#[test]
fn what_is_no_shader_of_the_op_is_refused() {
    let gpu = &crate::testing::device();
    let invalid = |hand, what: &str| refused(gpu, hand, Code::InvalidArgument, what);
    for text in ["\0", "}", "\u{feff}fn", "//", "/*", "enable f16;", "fn element(i: u32) {", "fn element(i: f32) {}"] {
        invalid(hand(text), "hand.wgsl");
    }
    invalid(hand(&"}".repeat(100_000)), "hand.wgsl");
    invalid(hand("fn element(i: u32) { element(i); y[i] = 1.0; }"), "hand.wgsl");
    invalid(hand("fn element(i: u32) { }"), "never writes output `y`");
    invalid(hand("override z: f32; fn element(i: u32) { y[i] = z; }"), "");
    invalid(hand("const a = 1 / 0; fn element(i: u32) { y[i] = a; }"), "hand.wgsl");
    invalid(
        hand("@group(1) @binding(0) var<uniform> z: f32; fn element(i: u32) { y[i] = z; }"),
        "no binding 0 in group 1",
    );
    invalid(
        hand("@group(0) @binding(2) var<uniform> z: f32; fn element(i: u32) { y[i] = z; }"),
        "no binding 2 in group 0",
    );
    invalid(
        hand("@group(0) @binding(1) var<storage, read_write> z: array<f32>; fn element(i: u32) { y[i] = z[i]; }"),
        "",
    );

    let main = "@compute @workgroup_size(1) fn main() { y[0] = x[0]; }";
    assert!(raw(main).run(gpu).is_ok());
    invalid(raw("@compute @workgroup_size(1) fn other() { y[0] = x[0]; }"), "it must define");
    invalid(raw("@fragment fn main() { }"), "it must define");
    invalid(hand(main).raw(), "hand.wgsl");
    invalid(hand(&raw(main).text.replace("f32>", "u32>")).raw(), "its elements are f32, not u32");
    invalid(hand(&raw(main).text.replace("read>", "read_write>")).raw(), "input `x` must be");
    invalid(hand(&raw(main).text.replace("storage, read>", "uniform>")).raw(), "");
    invalid(hand(&raw(main).text.replace("binding(0)", "binding(4294967295)")).raw(), "");
    invalid(raw(&format!("var<immediate> params: array<u32, 4>; {main}")), "the parameters are");
}

#[test]
fn what_no_device_takes_is_refused() {
    let gpu = &crate::testing::device();
    let invalid = |hand, what: &str| refused(gpu, hand, Code::InvalidArgument, what);
    let too_much = |hand, what: &str| refused(gpu, hand, Code::ResourceExhausted, what);
    for threads in [0, 1025, 16_384, 16_385, u32::MAX] {
        invalid(Hand { workgroup: threads, ..hand(DOUBLE) }, "");
    }
    for size in ["16384, 16384, 16384", "1024, 1024", "0", "4294967295"] {
        invalid(raw(&format!("@compute @workgroup_size({size}) fn main() {{ y[0] = x[0]; }}")), "");
    }
    let declares = |what: &str, use_it: &str| hand(&format!("{what}\nfn element(i: u32) {{ {use_it} y[i] = x[i]; }}"));
    let array = |size: u64| format!("array<f32, {size}>");
    for size in [20_000, 1_000_000, 100_000_000, 1_000_000_000, u64::from(u32::MAX)] {
        let (private, local) =
            (format!("var<private> a: {};", array(size)), format!("var a: {}; a[i] = x[i];", array(size)));
        invalid(declares(&private, "a[i] = x[i];"), "hand.wgsl");
        invalid(declares("", &local), "hand.wgsl");
        invalid(declares("", &format!("let a = {}(); y[i] = a[i];", array(size))), "hand.wgsl");
        invalid(declares(&format!("fn f() -> {0} {{ return {0}(); }}", array(size)), "y[i] = f()[i];"), "hand.wgsl");
        let shared = declares(&format!("var<workgroup> a: {};", array(size)), "a[i] = x[i];");
        match size {
            0..=100_000_000 => too_much(shared, "bytes, those of"),
            _ => invalid(shared, "type is too large"),
        }
    }
    assert!(
        declares("var<workgroup> a: array<f32, 256>; var<private> b: array<f32, 256>;", "a[i] = b[i];")
            .run(gpu)
            .is_ok()
    );

    let words =
        |count: u32| (0..count).map(|number| (format!("p{number}"), ParamValue::Computed(ParamType::U32))).collect();
    let with_words = |count: u32| {
        let answers = Answers { words: vec![0; count as usize], ..hand("").answers };
        Hand { params: words(count), answers, ..hand(DOUBLE) }
    };
    assert!(with_words(20).run(gpu).is_ok());
    too_much(with_words(1024), "bytes of parameters");
    let named =
        |name: &str| Hand { params: vec![(name.to_owned(), ParamValue::Computed(ParamType::U32)); 2], ..hand(DOUBLE) };
    for name in ["a", "", "1", "a b", "count", "fn", "a: u32, b", "\0"] {
        invalid(named(name), "");
    }

    let groups = |groups| {
        let answers = Answers { groups, ..hand("").answers };
        Hand { answers, ..raw("@compute @workgroup_size(1) fn main() { y[0] = x[0]; }") }
    };
    assert!(groups([65_535, 1, 1]).run(gpu).is_ok());
    for many in [[65_536, 1, 1], [1, u32::MAX, 1], [u32::MAX; 3]] {
        too_much(groups(many), "workgroups are more than a dispatch takes");
    }
    for none in [[0, 0, 0], [1, 0, 1]] {
        invalid(groups(none), "runs no threads, and its output `y` has shape [4]");
    }
    assert_eq!(groups([0, 1, 1]).saying([0]).run(gpu).unwrap(), [0f32; 0]);

    // What no buffer holds names its size, and the node.
    for shape in [&[1 << 40][..], &[1 << 31, 1 << 31]] {
        assert_eq!(hand(DOUBLE).saying(shape).run(gpu).unwrap_err().code(), Code::ResourceExhausted);
    }
    let rows = |shape: &[usize]| {
        Hand { dispatch: Dispatch::Rows { of: "y" }, ..hand("fn row(r: u32, lane: u32) { y[r] = 1.0; }") }.saying(shape)
    };
    assert_eq!(rows(&[1 << 33, 0]).run(gpu).unwrap_err().code(), Code::ResourceExhausted);
    let tiles = |shape: &[usize]| {
        let dispatch = Dispatch::Tiles { of: "y", rows: 1 << 16, columns: 1 << 16 };
        let text = "fn tile(batch: u32, row: u32, column: u32, lane: u32) { y[row] = 1.0; }";
        Hand { dispatch, ..hand(text) }.saying(shape)
    };
    assert_eq!(tiles(&[2, 2]).run(gpu).unwrap()[0], 1.0);
    assert_eq!(tiles(&[1 << 30, 0, 1 << 31]).run(gpu).unwrap(), [0f32; 0]);

    let elements = |text: &str| Hand { dispatch: Dispatch::ElementWise(Operands::Equal), ..hand(text) };
    assert_eq!(elements("fn Hand(x: f32) -> f32 { return 2.0 * x; }").run(gpu).unwrap(), [2.0, 4.0, 6.0, 8.0]);
    invalid(elements("fn Other(x: f32) -> f32 { return 2.0 * x; }"), "it must define `fn Hand`");
    invalid(elements("fn Hand(x: u32) -> f32 { return 2.0; }"), "");
    invalid(elements("fn Hand(x: f32) -> f32 { return 2.0; } fn main() {}"), "");
    invalid(elements("fn Hand("), "");
    let shared = |size: u64| {
        let text = "fn Hand(x: f32) -> f32 {\n    a[u32(x)] = x;\n    return 2.0 * a[u32(x)];\n}";
        elements(&format!("var<workgroup> a: array<f32, {size}>;\n{text}"))
    };
    assert!(shared(64).run(gpu).is_ok());
    for size in [20_000, 1_000_000, 100_000_000] {
        too_much(shared(size), "bytes, those of");
        too_much(Hand { dispatch: Dispatch::ElementWise(Operands::Broadcast), ..shared(size) }, "bytes, those of");
    }
}

/// What functions call is compiled into them, so that a thread has the variables of all.
#[test]
fn what_functions_take_adds_up() {
    let gpu = &crate::testing::device();
    let refused = |hand| refused(gpu, hand, Code::InvalidArgument, "no thread has more than 65536");
    let function = |number: usize, size: usize, plus: &str| {
        let (begin, end) =
            (format!("fn part{number}(i: u32) -> f32 {{ var a: array<f32, {size}>; "), "return a[i / 2u]");
        format!("{begin}a[i] = x[i]; {end}{plus}; }}\n")
    };
    // Small ones are allowed.
    let small: String = (0..20).map(|number| function(number, 16, "")).collect();
    let sum = (0..20).map(|number| format!("part{number}(i)")).collect::<Vec<_>>().join(" + ");
    let sums = hand(&format!("{small}fn element(i: u32) {{ y[i] = {sum}; }}")).run(gpu).unwrap();
    assert_eq!((sums[0], sums[1]), (20.0, 0.0));

    // One after the other, and each by the next.
    let many = 500;
    let beside: String = (0..many).map(|number| function(number, 16_000, "")).collect();
    let calls: String = (0..many).map(|number| format!("y[i] += part{number}(i); ")).collect();
    refused(hand(&format!("{beside}fn element(i: u32) {{ {calls} }}")));
    let within = |number: usize| if number > 0 { format!(" + part{}(i)", number - 1) } else { String::new() };
    let nested: String = (0..many).map(|number| function(number, 16_000, &within(number))).collect();
    refused(hand(&format!("{nested}fn element(i: u32) {{ y[i] = part{}(i); }}", many - 1)));
    // One that is called often, in all kinds of blocks; twice by each of the next.
    let often =
        "if i < 9u { switch i { case 1u { loop { y[i] += part0(i); continuing { y[i] += part0(i); } } } default {} } }";
    refused(hand(&format!("{}fn element(i: u32) {{ {} }}", function(0, 5_000, ""), often.repeat(2))));
    let twice = |number: usize| match number {
        0 => String::new(),
        _ => format!(" + part{0}(i) + part{0}(i)", number - 1),
    };
    let doubled: String = (0..70).map(|number| function(number, 4, &twice(number))).collect();
    refused(hand(&format!("{doubled}fn element(i: u32) {{ y[i] = part69(i); }}")));
    // Values of which elements are taken have variables, too.
    let values: String = (0..500).map(|n| format!("let a{n} = array<f32, 9000>(); y[i] += a{n}[i + {n}u]; ")).collect();
    refused(hand(&format!("fn element(i: u32) {{ {values} }}")));
    let private = "var<private> p: array<f32, 10000>;\n";
    refused(hand(&format!("{private}{}fn element(i: u32) {{ y[i] = part0(i) + p[i]; }}", function(0, 10_000, ""))));
    // As are functions of elements.
    let elements = |text: &str| Hand { dispatch: Dispatch::ElementWise(Operands::Equal), ..hand(text) };
    let big =
        "fn Hand(x: f32) -> f32 {\n    var a: array<f32, 5000>;\n    a[u32(x)] = x;\n    return a[u32(x) / 2u];\n}";
    refused(elements(big));
    assert!(elements(&big.replace("5000", "50")).run(gpu).is_ok());
}

#[test]
fn names_of_any_kind_are_told() {
    let gpu = &crate::testing::device();
    for name in ["HandOnGpu \0 zero", "HandOnGpu \n line", &"HandOnGpu".repeat(100)] {
        assert!(Hand { name: name.to_owned(), ..hand(DOUBLE) }.run(gpu).is_ok());
        refused(gpu, Hand { name: name.to_owned(), ..hand("}") }, Code::InvalidArgument, "hand.wgsl");
    }
}

/// What recurses with each of so many pieces has its stack.
#[test]
fn deep_shaders_are_compiled_or_refused() {
    let gpu = &crate::testing::device();
    let element = |body: &str| hand(&format!("fn element(i: u32) {{ {body} }}"));
    let sum = element(&format!("y[i] = x[i]{};", " + x[i]".repeat(2000))).run(gpu).unwrap();
    assert_eq!(sum, [2001.0, 4002.0, 6003.0, 8004.0]);
    let constant = hand(&format!("const a = 1.0{}; fn element(i: u32) {{ y[i] = a; }}", "+1".repeat(3000)));
    assert_eq!(constant.run(gpu).unwrap(), [3001.0; 4]);
    let choice = " else if i == 1u { y[i] = 7.0; }".repeat(300);
    assert_eq!(element(&format!("if i == 0u {{ y[i] = 1.0; }}{choice}")).run(gpu).unwrap()[..2], [1.0, 7.0]);

    let invalid = |hand, what: &str| refused(gpu, hand, Code::InvalidArgument, what);
    invalid(element(&format!("y[i] = x{};", "[i]".repeat(5000))), "hand.wgsl");
    invalid(element(&format!("y[i] = z{};", "+z".repeat(10_000))), "hand.wgsl");
    invalid(element(&format!("if i == 0u {{ }}{} y[i] = z;", "else if z{}".repeat(2000))), "hand.wgsl");
    for [open, close] in [["(", ")"], ["{", "}"], ["-", ""], ["abs(", ")"], ["array<", ">"]] {
        let (open, close) = (open.repeat(20_000), close.repeat(20_000));
        invalid(element(&format!("y[i] = {open}1.0{close};")), "hand.wgsl");
        invalid(element(&format!("{open} y[i] = 1.0; {close}")), "hand.wgsl");
    }
    invalid(hand(&"a".repeat(300_000)), "it has 300000 bytes, more than 262144");
    invalid(raw(&"// ".repeat(10_000_000)), "bytes, more than 262144");
}

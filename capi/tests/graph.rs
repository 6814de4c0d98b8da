//! Graphs that are built and read by the C API. Codes, values and the texts that are whole are what
//! TensorFlow 2.21 answers; what would end its process, as nulls do, is an error.

mod common;

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;
use std::time::{Duration, Instant};

use common::*;
use kernlink::dtype::TString;
use kernlink::proto::{GraphDef, Message, NodeDef, OpDef, VersionDef, attr_to_proto};
use kernlink_capi::abi::*;
use kernlink_capi::function::*;
use kernlink_capi::graph::*;

fn text(text: *const c_char) -> String {
    assert!(!text.is_null());
    // SAFETY: texts of operations end with a zero, and live as long as their graph.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

fn name(operation: *mut TF_Operation) -> String {
    // SAFETY: the operation is alive.
    text(unsafe { TF_OperationName(operation) })
}

fn names(graph: &Graph) -> Vec<String> {
    let mut position = 0;
    // SAFETY: the graph is alive.
    let operations = std::iter::from_fn(|| Some(unsafe { TF_GraphNextOperation(graph.0, &mut position) }));
    operations.take_while(|operation| !operation.is_null()).map(name).collect()
}

fn find(graph: &Graph, name: &str) -> *mut TF_Operation {
    let name = CString::new(name).unwrap();
    // SAFETY: the graph is alive.
    unsafe { TF_GraphOperationByName(graph.0, name.as_ptr()) }
}

#[test]
fn operations_tell_what_they_are() {
    let graph = Graph::new();
    let p = graph.placeholder("p", FLOAT, Some(&[-1, 3]));
    let n = graph.describe("Neg", "n").input(first(p));
    // SAFETY: all pointers are alive.
    unsafe {
        let n = n.with(|it| TF_SetDevice(it, c"/device:GPU:7".as_ptr())).finish().unwrap();
        let three = [first(p), first(n), first(p)];
        let sum = graph.describe("AddN", "sum").with(|it| TF_AddInputList(it, three.as_ptr(), 3)).finish().unwrap();
        assert_eq!((name(n), text(TF_OperationOpType(n))), ("n".to_owned(), "Neg".to_owned()));
        assert_eq!((text(TF_OperationDevice(n)), text(TF_OperationDevice(p))), ("/device:GPU:7".into(), String::new()));
        assert_eq!((TF_OperationNumInputs(sum), TF_OperationNumOutputs(sum)), (3, 1));
        assert_eq!((TF_OperationNumInputs(p), TF_OperationNumOutputs(p)), (0, 1));
        assert_eq!(TF_OperationOutputType(first(sum)), FLOAT);
        assert_eq!(TF_OperationInputType(TF_Input { oper: sum, index: 2 }), FLOAT);
        assert_eq!(TF_OperationInput(TF_Input { oper: sum, index: 1 }), first(n));
        let mut inputs = [first(ptr::null_mut()); 4];
        TF_OperationAllInputs(sum, inputs.as_mut_ptr(), 2);
        assert_eq!(inputs, [first(p), first(n), first(ptr::null_mut()), first(ptr::null_mut())]);
        TF_OperationAllInputs(sum, inputs.as_mut_ptr(), 4);
        assert_eq!(inputs[..3], three);
        assert_eq!(checked(|status| TF_OperationInputListLength(sum, c"inputs".as_ptr(), status)), Ok(3));
        assert_eq!(checked(|status| TF_OperationOutputListLength(sum, c"sum".as_ptr(), status)), Ok(1));
        let mut length = 0;
        let refused = checked(|status| length = TF_OperationInputListLength(sum, c"nope".as_ptr(), status));
        fails(refused, INVALID_ARGUMENT, "'nope' not found");
        assert_eq!(length, -1);
        assert_eq!(names(&graph), ["p", "n", "sum"]);
        assert_eq!(find(&graph, "sum"), sum);
        assert!(find(&graph, "absent").is_null());
    }
}

#[test]
fn outputs_tell_who_takes_them() {
    let graph = Graph::new();
    let p = graph.placeholder("p", FLOAT, None);
    let n = graph.node("Neg", "n", &[first(p)]).unwrap();
    let twice = graph.node("AddV2", "twice", &[first(p), first(p)]).unwrap();
    let input = |oper, index| TF_Input { oper, index };
    // SAFETY: all pointers are alive.
    unsafe {
        let after = graph.describe("NoOp", "after");
        let after = after.with(|it| [n, p].iter().for_each(|&on| TF_AddControlInput(it, on))).finish().unwrap();
        assert_eq!(TF_OperationOutputNumConsumers(first(p)), 3);
        assert_eq!(TF_OperationOutputNumConsumers(first(n)), 0);
        let mut takers = [input(ptr::null_mut(), -1); 3];
        assert_eq!(TF_OperationOutputConsumers(first(p), takers.as_mut_ptr(), 3), 3);
        takers.sort_by_key(|taker| (taker.oper == twice, taker.index));
        assert_eq!(takers, [input(n, 0), input(twice, 0), input(twice, 1)]);
        assert_eq!(TF_OperationOutputConsumers(first(p), ptr::null_mut(), 0), 3);

        assert_eq!(TF_OperationNumControlInputs(after), 2);
        assert_eq!((TF_OperationNumControlOutputs(p), TF_OperationNumControlOutputs(n)), (1, 1));
        let mut operations = [ptr::null_mut(); 3];
        assert_eq!(TF_OperationGetControlInputs(after, operations.as_mut_ptr(), 3), 2);
        operations[..2].sort_by_key(|&operation| operation == p);
        assert_eq!(operations, [n, p, ptr::null_mut()]);
        let mut waiting = [ptr::null_mut(); 2];
        assert_eq!(TF_OperationGetControlOutputs(n, waiting.as_mut_ptr(), 2), 1);
        assert_eq!(waiting, [after, ptr::null_mut()]);

        // Inputs that a control input doubles stay apart from it.
        let both = graph.describe("Neg", "both").input(first(n)).with(|it| TF_AddControlInput(it, n)).finish().unwrap();
        assert_eq!((TF_OperationNumInputs(both), TF_OperationNumControlInputs(both)), (1, 1));
        assert_eq!((TF_OperationOutputNumConsumers(first(n)), TF_OperationNumControlOutputs(n)), (1, 2));
    }
}

#[test]
fn what_cannot_be_built_is_told_and_leaves_nothing() {
    let graph = Graph::new();
    let p = graph.placeholder("p", FLOAT, Some(&[2]));
    let i = graph.placeholder("i", INT32, None);
    // SAFETY: all pointers are alive.
    let typed = |it| unsafe { TF_SetAttrType(it, c"dtype".as_ptr(), FLOAT) };
    let again = graph.describe("Placeholder", "p").with(typed).finish();
    assert_eq!(again, Err((INVALID_ARGUMENT, "Duplicate node name in graph: 'p'".to_owned())));
    fails(graph.node("Placeholder", "no_type", &[]), INVALID_ARGUMENT, "dtype");
    fails(
        graph.node("NoSuchOp", "x", &[]),
        INVALID_ARGUMENT,
        "Op type not registered 'NoSuchOp' in binary running on ",
    );
    fails(graph.node("AddV2", "one", &[first(p)]), INVALID_ARGUMENT, "1 inputs specified of 2 inputs in Op");
    let three = graph.node("AddV2", "three", &[first(p); 3]);
    fails(three, INVALID_ARGUMENT, "More Input() calls than the 2 input_args");
    let mixed = graph.node("AddV2", "mixed", &[first(p), first(i)]);
    fails(mixed, INVALID_ARGUMENT, "Inconsistent values for attr 'T' DT_FLOAT vs. DT_INT32");
    for index in [5, -1, c_int::MAX, c_int::MIN] {
        fails(graph.node("Neg", "n", &[TF_Output { oper: p, index }]), INVALID_ARGUMENT, &index.to_string());
    }
    // SAFETY: there are no inputs to read.
    let none = graph.describe("AddN", "none").with(|it| unsafe { TF_AddInputList(it, ptr::null(), 0) });
    // What to do is said in C.
    fails(none.finish(), INVALID_ARGUMENT, "has no default: set `T`, as `TF_SetAttrType(desc, ");
    assert_eq!(names(&graph), ["p", "i"]);
    // A name is free again after a failure.
    graph.node("Neg", "n", &[first(p)]).unwrap();
    assert_eq!(names(&graph), ["p", "i", "n"]);
}

#[test]
fn faults_of_parts_are_told_at_the_end() {
    let (graph, other) = (Graph::new(), Graph::new());
    let (p, foreign) = (graph.placeholder("p", FLOAT, None), other.placeholder("foreign", FLOAT, None));
    let begin = || graph.describe("Neg", "n").input(first(p));
    // SAFETY: all pointers are alive or null.
    unsafe {
        fails(graph.node("Neg", "n", &[first(foreign)]), INVALID_ARGUMENT, "foreign");
        fails(graph.node("Neg", "n", &[first(ptr::null_mut())]), INVALID_ARGUMENT, "null");
        fails(begin().with(|it| TF_AddControlInput(it, foreign)).finish(), INVALID_ARGUMENT, "foreign");
        fails(begin().with(|it| TF_AddControlInput(it, ptr::null_mut())).finish(), INVALID_ARGUMENT, "null");
        fails(begin().with(|it| TF_ColocateWith(it, foreign)).finish(), INVALID_ARGUMENT, "foreign");
        fails(begin().with(|it| TF_SetDevice(it, ptr::null())).finish(), INVALID_ARGUMENT, "device");
        fails(begin().with(|it| TF_SetAttrInt(it, ptr::null(), 1)).finish(), INVALID_ARGUMENT, "attr");
        for (values, count) in [(ptr::null(), 2), (ptr::from_ref(&first(p)), -1)] {
            let list = graph.describe("AddN", "sum").with(|it| TF_AddInputList(it, values, count));
            fails(list.finish(), INVALID_ARGUMENT, "inputs");
        }
        // The first fault is the one that is told.
        let two = begin().with(|it| TF_AddControlInput(it, foreign)).with(|it| TF_SetDevice(it, ptr::null()));
        fails(two.finish(), INVALID_ARGUMENT, "foreign");
        assert_eq!(names(&graph), ["p"]);
    }
}

#[test]
fn nulls_have_no_effect() {
    let null = ptr::null_mut::<TF_Operation>();
    let (graph, input) = (Graph::new(), TF_Input { oper: null, index: 0 });
    // SAFETY: all functions may be called with null.
    unsafe {
        assert!(TF_NewOperation(ptr::null_mut(), c"NoOp".as_ptr(), c"n".as_ptr()).is_null());
        assert!(TF_NewOperation(graph.0, ptr::null(), c"n".as_ptr()).is_null());
        assert!(TF_NewOperation(graph.0, c"NoOp".as_ptr(), ptr::null()).is_null());
        fails(checked(|status| TF_FinishOperation(ptr::null_mut(), status)), INVALID_ARGUMENT, "null");
        TF_AddInput(ptr::null_mut(), first(null));
        TF_AddControlInput(ptr::null_mut(), null);
        TF_SetDevice(ptr::null_mut(), c"/cpu:0".as_ptr());
        TF_DeleteGraph(ptr::null_mut());
        assert!(TF_OperationName(null).is_null() && TF_OperationOpType(null).is_null());
        assert!(TF_OperationDevice(null).is_null());
        assert_eq!((TF_OperationNumInputs(null), TF_OperationNumOutputs(null)), (0, 0));
        assert_eq!((TF_OperationOutputType(first(null)), TF_OperationInputType(input)), (0, 0));
        assert!(TF_OperationInput(input).oper.is_null());
        assert_eq!(TF_OperationOutputConsumers(first(null), ptr::null_mut(), 0), 0);
        assert!(TF_GraphOperationByName(ptr::null_mut(), c"n".as_ptr()).is_null());
        assert!(TF_GraphOperationByName(graph.0, ptr::null()).is_null());
        assert!(TF_GraphNextOperation(graph.0, ptr::null_mut()).is_null());
        fails(buffer(|to, status| TF_OperationToNodeDef(null, to, status)), INVALID_ARGUMENT, "null");
        fails(buffer(|to, status| TF_GraphToGraphDef(ptr::null_mut(), to, status)), INVALID_ARGUMENT, "null");
        fails(checked(|status| TF_GraphToGraphDef(graph.0, ptr::null_mut(), status)), INVALID_ARGUMENT, "null");
        let rank = checked(|status| TF_GraphGetTensorNumDims(graph.0, first(null), status));
        fails(rank, INVALID_ARGUMENT, "null");
        let p = graph.placeholder("p", FLOAT, None);
        assert_eq!(TF_OperationOutputType(TF_Output { oper: p, index: 1 }), 0);
        assert_eq!(TF_OperationInputType(TF_Input { oper: p, index: -1 }), 0);
        assert!(TF_OperationInput(TF_Input { oper: p, index: 0 }).oper.is_null());
        assert_eq!(TF_OperationOutputNumConsumers(TF_Output { oper: p, index: -1 }), 0);
    }
}

#[test]
fn shapes_are_merged() {
    let (graph, other) = (Graph::new(), Graph::new());
    let p = graph.placeholder("p", FLOAT, Some(&[-1, 3]));
    let i = graph.placeholder("i", INT32, None);
    let foreign = other.placeholder("foreign", FLOAT, None);
    // SAFETY: all pointers are alive, and the array has the sizes of any rank here.
    unsafe {
        let rank = |of| checked(|status| TF_GraphGetTensorNumDims(graph.0, first(of), status));
        let shape = |of, count| {
            let mut dims = [7; 4];
            checked(|status| TF_GraphGetTensorShape(graph.0, first(of), dims.as_mut_ptr(), count, status))
                .map(|()| dims)
        };
        let set = |of, dims: &[i64]| {
            let count = dims.len() as c_int;
            checked(|status| TF_GraphSetTensorShape(graph.0, first(of), dims.as_ptr(), count, status))
        };
        assert_eq!((rank(p), shape(p, 2)), (Ok(2), Ok([-1, 3, 7, 7])));
        let wrong = "Expected rank is 3 but actual rank is 2".to_owned();
        assert_eq!(shape(p, 3), Err((INVALID_ARGUMENT, wrong)));
        fails(shape(p, -1), INVALID_ARGUMENT, "Expected rank is -1 but actual rank is 2");
        assert_eq!((rank(i), shape(i, 4)), (Ok(-1), Ok([7; 4])));
        set(i, &[2, -1]).unwrap();
        set(i, &[-1, 4]).unwrap();
        assert_eq!(shape(i, 2), Ok([2, 4, 7, 7]));
        // A rank that is not known adds nothing.
        checked(|status| TF_GraphSetTensorShape(graph.0, first(i), ptr::null(), -1, status)).unwrap();
        assert_eq!(rank(i), Ok(2));
        for contradiction in [&[3, 4][..], &[2, 4, 1], &[]] {
            fails(set(i, contradiction), INVALID_ARGUMENT, "");
        }
        assert_eq!(shape(i, 2), Ok([2, 4, 7, 7]));
        // What is built of it knows of it.
        let n = graph.node("Neg", "n", &[first(i)]).unwrap();
        assert_eq!(shape(n, 2), Ok([2, 4, 7, 7]));
        fails(set(foreign, &[1]), INVALID_ARGUMENT, "foreign");
        fails(rank(foreign), INVALID_ARGUMENT, "foreign");
        let none = TF_Output { oper: p, index: 1 };
        let none = checked(|status| TF_GraphGetTensorNumDims(graph.0, none, status));
        fails(none, INVALID_ARGUMENT, "does not have output 1");
        fails(
            checked(|status| TF_GraphSetTensorShape(graph.0, first(p), ptr::null(), 2, status)),
            INVALID_ARGUMENT,
            "dims",
        );
        // Of a rank above the limit no size is read: here is one.
        for rank in [255, c_int::MAX] {
            let over = format!("has {rank} dimensions which is over the limit of 254");
            let sizes = [1i64; 255];
            let dims = if rank == 255 { &sizes[..] } else { &[1] };
            let refused = checked(|status| TF_GraphSetTensorShape(graph.0, first(p), dims.as_ptr(), rank, status));
            fails(refused, INVALID_ARGUMENT, &over);
        }
        assert_eq!(shape(p, 2), Ok([-1, 3, 7, 7]));
    }
}

#[test]
fn operations_are_colocated() {
    let graph = Graph::new();
    let (p, q) = (graph.placeholder("p", FLOAT, None), graph.placeholder("q", FLOAT, None));
    // SAFETY: all pointers are alive.
    unsafe {
        let n = graph.describe("Neg", "n").input(first(p));
        let n = n.with(|it| [q, p, q].iter().for_each(|&with| TF_ColocateWith(it, with))).finish().unwrap();
        let def = buffer(|to, status| TF_OperationToNodeDef(n, to, status)).unwrap();
        let expected: Vec<TString> = vec!["loc:@p".into(), "loc:@q".into()];
        let expected = attr_to_proto(&expected.into()).unwrap();
        assert_eq!(NodeDef::decode(&def[..]).unwrap().attr["_class"], expected);
    }
}

#[test]
fn an_attr_has_one_value() {
    let graph = Graph::new();
    let begin = |name: &str| graph.describe("Placeholder", name);
    let ints = |it, values: &[i64]| {
        // SAFETY: the description is alive.
        unsafe { TF_SetAttrIntList(it, c"_x".as_ptr(), values.as_ptr(), values.len() as c_int) }
    };
    // SAFETY: all pointers are alive.
    unsafe {
        let dtype = |it, dtype| TF_SetAttrType(it, c"dtype".as_ptr(), dtype);
        let float = |it, value| TF_SetAttrFloat(it, c"_x".as_ptr(), value);
        let finished =
            begin("p").with(|it| [FLOAT, INT32, FLOAT].iter().for_each(|&number| dtype(it, number))).finish();
        fails(finished, INVALID_ARGUMENT, "Inconsistent values for attr 'dtype' DT_FLOAT vs. DT_INT32");
        let typed = |name: &str| begin(name).with(|it| dtype(it, FLOAT)).with(|it| dtype(it, FLOAT));
        typed("same").finish().unwrap();
        typed("nan").with(|it| [f32::NAN; 2].iter().for_each(|&value| float(it, value))).finish().unwrap();
        let zeros = typed("zeros").with(|it| [0.0, -0.0].iter().for_each(|&value| float(it, value)));
        fails(zeros.finish(), INVALID_ARGUMENT, "Inconsistent values for attr '_x' 0 vs. -0");
        typed("none").with(|it| ints(it, &[])).with(|it| ints(it, &[])).finish().unwrap();
        let lists = typed("lists").with(|it| ints(it, &[1, 2])).with(|it| ints(it, &[1, 3]));
        fails(lists.finish(), INVALID_ARGUMENT, "Inconsistent values for attr '_x' [1, 2] vs. [1, 3]");
        // What an operation is colocated with is replaced by a list.
        let p = graph.placeholder("p", FLOAT, None);
        let class = |it, text: &CStr| {
            let (first, length) = (text.as_ptr().cast(), text.to_bytes().len());
            TF_SetAttrStringList(it, c"_class".as_ptr(), &raw const first, &raw const length, 1);
        };
        let classes = |operation| {
            let def = buffer(|to, status| TF_OperationToNodeDef(operation, to, status)).unwrap();
            NodeDef::decode(&def[..]).unwrap().attr.remove("_class").unwrap()
        };
        let expected = |texts: &[&str]| {
            let texts: Vec<TString> = texts.iter().map(|&text| text.into()).collect();
            attr_to_proto(&texts.into()).unwrap()
        };
        let replaced = typed("replaced").with(|it| TF_ColocateWith(it, p)).with(|it| class(it, c"loc:@same"));
        assert_eq!(classes(replaced.finish().unwrap()), expected(&["loc:@same"]));
        let both = typed("both").with(|it| class(it, c"loc:@same")).with(|it| TF_ColocateWith(it, p));
        assert_eq!(classes(both.finish().unwrap()), expected(&["loc:@p", "loc:@same"]));
    }
}

#[test]
fn graphs_are_told_as_messages() {
    let graph = Graph::new();
    let p = graph.placeholder("p", FLOAT, None);
    let n = graph.node("Neg", "n", &[first(p)]).unwrap();
    // SAFETY: all pointers are alive.
    unsafe {
        let after = graph.describe("NoOp", "after").with(|it| TF_AddControlInput(it, n)).finish().unwrap();
        let def = buffer(|to, status| TF_GraphToGraphDef(graph.0, to, status)).unwrap();
        let def = GraphDef::decode(&def[..]).unwrap();
        let nodes: Vec<_> = def.node.iter().map(|node| (&*node.name, &*node.op, node.input.join(" "))).collect();
        let expected = [("p", "Placeholder", ""), ("n", "Neg", "p"), ("after", "NoOp", "^n")];
        assert_eq!(nodes, expected.map(|(name, op, inputs)| (name, op, inputs.to_owned())));
        let node = buffer(|to, status| TF_OperationToNodeDef(after, to, status)).unwrap();
        assert_eq!(NodeDef::decode(&node[..]).unwrap(), def.node[2]);
        let versions = buffer(|to, status| TF_GraphVersions(graph.0, to, status)).unwrap();
        let versions = VersionDef::decode(&versions[..]).unwrap();
        assert_eq!(Some(&versions), def.versions.as_ref());
        assert!(versions.producer > 0);

        let neg = buffer(|to, status| TF_GraphGetOpDef(graph.0, c"Neg".as_ptr(), to, status)).unwrap();
        let neg = OpDef::decode(&neg[..]).unwrap();
        assert_eq!((&*neg.name, neg.input_arg.len(), neg.attr.len()), ("Neg", 1, 1));
        let none = buffer(|to, status| TF_GraphGetOpDef(graph.0, c"NoSuchOp".as_ptr(), to, status));
        fails(none, NOT_FOUND, "Op type not registered 'NoSuchOp' in binary running on ");
        let full = buffer(|to, status| {
            TF_GraphGetOpDef(graph.0, c"Neg".as_ptr(), to, status);
            TF_GraphGetOpDef(graph.0, c"Neg".as_ptr(), to, status);
        });
        fails(full, INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
    }
}

#[test]
fn functions_of_the_graph_are_ops() {
    let (body, graph) = (Graph::new(), Graph::new());
    let x = first(body.placeholder("x", FLOAT, None));
    let y = first(body.node("Neg", "y", &[x]).unwrap());
    let p = graph.placeholder("p", FLOAT, None);
    fails(graph.node("negate", "before", &[first(p)]), INVALID_ARGUMENT, "Op type not registered 'negate'");
    // SAFETY: all pointers are alive or null where they may be.
    unsafe {
        let (name, any, none) = (c"negate".as_ptr(), ptr::null(), ptr::null());
        let function = checked(|status| {
            TF_GraphToFunction(body.0, name, 0, -1, ptr::null(), 1, &x, 1, &y, any, ptr::null(), none, status)
        });
        let function = function.unwrap();
        checked(|status| TF_GraphCopyFunction(graph.0, function, ptr::null(), status)).unwrap();
        TF_DeleteFunction(function);
        let call = graph.node("negate", "call", &[first(p)]).unwrap();
        assert_eq!((TF_OperationNumInputs(call), TF_OperationNumOutputs(call)), (1, 1));
        assert_eq!(TF_OperationOutputType(first(call)), FLOAT);
        let def = buffer(|to, status| TF_GraphGetOpDef(graph.0, name, to, status)).unwrap();
        assert_eq!(OpDef::decode(&def[..]).unwrap().name, "negate");
        fails(graph.node("negate", "without", &[]), INVALID_ARGUMENT, "without");
        fails(graph.node("negate", "twice", &[first(p); 2]), INVALID_ARGUMENT, "twice");
    }
}

#[test]
fn operations_stay_where_they_are() {
    let graph = Graph::new();
    let p = graph.placeholder("p", FLOAT, Some(&[]));
    // SAFETY: the operation is alive.
    let text_of_p = unsafe { TF_OperationName(p) };
    let count = 100_000;
    let started = Instant::now();
    let mut last = p;
    for i in 0..count {
        last = graph.node("Neg", &format!("n{i}"), &[first(last)]).unwrap();
    }
    assert_eq!(text(text_of_p), "p");
    let (mut position, mut seen, mut consumers) = (0, 0, 0);
    // SAFETY: the graph is alive.
    unsafe {
        loop {
            let operation = TF_GraphNextOperation(graph.0, &mut position);
            if operation.is_null() {
                break;
            }
            assert_eq!(find(&graph, &name(operation)), operation);
            seen += 1;
            consumers += TF_OperationOutputNumConsumers(first(operation));
        }
    }
    assert_eq!((seen, consumers), (count + 1, count));
    // With calls that look at all nodes these would be 10^10 looks.
    assert!(started.elapsed() < Duration::from_secs(60), "it takes {:?}", started.elapsed());
}

#[test]
fn threads_build_one_graph() {
    struct Shared(Graph);
    // SAFETY: a graph may be used on any thread.
    unsafe impl Sync for Shared {}
    let shared = Shared(Graph::new());
    let p = shared.0.placeholder("p", FLOAT, None);
    // SAFETY: the graph is alive.
    assert!(!unsafe { TF_OperationName(p) }.is_null());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let shared = &shared;
            scope.spawn(move || {
                let p = first(find(&shared.0, "p"));
                for i in 0..50 {
                    shared.0.node("Neg", &format!("t{thread}_{i}"), &[p]).unwrap();
                    assert!(names(&shared.0).len() > i);
                }
            });
        }
    });
    // SAFETY: the operation is alive.
    assert_eq!(unsafe { TF_OperationOutputNumConsumers(first(p)) }, 200);
}

//! Graphs that are made of others by the C API: imports, functions, loops, gradients. Codes, names, values and the texts that are
//! whole are what TensorFlow 2.21 answers to the same calls (`capi/tests/compare`).

mod common;

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use common::*;
use kernlink::proto::{self, FunctionDef, GraphDef, Message, VersionDef};
use kernlink::tensor::Tensor;
use kernlink_capi::abi::*;
use kernlink_capi::function::*;
use kernlink_capi::graph::*;
use kernlink_capi::import::*;
use kernlink_capi::session::*;
use kernlink_library::host::{CTensor, TF_DeleteBuffer, TF_DeleteTensor, TF_NewBufferFromString};

fn name(operation: *mut TF_Operation) -> String {
    // SAFETY: the operation is null or alive.
    let name = unsafe { TF_OperationName(operation) };
    assert!(!name.is_null());
    // SAFETY: the text lives as long as its graph.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned()
}

fn names(outputs: &[TF_Output]) -> Vec<String> {
    outputs.iter().map(|output| format!("{}:{}", name(output.oper), output.index)).collect()
}

fn message(graph: &Graph) -> GraphDef {
    // SAFETY: the graph is alive.
    let bytes = buffer(|to, status| unsafe { TF_GraphToGraphDef(graph.0, to, status) }).unwrap();
    GraphDef::decode(&bytes[..]).unwrap()
}

/// What a new session of the graph computes.
fn run(graph: &Graph, feeds: &[(TF_Output, Tensor)], fetches: &[TF_Output]) -> Result<Vec<Tensor>, Failure> {
    let inputs: Vec<TF_Output> = feeds.iter().map(|(output, _)| *output).collect();
    let values: Vec<_> = feeds.iter().map(|(_, value)| CTensor::new(value.clone()).unwrap().into_c()).collect();
    let mut results = vec![ptr::null_mut(); fetches.len()];
    // SAFETY: all pointers are alive, and what is made is freed.
    unsafe {
        let options = TF_NewSessionOptions();
        let session = checked(|status| TF_NewSession(graph.0, options, status)).unwrap();
        TF_DeleteSessionOptions(options);
        let ran = checked(|status| {
            TF_SessionRun(
                session,
                ptr::null(),
                inputs.as_ptr(),
                values.as_ptr(),
                inputs.len() as c_int,
                fetches.as_ptr(),
                results.as_mut_ptr(),
                fetches.len() as c_int,
                ptr::null(),
                0,
                ptr::null_mut(),
                status,
            );
        });
        let fetched = results.into_iter().filter(|result| !result.is_null()).map(|result| {
            let tensor = CTensor::from_c(result).unwrap().to_tensor().unwrap();
            TF_DeleteTensor(result);
            tensor
        });
        let fetched = fetched.collect();
        values.into_iter().for_each(|value| TF_DeleteTensor(value));
        checked(|status| TF_DeleteSession(session, status)).unwrap();
        ran.map(|()| fetched)
    }
}

fn floats(tensor: &Tensor) -> &[f32] {
    tensor.as_slice().unwrap()
}

/// `add = p + q`, `q = -p` in a scope, and `add` waits for `q`.
fn part() -> GraphDef {
    let graph = Graph::new();
    let p = graph.placeholder("p", FLOAT, Some(&[2]));
    let q = graph.node("Neg", "scope/q", &[first(p)]).unwrap();
    let add = graph.describe("AddV2", "add").input(first(p)).input(first(q));
    // SAFETY: the operation is alive.
    add.with(|it| unsafe { TF_AddControlInput(it, q) }).finish().unwrap();
    message(&graph)
}

/// What an import answers: outputs, operations, and the mappings that nothing needed.
type Answer = (Vec<String>, Vec<String>, Vec<String>);

fn import(graph: &Graph, def: &GraphDef, set: impl FnOnce(*mut TF_ImportGraphDefOptions)) -> Result<Answer, Failure> {
    let bytes = def.encode_to_vec();
    // SAFETY: all pointers are alive, and what is made is freed.
    unsafe {
        let options = TF_NewImportGraphDefOptions();
        set(options);
        let def = TF_NewBufferFromString(bytes.as_ptr().cast(), bytes.len());
        let results = checked(|status| TF_GraphImportGraphDefWithResults(graph.0, def, options, status));
        TF_DeleteBuffer(def);
        TF_DeleteImportGraphDefOptions(options);
        let results = results?;
        let (mut count, mut outputs, mut operations) = (0, ptr::null_mut(), ptr::null_mut());
        TF_ImportGraphDefResultsReturnOutputs(results, &mut count, &mut outputs);
        let outputs = names(std::slice::from_raw_parts(outputs, count as usize));
        TF_ImportGraphDefResultsReturnOperations(results, &mut count, &mut operations);
        let operations = (0..count as usize).map(|i| name(*operations.add(i))).collect();
        let (mut unused, mut indices) = (ptr::null_mut(), ptr::null_mut());
        TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &mut count, &mut unused, &mut indices);
        let text = |i: usize| CStr::from_ptr(*unused.add(i)).to_str().unwrap();
        let unused = (0..count as usize).map(|i| format!("{}:{}", text(i), *indices.add(i))).collect();
        TF_DeleteImportGraphDefResults(results);
        Ok((outputs, operations, unused))
    }
}

fn owned<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

#[test]
fn messages_are_imported_under_names_of_their_own() {
    let (graph, def) = (Graph::new(), part());
    let add = c"add".as_ptr();
    let returning = |set: fn(*mut TF_ImportGraphDefOptions)| {
        // SAFETY: the options are alive.
        move |options: *mut TF_ImportGraphDefOptions| unsafe {
            set(options);
            TF_ImportGraphDefOptionsAddReturnOutput(options, c"add".as_ptr(), 0);
        }
    };
    // SAFETY: all pointers are alive.
    unsafe {
        let plain = import(&graph, &def, |options| {
            TF_ImportGraphDefOptionsAddReturnOutput(options, add, 0);
            TF_ImportGraphDefOptionsAddReturnOperation(options, c"scope/q".as_ptr());
        });
        assert_eq!(plain.unwrap(), (owned(["add:0"]), owned(["scope/q"]), owned([])));
    }
    fails(import(&graph, &def, |_| {}), INVALID_ARGUMENT, "Node name 'p' already exists in the Graph");
    // SAFETY: the options are alive.
    let prefix = |options| unsafe { TF_ImportGraphDefOptionsSetPrefix(options, c"pre".as_ptr()) };
    assert_eq!(import(&graph, &def, returning(prefix)).unwrap().0, ["pre/add:0"]);
    fails(import(&graph, &def, returning(prefix)), INVALID_ARGUMENT, "Node name 'pre/p' already exists in the Graph");
    // SAFETY: the options are alive.
    let bad = |options| unsafe { TF_ImportGraphDefOptionsSetPrefix(options, c"bad prefix".as_ptr()) };
    fails(
        import(&graph, &def, returning(bad)),
        INVALID_ARGUMENT,
        "prefix 'bad prefix/' would lead to invalid node names",
    );
    // SAFETY: the options are alive.
    let unique = |options| unsafe { TF_ImportGraphDefOptionsSetUniquifyNames(options, 1) };
    assert_eq!(import(&graph, &def, returning(unique)).unwrap().0, ["add_1:0"]);
    // SAFETY: the options are alive.
    let unique_prefix = |options| unsafe {
        TF_ImportGraphDefOptionsSetPrefix(options, c"pre".as_ptr());
        TF_ImportGraphDefOptionsSetUniquifyPrefix(options, 1);
    };
    assert_eq!(import(&graph, &def, returning(unique_prefix)).unwrap().0, ["pre_1/add:0"]);
}

#[test]
fn imports_take_what_is_there() {
    let (graph, def) = (Graph::new(), part());
    let own = graph.placeholder("own", FLOAT, Some(&[2]));
    let whole = graph.placeholder("whole", INT32, Some(&[2]));
    let under = |prefix: &'static CStr, set: &dyn Fn(*mut TF_ImportGraphDefOptions)| {
        // SAFETY: the options are alive.
        import(&graph, &def, |options| unsafe {
            TF_ImportGraphDefOptionsSetPrefix(options, prefix.as_ptr());
            set(options);
        })
    };
    // SAFETY: all pointers are alive.
    unsafe {
        let mapped = under(c"m1", &|options| {
            TF_ImportGraphDefOptionsAddInputMapping(options, c"p".as_ptr(), 0, first(own));
            TF_ImportGraphDefOptionsAddInputMapping(options, c"nowhere".as_ptr(), 0, first(own));
            TF_ImportGraphDefOptionsAddInputMapping(options, c"scope/q".as_ptr(), 3, first(own));
            TF_ImportGraphDefOptionsAddReturnOutput(options, c"add".as_ptr(), 0);
            TF_ImportGraphDefOptionsAddReturnOutput(options, c"p".as_ptr(), 0);
        });
        assert_eq!(mapped.unwrap(), (owned(["m1/add:0", "own:0"]), owned([]), owned(["nowhere:0", "scope/q:3"])));
        let wrong = under(c"m2", &|options| {
            TF_ImportGraphDefOptionsAddInputMapping(options, c"p".as_ptr(), 0, first(whole));
        });
        fails(wrong, INVALID_ARGUMENT, "int32");
        let waiting = under(c"c1", &|options| {
            TF_ImportGraphDefOptionsAddControlDependency(options, own);
            TF_ImportGraphDefOptionsAddReturnOperation(options, c"p".as_ptr());
        });
        assert_eq!(waiting.unwrap().1, ["c1/p"]);
        let remapped = under(c"c2", &|options| {
            TF_ImportGraphDefOptionsRemapControlDependency(options, c"scope/q".as_ptr(), own);
            TF_ImportGraphDefOptionsSetDefaultDevice(options, c"/device:CPU:0".as_ptr());
        });
        remapped.unwrap();
    }
    let def = message(&graph);
    let inputs = |name: &str| def.node.iter().find(|node| node.name == name).unwrap().input.clone();
    assert_eq!(inputs("m1/add"), ["own", "m1/scope/q", "^m1/scope/q"]);
    assert_eq!((inputs("c1/p"), inputs("c1/add")), (owned(["^own"]), owned(["c1/p", "c1/scope/q", "^c1/scope/q"])));
    assert_eq!(inputs("c2/add"), ["c2/p", "c2/scope/q", "^own"]);
    assert!(def.node.iter().filter(|node| node.name.starts_with("c2/")).all(|node| node.device == "/device:CPU:0"));
    let values = Tensor::vector(&[1.0f32, 2.0]).unwrap();
    // SAFETY: the graph is alive.
    let add = unsafe { TF_GraphOperationByName(graph.0, c"m1/add".as_ptr()) };
    assert_eq!(floats(&run(&graph, &[(first(own), values)], &[first(add)]).unwrap()[0]), [0.0, 0.0]);
}

#[test]
fn imports_that_fail_leave_a_graph_as_it_was() {
    let graph = Graph::new();
    graph.placeholder("there", FLOAT, Some(&[2]));
    let before = message(&graph);
    let mut def = part();
    def.versions = Some(VersionDef { producer: 20, bad_consumers: vec![7], ..VersionDef::default() });
    let function = |name: &str| FunctionDef {
        signature: Some(proto::OpDef { name: name.to_owned(), ..proto::OpDef::default() }),
        ..FunctionDef::default()
    };
    let gradient = proto::GradientDef { function_name: "f".to_owned(), gradient_func: "g".to_owned() };
    def.library =
        Some(proto::FunctionDefLibrary { function: vec![function("f"), function("g")], gradient: vec![gradient] });
    let asking = |name: &'static CStr, index: c_int| {
        // SAFETY: the options are alive.
        move |options| unsafe { TF_ImportGraphDefOptionsAddReturnOutput(options, name.as_ptr(), index) }
    };
    fails(
        import(&graph, &def, asking(c"x", 0)),
        INVALID_ARGUMENT,
        "Requested return tensor 'x:0' not found in graph def",
    );
    fails(
        import(&graph, &def, asking(c"add", 4)),
        INVALID_ARGUMENT,
        "Invalid return output 4 of node 'add', which has 1 output(s)",
    );
    assert_eq!(message(&graph), before);
    import(&graph, &def, |_| {}).unwrap();
    let after = message(&graph);
    let versions = after.versions.unwrap();
    assert_eq!((versions.producer, versions.bad_consumers), (20, vec![7]));
    assert_eq!(after.library.unwrap().gradient.len(), 1);
    // SAFETY: the buffer and the options are freed.
    unsafe {
        let (bad, options) = (TF_NewBufferFromString(c"\xff\xff".as_ptr().cast(), 2), TF_NewImportGraphDefOptions());
        fails(
            checked(|status| TF_GraphImportGraphDef(graph.0, bad, options, status)),
            INVALID_ARGUMENT,
            "Invalid GraphDef",
        );
        fails(
            checked(|status| TF_GraphImportGraphDef(graph.0, ptr::null(), options, status)),
            INVALID_ARGUMENT,
            "null",
        );
        TF_DeleteBuffer(bad);
        TF_DeleteImportGraphDefOptions(options);
    }
}

/// The function of a graph with the name `F`.
fn function(
    graph: &Graph,
    inputs: &[*mut TF_Operation],
    outputs: &[*mut TF_Operation],
    body: Option<&[*mut TF_Operation]>,
    result_names: Option<&[*const c_char]>,
) -> Result<*mut TF_Function, Failure> {
    let outputs_of = |operations: &[*mut TF_Operation]| operations.iter().map(|&it| first(it)).collect::<Vec<_>>();
    let (inputs, outputs) = (outputs_of(inputs), outputs_of(outputs));
    // SAFETY: all pointers are alive.
    checked(|status| unsafe {
        TF_GraphToFunction(
            graph.0,
            c"F".as_ptr(),
            0,
            body.map_or(-1, |body| body.len() as c_int),
            body.map_or(ptr::null(), |body| body.as_ptr().cast()),
            inputs.len() as c_int,
            inputs.as_ptr(),
            outputs.len() as c_int,
            outputs.as_ptr(),
            result_names.map_or(ptr::null(), <[_]>::as_ptr),
            ptr::null(),
            ptr::null(),
            status,
        )
    })
}

fn definition(function: *mut TF_Function) -> FunctionDef {
    // SAFETY: the function is alive.
    let bytes = buffer(|to, status| unsafe { TF_FunctionToFunctionDef(function, to, status) }).unwrap();
    FunctionDef::decode(&bytes[..]).unwrap()
}

#[test]
fn functions_are_made_of_operations_and_called() {
    let graph = Graph::new();
    let (p, q) = (graph.placeholder("P/x", FLOAT, Some(&[2])), graph.placeholder("q", FLOAT, Some(&[2])));
    let one = constant(graph.0, "one", Tensor::scalar(1.0f32));
    let add = graph.node("AddV2", "add", &[first(p), first(one)]).unwrap();
    let neg = graph.node("Neg", "neg", &[first(add)]).unwrap();
    let whole = function(&graph, &[p, q], &[neg], None, None).unwrap();
    let signature = definition(whole).signature.unwrap();
    let args = |args: &[proto::op_def::ArgDef]| args.iter().map(|arg| arg.name.clone()).collect::<Vec<_>>();
    assert_eq!((args(&signature.input_arg), args(&signature.output_arg)), (owned(["p_x", "q"]), owned(["neg"])));

    let (out, other) = (c"out".as_ptr(), c"Other".as_ptr());
    let named = function(&graph, &[p, q], &[neg, add], None, Some(&[out, other])).unwrap();
    assert_eq!(args(&definition(named).signature.unwrap().output_arg), ["out", "Other"]);
    let twice = function(&graph, &[p, q], &[neg, add], None, Some(&[out, out]));
    fails(twice, INVALID_ARGUMENT, "Cannot have duplicate output names. Name 'out' appears more than once");
    let some = function(&graph, &[add], &[neg], Some(&[neg]), None).unwrap();
    assert_eq!(definition(some).node_def.len(), 1);
    let missing = function(&graph, &[], &[neg], Some(&[add, neg]), None);
    fails(missing, INVALID_ARGUMENT, "Input 0, 'P/x:0', of node 'add' in function 'F' is not available.");
    let repeated = function(&graph, &[p, p], &[neg], None, None);
    fails(repeated, INVALID_ARGUMENT, "TF_Output P/x:0 appears more than once in the input list");
    let passed = function(&graph, &[p], &[p], Some(&[]), None).unwrap();
    assert_eq!(definition(passed).ret["p_x"], "p_x");
    fails(function(&graph, &[p], &[neg], Some(&[]), None), INVALID_ARGUMENT, "neither in the function body nor among");

    let caller = Graph::new();
    // SAFETY: all pointers are alive, and what is made is freed.
    unsafe {
        let copy = |what| checked(|status| TF_GraphCopyFunction(caller.0, what, ptr::null(), status));
        copy(whole).unwrap();
        copy(whole).unwrap();
        fails(copy(some), INVALID_ARGUMENT, "a different function with the same name already exists");
        assert_eq!(TF_GraphNumFunctions(caller.0), 1);
        let mut found = [ptr::null_mut(); 3];
        assert_eq!(checked(|status| TF_GraphGetFunctions(caller.0, found.as_mut_ptr(), 3, status)).unwrap(), 1);
        assert_eq!(CStr::from_ptr(TF_FunctionName(found[0])), c"F");
        let bytes = definition(found[0]).encode_to_vec();
        let back = checked(|status| TF_FunctionImportFunctionDef(bytes.as_ptr().cast(), bytes.len(), status)).unwrap();
        assert_eq!(definition(back), definition(whole));
        for made in [found[0], back, whole, named, some, passed] {
            TF_DeleteFunction(made);
        }
    }
    let (x, y) = (caller.placeholder("x", FLOAT, Some(&[2])), caller.placeholder("y", FLOAT, Some(&[2])));
    let call = caller.node("F", "call", &[first(x), first(y)]).unwrap();
    let values = Tensor::vector(&[1.0f32, 2.0]).unwrap();
    let answers = run(&caller, &[(first(x), values.clone()), (first(y), values)], &[first(call)]).unwrap();
    assert_eq!(floats(&answers[0]), [-2.0, -3.0]);
}

#[test]
fn gradients_are_added() {
    let graph = Graph::new();
    let x = graph.placeholder("x", FLOAT, Some(&[2, 2]));
    let w = graph.placeholder("w", FLOAT, Some(&[2, 2]));
    let unrelated = graph.placeholder("unrelated", FLOAT, Some(&[2, 2]));
    let y = graph.node("MatMul", "y", &[first(x), first(w)]).unwrap();
    let z = graph.node("Sigmoid", "z", &[first(y)]).unwrap();
    let stopped = graph.node("StopGradient", "stopped", &[first(y)]).unwrap();
    let add = |prefix: Option<&CStr>, y: *mut TF_Operation, xs: &[*mut TF_Operation]| {
        // They may be one array.
        let mut both: Vec<TF_Output> = xs.iter().map(|&x| first(x)).collect();
        let (count, both_at) = (both.len() as c_int, both.as_mut_ptr());
        // SAFETY: all pointers are alive.
        let added = checked(|status| unsafe {
            let prefix = prefix.map_or(ptr::null(), CStr::as_ptr);
            TF_AddGradientsWithPrefix(
                graph.0,
                prefix,
                &mut first(y),
                1,
                both_at,
                count,
                ptr::null_mut(),
                status,
                both_at,
            );
        });
        added.map(|()| both)
    };
    let dy = add(None, z, &[x, w]).unwrap();
    assert!(dy.iter().all(|output| name(output.oper).starts_with("gradients/")));
    assert!(name(add(None, z, &[x]).unwrap()[0].oper).starts_with("gradients_1/"));
    assert!(name(add(Some(c"mine"), y, &[w]).unwrap()[0].oper).starts_with("mine/"));
    let taken = add(Some(c"x"), y, &[w]);
    fails(taken, INVALID_ARGUMENT, "prefix [x] conflicts with existing node in the graph named [x]");
    let nodes = message(&graph).node.len();
    let cut = "Cannot compute the partial derivative for node 'unrelated' as it's unreachable from the output node(s).";
    fails(add(None, y, &[w, unrelated]), INVALID_ARGUMENT, cut);
    assert_eq!(message(&graph).node.len(), nodes, "what fails adds nothing");
    assert_eq!(add(None, stopped, &[x]).unwrap(), [TF_Output { oper: ptr::null_mut(), index: -1 }]);
    let values = |values: [f32; 4]| Tensor::from_elements([2, 2], &values).unwrap();
    let feeds = [(first(x), values([1.0, 2.0, 3.0, 4.0])), (first(w), values([0.1, 0.2, -0.3, 0.4]))];
    let answers = run(&graph, &feeds, &dy).unwrap();
    for (answer, expected) in
        answers.iter().zip([[0.06282, 0.00814, 0.03851, -0.02573], [0.8515, 0.46601, 1.29201, 0.75243]])
    {
        let close = floats(answer).iter().zip(expected).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-5);
        assert!(close, "{answer}");
    }
}

#[test]
fn loops_are_described_as_graphs() {
    let graph = Graph::new();
    let (i, x) = (graph.placeholder("i", INT32, Some(&[])), graph.placeholder("x", FLOAT, Some(&[])));
    let double = Graph::new();
    let value = double.placeholder("value", FLOAT, Some(&[]));
    let sum = double.node("AddV2", "sum", &[first(value), first(value)]).unwrap();
    let doubling = function(&double, &[value], &[sum], None, None).unwrap();
    let begin = |inputs: &mut [TF_Output]| {
        // SAFETY: the graph is alive.
        checked(|status| unsafe { TF_NewWhile(graph.0, inputs.as_mut_ptr(), inputs.len() as c_int, status) })
    };
    let describe = |params: &mut TF_WhileParams, leave_out: &str| {
        // SAFETY: what `TF_NewWhile` gave is alive.
        unsafe {
            let cond_input = *params.cond_inputs;
            assert_eq!(
                (name(cond_input.oper), name((*params.body_inputs).oper)),
                ("cond_input0".into(), "body_input0".into())
            );
            let ten = constant(params.cond_graph, "ten", Tensor::scalar(10i32));
            let less = node(params.cond_graph, "Less", "less", &[cond_input, first(ten)]).unwrap();
            let one = constant(params.body_graph, "one", Tensor::scalar(1i32));
            let next = node(params.body_graph, "AddV2", "next", &[*params.body_inputs, first(one)]).unwrap();
            if leave_out != "cond_output" {
                params.cond_output = first(less);
            }
            if leave_out != "body_outputs[0]" {
                *params.body_outputs = first(next);
            }
            if leave_out != "name" {
                params.name = c"loop".as_ptr();
            }
        }
    };
    let finish = |params: &TF_WhileParams| {
        let mut outputs = vec![first(ptr::null_mut()); params.ninputs as usize];
        // SAFETY: what `TF_NewWhile` gave is alive, and freed by this.
        checked(|status| unsafe { TF_FinishWhile(params, status, outputs.as_mut_ptr()) }).map(|()| outputs)
    };
    let mut params = begin(&mut [first(i), first(x)]).unwrap();
    describe(&mut params, "");
    // The other variable is doubled by a function that the body's graph has.
    // SAFETY: what `TF_NewWhile` gave is alive.
    unsafe {
        checked(|status| TF_GraphCopyFunction(params.body_graph, doubling, ptr::null(), status)).unwrap();
        TF_DeleteFunction(doubling);
        *params.body_outputs.add(1) =
            first(node(params.body_graph, "F", "twice", &[*params.body_inputs.add(1)]).unwrap());
    }
    let outputs = finish(&params).unwrap();
    let feeds = [(first(i), Tensor::scalar(0i32)), (first(x), Tensor::scalar(1.5f32))];
    let answers = run(&graph, &feeds, &outputs).unwrap();
    assert_eq!((answers[0].to_scalar::<i32>().unwrap(), answers[1].to_scalar::<f32>().unwrap()), (10, 1536.0));

    for left_out in ["cond_output", "body_outputs[0]"] {
        let mut params = begin(&mut [first(i)]).unwrap();
        describe(&mut params, left_out);
        fails(finish(&params), INVALID_ARGUMENT, &format!("TF_WhileParams `{left_out}` field isn't set"));
    }
    let mut params = begin(&mut [first(i)]).unwrap();
    describe(&mut params, "name");
    fails(finish(&params), INVALID_ARGUMENT, "TF_WhileParams `name` field is null");
    let given_up = begin(&mut [first(i)]).unwrap();
    // SAFETY: what `TF_NewWhile` gave is freed by this.
    unsafe { TF_AbortWhile(&given_up) };
    fails(begin(&mut []), INVALID_ARGUMENT, "TF_NewWhile() must be passed at least one input");
}

#[test]
fn values_that_are_known_are_told() {
    let graph = Graph::new();
    let known = constant(graph.0, "known", Tensor::vector(&[1i32, 2]).unwrap());
    let given = graph.placeholder("given", INT32, Some(&[2]));
    let evaluate = |operation, index| {
        let mut result = ptr::null_mut();
        let output = TF_Output { oper: operation, index };
        // SAFETY: all pointers are alive.
        let told = checked(|status| unsafe { TF_TryEvaluateConstant(graph.0, output, &mut result, status) })?;
        assert_eq!(told == 1, !result.is_null());
        Ok(result).map(|result| {
            // SAFETY: the tensor is alive, and freed once.
            (!result.is_null()).then(|| unsafe {
                let tensor = CTensor::from_c(result).unwrap().to_tensor().unwrap();
                TF_DeleteTensor(result);
                tensor
            })
        })
    };
    assert_eq!(evaluate(known, 0).unwrap().unwrap().as_slice::<i32>().unwrap(), [1, 2]);
    assert!(evaluate(given, 0).unwrap().is_none());
    fails::<Option<Tensor>>(evaluate(given, 7), INVALID_ARGUMENT, "does not have output 7");
}

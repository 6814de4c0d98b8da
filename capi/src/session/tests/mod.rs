//! Sessions, called as C calls them. What TensorFlow 2.21 answered to the same calls stands in the tests.

#[path = "../../../tests/common/def.rs"]
mod def;
mod deprecated;
mod growing;
mod partial;
mod running;
mod saved_model;
mod speed;
#[path = "../../../tests/common/status.rs"]
mod status;

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use def::node_def as node;
use kernlink::Result;
use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::graph::{GRAPH_DEF_VERSION, Graph, ImportOptions};
use kernlink::proto::{self, GraphDef, NodeDef, VersionDef};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink_library::abi::{TF_Buffer, TF_Status, TF_Tensor};
use kernlink_library::host::{CTensor, TF_DeleteTensor, bytes_of};
use status::{CANCELLED, DEADLINE_EXCEEDED, Failure, INVALID_ARGUMENT, NOT_FOUND, OUT_OF_RANGE, checked};

use super::*;
use crate::abi::{TF_Graph, TF_Operation, TF_Output, TF_Session, TF_SessionOptions};
use crate::graph::{CGraph, TF_DeleteGraph};
use crate::pointer::{borrow, share_with_c};

const FLOAT: AttrValue = AttrValue::Type(DataType::Float);

fn placeholder(name: &str, dims: &[i64]) -> NodeDef {
    let shape = AttrValue::Shape(PartialShape::from_dims(dims).unwrap());
    node(name, "Placeholder", &[], &[("dtype", FLOAT), ("shape", shape)])
}

/// A node that takes and gives floats.
fn float(name: &str, op: &str, inputs: &[&str]) -> NodeDef {
    node(name, op, inputs, &[("T", FLOAT)])
}

fn constant(name: &str, value: Tensor) -> NodeDef {
    let attrs = [("dtype", AttrValue::Type(value.dtype())), ("value", AttrValue::Tensor(value))];
    node(name, "Const", &[], &attrs)
}

/// A variable of floats, what sets it to `initial`, adds `step` and reads it.
fn variable(name: &str, initial: f32, step: f32) -> Vec<NodeDef> {
    let shape = AttrValue::Shape(PartialShape::unknown());
    let dtype = [("dtype", FLOAT)];
    let [initially, more] = ["initial", "more"].map(|what| format!("{name}_{what}"));
    vec![
        node(name, "VarHandleOp", &[], &[("dtype", FLOAT), ("shape", shape), ("shared_name", name.into())]),
        constant(&initially, Tensor::scalar(initial)),
        constant(&more, Tensor::scalar(step)),
        node(&format!("{name}_set"), "AssignVariableOp", &[name, &initially], &dtype),
        node(&format!("{name}_add"), "AssignAddVariableOp", &[name, &more], &dtype),
        node(&format!("{name}_read"), "ReadVariableOp", &[name], &dtype),
    ]
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

fn ints(values: &[i32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

/// A graph and a session of it.
struct Client {
    graph: *mut TF_Graph,
    session: *mut TF_Session,
}

// SAFETY: graphs and sessions may be used on any thread.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: both are this one's.
        unsafe {
            checked(|status| TF_DeleteSession(self.session, status)).unwrap();
            TF_DeleteGraph(self.graph);
        }
    }
}

/// A serialized ConfigProto.
fn config(config: super::messages::ConfigProto) -> Vec<u8> {
    prost::Message::encode_to_vec(&config)
}

/// Calls with options.
fn with_options<R>(config: &[u8], target: &CStr, call: impl FnOnce(*const TF_SessionOptions) -> R) -> R {
    // SAFETY: the options live as long as they are used.
    unsafe {
        let options = TF_NewSessionOptions();
        TF_SetTarget(options, target.as_ptr());
        checked(|status| TF_SetConfig(options, config.as_ptr().cast(), config.len(), status)).unwrap();
        let result = call(options);
        TF_DeleteSessionOptions(options);
        result
    }
}

impl Client {
    fn new(nodes: &[NodeDef]) -> Client {
        Client::with(&[], nodes).unwrap()
    }

    fn with(config: &[u8], nodes: &[NodeDef]) -> Result<Client, Failure> {
        let graph: *mut TF_Graph = share_with_c(CGraph::new().unwrap());
        // SAFETY: the graph is alive.
        let make = |options| unsafe { checked(|status| TF_NewSession(graph, options, status)) };
        let client = Client { graph, session: with_options(config, c"", make)? };
        client.grow(nodes);
        Ok(client)
    }

    fn graph(&self) -> &CGraph {
        // SAFETY: the client is one of its holders.
        unsafe { borrow(self.graph) }.unwrap()
    }

    fn grow(&self, nodes: &[NodeDef]) {
        let versions = Some(VersionDef { producer: GRAPH_DEF_VERSION, ..VersionDef::default() });
        let def = GraphDef { node: nodes.to_vec(), versions, ..GraphDef::default() };
        // Inputs may be nodes that are there already.
        let options = ImportOptions { links_by_name: true, ..ImportOptions::default() };
        self.change(|graph| graph.import_into(def, &options).map(drop));
    }

    fn change(&self, change: impl FnOnce(&mut Graph) -> Result<()>) {
        self.graph().change(change).unwrap();
    }

    fn operation(&self, name: &str) -> *mut TF_Operation {
        let state = self.graph().read();
        state.operation(state.graph.find(name).unwrap())
    }

    /// The output that `node` or `node:1` names, whether or not it exists.
    fn output(&self, name: &str) -> TF_Output {
        let (name, index) = name.split_once(':').unwrap_or((name, "0"));
        TF_Output { oper: self.operation(name), index: index.parse().unwrap() }
    }

    fn outputs(&self, names: &[&str]) -> Vec<TF_Output> {
        names.iter().map(|name| self.output(name)).collect()
    }

    fn run(&self, feeds: &[(&str, Tensor)], fetches: &[&str], targets: &[&str]) -> Result<Vec<Tensor>, Failure> {
        self.run_with(ptr::null(), ptr::null_mut(), feeds, fetches, targets)
    }

    fn run_with(
        &self,
        options: *const TF_Buffer,
        metadata: *mut TF_Buffer,
        feeds: &[(&str, Tensor)],
        fetches: &[&str],
        targets: &[&str],
    ) -> Result<Vec<Tensor>, Failure> {
        let inputs = self.outputs(&feeds.iter().map(|feed| feed.0).collect::<Vec<_>>());
        let outputs = self.outputs(fetches);
        let targets: Vec<_> = targets.iter().map(|name| self.operation(name).cast_const()).collect();
        called(feeds, fetches.len(), |values, places, status| {
            // SAFETY: all live until the call ends.
            unsafe {
                TF_SessionRun(
                    self.session,
                    options,
                    inputs.as_ptr(),
                    values,
                    inputs.len() as c_int,
                    outputs.as_ptr(),
                    places,
                    outputs.len() as c_int,
                    targets.as_ptr(),
                    targets.len() as c_int,
                    metadata,
                    status,
                );
            }
        })
    }

    fn number(&self, fetch: &str) -> f32 {
        self.run(&[], &[fetch], &[]).unwrap()[0].to_scalar().unwrap()
    }
}

/// Calls with tensors to feed and places for those that are fetched: all of them, or null if it fails.
fn called(
    feeds: &[(&str, Tensor)],
    fetches: usize,
    call: impl FnOnce(*const *mut TF_Tensor, *mut *mut TF_Tensor, *mut TF_Status),
) -> Result<Vec<Tensor>, Failure> {
    let values: Vec<_> = feeds.iter().map(|feed| CTensor::new(feed.1.clone()).unwrap().into_c()).collect();
    // What comes in is overwritten.
    let mut places = vec![ptr::dangling_mut::<TF_Tensor>(); fetches];
    let outcome = checked(|status| call(values.as_ptr(), places.as_mut_ptr(), status));
    // SAFETY: the values are this one's, and so are the places that were filled.
    unsafe {
        values.into_iter().for_each(|value| TF_DeleteTensor(value));
        if let Err(failure) = outcome {
            assert!(places.iter().all(|place| place.is_null()), "a failure leaves tensors: {failure:?}");
            return Err(failure);
        }
        let take = |place: *mut TF_Tensor| {
            let tensor = CTensor::from_c(place).unwrap().to_tensor().unwrap();
            TF_DeleteTensor(place);
            tensor
        };
        Ok(places.into_iter().map(take).collect())
    }
}

#[track_caller]
fn expect<T>(result: Result<T, Failure>, code: c_int, message: &str) {
    match result {
        Ok(_) => panic!("no error, but {message}"),
        Err(failure) => assert_eq!(failure, (code, message.to_owned())),
    }
}

#[track_caller]
fn assert_floats(tensor: &Tensor, expected: &[f32]) {
    assert_eq!(tensor.as_slice::<f32>().unwrap(), expected);
}

/// The texts of an array of C's.
fn texts(names: &[&CStr]) -> Vec<*const c_char> {
    names.iter().map(|name| name.as_ptr()).collect()
}

/// What a buffer holds; it is deleted.
fn taken(buffer: *mut TF_Buffer) -> Vec<u8> {
    // SAFETY: the buffer is the caller's, and is not used again.
    unsafe {
        let bytes = bytes_of("the buffer", buffer).unwrap().to_vec();
        kernlink_library::host::TF_DeleteBuffer(buffer);
        bytes
    }
}

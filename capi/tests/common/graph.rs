//! Graphs as a client in C makes them.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::ffi::{CString, c_int};
use std::ptr;

use kernlink::tensor::Tensor;
use kernlink_capi::abi::*;
use kernlink_capi::graph::*;
use kernlink_library::host::{CTensor, TF_DeleteTensor};

use super::status::{Failure, checked};

pub(crate) const FLOAT: TF_DataType = 1;
pub(crate) const INT32: TF_DataType = 3;

/// The first output of an operation.
pub(crate) fn first(oper: *mut TF_Operation) -> TF_Output {
    TF_Output { oper, index: 0 }
}

pub(crate) struct Graph(pub(crate) *mut TF_Graph);

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: it is this one's.
        unsafe { TF_DeleteGraph(self.0) };
    }
}

impl Graph {
    pub(crate) fn new() -> Graph {
        // SAFETY: there is nothing to ask of the caller.
        let graph = unsafe { TF_NewGraph() };
        assert!(!graph.is_null());
        Graph(graph)
    }

    /// Begins an operation.
    pub(crate) fn describe(&self, op: &str, name: &str) -> Description {
        describe(self.0, op, name)
    }

    /// An operation of these inputs, whose attrs follow from them.
    pub(crate) fn node(&self, op: &str, name: &str, inputs: &[TF_Output]) -> Result<*mut TF_Operation, Failure> {
        node(self.0, op, name, inputs)
    }

    /// A placeholder; of any rank without dims.
    pub(crate) fn placeholder(&self, name: &str, dtype: TF_DataType, dims: Option<&[i64]>) -> *mut TF_Operation {
        let (first, rank) = dims.map_or((ptr::null(), -1), |dims| (dims.as_ptr(), dims.len() as c_int));
        // SAFETY: the description is alive.
        let placeholder = self.describe("Placeholder", name).with(|it| unsafe {
            TF_SetAttrType(it, c"dtype".as_ptr(), dtype);
            TF_SetAttrShape(it, c"shape".as_ptr(), first, rank);
        });
        placeholder.finish().unwrap()
    }
}

/// Begins an operation of a graph, which may be somebody else's, as those of a loop's parts are.
pub(crate) fn describe(graph: *mut TF_Graph, op: &str, name: &str) -> Description {
    let (op, name) = (CString::new(op).unwrap(), CString::new(name).unwrap());
    // SAFETY: the graph is alive.
    let description = unsafe { TF_NewOperation(graph, op.as_ptr(), name.as_ptr()) };
    assert!(!description.is_null());
    Description(description)
}

/// As [`Graph::node`].
pub(crate) fn node(
    graph: *mut TF_Graph,
    op: &str,
    name: &str,
    inputs: &[TF_Output],
) -> Result<*mut TF_Operation, Failure> {
    inputs.iter().fold(describe(graph, op, name), |description, &input| description.input(input)).finish()
}

/// A constant of a graph.
pub(crate) fn constant(graph: *mut TF_Graph, name: &str, value: Tensor) -> *mut TF_Operation {
    let dtype = value.dtype().number();
    let tensor = CTensor::new(value).unwrap().into_c();
    // SAFETY: the description and the tensor are alive.
    let constant = describe(graph, "Const", name).with(|it| unsafe {
        TF_SetAttrType(it, c"dtype".as_ptr(), dtype);
        checked(|status| TF_SetAttrTensor(it, c"value".as_ptr(), tensor, status)).unwrap();
        TF_DeleteTensor(tensor);
    });
    constant.finish().unwrap()
}

/// An operation that is being described.
pub(crate) struct Description(*mut TF_OperationDescription);

impl Description {
    /// Describes something of it.
    pub(crate) fn with(self, part: impl FnOnce(*mut TF_OperationDescription)) -> Description {
        part(self.0);
        self
    }

    pub(crate) fn input(self, input: TF_Output) -> Description {
        // SAFETY: the description is alive.
        self.with(|it| unsafe { TF_AddInput(it, input) })
    }

    /// Adds it to its graph. The operation is null just if that fails.
    pub(crate) fn finish(self) -> Result<*mut TF_Operation, Failure> {
        let mut made = ptr::null_mut();
        // SAFETY: the description is finished once.
        let result = checked(|status| made = unsafe { TF_FinishOperation(self.0, status) });
        assert_eq!(made.is_null(), result.is_err());
        result.map(|()| made)
    }
}

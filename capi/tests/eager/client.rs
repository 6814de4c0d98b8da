//! Contexts, ops and handles of a client, which are freed, beside what all clients have.

use std::ffi::{CStr, CString, c_int};
use std::ptr;

use kernlink::dtype::{DataType, TString};
use kernlink::tensor::Tensor;
use kernlink_capi::abi::{TFE_Context, TFE_Op, TFE_TensorHandle};
use kernlink_capi::eager::*;
use kernlink_library::host::{CTensor, TF_DeleteTensor};

pub(crate) use crate::common::*;

/// Serialized options: a ConfigProto.
pub(crate) struct Config(Vec<u8>);

impl Config {
    /// Two CPU devices.
    pub(crate) fn two_devices() -> Config {
        let entry = [b"\x0a\x03CPU\x10\x02".as_slice()].concat();
        Config([&[0x0a, entry.len() as u8], &entry[..]].concat())
    }

    /// With `allow_soft_placement`.
    pub(crate) fn soft() -> Config {
        Config(vec![0x38, 1])
    }
}

pub(crate) struct Context(pub(crate) *mut TFE_Context);

// SAFETY: a context may be used on any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it is this one's.
        unsafe { TFE_DeleteContext(self.0) };
    }
}

impl Context {
    pub(crate) fn new() -> Context {
        Context::with(&Config(Vec::new()))
    }

    pub(crate) fn with(config: &Config) -> Context {
        // SAFETY: the options live as long as they are used.
        unsafe {
            let options = TFE_NewContextOptions();
            let (proto, length) = (config.0.as_ptr().cast(), config.0.len());
            checked(|status| TFE_ContextOptionsSetConfig(options, proto, length, status)).unwrap();
            let context = checked(|status| TFE_NewContext(options, status)).unwrap();
            TFE_DeleteContextOptions(options);
            Context(context)
        }
    }

    /// Describes an op.
    pub(crate) fn op(&self, name: &str) -> Result<Op, Failure> {
        let name = CString::new(name).unwrap();
        // SAFETY: the context is alive.
        let op = unsafe { checked(|status| TFE_NewOp(self.0, name.as_ptr(), status)) };
        assert_eq!(op.is_err(), op.as_ref().map_or(true, |op| op.is_null()));
        op.map(Op)
    }

    /// Runs an op of these inputs with one result.
    pub(crate) fn run(&self, name: &str, inputs: &[&Handle]) -> Result<Tensor, Failure> {
        self.op(name)?.of(inputs).run_one()
    }
}

pub(crate) struct Handle(pub(crate) *mut TFE_TensorHandle);

// SAFETY: a handle may be used on any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it is this one's.
        unsafe { TFE_DeleteTensorHandle(self.0) };
    }
}

impl Handle {
    pub(crate) fn new(tensor: impl Into<Tensor>) -> Handle {
        let tensor = CTensor::new(tensor.into()).unwrap().into_c();
        // SAFETY: the tensor is deleted once.
        unsafe {
            let handle = checked(|status| TFE_NewTensorHandle(tensor, status)).unwrap();
            TF_DeleteTensor(tensor);
            Handle(handle)
        }
    }

    pub(crate) fn floats(values: &[f32]) -> Handle {
        Handle::new(Tensor::vector(values).unwrap())
    }

    /// The tensor, as C is given it.
    pub(crate) fn tensor(&self) -> Tensor {
        // SAFETY: the handle is alive, and the tensor is deleted once.
        unsafe {
            let resolved = checked(|status| TFE_TensorHandleResolve(self.0, status)).unwrap();
            let tensor = CTensor::from_c(resolved).unwrap().to_tensor().unwrap();
            TF_DeleteTensor(resolved);
            tensor
        }
    }

    pub(crate) fn device(&self) -> String {
        // SAFETY: the handle is alive.
        unsafe {
            let name = checked(|status| TFE_TensorHandleDeviceName(self.0, status)).unwrap();
            CStr::from_ptr(name).to_str().unwrap().to_owned()
        }
    }
}

pub(crate) struct Op(pub(crate) *mut TFE_Op);

impl Drop for Op {
    fn drop(&mut self) {
        // SAFETY: it is this one's.
        unsafe { TFE_DeleteOp(self.0) };
    }
}

/// A setter of an attr by one value.
macro_rules! setters {
    ($($name:ident($value:ident: $type:ty) = $setter:ident($($argument:expr),*);)*) => {
        impl Op {
            $(
                pub(crate) fn $name(self, name: &str, $value: $type) -> Op {
                    let name = CString::new(name).unwrap();
                    // SAFETY: the op is alive.
                    unsafe { $setter(self.0, name.as_ptr(), $($argument),*) };
                    self
                }
            )*
        }
    };
}
setters! {
    string(value: &str) = TFE_OpSetAttrString(value.as_ptr().cast(), value.len());
    int(value: i64) = TFE_OpSetAttrInt(value);
    float(value: f32) = TFE_OpSetAttrFloat(value);
    bool(value: bool) = TFE_OpSetAttrBool(value.into());
    dtype(value: DataType) = TFE_OpSetAttrType(value.number());
    function(value: &Op) = TFE_OpSetAttrFunction(value.0);
    function_name(value: &str) = TFE_OpSetAttrFunctionName(value.as_ptr().cast(), value.len());
    ints(values: &[i64]) = TFE_OpSetAttrIntList(values.as_ptr(), values.len() as c_int);
    floats(values: &[f32]) = TFE_OpSetAttrFloatList(values.as_ptr(), values.len() as c_int);
    bools(values: &[u8]) = TFE_OpSetAttrBoolList(values.as_ptr(), values.len() as c_int);
    dtypes(values: &[u32]) = TFE_OpSetAttrTypeList(values.as_ptr().cast(), values.len() as c_int);
}

impl Op {
    pub(crate) fn input(&self, input: &Handle) -> Result<(), Failure> {
        // SAFETY: both are alive.
        checked(|status| unsafe { TFE_OpAddInput(self.0, input.0, status) })
    }

    pub(crate) fn input_list(&self, inputs: &[&Handle]) -> Result<(), Failure> {
        let mut inputs: Vec<_> = inputs.iter().map(|input| input.0).collect();
        // SAFETY: all are alive.
        checked(|status| unsafe { TFE_OpAddInputList(self.0, inputs.as_mut_ptr(), inputs.len() as c_int, status) })
    }

    /// With these inputs, one by one.
    pub(crate) fn of(self, inputs: &[&Handle]) -> Op {
        inputs.iter().for_each(|input| self.input(input).unwrap());
        self
    }

    /// With this list of inputs.
    pub(crate) fn of_list(self, inputs: &[&Handle]) -> Op {
        self.input_list(inputs).unwrap();
        self
    }

    pub(crate) fn shape(self, name: &str, dims: &[i64]) -> Op {
        let name = CString::new(name).unwrap();
        // SAFETY: the op is alive.
        let set = |status| unsafe {
            TFE_OpSetAttrShape(self.0, name.as_ptr(), dims.as_ptr(), dims.len() as c_int, status);
        };
        checked(set).unwrap();
        self
    }

    pub(crate) fn device(self, name: &str) -> Result<Op, Failure> {
        let name = CString::new(name).unwrap();
        // SAFETY: the op is alive.
        checked(|status| unsafe { TFE_OpSetDevice(self.0, name.as_ptr(), status) })?;
        Ok(self)
    }

    /// Runs the op, with room for so many results.
    pub(crate) fn run(&self, room: usize) -> Result<Vec<Handle>, Failure> {
        let mut results = vec![ptr::null_mut(); room];
        let mut count = room as c_int;
        // SAFETY: the op is alive.
        checked(|status| unsafe { TFE_Execute(self.0, results.as_mut_ptr(), &raw mut count, status) }).inspect_err(
            |_| assert!(count == room as c_int && results.iter().all(|result| result.is_null()), "nothing is changed"),
        )?;
        results.truncate(count as usize);
        Ok(results.into_iter().map(Handle).collect())
    }

    /// Runs the op, which has one result.
    pub(crate) fn run_one(&self) -> Result<Tensor, Failure> {
        let results = self.run(1)?;
        assert_eq!(results.len(), 1);
        Ok(results[0].tensor())
    }
}

pub(crate) fn values(tensor: &Tensor) -> &[f32] {
    tensor.as_slice().unwrap()
}

pub(crate) fn texts(tensor: &Tensor) -> Vec<String> {
    let texts = tensor.as_slice::<TString>().unwrap().iter();
    texts.map(|text| String::from_utf8(text.as_bytes().to_vec()).unwrap()).collect()
}

//! Attrs of all kinds.

use std::ffi::{CString, c_int, c_void};
use std::sync::OnceLock;

use kernlink::dtype::DataType;
use kernlink::kernel::{CPU, DynKernel, KernelDefBuilder, RawContext};
use kernlink::op::OpDefBuilder;
use kernlink::tensor::Tensor;
use kernlink_capi::eager::*;
use kernlink_library::host::{CTensor, TF_DeleteTensor};

use crate::client::*;

/// Gives what its kernel was told at its making.
struct Says(String);

impl DynKernel for Says {
    fn compute(&self, ctx: &mut RawContext<'_>) -> kernlink::Result<()> {
        ctx.set_output_at(0, Tensor::from(self.0.as_str()))
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// Registers an op that has an attr of each kind, and gives what they are.
fn every_kind() -> &'static str {
    const NAME: &str = "EveryKindOfAttr";
    static IS_REGISTERED: OnceLock<()> = OnceLock::new();
    IS_REGISTERED.get_or_init(|| {
        let kinds = ["string", "int", "float", "bool", "type", "shape", "tensor", "func"];
        let op = kinds.iter().fold(OpDefBuilder::new(NAME), |op, kind| {
            let op = op.attr(format!("{kind}_value: {kind}"));
            // C has no setter of lists of tensors.
            if *kind == "tensor" { op } else { op.attr(format!("{kind}_list: list({kind})")) }
        });
        let registry = kernlink::registry().unwrap();
        registry.register_op(op.output("said: string").stateful().build().unwrap(), None).unwrap();
        let kernel = KernelDefBuilder::new(NAME, CPU).create(|node| {
            let attrs: Vec<_> = node.attrs.iter().map(|(name, value)| format!("{name}={value}")).collect();
            Ok(Box::new(Says(attrs.join("; "))))
        });
        registry.register_kernel(kernel).unwrap();
    });
    NAME
}

#[test]
fn every_kind_is_set() {
    let context = Context::new();
    let op = context.op(every_kind()).unwrap();
    let op = op.string("string_value", "a\0b").int("int_value", -7).float("float_value", 0.5).bool("bool_value", true);
    let op = op.dtype("type_value", DataType::Half).shape("shape_value", &[2, -1]).function_name("func_value", "F");
    let op = op.ints("int_list", &[1, -2]).floats("float_list", &[1.5]).bools("bool_list", &[1, 0, 2]);
    let op = op.dtypes("type_list", &[1, 7]);
    let (strings, lengths) = ([c"one".as_ptr().cast::<c_void>(), c"".as_ptr().cast()], [3usize, 0]);
    let (dims, ranks) = ([[3i64, -1].as_ptr(), std::ptr::null(), std::ptr::null()], [2 as c_int, -1, 0]);
    let (neg, cast) = (context.op("Neg").unwrap(), context.op("Cast").unwrap().dtype("DstT", DataType::Int64));
    let functions = [neg.0.cast_const(), cast.0.cast_const()];
    let tensor = CTensor::new(Tensor::vector(&[1.0f32, 2.0]).unwrap()).unwrap().into_c();
    // SAFETY: all are alive, and the arrays have as many elements as is said.
    unsafe {
        TFE_OpSetAttrStringList(op.0, c"string_list".as_ptr(), strings.as_ptr(), lengths.as_ptr(), 2);
        let mut dims = dims;
        let set = |status| {
            TFE_OpSetAttrShapeList(op.0, c"shape_list".as_ptr(), dims.as_mut_ptr(), ranks.as_ptr(), 3, status);
        };
        checked(set).unwrap();
        checked(|status| TFE_OpSetAttrTensor(op.0, c"tensor_value".as_ptr(), tensor, status)).unwrap();
        TF_DeleteTensor(tensor);
        TFE_OpSetAttrFunctionList(op.0, c"func_list".as_ptr(), functions.as_ptr(), 2);
    }
    drop((neg, cast));
    let said = texts(&op.run_one().unwrap()).remove(0);
    for part in [
        r#"string_value="a\x00b""#,
        "int_value=-7",
        "float_value=0.5",
        "bool_value=true",
        "type_value=DT_HALF",
        "shape_value=[2,?]",
        "func_value=F",
        "int_list=[1, -2]",
        "float_list=[1.5]",
        "bool_list=[true, false, true]",
        "type_list=[DT_FLOAT, DT_STRING]",
        r#"string_list=["one", ""]"#,
        "shape_list=[[3,?], <unknown>, []]",
        "func_list=[Neg, Cast]",
    ] {
        assert!(said.split("; ").any(|said| said == part), "{part} is not in {said}");
    }
    assert!(said.contains("tensor_value=Tensor<"), "{said}");
}

/// Of a rank above the limit no size is read: there are none.
#[test]
fn ranks_above_the_limit_are_refused_before_sizes_are_read() {
    let context = Context::new();
    let op = context.op("Placeholder").unwrap().dtype("dtype", DataType::Float);
    let sizes = [1i64; 255];
    for (rank, dims) in [(255, &sizes[..]), (c_int::MAX, &[2, 3])] {
        let over = format!("has {rank} dimensions which is over the limit of 254");
        let (name, mut lists, ranks) = (c"shape".as_ptr(), [sizes.as_ptr(), dims.as_ptr()], [1, rank]);
        // SAFETY: the op is alive.
        unsafe {
            fails(
                checked(|status| TFE_OpSetAttrShape(op.0, name, dims.as_ptr(), rank, status)),
                INVALID_ARGUMENT,
                &over,
            );
            let set = |status| TFE_OpSetAttrShapeList(op.0, name, lists.as_mut_ptr(), ranks.as_ptr(), 2, status);
            fails(checked(set), INVALID_ARGUMENT, &over);
        }
    }
}

#[test]
fn values_arrive_as_they_were_given() {
    let context = Context::new();
    let a = Handle::floats(&[-1.0, 2.0]);
    let op = |name: &str| context.op(name).unwrap();
    assert_eq!(values(&op("LeakyRelu").of(&[&a]).float("alpha", 0.5).run_one().unwrap()), [-0.5, 2.0]);
    let square = Handle::new(Tensor::from_vec([2, 2], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap());
    let product = op("MatMul").of(&[&square, &square]).bool("transpose_b", true).run_one().unwrap();
    assert_eq!(values(&product), [5.0, 11.0, 11.0, 25.0]);
    let column = Handle::new(Tensor::from_vec([2, 1, 1], vec![1.0f32, 2.0]).unwrap());
    let squeezed = op("Squeeze").of(&[&column]).ints("squeeze_dims", &[1]).run_one().unwrap();
    assert_eq!(squeezed.shape().dims(), [2, 1]);
    let buckets = op("Bucketize").of(&[&a]).floats("boundaries", &[0.0, 1.0]).run_one().unwrap();
    assert_eq!(buckets.as_slice::<i32>().unwrap(), [0, 2]);
    let words = [Handle::new(Tensor::from("a")), Handle::new(Tensor::from("b"))];
    let joined = op("StringJoin").of_list(&[&words[0], &words[1]]).string("separator", "-").run_one().unwrap();
    assert_eq!(texts(&joined), ["a-b"]);
    let ensured = op("EnsureShape").of(&[&a]).shape("shape", &[-1]).run_one().unwrap();
    assert_eq!(values(&ensured), [-1.0, 2.0]);
    fails(op("EnsureShape").of(&[&a]).shape("shape", &[3]).run_one(), INVALID_ARGUMENT, "3");
}

#[test]
fn the_first_value_of_an_attr_counts() {
    let context = Context::new();
    let cast = context.op("Cast").unwrap().of(&[&Handle::floats(&[1.0])]);
    let cast = cast.dtype("DstT", DataType::Int32).dtype("DstT", DataType::Int64);
    assert_eq!(cast.run_one().unwrap().dtype(), DataType::Int32);
}

#[test]
fn a_tensor_that_is_an_attr_is_copied() {
    let context = Context::new();
    let tensor = CTensor::new(Tensor::vector(&[1.0f32, 2.0]).unwrap()).unwrap().into_c();
    let op = context.op("Const").unwrap().dtype("dtype", DataType::Float);
    // SAFETY: all are alive; the tensor has two floats, and is deleted once.
    unsafe {
        checked(|status| TFE_OpSetAttrTensor(op.0, c"value".as_ptr(), tensor, status)).unwrap();
        kernlink_library::host::TF_TensorData(tensor).cast::<f32>().write(9.0);
        TF_DeleteTensor(tensor);
    }
    assert_eq!(values(&op.run_one().unwrap()), [1.0, 2.0]);
    assert_eq!(values(&op.run_one().unwrap()), [1.0, 2.0], "an op without inputs runs again");
}

#[test]
fn queues_have_lists_of_dtypes_and_shapes() {
    let context = Context::new();
    let a = Handle::floats(&[1.0, 2.0]);
    let queue = context.op("FIFOQueueV2").unwrap().dtypes("component_types", &[1, 3]).int("capacity", 2);
    let dims = [2i64];
    let (mut shapes, ranks) = ([dims.as_ptr(), std::ptr::null()], [1 as c_int, 0]);
    // SAFETY: the arrays have as many elements as is said.
    let set = |status| unsafe {
        TFE_OpSetAttrShapeList(queue.0, c"shapes".as_ptr(), shapes.as_mut_ptr(), ranks.as_ptr(), 2, status);
    };
    checked(set).unwrap();
    let queue = queue.run(1).unwrap().remove(0);
    let enqueue = context.op("QueueEnqueueV2").unwrap().of(&[&queue]).of_list(&[&a, &Handle::new(5i32)]);
    enqueue.run(0).unwrap();
    let dequeue = context.op("QueueDequeueV2").unwrap().of(&[&queue]).dtypes("component_types", &[1, 3]);
    let parts = dequeue.run(2).unwrap();
    assert_eq!((values(&parts[0].tensor()), parts[1].tensor().as_slice::<i32>().unwrap()), (&[1.0, 2.0][..], &[5][..]));
    let enqueue =
        context.op("QueueEnqueueV2").unwrap().of(&[&queue]).of_list(&[&Handle::new(1.0f32), &Handle::new(5i32)]);
    fails(enqueue.run(0), INVALID_ARGUMENT, "hape");
}

#[test]
fn kinds_of_attrs_are_told() {
    let context = Context::new();
    let mut is_list = 7u8;
    let mut kind = |op: &str, attr: &str| {
        let (op, attr) = (CString::new(op).unwrap(), CString::new(attr).unwrap());
        // SAFETY: the context is alive.
        let kind = checked(|status| unsafe {
            TFE_OpNameGetAttrType(context.0, op.as_ptr(), attr.as_ptr(), &raw mut is_list, status)
        })?;
        Ok::<_, Failure>((kind, is_list))
    };
    for (op, attr, expected) in [
        ("Conv2D", "strides", (1, 1)),
        ("Conv2D", "padding", (0, 0)),
        ("Conv2D", "use_cudnn_on_gpu", (3, 0)),
        ("LeakyRelu", "alpha", (2, 0)),
        ("Const", "value", (6, 0)),
        ("IdentityN", "T", (4, 1)),
        ("If", "then_branch", (8, 0)),
        ("If", "output_shapes", (5, 1)),
        ("Case", "branches", (8, 1)),
        ("VarHandleOp", "shape", (5, 0)),
    ] {
        assert_eq!(kind(op, attr), Ok(expected), "{op}.{attr}");
    }
    fails(kind("Nope", "x"), NOT_FOUND, "'Nope' is neither a type of a primitive operation");
    fails(kind("Neg", "x"), INVALID_ARGUMENT, "Attribute 'x' does not exist for this operation");
    let neg = context.op("Neg").unwrap();
    // SAFETY: the op is alive.
    let kind = checked(|status| unsafe { TFE_OpGetAttrType(neg.0, c"T".as_ptr(), &raw mut is_list, status) });
    assert_eq!((kind, is_list), (Ok(4), 0));
    // SAFETY: the op is alive, and nobody wants to know whether it is a list.
    let kind = checked(|status| unsafe { TFE_OpGetAttrType(neg.0, c"nope".as_ptr(), std::ptr::null_mut(), status) });
    fails(kind, INVALID_ARGUMENT, "Attribute 'nope' does not exist for this operation");
}

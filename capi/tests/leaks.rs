//! Calls that are refused, and tensors that are moved, leave nothing behind however often they come: all that the process has is
//! counted, so that this is the only test here.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use common::{FLOAT, INVALID_ARGUMENT, checked, fails, first};
use kernlink_capi::abi::*;
use kernlink_capi::eager::*;
use kernlink_capi::export::*;
use kernlink_capi::graph::*;

/// The bytes that the process has.
static LIVE: AtomicIsize = AtomicIsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator as it came, but for those that the trait makes of them; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Expects that rounds of this leave nothing. The first ones may: what is made once stays.
fn leaves_nothing(what: &str, round: impl Fn()) {
    const ROUNDS: isize = 50;
    (0..3).for_each(|_| round());
    let before = LIVE.load(Ordering::Relaxed);
    (0..ROUNDS).for_each(|_| round());
    let left = LIVE.load(Ordering::Relaxed) - before;
    // A byte each would be a leak; a list that grows once is none.
    assert!(left < ROUNDS, "{what}: {left} bytes are left of {ROUNDS} rounds");
}

/// How many calls of the kernel were told what they expect.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// Asks for its input without a place for it.
unsafe extern "C" fn compute(_: *mut c_void, ctx: *mut TF_OpKernelContext) {
    // SAFETY: as a kernel in C would.
    unsafe {
        let refused = checked(|status| TF_GetInput(ctx, 0, ptr::null_mut(), status));
        fails(refused, INVALID_ARGUMENT, "the place of the tensor is a null pointer");
        REFUSED.fetch_add(1, Ordering::Relaxed);
        let mut input = ptr::null_mut();
        checked(|status| TF_GetInput(ctx, 0, &mut input, status)).unwrap();
        checked(|status| TF_SetOutput(ctx, 0, input, status)).unwrap();
        TF_DeleteTensor(input);
    }
}

/// Asks for its attr without a place for it.
unsafe extern "C" fn create(ctx: *mut TF_OpKernelConstruction) -> *mut c_void {
    // SAFETY: as a kernel in C would.
    unsafe {
        let name = c"value".as_ptr();
        let refused = checked(|status| TF_OpKernelConstruction_GetAttrTensor(ctx, name, ptr::null_mut(), status));
        fails(refused, INVALID_ARGUMENT, "null pointer");
        let list = c"values".as_ptr();
        let refused = checked(|status| TF_OpKernelConstruction_GetAttrTypeList(ctx, list, ptr::null_mut(), 9, status));
        fails(refused, INVALID_ARGUMENT, "null pointer");
    }
    ptr::null_mut()
}

fn op(name: &CStr) -> *mut TF_OpDefinitionBuilder {
    // SAFETY: as a program in C would.
    unsafe {
        let builder = TF_NewOpDefinitionBuilder(name.as_ptr());
        TF_OpDefinitionBuilderAddAttr(builder, c"value: tensor = { dtype: DT_FLOAT float_val: 1.5 }".as_ptr());
        TF_OpDefinitionBuilderAddAttr(builder, c"values: list(type) = [DT_FLOAT]".as_ptr());
        TF_OpDefinitionBuilderAddInput(builder, c"x: float".as_ptr());
        TF_OpDefinitionBuilderAddOutput(builder, c"y: float".as_ptr());
        TF_OpDefinitionBuilderSetIsStateful(builder, true);
        builder
    }
}

fn register(op: &CStr, change: impl FnOnce(*mut TF_KernelBuilder)) -> Result<(), common::Failure> {
    // SAFETY: as a program in C would.
    unsafe {
        let kernel = TF_NewKernelBuilder(op.as_ptr(), c"CPU".as_ptr(), Some(create), Some(compute), None);
        change(kernel);
        checked(|status| TF_RegisterKernelBuilder(op.as_ptr(), kernel, status))
    }
}

#[test]
fn refused_calls_and_moved_tensors_leave_nothing() {
    const OWN: &CStr = c"OwnWithoutPlace";
    // SAFETY: as a program in C would.
    unsafe {
        checked(|status| TF_RegisterOpDefinition(op(OWN), status)).unwrap();
        register(OWN, |_| {}).unwrap();
        for name in [c"Relu", OWN, c"bad name"] {
            leaves_nothing(&format!("{name:?}, declared"), || {
                assert!(checked(|status| TF_RegisterOpDefinition(op(name), status)).is_err());
            });
        }
        let constrain = |attr: &'static CStr| {
            move |kernel| {
                checked(|status| TF_KernelBuilder_TypeConstraint(kernel, attr.as_ptr(), FLOAT, status)).unwrap()
            }
        };
        leaves_nothing("a kernel with a constraint on what is no attr", || {
            fails(register(c"Relu", constrain(c"nope")), INVALID_ARGUMENT, "nope");
        });
        leaves_nothing("a kernel with an argument in host memory that is none", || {
            let refused = register(c"Relu", |kernel| TF_KernelBuilder_HostMemory(kernel, c"nope".as_ptr()));
            fails(refused, INVALID_ARGUMENT, "nope");
        });
        leaves_nothing("a kernel that is there", || assert!(register(OWN, |_| {}).is_err()));
        // The same functions in another registration are another kernel, and are told of as such.
        fails(register(OWN, constrain(c"other")), INVALID_ARGUMENT, "other");
        fails(register(OWN, constrain(c"another")), INVALID_ARGUMENT, "another");

        let dims = [2i64, 3];
        leaves_nothing("a tensor that is moved", || {
            for length in [24, 100] {
                let tensor = TF_AllocateTensor(FLOAT, dims.as_ptr(), 2, length);
                let moved = TF_TensorMaybeMove(tensor);
                assert!(!moved.is_null());
                TF_DeleteTensor(moved);
            }
        });
        leaves_nothing("a tensor that is too large", || {
            assert!(TF_AllocateTensor(FLOAT, dims.as_ptr(), 2, usize::MAX).is_null());
        });

        let graph = common::Graph::new();
        let tensor = TF_AllocateTensor(FLOAT, dims.as_ptr(), 2, 24);
        let constant = graph.describe("Const", "constant");
        let constant = constant.with(|it| {
            checked(|status| TF_SetAttrTensor(it, c"value".as_ptr(), tensor, status)).unwrap();
            TF_SetAttrType(it, c"dtype".as_ptr(), FLOAT);
        });
        let constant = constant.finish().unwrap();
        leaves_nothing("a tensor without a place", || {
            let name = c"value".as_ptr();
            checked(|status| TF_OperationGetAttrTensor(constant, name, ptr::null_mut(), status)).unwrap();
            let value = checked(|status| TF_TryEvaluateConstant(graph.0, first(constant), ptr::null_mut(), status));
            assert_eq!(value, Ok(1));
        });

        let options = TFE_NewContextOptions();
        let context = checked(|status| TFE_NewContext(options, status)).unwrap();
        TFE_DeleteContextOptions(options);
        let handle = checked(|status| TFE_NewTensorHandle(tensor, status)).unwrap();
        leaves_nothing("a kernel's input without a place", || {
            let op = checked(|status| TFE_NewOp(context, OWN.as_ptr(), status)).unwrap();
            checked(|status| TFE_OpAddInput(op, handle, status)).unwrap();
            let (mut result, mut count) = (ptr::null_mut(), 1);
            checked(|status| TFE_Execute(op, &mut result, &mut count, status)).unwrap();
            TFE_DeleteTensorHandle(result);
            TFE_DeleteOp(op);
        });
        assert_eq!(REFUSED.load(Ordering::Relaxed), 53);
        TFE_DeleteTensorHandle(handle);
        TFE_DeleteContext(context);
        TF_DeleteTensor(tensor);
    }
}

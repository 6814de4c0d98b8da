//! Status, buffers, tensors and strings, called as a program in C calls them.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::tensor::Tensor;
use kernlink_framework::{Code, Error};
use kernlink_library::abi::{TF_Buffer, TF_Status, TF_TString, TF_Tensor};
use kernlink_library::host::*;

fn said(status: *const TF_Status) -> (c_int, String) {
    // SAFETY: a status of the test's, whose message is copied at once.
    unsafe { (TF_GetCode(status), CStr::from_ptr(TF_Message(status)).to_string_lossy().into_owned()) }
}

#[test]
fn a_status_keeps_code_and_message_until_it_changes() {
    // SAFETY: as a program in C would.
    unsafe {
        let status = TF_NewStatus();
        assert_eq!(said(status), (0, String::new()));
        TF_SetStatus(status, 3, c"of no use".as_ptr());
        assert_eq!(said(status), (3, "of no use".into()));
        // A status' own message may be set again.
        TF_SetStatus(status, 5, TF_Message(status));
        assert_eq!(said(status), (5, "of no use".into()));
        TF_SetStatus(status, 0, c"an OK has none".as_ptr());
        assert_eq!(said(status), (0, String::new()));
        TF_SetStatusFromIOError(status, libc::ENOENT, c"model.pb".as_ptr());
        assert_eq!(said(status), (5, "model.pb; No such file or directory".into()));
        TF_SetStatus(status, 3, ptr::null());
        assert_eq!(said(status), (3, String::new()));
        TF_DeleteStatus(status);
        TF_DeleteStatus(ptr::null_mut());
        TF_SetStatus(ptr::null_mut(), 3, c"nobody".as_ptr());
        assert_eq!(said(ptr::null()), (3, String::new()));
    }
}

#[test]
fn what_a_call_meets_is_in_its_status() {
    // SAFETY: as a program in C would.
    unsafe {
        let status = TF_NewStatus();
        assert_eq!(report(status, 7, || Err(Error::out_of_range("too far").at_node("n", "Op", ""))), 7);
        assert_eq!(said(status), (11, "too far\n\t [[{{node n}}]]".into()));
        assert_eq!(report(status, 7, || Ok(8)), 8);
        assert_eq!(said(status).0, 0);
        assert_eq!(report(status, 7, || panic!("a fault")), 7);
        let (code, message) = said(status);
        assert!(code == 13 && message.contains("panicked") && message.contains("a fault"), "{code} {message}");
        assert_eq!(report(ptr::null_mut(), 7, || Err(Error::internal("nobody hears"))), 7);
        assert_eq!(guarded(1, || panic!("another")), 1);
        let found = Status::from_c(status).unwrap().outcome().unwrap_err();
        assert_eq!(found.code(), Code::Internal);
        TF_DeleteStatus(status);
    }
}

#[test]
fn buffers_free_what_they_hold_in_their_own_way() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn free(data: *mut c_void, length: usize) {
        assert!(!data.is_null());
        FREED.fetch_add(length, Ordering::Relaxed);
    }
    // SAFETY: as a program in C would.
    unsafe {
        let text = b"abc";
        let buffer = TF_NewBufferFromString(text.as_ptr().cast(), 3);
        assert_eq!(bytes_of("the buffer", buffer).unwrap(), text);
        assert_ne!((*buffer).data, text.as_ptr().cast());
        TF_DeleteBuffer(buffer);
        let buffer = TF_NewBuffer();
        let held: &TF_Buffer = &TF_GetBuffer(buffer);
        assert!(held.data.is_null() && held.length == 0 && held.data_deallocator.is_none());
        fill(buffer, vec![1, 2]).unwrap();
        assert_eq!(bytes_of("the buffer", buffer).unwrap(), [1, 2]);
        assert_eq!(fill(buffer, vec![3]).unwrap_err().code(), Code::InvalidArgument);
        TF_DeleteBuffer(buffer);
        let buffer = TF_NewBuffer();
        (*buffer).data = text.as_ptr().cast();
        (*buffer).length = 3;
        (*buffer).data_deallocator = Some(free);
        TF_DeleteBuffer(buffer);
        assert_eq!(FREED.load(Ordering::Relaxed), 3);
        TF_DeleteBuffer(ptr::null_mut());
        assert!(bytes_of("the graph", ptr::null()).unwrap_err().message().contains("the graph is a null pointer"));
        let wrong = TF_Buffer { data: ptr::null(), length: 4, data_deallocator: None };
        assert_eq!(bytes_of("the graph", &raw const wrong).unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(bytes_of("nothing", &raw const *TF_NewBufferFromString(ptr::null(), 0)).unwrap(), [0u8; 0]);
    }
}

/// Memory aligned as kernels like it, and how often it was freed.
#[repr(C, align(64))]
struct Aligned([f32; 32]);

unsafe extern "C" fn count(_: *mut c_void, _: usize, argument: *mut c_void) {
    // SAFETY: the test's own counter.
    unsafe { &*argument.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
}

fn new_tensor(dtype: c_int, dims: &[i64], data: *mut c_void, length: usize, freed: &AtomicUsize) -> *mut TF_Tensor {
    let freed = ptr::from_ref(freed).cast_mut().cast();
    // SAFETY: as a program in C would.
    unsafe { TF_NewTensor(dtype, dims.as_ptr(), dims.len() as c_int, data, length, Some(count), freed) }
}

#[test]
fn a_tensor_takes_aligned_memory_and_copies_other() {
    let freed = AtomicUsize::new(0);
    let mut memory = Aligned(std::array::from_fn(|i| i as f32));
    let data: *mut f32 = memory.0.as_mut_ptr();
    let tensor = new_tensor(1, &[4, 8], data.cast(), 128, &freed);
    // SAFETY: as a program in C would; the memory outlives the tensors.
    unsafe {
        assert_eq!((TF_TensorData(tensor), TF_TensorByteSize(tensor)), (data.cast(), 128));
        assert_eq!((TF_TensorType(tensor), TF_NumDims(tensor), TF_TensorElementCount(tensor)), (1, 2, 32));
        assert_eq!([0, 1, 2, -1].map(|index| TF_Dim(tensor, index)), [4, 8, -1, -1]);
        assert!(TF_TensorIsAligned(tensor) && TF_TensorMaybeMove(tensor).is_null());
        // What Kernlink sees is that memory, as it is when it looks, and no stamp says that it stays so.
        let seen = CTensor::from_c(tensor).unwrap().to_tensor().unwrap();
        assert_eq!((seen.as_slice::<f32>().unwrap().as_ptr(), seen.content_stamp()), (data.cast_const(), None));
        TF_SetShape(tensor, [2i64, 16].as_ptr(), 2);
        assert_eq!(TF_Dim(tensor, 1), 16);
        TF_SetShape(tensor, [3i64].as_ptr(), 1);
        assert_eq!(TF_NumDims(tensor), 2);
        TF_DeleteTensor(tensor);
        assert_eq!(freed.load(Ordering::Relaxed), 0);
        drop(seen);
        assert_eq!(freed.load(Ordering::Relaxed), 1);
        // At an address of its own the elements are copied, and the memory freed at once; few of them, too.
        for (offset, dims) in [(1, &[30i64][..]), (3, &[]), (5, &[0, 7])] {
            let before = freed.load(Ordering::Relaxed);
            let copy = new_tensor(1, dims, data.add(offset).cast(), 120, &freed);
            assert_eq!(freed.load(Ordering::Relaxed), before + 1);
            let seen = CTensor::from_c(copy).unwrap().to_tensor().unwrap();
            let expected: Vec<f32> = (offset..offset + seen.num_elements()).map(|i| i as f32).collect();
            assert_eq!(seen.as_slice::<f32>().unwrap(), expected);
            TF_DeleteTensor(copy);
        }
        // A scalar in aligned memory stays there: a program may write it again for the next run.
        let scalar = new_tensor(1, &[], data.cast(), 4, &freed);
        *data = 9.0;
        let seen = CTensor::from_c(scalar).unwrap().to_tensor().unwrap();
        assert_eq!((TF_TensorData(scalar), seen.to_scalar::<f32>().unwrap()), (data.cast(), 9.0));
        TF_DeleteTensor(scalar);
    }
}

#[test]
fn what_cannot_be_a_tensor_is_null_and_its_memory_is_freed() {
    let freed = AtomicUsize::new(0);
    let mut memory = Aligned([0.0; 32]);
    let data: *mut c_void = memory.0.as_mut_ptr().cast();
    let wrong: [(c_int, &[i64], usize); 8] = [
        (1, &[33], 128),
        (1, &[-1], 128),
        (0, &[1], 128),
        (77, &[1], 128),
        (101, &[1], 128),
        (1, &[1 << 40, 1 << 40], 128),
        (20, &[1], 128),
        (7, &[6], 128),
    ];
    for (index, (dtype, dims, length)) in wrong.into_iter().enumerate() {
        assert!(new_tensor(dtype, dims, data, length, &freed).is_null(), "{dtype} {dims:?}");
        assert_eq!(freed.load(Ordering::Relaxed), index + 1);
    }
    // SAFETY: as a program in C would.
    unsafe {
        assert!(TF_NewTensor(1, ptr::null(), 2, data, 128, None, ptr::null_mut()).is_null());
        assert!(TF_NewTensor(1, ptr::null(), -1, data, 128, None, ptr::null_mut()).is_null());
        assert!(TF_NewTensor(1, [1].as_ptr(), 1, ptr::null_mut(), 128, None, ptr::null_mut()).is_null());
        assert!(TF_AllocateTensor(1, [4].as_ptr(), 1, 15).is_null());
        assert!(TF_AllocateTensor(1, [i64::MAX].as_ptr(), 1, usize::MAX).is_null());
        for length in [usize::MAX, usize::MAX - 63, 1 << 63, 1 << 62] {
            assert!(TF_AllocateTensor(1, [2, 3].as_ptr(), 2, length).is_null(), "{length}");
        }
        let null = ptr::null_mut::<TF_Tensor>();
        TF_DeleteTensor(null);
        assert_eq!((TF_TensorType(null), TF_NumDims(null), TF_Dim(null, 0)), (0, -1, -1));
        assert!(TF_TensorData(null).is_null() && TF_TensorMaybeMove(null).is_null() && TF_TensorByteSize(null) == 0);
        assert_eq!(
            [1, 2, 7, 8, 10, 18, 20, 101, 0, 99].map(|dtype| TF_DataTypeSize(dtype)),
            [4, 8, 0, 8, 1, 16, 0, 4, 0, 0]
        );
    }
}

/// Of a rank that no tensor has, no size is read: there are none.
#[test]
fn ranks_above_the_limit_are_refused_before_sizes_are_read() {
    let freed = AtomicUsize::new(0);
    let mut memory = Aligned([0.0; 32]);
    let (data, sizes) = (memory.0.as_mut_ptr().cast(), [1i64; 255]);
    let free = ptr::from_ref(&freed).cast_mut().cast();
    // SAFETY: as a program in C would; of `one` only the first size is there.
    unsafe {
        let most = TF_AllocateTensor(1, sizes.as_ptr(), 254, 4);
        assert_eq!((TF_NumDims(most), TF_TensorElementCount(most)), (254, 1));
        let status = TF_NewStatus();
        for (index, (dims, rank)) in [(&sizes[..], 255), (&[1], c_int::MAX), (&[1], c_int::MIN)].into_iter().enumerate()
        {
            let one = dims.as_ptr();
            assert!(TF_AllocateTensor(1, one, rank, 4).is_null(), "{rank}");
            assert!(TF_NewTensor(1, one, rank, data, 4, Some(count), free).is_null(), "{rank}");
            assert_eq!(freed.load(Ordering::Relaxed), index + 1);
            TF_SetShape(most, one, rank);
            assert_eq!(TF_NumDims(most), 254);
            let to = TF_AllocateTensor(1, ptr::null(), 0, 4);
            TF_TensorBitcastFrom(most, 3, to, one, rank, status);
            let (code, message) = said(status);
            assert_eq!((code, TF_TensorType(to)), (3, 1));
            assert!(message.contains(&rank.to_string()), "{message}");
            TF_DeleteTensor(to);
        }
        TF_DeleteStatus(status);
        TF_DeleteTensor(most);
    }
}

#[test]
fn an_allocated_tensor_has_all_the_bytes_that_were_asked_for() {
    // SAFETY: as a program in C would: it writes as many bytes as the tensor says it has.
    unsafe {
        for (dims, length) in
            [(&[2i64, 3][..], 24), (&[2, 3], 25), (&[2, 3], 1 << 20), (&[], 7), (&[0, 5], 0), (&[0], 64)]
        {
            let tensor = TF_AllocateTensor(3, dims.as_ptr(), dims.len() as c_int, length);
            assert_eq!(TF_TensorByteSize(tensor), length);
            if length > 0 {
                let bytes = std::slice::from_raw_parts_mut(TF_TensorData(tensor).cast::<u8>(), length);
                bytes.fill(1);
            }
            let seen = CTensor::from_c(tensor).unwrap().to_tensor().unwrap();
            let count = dims.iter().product::<i64>() as usize;
            assert_eq!(seen.as_slice::<i32>().unwrap(), vec![0x0101_0101; count]);
            drop(seen);
            assert_eq!(TF_TensorMaybeMove(tensor), tensor);
            TF_DeleteTensor(tensor);
        }
        // Strings have their own room, and bytes that are not there are not told of.
        let strings = TF_AllocateTensor(7, [2].as_ptr(), 1, usize::MAX);
        assert_eq!(TF_TensorByteSize(strings), 48);
        TF_DeleteTensor(strings);
    }
}

#[test]
fn allocated_tensors_are_written_by_c_and_moved_by_their_only_owner() {
    // SAFETY: as a program in C would.
    unsafe {
        let tensor = TF_AllocateTensor(9, [3].as_ptr(), 1, 24);
        let data = TF_TensorData(tensor).cast::<i64>();
        (0..3).for_each(|i| data.add(i).write(i as i64 - 1));
        assert_eq!(CTensor::from_c(tensor).unwrap().to_tensor().unwrap().as_slice::<i64>().unwrap(), [-1, 0, 1]);
        let other = CTensor::from_c(tensor).unwrap().share().into_c();
        assert!(TF_TensorMaybeMove(tensor).is_null());
        TF_DeleteTensor(other);
        let moved = TF_TensorMaybeMove(tensor);
        assert_eq!(moved, tensor, "one handle, which is deleted once");
        assert_eq!(CTensor::from_c(moved).unwrap().to_tensor().unwrap().as_slice::<i64>().unwrap(), [-1, 0, 1]);
        let status = TF_NewStatus();
        let halves = TF_AllocateTensor(1, ptr::null(), 0, 4);
        TF_TensorBitcastFrom(moved, 3, halves, [3i64, 2].as_ptr(), 2, status);
        assert_eq!((said(status).0, TF_TensorType(halves), TF_NumDims(halves)), (0, 3, 2));
        TF_TensorBitcastFrom(moved, 3, halves, [3i64].as_ptr(), 1, status);
        assert_eq!(said(status).0, 3);
        TF_DeleteTensor(halves);
        TF_DeleteTensor(moved);
        TF_DeleteStatus(status);
    }
}

#[test]
fn bools_that_c_wrote_as_other_bytes_are_true() {
    // SAFETY: as a program in C would.
    unsafe {
        let tensor = TF_AllocateTensor(10, [40].as_ptr(), 1, 40);
        let data = TF_TensorData(tensor).cast::<u8>();
        (0..40).for_each(|i| data.add(i).write(if i % 3 == 0 { 0 } else { 254 }));
        let seen = CTensor::from_c(tensor).unwrap().to_tensor().unwrap();
        assert!(seen.as_slice::<bool>().unwrap().iter().enumerate().all(|(i, &value)| value == (i % 3 != 0)));
        TF_DeleteTensor(tensor);
    }
}

#[test]
fn strings_are_shared_among_handles_and_copied_for_kernlink() {
    let long = "a string that is too long to be kept in itself";
    // SAFETY: as a program in C would.
    unsafe {
        let tensor = TF_AllocateTensor(7, [2].as_ptr(), 1, 48);
        let strings = TF_TensorData(tensor).cast::<TF_TString>();
        assert_eq!((TF_StringGetSize(strings), TF_StringGetType(strings), TF_StringGetCapacity(strings)), (0, 0, 22));
        TF_StringCopy(strings, long.as_ptr().cast(), long.len());
        TF_StringAssignView(strings.add(1), c"seen".as_ptr(), 4);
        let other = CTensor::from_c(tensor).unwrap().share().into_c();
        assert_eq!(TF_TensorData(other), TF_TensorData(tensor));
        let copy = CTensor::from_c(tensor).unwrap().to_tensor().unwrap();
        assert_eq!(copy.as_slice::<TString>().unwrap(), [TString::from(long), TString::from("seen")]);
        TF_StringDealloc(strings);
        let seen = TF_TensorData(other).cast::<TF_TString>();
        assert_eq!((TF_StringGetSize(seen), TF_StringGetType(seen.add(1))), (0, 3));
        assert_eq!(CStr::from_ptr(TF_StringGetDataPointer(seen.add(1))), c"seen");
        TF_DeleteTensor(tensor);
        TF_DeleteTensor(other);
        let tensor = CTensor::new(copy).unwrap().into_c();
        let strings = TF_TensorData(tensor).cast::<TF_TString>();
        assert_eq!(CStr::from_ptr(TF_StringGetDataPointer(strings)).to_str().unwrap(), long);
        assert_eq!((TF_TensorByteSize(tensor), TF_TensorType(tensor)), (48, DataType::String.number()));
        TF_DeleteTensor(tensor);
        // Strings in memory of the caller's stay the caller's.
        let freed = AtomicUsize::new(0);
        let mut own = [TF_TString::new(b"mine"), TF_TString::new(long.as_bytes())];
        let tensor = new_tensor(7, &[2], own.as_mut_ptr().cast(), 48, &freed);
        let seen = CTensor::from_c(tensor).unwrap().to_tensor().unwrap();
        assert_eq!(seen.as_slice::<TString>().unwrap(), [TString::from("mine"), TString::from(long)]);
        TF_DeleteTensor(tensor);
        assert_eq!((freed.load(Ordering::Relaxed), own[0].as_bytes()), (1, &b"mine"[..]));
        own.iter_mut().for_each(TF_TString::clear);
    }
}

#[test]
fn results_are_shared_with_c_and_have_no_stamp_once_c_can_write_them() {
    let result = Tensor::from_vec([64], vec![1.5f32; 64]).unwrap();
    assert!(result.content_stamp().is_some());
    // SAFETY: as a program in C would.
    unsafe {
        let tensor = CTensor::new(result.clone()).unwrap().into_c();
        assert_eq!(TF_TensorData(tensor).cast_const().cast(), result.as_slice::<f32>().unwrap().as_ptr());
        assert_eq!(result.content_stamp(), None);
        TF_DeleteTensor(tensor);
        let input = Tensor::from_vec([64], vec![2.5f32; 64]).unwrap();
        let tensor = CTensor::read_only(input.clone()).unwrap().into_c();
        assert_eq!(TF_TensorData(tensor).cast_const().cast(), input.as_slice::<f32>().unwrap().as_ptr());
        assert!(input.content_stamp().is_some());
        TF_DeleteTensor(tensor);
    }
}

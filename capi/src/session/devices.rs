//! `TF_DeviceList`: the devices of a session.

use std::collections::hash_map::RandomState;
use std::ffi::{CString, c_char, c_int};
use std::hash::BuildHasher;
use std::ptr;
use std::sync::{Arc, OnceLock};

use kernlink::device::Device;
use kernlink::kernel::CPU;
use kernlink::{Error, Result};
use kernlink_library::host::{guarded, report};

use super::state::CSession;
use crate::abi::{TF_DeprecatedSession, TF_DeviceList, TF_Session, TF_Status};
use crate::pointer::{borrow, c_text, free, into_c, opaque};

opaque! {
    TF_DeviceList => Vec<ListedDevice>, "list of devices";
}

/// A device, as C is told of it.
pub(crate) struct ListedDevice {
    name: CString,
    kind: CString,
    memory: i64,
    incarnation: u64,
}

/// What TensorFlow says of the memory of every CPU, in bytes.
const CPU_MEMORY: i64 = 256 << 20;

/// A device's name as TensorFlow has it: with the process.
pub(crate) fn full_name(name: &str) -> String {
    match name.starts_with("/job:") {
        true => name.to_owned(),
        false => format!("/job:localhost/replica:0/task:0{name}"),
    }
}

impl ListedDevice {
    fn new(device: &Arc<dyn Device>) -> ListedDevice {
        static PROCESS: OnceLock<RandomState> = OnceLock::new();
        let name = full_name(device.name());
        ListedDevice {
            // The same in one process, and another one in others; never 0.
            incarnation: PROCESS.get_or_init(RandomState::new).hash_one(&name).max(1),
            name: c_text(&name),
            kind: c_text(&device.device_type().to_string()),
            memory: if device.device_type() == CPU { CPU_MEMORY } else { 0 },
        }
    }
}

/// A list of these devices, for C to free.
pub(crate) fn list_of(devices: &[Arc<dyn Device>]) -> *mut TF_DeviceList {
    into_c(devices.iter().map(ListedDevice::new).collect())
}

impl CSession {
    fn list_devices(&self) -> *mut TF_DeviceList {
        list_of(self.last_session().devices())
    }
}

/// The devices of a session, also of one that is closed, for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_SessionListDevices(session: *mut TF_Session, status: *mut TF_Status) -> *mut TF_DeviceList {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), || Ok(borrow(session)?.list_devices())) }
}

/// The same of a deprecated session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeprecatedSessionListDevices(
    session: *mut TF_DeprecatedSession,
    status: *mut TF_Status,
) -> *mut TF_DeviceList {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), || Ok(borrow(session)?.list_devices())) }
}

/// Frees a list, with the texts that it gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteDeviceList(list: *mut TF_DeviceList) {
    // SAFETY: as said in `pointer`.
    unsafe { free(list) };
}

/// How many devices there are; -1 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeviceListCount(list: *const TF_DeviceList) -> c_int {
    // SAFETY: as said in `pointer`.
    guarded(-1, || unsafe { borrow(list) }.map_or(-1, |list| list.len() as c_int))
}

/// The device at this place of a list.
///
/// # Safety
/// The list is null or alive.
unsafe fn at<'a>(list: *const TF_DeviceList, index: c_int) -> Result<&'a ListedDevice> {
    // SAFETY: as the caller says.
    let list = unsafe { borrow(list) }?;
    let device = usize::try_from(index).ok().and_then(|index| list.get(index));
    device.ok_or_else(|| Error::invalid_argument("index out of bounds"))
}

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident: $result:ty = $otherwise:expr, $field:expr;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(list: *const TF_DeviceList, index: c_int, status: *mut TF_Status) -> $result {
                let field: fn(&ListedDevice) -> $result = $field;
                // SAFETY: as said in `pointer`.
                unsafe { report(status, $otherwise, || at(list, index).map(field)) }
            }
        )*
    };
}
fields! {
    /// A device's full name, which is there as long as the list; null if there is no such device.
    TF_DeviceListName: *const c_char = ptr::null(), |device| device.name.as_ptr();
    /// Its type, such as `CPU`; otherwise as [`TF_DeviceListName`].
    TF_DeviceListType: *const c_char = ptr::null(), |device| device.kind.as_ptr();
    /// The bytes of its memory, as TensorFlow counts them: every CPU has the same, and others have 0. -1 if there is no such
    /// device.
    TF_DeviceListMemoryBytes: i64 = -1, |device| device.memory;
    /// A number that it has in this process; 0 if there is no such device.
    TF_DeviceListIncarnation: u64 = 0, |device| device.incarnation;
}

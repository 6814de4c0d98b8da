//! An allocator that tells requests which may be refused from those that end the process when they are.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Requests from this many bytes on are looked at: above what a rank, a few arguments or a message takes.
pub(crate) const LARGE: usize = 2048;

/// Requests above this many bytes are always refused: they would take long.
const HUGE: usize = 64 << 20;

/// Requests above this many bytes are refused.
static MOST: AtomicUsize = AtomicUsize::new(HUGE);

struct Watching;

#[global_allocator]
static ALLOCATOR: Watching = Watching;

static ARMED: AtomicBool = AtomicBool::new(false);

/// How many more fallible requests are granted; all if it is negative.
static GRANTS: AtomicIsize = AtomicIsize::new(-1);

static FOUND: Mutex<Option<Found>> = Mutex::new(None);

thread_local! {
    /// Whether the thread is at work on a request that is looked at: its own requests are not.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// What the requests of one run were.
#[derive(Default)]
pub(crate) struct Found {
    /// Of those that end the process: where they come from, and the largest, in bytes.
    pub(crate) infallible: HashMap<Vec<usize>, usize>,
    /// How many may be refused.
    pub(crate) fallible: usize,
    /// Whether one was refused.
    pub(crate) refused: bool,
}

static FUNCTIONS: Mutex<Option<HashMap<usize, Function>>> = Mutex::new(None);

/// Runs `run`; large requests that may be refused are, after so many.
pub(crate) fn watched<T>(grants: Option<usize>, run: impl FnOnce() -> T) -> (T, Found) {
    *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = Some(Found::default());
    GRANTS.store(grants.map_or(-1, |count| count as isize), Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    let result = run();
    ARMED.store(false, Ordering::SeqCst);
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner).take();
    (result, found.expect("it was put there"))
}

/// Runs `run`; requests that may be refused are, if they are above this many bytes.
pub(crate) fn watched_below<T>(bytes: usize, run: impl FnOnce() -> T) -> (T, Found) {
    MOST.store(bytes, Ordering::SeqCst);
    let watched = watched(None, run);
    MOST.store(HUGE, Ordering::SeqCst);
    watched
}

/// A function that a request came through, with those that the compiler put into it.
struct Function {
    name: String,
    /// What the outermost of them says that says anything, but a request of the framework's own above all.
    role: Role,
}

/// What a function says of the requests that come through it.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Reserves,
    TriesToReserve,
    /// One of the framework's own requests, which may be refused.
    Asks,
    None,
}

impl Function {
    fn at(address: usize) -> Function {
        let mut function = Function { name: String::new(), role: Role::None };
        backtrace::resolve(address as *mut _, |symbol| {
            let Some(name) = symbol.name().map(|name| format!("{name:#}")) else { return };
            // Where there are line tables alone, names from them lack the type: `allocate` of this file is `HostBuffer::allocate`.
            let is_buffer = symbol.filename().is_some_and(|file| file.ends_with("framework/src/tensor/buffer.rs"));
            let role = match name.as_str() {
                name if is_buffer && name.contains("allocate") => Role::Asks,
                name if name.contains("HostBuffer::allocate") || name.contains("try_zeroed") => Role::Asks,
                name if name.contains("kernlink") || !name.contains("reserve") => Role::None,
                name if name.contains("try_reserve") => Role::TriesToReserve,
                _ => Role::Reserves,
            };
            if role != Role::None && function.role != Role::Asks {
                function.role = role;
            }
            // What Rust's own libraries put into a function of ours is not who asks.
            if name.contains("kernlink") || symbol.filename().is_none_or(|file| !file.starts_with("/rustc/")) {
                function.name += &name;
                function.name.push(' ');
            }
        });
        function
    }
}

/// Something of the function at an address.
fn at<T>(address: usize, get: impl FnOnce(&Function) -> T) -> T {
    let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    get(functions.get_or_insert_default().entry(address).or_insert_with(|| Function::at(address)))
}

/// The functions that asked, from the innermost, without those of Rust's own libraries and those that write texts of tensors:
/// it is their callers who choose to.
pub(crate) fn callers(stack: &[usize]) -> Vec<String> {
    let names = stack.iter().map(|&address| at(address, |function| function.name.clone()));
    let helps = |name: &String| name.contains("tensor::scratch") || name.contains("tensor::print");
    names.filter(|name| name.contains("kernlink") && !helps(name)).take(3).collect()
}

/// Whether a request with this stack may be refused: it comes from `try_reserve`, which `reserve` calls, too, or from the
/// framework's own requests.
fn may_be_refused(stack: &[usize]) -> bool {
    let roles = || stack.iter().take(20).map(|&address| at(address, |function| function.role));
    let reserves = |role: &Role| matches!(role, Role::Reserves | Role::TriesToReserve);
    roles().rfind(reserves) == Some(Role::TriesToReserve) || roles().any(|role| role == Role::Asks)
}

/// Whether the request is granted.
fn look(size: usize) -> bool {
    if size < LARGE || !ARMED.load(Ordering::Relaxed) || std::thread::panicking() || INSIDE.replace(true) {
        return true;
    }
    let mut stack = Vec::with_capacity(48);
    // Frames of this file come first; the kernel's are near.
    backtrace::trace(|frame| {
        stack.push((frame.ip() as usize).saturating_sub(1));
        stack.len() < 48
    });
    let fallible = may_be_refused(&stack);
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let mut granted = true;
    if let Some(found) = found.as_mut() {
        if fallible {
            found.fallible += 1;
            granted = size <= MOST.load(Ordering::Relaxed) && GRANTS.load(Ordering::Relaxed) != 0;
            found.refused |= !granted;
            if GRANTS.load(Ordering::Relaxed) > 0 {
                GRANTS.fetch_sub(1, Ordering::Relaxed);
            }
        } else {
            let largest = found.infallible.entry(stack).or_default();
            *largest = size.max(*largest);
        }
    }
    drop(found);
    INSIDE.set(false);
    granted
}

// SAFETY: every call goes to the system's allocator as it came, or is refused.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises.
        if look(layout.size()) { unsafe { System.alloc(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises.
        if look(layout.size()) { unsafe { System.alloc_zeroed(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && !look(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises.
        unsafe { System.realloc(block, layout, size) }
    }
}

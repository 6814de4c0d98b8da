//! Room for what recurses as deep as the text of a shader is nested: WGSL's front end and the compilers behind it take a frame for
//! each term of a sum, and for each `else if`.

use kernlink::error::{Error, Result, catch_panic};

/// The most bytes of a shader that nobody has seen.
pub(crate) const MOST_TEXT: usize = 1 << 18;

/// The stack for what does not depend on the text.
const BASE: usize = 4 << 20;

/// The stack for a byte of text. In builds without optimisation a term `+z` takes 6 KiB, a branch `else if z{}` 36 KiB: that is the most
/// for a byte, 3.3 KiB. Only what is touched is memory.
const EACH: usize = 4 << 10;

/// Runs `work` on a stack that suffices for a text.
///
/// # Errors
/// Those of `work`; RESOURCE_EXHAUSTED if the system gives no such stack; INTERNAL if it panics.
pub(crate) fn with_stack_for<T: Send>(text: &str, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let work = || catch_panic("the shader's compiler", work);
    if cfg!(target_family = "wasm") {
        return work();
    }
    let size = BASE + text.len().min(2 * MOST_TEXT) * EACH;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("kernlink-shader".to_owned()).stack_size(size);
        let thread = thread.spawn_scoped(scope, work).map_err(|error| {
            Error::resource_exhausted(format!(
                "the system gives no thread with a stack of {size} bytes, which a shader of {} bytes may take: {error}",
                text.len()
            ))
        })?;
        thread.join().unwrap_or_else(|_| Err(Error::internal("the shader's compiler ended without an answer")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_each_byte() {
        #[inline(never)]
        fn sum(depth: usize) -> usize {
            let frame = std::hint::black_box([depth; 128]);
            if depth == 0 { 0 } else { std::hint::black_box(sum(depth - 1)) + frame[64] - depth + 1 }
        }
        let text = "+".repeat(10_000);
        assert_eq!(with_stack_for(&text, || Ok(sum(text.len()))).unwrap(), 10_000);
    }

    #[test]
    fn errors_and_panics_come_back() {
        let error = with_stack_for("", || Err::<(), _>(Error::not_found("nothing"))).unwrap_err();
        assert_eq!(error.message(), "nothing");
        let error = with_stack_for::<()>("", || panic!("so it is")).unwrap_err();
        assert!(error.message().contains("so it is"), "{error}");
    }
}

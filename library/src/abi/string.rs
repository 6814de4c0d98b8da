//! `TF_TString`: the elements of string tensors, as C sees them.
//!
//! The layout is that of TensorFlow's `ctstring_internal.h`, whose inline functions C and C++ programs carry with them: what is
//! allocated here they free, and the other way round. So blocks come from `malloc`.

#[cfg(feature = "host")]
use std::ffi::c_char;
use std::ffi::c_void;
use std::ptr;

/// A string of bytes in 24 bytes: within itself, in a block of its own, or in memory of somebody else.
///
/// Zeros are the empty string. The two lowest bits of the first byte say which kind it is.
#[repr(C, align(8))]
pub struct TF_TString {
    words: [usize; 3],
}

const _: () = assert!(size_of::<TF_TString>() == 24 || size_of::<usize>() != 8);
const _: () = assert!(cfg!(target_endian = "little"), "the layout of strings is written for little-endian machines");

/// The kinds of strings, in the two lowest bits.
const KIND: usize = 3;
const SMALL: usize = 0;
const LARGE: usize = 1;
const OFFSET: usize = 2;
const VIEW: usize = 3;

/// The longest string that is within itself: one byte is its length, one ends it.
const MOST_SMALL: usize = size_of::<TF_TString>() - 2;

/// Who keeps the bytes of a view, as C++ hands it on: it counts references.
#[repr(C)]
struct Owner {
    add: unsafe extern "C" fn(*mut Owner),
    release: unsafe extern "C" fn(*mut Owner) -> bool,
    object: *mut c_void,
}

impl TF_TString {
    /// The empty string.
    pub const EMPTY: TF_TString = TF_TString { words: [0; 3] };

    /// A copy of bytes.
    pub fn new(bytes: &[u8]) -> TF_TString {
        let mut string = TF_TString::EMPTY;
        string.assign(bytes);
        string
    }

    fn kind(&self) -> usize {
        self.words[0] & KIND
    }

    /// The number of its kind, as `TF_TString_Type` has them: small, large, offset, view.
    pub fn kind_number(&self) -> i32 {
        self.kind() as i32
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self.kind() {
            SMALL => usize::from(self.words[0] as u8 >> 2),
            OFFSET => (self.words[0] as u32 >> 2) as usize,
            _ => self.words[0] >> 2,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes it can have where it is.
    pub fn capacity(&self) -> usize {
        match self.kind() {
            SMALL => MOST_SMALL,
            LARGE => self.words[1],
            _ => 0,
        }
    }

    /// The first byte; null if a program wrote nonsense.
    pub fn as_ptr(&self) -> *const u8 {
        let own = ptr::from_ref(self).cast::<u8>();
        match self.kind() {
            SMALL => own.wrapping_add(1),
            LARGE => ptr::with_exposed_provenance(self.words[2]),
            OFFSET => own.wrapping_add((self.words[0] >> 32) & 0xffff_ffff),
            _ => ptr::with_exposed_provenance(self.words[1]),
        }
    }

    /// The bytes.
    ///
    /// # Safety
    /// The string is as the functions of the C API leave it: what it points to is there.
    pub unsafe fn as_bytes(&self) -> &[u8] {
        let (first, length) = (self.as_ptr(), self.len());
        if first.is_null() || length == 0 {
            return &[];
        }
        // SAFETY: the caller says that there are as many bytes.
        unsafe { std::slice::from_raw_parts(first, length) }
    }

    /// Has the string hold a copy of bytes, which may be its own.
    pub fn assign(&mut self, bytes: &[u8]) {
        let mut fresh = [0usize; 3];
        if bytes.len() <= MOST_SMALL {
            let mut raw = [0u8; size_of::<TF_TString>()];
            raw[0] = (bytes.len() << 2) as u8;
            raw[1..=bytes.len()].copy_from_slice(bytes);
            for (word, bytes) in fresh.iter_mut().zip(raw.as_chunks().0) {
                *word = usize::from_ne_bytes(*bytes);
            }
        } else {
            let capacity = (bytes.len() + 16) & !15;
            // SAFETY: the size is not zero.
            let block = unsafe { libc::malloc(capacity) }.cast::<u8>();
            if block.is_null() {
                std::alloc::handle_alloc_error(
                    std::alloc::Layout::array::<u8>(capacity).unwrap_or(std::alloc::Layout::new::<u8>()),
                );
            }
            // SAFETY: the block has more than `bytes.len()` bytes, and is nobody else's.
            unsafe {
                ptr::copy_nonoverlapping(bytes.as_ptr(), block, bytes.len());
                block.add(bytes.len()).write(0);
            }
            fresh = [bytes.len() << 2 | LARGE, capacity - 1, block.expose_provenance()];
        }
        self.clear();
        self.words = fresh;
    }

    /// Has the string show bytes that stay with their owner.
    ///
    /// # Safety
    /// They stay there as long as the string is used.
    pub unsafe fn assign_view(&mut self, bytes: *const u8, length: usize) {
        self.clear();
        self.words = [length << 2 | VIEW, bytes.expose_provenance(), 0];
    }

    /// Frees what the string has, and leaves an empty one.
    pub fn clear(&mut self) {
        match self.kind() {
            // SAFETY: a large string's block came from `malloc`, here or in a program's copy of these functions.
            LARGE => unsafe { libc::free(ptr::with_exposed_provenance_mut(self.words[2])) },
            VIEW if self.words[2] != 0 => {
                let owner: *mut Owner = ptr::with_exposed_provenance_mut(self.words[2]);
                // SAFETY: who made the view gave it an owner, which lives until it is released.
                unsafe { ((*owner).release)(owner) };
            }
            _ => {}
        }
        self.words = [0; 3];
    }
}

/// An array of strings, which are freed with it.
pub struct Strings(Box<[TF_TString]>);

// SAFETY: strings are bytes, and owners of views count in any thread.
unsafe impl Send for Strings {}
// SAFETY: as above. A program in C that changes strings while others read them breaks the C API's own rules.
unsafe impl Sync for Strings {}

impl Strings {
    /// So many empty strings.
    pub fn empty(count: usize) -> Strings {
        Strings((0..count).map(|_| TF_TString::EMPTY).collect())
    }

    /// Copies of these.
    pub fn of(strings: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Strings {
        Strings(strings.into_iter().map(|bytes| TF_TString::new(bytes.as_ref())).collect())
    }

    /// The strings.
    pub fn as_slice(&self) -> &[TF_TString] {
        &self.0
    }

    /// The first, for C to change.
    pub fn as_ptr(&self) -> *mut TF_TString {
        self.0.as_ptr().cast_mut()
    }
}

impl Drop for Strings {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(TF_TString::clear);
    }
}

/// A string's data pointer, for C.
#[cfg(feature = "host")]
pub(crate) fn data_pointer(string: &TF_TString) -> *const c_char {
    string.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_all_lengths_are_as_c_lays_them_out() {
        for length in [0, 1, 21, 22, 23, 24, 31, 32, 100, 70_000] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let mut string = TF_TString::new(&bytes);
            // SAFETY: made above.
            assert_eq!((unsafe { string.as_bytes() }, string.len()), (&*bytes, length));
            // SAFETY: every string but views ends with a zero.
            assert_eq!(unsafe { *string.as_ptr().add(length) }, 0);
            match length {
                0..=22 => assert_eq!(
                    (string.kind(), string.capacity(), string.words[0] as u8),
                    (SMALL, 22, (length << 2) as u8)
                ),
                _ => assert_eq!((string.kind(), string.capacity()), (LARGE, (length + 16) / 16 * 16 - 1)),
            }
            string.assign(b"another");
            // SAFETY: as above.
            assert_eq!(unsafe { string.as_bytes() }, b"another");
            string.clear();
            assert_eq!(string.words, [0; 3]);
        }
    }

    #[test]
    fn views_and_offsets_show_what_is_elsewhere() {
        let bytes = b"somebody else's, of more than 22 bytes";
        let mut string = TF_TString::EMPTY;
        // SAFETY: constants stay.
        unsafe { string.assign_view(bytes.as_ptr(), bytes.len()) };
        assert_eq!((string.kind_number(), string.capacity(), string.as_ptr()), (3, 0, bytes.as_ptr()));
        string.clear();
        // A string whose bytes stand behind it.
        let mut block = [TF_TString { words: [5 << 2 | OFFSET | 24 << 32, 1, 0] }, TF_TString::EMPTY];
        block[1].words[0] = usize::from_ne_bytes(*b"hello\0\0\0");
        let first = block.as_ptr();
        // SAFETY: the offset leads to the second element of the same array.
        assert_eq!(unsafe { std::slice::from_raw_parts((*first).as_ptr(), (*first).len()) }, b"hello");
    }

    #[test]
    fn owners_of_views_are_released_once() {
        unsafe extern "C" fn add(_: *mut Owner) {}
        unsafe extern "C" fn release(owner: *mut Owner) -> bool {
            // SAFETY: the test's own counter.
            unsafe { *(*owner).object.cast::<u32>() += 1 };
            true
        }
        let mut released = 0u32;
        let mut owner = Owner { add, release, object: (&raw mut released).cast() };
        let mut string = TF_TString::EMPTY;
        // SAFETY: the bytes are constant.
        unsafe { string.assign_view(b"seen".as_ptr(), 4) };
        string.words[2] = (&raw mut owner).expose_provenance();
        string.clear();
        string.clear();
        assert_eq!(released, 1);
        let _ = owner.add;
    }
}

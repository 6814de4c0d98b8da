//! The shared objects of the process, as the system's loader lists them: where they are, and which need which.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What the loader has mapped of one file.
pub(super) struct Object {
    /// The path by which it was opened; empty for the program.
    path: PathBuf,
    /// From the first byte that is loaded to the last, with what is between.
    pub(super) addresses: Range<usize>,
    /// The name that it gives itself.
    name: Vec<u8>,
    /// The names of those that it needs.
    needed: Vec<Vec<u8>>,
}

/// All of them, in the order in which the loader looks through them.
pub(super) fn objects() -> Vec<Object> {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: what `dl_iterate_phdr` hands over, and what was handed to it.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Object>>()) };
        // SAFETY: the loader lets nobody take the object out of memory meanwhile.
        found.extend(unsafe { Object::of(info) });
        0
    }

    let mut found = Vec::new();
    // SAFETY: `visit` takes a list of objects, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

/// The path of the object that is at an address. The loader's own question for it, `dladdr`, waits for a library that is being opened.
pub(super) fn path_at(address: usize) -> Option<PathBuf> {
    objects().into_iter().find(|object| object.addresses.contains(&address)).map(|object| object.path)
}

/// The object that was opened by a path, and then all that it needs, and what these need.
pub(super) fn with_all_needed<'a>(objects: &'a [Object], path: &Path) -> Vec<&'a Object> {
    let mut found: Vec<&Object> = objects.iter().filter(|object| object.path == path).take(1).collect();
    let mut next = 0;
    while let Some(&object) = found.get(next) {
        let needed = object.needed.iter().filter_map(|name| objects.iter().find(|other| other.is_called(name)));
        for object in needed {
            // One that is needed under two names is one.
            if !found.iter().any(|other| std::ptr::eq(*other, object)) {
                found.push(object);
            }
        }
        next += 1;
    }
    found
}

impl Object {
    /// The path by which it was opened.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// # Safety
    /// The object is in memory, and stays there during the call.
    unsafe fn of(info: &libc::dl_phdr_info) -> Option<Object> {
        if info.dlpi_phdr.is_null() {
            return None;
        }
        // SAFETY: an object has so many headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let base = info.dlpi_addr as usize;
        let places = |kind: u32| {
            headers.iter().filter(move |header| header.p_type == kind).map(move |header| {
                let start = base.wrapping_add(header.p_vaddr as usize);
                start..start.wrapping_add(header.p_memsz as usize)
            })
        };
        let (loaded, dynamic) = (places(libc::PT_LOAD), places(libc::PT_DYNAMIC).next());
        let addresses = loaded.reduce(|all, next| all.start.min(next.start)..all.end.max(next.end))?;
        // SAFETY: null, or a text.
        let path = unsafe { info.dlpi_name.as_ref().map(|name| CStr::from_ptr(name)) }.unwrap_or_default();
        let mut object = Object {
            path: PathBuf::from(OsStr::from_bytes(path.to_bytes())),
            addresses,
            name: Vec::new(),
            needed: Vec::new(),
        };
        if let Some(dynamic) = dynamic {
            let entries = std::ptr::with_exposed_provenance::<[usize; 2]>(dynamic.start);
            // SAFETY: the object's table of such pairs, which the loader has checked.
            let entries = unsafe { std::slice::from_raw_parts(entries, dynamic.len() / size_of::<[usize; 2]>()) };
            object.read(base, entries);
        }
        Some(object)
    }

    /// Reads the table that tells the loader what to do.
    fn read(&mut self, base: usize, entries: &[[usize; 2]]) {
        const NONE: usize = 0;
        const NEEDED: usize = 1;
        const STRINGS: usize = 5;
        const LENGTH: usize = 10;
        const NAME: usize = 14;
        let entries = entries.iter().take_while(|[tag, _]| *tag != NONE);
        let value = |wanted| entries.clone().find(|[tag, _]| *tag == wanted).map(|[_, value]| *value);
        let (Some(strings), Some(length)) = (value(STRINGS), value(LENGTH)) else { return };
        // Some loaders have put the address there to which they loaded it, others leave what is in the file.
        let strings = if self.addresses.contains(&strings) { strings } else { base.wrapping_add(strings) };
        let end = strings.checked_add(length);
        if !self.addresses.contains(&strings) || end.is_none_or(|end| end > self.addresses.end) {
            return;
        }
        let text = |at: usize| {
            let first = std::ptr::with_exposed_provenance::<c_char>(strings.wrapping_add(at));
            // SAFETY: a text of the object's, which the loader has read as one.
            (at < length).then(|| unsafe { CStr::from_ptr(first) }.to_bytes().to_vec())
        };
        for &[tag, at] in entries.clone() {
            match tag {
                NEEDED => self.needed.extend(text(at)),
                NAME => self.name = text(at).unwrap_or_default(),
                _ => {}
            }
        }
    }

    /// Whether the loader takes it where a library of this name is needed.
    fn is_called(&self, needed: &[u8]) -> bool {
        let is_path = needed.contains(&b'/');
        let file = self.path.file_name().map(OsStr::as_bytes);
        self.name == needed || self.path.as_os_str().as_bytes() == needed || (!is_path && file == Some(needed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_and_what_it_needs_are_found() {
        let all = objects();
        let own = the_program_and_what_it_needs_are_found as *const () as usize;
        let program = all.iter().position(|object| object.addresses.contains(&own)).unwrap();
        assert_eq!(program, 0);
        let found = with_all_needed(&all, &all[0].path);
        let c_library = libc::dlsym as *const () as usize;
        assert!(found.iter().any(|object| object.addresses.contains(&c_library)));
        assert!(with_all_needed(&all, Path::new("/nowhere/libx.so")).is_empty());
        assert_eq!(path_at(own).as_deref(), Some(&*all[0].path));
        assert_eq!(path_at(0), None);
    }
}

//! What a library's file says of itself, before any code of it runs.

use std::ffi::CString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use kernlink_framework::{Error, Result};
use object::read::elf::{FileHeader as _, ProgramHeader as _, Sym as _};
use object::read::{ReadCache, ReadRef};
use object::{Endianness, elf};

use self::tables::{Elf, Tables};
use super::search;
use super::system::symbol_of_process;
use crate::abi::{INTERFACE, INTERFACE_SYMBOL};
use crate::host::table;

mod tables;

/// What the loader must know of a library.
#[derive(Debug)]
pub(super) struct Description {
    /// Whether it is one in Rust with `library!()`, which asks Kernlink for its functions.
    pub(super) is_in_rust: bool,
    /// Whether it names functions of TensorFlow's, as libraries in C do.
    pub(super) names_functions: bool,
    /// The libraries that it is linked to.
    pub(super) needed: Vec<String>,
}

impl Description {
    /// Those that it is linked to of TensorFlow's.
    pub(super) fn of_tensorflow(&self) -> impl Iterator<Item = &String> {
        self.needed.iter().filter(|name| name.starts_with("libtensorflow"))
    }
}

/// The machine that this program is for.
const MACHINE: Option<(elf::Machine, &str)> = if cfg!(target_arch = "x86_64") {
    Some((elf::EM_X86_64, "x86-64"))
} else if cfg!(target_arch = "aarch64") {
    Some((elf::EM_AARCH64, "AArch64"))
} else {
    None
};

const HOW_IT_IS_MADE: &str = "a library of ops is a shared library, which `cargo build --lib` makes of a crate of type `cdylib` with \
                              `kernlink::library!()`, and `cc -shared -fPIC` of C";

#[track_caller]
fn refused(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::not_found(format!("cannot load {}: {why}", path.display()))
}

/// The file that a path leads to, by its whole path, and open. A name without a folder that is not in the current one is looked
/// for where the system looks.
///
/// # Errors
/// NOT_FOUND if there is none, and for what is no file; those of the system.
pub(super) fn find(given: &Path) -> Result<(PathBuf, File)> {
    let cannot = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => refused(given, "there is no such file"),
        _ => Error::from_io(format!("cannot load {}", given.display()), &error),
    };
    let check = |metadata: Metadata| {
        if metadata.is_dir() {
            return Err(refused(given, "it is a folder: name a file in it"));
        }
        // What is no file might keep the reader waiting.
        if !metadata.is_file() {
            return Err(refused(given, "it is neither a file nor a folder"));
        }
        Ok(())
    };
    let path = given.canonicalize();
    let path = path.or_else(|error| search::find(given).ok_or(error)?.canonicalize()).map_err(cannot)?;
    check(path.metadata().map_err(cannot)?)?;
    // Another may be there by now.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).map_err(cannot)?;
    check(file.metadata().map_err(cannot)?)?;
    Ok((path, file))
}

/// What bytes that are no ELF file are, as far as their beginning tells.
fn kind_of(start: &[u8]) -> &'static str {
    match start {
        [] => "it is empty",
        [b'M', b'Z', ..] => "it is a program or library for Windows",
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => "it is a program or library for macOS",
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => "it is a static library, an archive of objects",
        _ => "it is no shared library: it does not begin as an ELF file does",
    }
}

/// Whether a file says that it is a library of ops in Rust.
pub(super) fn is_op_library(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let cache = ReadCache::new(file);
    let Ok(elf) = Elf::parse(&cache) else { return false };
    let symbols = Tables::of(&elf).and_then(|tables| Symbols::of(&elf, &tables));
    symbols.is_ok_and(|symbols| !symbols.interfaces.is_empty())
}

/// Reads a file, which is at a path.
///
/// # Errors
/// As [`load_op_library`](super::load_op_library), as far as the file tells.
pub(super) fn read(path: &Path, file: &File) -> Result<Description> {
    let io = |error: std::io::Error| Error::from_io(format!("cannot load {}", path.display()), &error);
    let mut start = Vec::new();
    file.take(20).read_to_end(&mut start).map_err(io)?;
    if !start.starts_with(&elf::ELFMAG) {
        return Err(refused(path, format_args!("{}; {HOW_IT_IS_MADE}", kind_of(&start))));
    }
    if start.get(4) == Some(&1) {
        return Err(refused(
            path,
            "it is for 32-bit machines, and this program for a 64-bit one: build it for this machine",
        ));
    }
    let cut = |why: &dyn std::fmt::Display| {
        refused(path, format_args!("the file is damaged or cut short ({why}): build or copy it again"))
    };
    let cache = ReadCache::new(file);
    let elf = Elf::parse(&cache).map_err(|error| cut(&error))?;
    let (header, endian) = (elf.elf_header(), elf.endian());
    let machine = header.e_machine(endian);
    if let Some((own, name)) = MACHINE
        && (machine != own || elf.endian() != Endianness::default())
    {
        let other = match machine {
            elf::EM_X86_64 => "x86-64".to_owned(),
            elf::EM_AARCH64 => "AArch64".to_owned(),
            elf::EM_RISCV => "RISC-V".to_owned(),
            other => format!("the machine of number {}", other.0),
        };
        return Err(refused(
            path,
            format_args!("it is for {other}, and this program for {name}: build it for this machine"),
        ));
    }
    if header.e_type(endian) != elf::ET_DYN {
        return Err(refused(path, format_args!("it is an object or a program, no shared library; {HOW_IT_IS_MADE}")));
    }
    let length = cache.len().map_err(|()| cut(&"its length is unknown"))?;
    for segment in elf.elf_program_headers().iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD) {
        let end = segment.p_offset(endian).checked_add(segment.p_filesz(endian));
        if end.is_none_or(|end| end > length) {
            return Err(cut(&"a part of it is missing"));
        }
    }
    let tables = Tables::of(&elf).map_err(|error| cut(&error))?;
    let symbols = Symbols::of(&elf, &tables).map_err(|error| cut(&error))?;
    symbols.check(path, tables.needed())
}

/// The symbols that say what a library is.
#[derive(Default)]
struct Symbols {
    /// The interfaces that it says it was built for.
    interfaces: Vec<u32>,
    /// Those that it must find.
    undefined: Vec<String>,
}

impl Symbols {
    fn of<'data, R: ReadRef<'data>>(elf: &Elf<'data, R>, tables: &Tables<'data, R>) -> Result<Symbols, String> {
        let endian = elf.endian();
        let mut found = Symbols::default();
        for symbol in tables.symbols {
            let name = symbol.name(endian, tables.strings).map_err(|error| error.to_string())?;
            if symbol.is_undefined(endian) {
                // What is weak may be missing.
                if !symbol.is_weak() && !name.is_empty() {
                    found.undefined.push(String::from_utf8_lossy(name).into_owned());
                }
            } else if name.starts_with(INTERFACE_SYMBOL.as_bytes()) {
                let address = symbol.st_value(endian);
                let bytes = tables::bytes_at(elf, address, 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
                // One without a value in the file is of no interface.
                found.interfaces.push(bytes.map_or(0, u32::from_ne_bytes));
            }
        }
        Ok(found)
    }

    /// What the library is, if all that it asks for is there.
    fn check(&self, path: &Path, needed: Vec<String>) -> Result<Description> {
        let in_cpp =
            |name: &&String| name.starts_with("_Z") && (name.contains("10tensorflow") || name.contains("N3tsl"));
        let in_cpp: Vec<&String> = self.undefined.iter().filter(in_cpp).collect();
        if let [first, ..] = *in_cpp {
            return Err(refused(
                path,
                format_args!(
                    "it uses TensorFlow's C++ interface ({} symbols, such as `{first}`). A C++ op library needs TensorFlow's own ABI, \
                     of the very version that it was built for: write its kernels against TensorFlow's C headers (kernels.h, ops.h), \
                     or in Rust",
                    in_cpp.len()
                ),
            ));
        }
        if let Some(other) = self.interfaces.iter().find(|&&interface| interface != INTERFACE) {
            return Err(Error::failed_precondition(format!(
                "cannot load {}: it was built for interface {other} of op libraries, and this program has interface {INTERFACE}: build \
                 the library and the program with the same version of Kernlink",
                path.display()
            )));
        }
        let of_c_api = |name: &&String| ["TF_", "TFE_", "TSL_"].iter().any(|prefix| name.starts_with(prefix));
        let wanted: Vec<&String> = self.undefined.iter().filter(of_c_api).collect();
        let registers = |name: &&&String| {
            name.starts_with("TF_Register") || (name.starts_with("TF_New") && name.ends_with("Builder"))
        };
        if self.interfaces.is_empty() && !wanted.iter().any(|name| registers(&name)) {
            return Err(Error::invalid_argument(format!(
                "cannot load {}: it is no library of ops: it neither has a symbol `{INTERFACE_SYMBOL}...`, as crates with \
                 `kernlink::library!()` have, nor calls `TF_RegisterOpDefinition` or `TF_RegisterKernelBuilder`",
                path.display()
            )));
        }
        let names: Vec<&str> = table().into_iter().map(|(name, _)| name).collect();
        let is_there = |name: &str| {
            names.contains(&name) || CString::new(name).is_ok_and(|name| symbol_of_process(&name).is_some())
        };
        let missing: Vec<&str> = wanted.iter().map(|name| name.as_str()).filter(|name| !is_there(name)).collect();
        if !missing.is_empty() {
            return Err(refused(
                path,
                format_args!(
                    "it asks for {}, which Kernlink does not offer to libraries: kernels use the functions of TensorFlow's kernels.h, \
                     ops.h and what these include",
                    missing.join(", ")
                ),
            ));
        }
        Ok(Description { is_in_rust: !self.interfaces.is_empty(), names_functions: !wanted.is_empty(), needed })
    }
}

//! A shared library, as the loader reads it, of functions that jump to addresses of this process.

use std::ffi::c_void;

use kernlink_framework::{Error, Result};

use crate::abi::KernlinkHost;

/// Pages are not larger.
const PAGE: usize = 1 << 16;
/// Bytes of code for each function.
const JUMP: usize = 16;
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SYMBOL: usize = 24;
/// How many program headers there are.
const SEGMENTS: usize = 4;

/// The code of a function that jumps to the address which is stored `distance` bytes behind the code's beginning.
#[cfg(target_arch = "x86_64")]
fn jump(distance: usize) -> [u8; JUMP] {
    // endbr64; jmp *[rip + distance], counted from the instruction's end; ud2
    let mut code = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x0b, 0x0f, 0x0b, 0x0f, 0x0b];
    code[6..10].copy_from_slice(&(distance as u32 - 10).to_le_bytes());
    code
}

/// As above.
#[cfg(target_arch = "aarch64")]
fn jump(distance: usize) -> [u8; JUMP] {
    // bti c; ldr x16, [pc + distance], counted from the instruction; br x16; udf
    let load = 0x5800_0010u32 | (((distance as u32 - 4) / 4) << 5);
    let mut code = [0; JUMP];
    for (place, word) in code.chunks_exact_mut(4).zip([0xd503_245f, load, 0xd61f_0200, 0]) {
        place.copy_from_slice(&u32::to_le_bytes(word));
    }
    code
}

/// The machine's number in the file.
const MACHINE: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };

/// On other machines no library loads.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(in super::super) fn of(_: &str, _: &[(&str, *const c_void)], _: bool) -> Result<Vec<u8>> {
    Err(Error::unimplemented("op libraries load on x86-64 and AArch64: link the crate instead"))
}

/// A library of this name with these functions, and, if it is to have the host's struct, with a `kernlink_host` of zeros.
///
/// # Errors
/// UNIMPLEMENTED for machines whose jumps are not written here; INTERNAL if there are too many functions.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(in super::super) fn of(name: &str, functions: &[(&str, *const c_void)], has_host: bool) -> Result<Vec<u8>> {
    let symbols = functions.len() + usize::from(has_host);
    let mut strings = vec![0];
    let mut string = |text: &str| {
        let at = strings.len() as u32;
        strings.extend_from_slice(text.as_bytes());
        strings.push(0);
        at
    };
    let own_name = string(name);
    let names: Vec<&str> = functions.iter().map(|(name, _)| *name).chain(["kernlink_host"]).take(symbols).collect();
    let places: Vec<u32> = names.iter().map(|name| string(name)).collect();

    // Read and executed: headers, symbols, their hash table, strings, code, and the addresses to jump to. Written: what is in the last page.
    let symbols_at = HEADER + SEGMENTS * PROGRAM_HEADER;
    let hash = hash_table(&names);
    let hash_at = symbols_at + (symbols + 1) * SYMBOL;
    let strings_at = hash_at + hash.len();
    let code_at = (strings_at + strings.len()).next_multiple_of(JUMP);
    let addresses_at = code_at + functions.len() * JUMP;
    let executed = addresses_at + functions.len() * 8;
    let dynamic_at = executed.next_multiple_of(PAGE);
    if executed > PAGE * 8 {
        return Err(Error::internal("too many functions for one library"));
    }
    let dynamic: Vec<u8> = [
        (14, own_name as usize), // DT_SONAME
        (4, hash_at),            // DT_HASH
        (5, strings_at),         // DT_STRTAB
        (6, symbols_at),         // DT_SYMTAB
        (10, strings.len()),     // DT_STRSZ
        (11, SYMBOL),            // DT_SYMENT
        (0, 0),
    ]
    .into_iter()
    .flat_map(|(tag, value)| words(&[tag, value as u64]))
    .collect();
    let host_at = dynamic_at + dynamic.len();
    let end = host_at + size_of::<KernlinkHost>();

    let mut file = vec![0u8; end];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    // 64 bits, little endian, version 1.
    put(0, &[0x7f, b'E', b'L', b'F', 2, 1, 1]);
    put(16, &[3u16.to_le_bytes(), MACHINE.to_le_bytes()].concat());
    put(20, &1u32.to_le_bytes());
    put(32, &words(&[HEADER as u64]));
    put(52, &[HEADER as u16, PROGRAM_HEADER as u16, SEGMENTS as u16, 64].map(u16::to_le_bytes).concat());
    // Kind, flags, offset and address, size, alignment.
    let segments = [
        (1, 5, 0, executed, PAGE),
        (1, 6, dynamic_at, end - dynamic_at, PAGE),
        (2, 6, dynamic_at, dynamic.len(), 8),
        // No stack is to be executed.
        (0x6474_e551, 6, 0, 0, 16),
    ];
    for (index, (kind, flags, at, size, alignment)) in segments.into_iter().enumerate() {
        let header = [u32::to_le_bytes(kind), u32::to_le_bytes(flags)].concat();
        put(HEADER + index * PROGRAM_HEADER, &header);
        let (at, size) = (at as u64, size as u64);
        put(HEADER + index * PROGRAM_HEADER + 8, &words(&[at, at, at, size, size, alignment as u64]));
    }
    for (index, place) in places.into_iter().enumerate() {
        // Global functions, and one global object.
        let (kind, at, size) = match index < functions.len() {
            true => (0x12, code_at + index * JUMP, JUMP),
            false => (0x11, host_at, size_of::<KernlinkHost>()),
        };
        let symbol = symbols_at + (index + 1) * SYMBOL;
        put(symbol, &place.to_le_bytes());
        // There are no sections: any number says that the symbol is defined.
        put(symbol + 4, &[kind, 0, 1, 0]);
        put(symbol + 8, &words(&[at as u64, size as u64]));
    }
    put(hash_at, &hash);
    put(strings_at, &strings);
    for (index, (_, address)) in functions.iter().enumerate() {
        let (stored, code) = (addresses_at + index * 8, code_at + index * JUMP);
        put(stored, &words(&[address.addr() as u64]));
        put(code, &jump(stored - code));
    }
    put(dynamic_at, &dynamic);
    Ok(file)
}

/// 64-bit words.
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The table by which the loader finds symbols; the first is none.
fn hash_table(names: &[&str]) -> Vec<u8> {
    let buckets = names.len().max(1);
    let mut first = vec![0u32; buckets];
    let mut next = vec![0u32; names.len() + 1];
    for (index, name) in names.iter().enumerate() {
        let bucket = hash(name) as usize % buckets;
        next[index + 1] = std::mem::replace(&mut first[bucket], index as u32 + 1);
    }
    let counts = [buckets as u32, next.len() as u32];
    counts.into_iter().chain(first).chain(next).flat_map(u32::to_le_bytes).collect()
}

/// The hash of System V.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let sum = (hash << 4).wrapping_add(byte.into());
        let high = sum & 0xf000_0000;
        (sum ^ (high >> 24)) & !high
    })
}

//! The tables of a file by which the loader links it. It finds them by the dynamic segment: sections may have been stripped off.

use object::read::elf::{Dyn as _, ElfFile64, GnuHashTable, ProgramHeader as _};
use object::read::{ReadRef, StringTable};
use object::{Endianness, elf};

/// A file for 64-bit machines.
pub(super) type Elf<'data, R> = ElfFile64<'data, Endianness, R>;

pub(super) struct Tables<'data, R: ReadRef<'data>> {
    pub(super) symbols: &'data [elf::Sym64<Endianness>],
    /// The names of the symbols, and of the libraries that the file needs.
    pub(super) strings: StringTable<'data, R>,
    /// Where the names of those are.
    needed: Vec<u32>,
}

impl<'data, R: ReadRef<'data>> Tables<'data, R> {
    /// Those of a file; empty ones if it has none.
    ///
    /// # Errors
    /// For tables that are not within the file.
    pub(super) fn of(elf: &Elf<'data, R>) -> Result<Tables<'data, R>, String> {
        let endian = elf.endian();
        let mut entries = Vec::new();
        for segment in elf.elf_program_headers() {
            let dynamic = segment.dynamic(endian, elf.data()).map_err(|error| error.to_string())?.unwrap_or_default();
            let dynamic = dynamic.iter().map(|entry| (entry.tag(endian), entry.val(endian)));
            entries.extend(dynamic.take_while(|(tag, _)| *tag != elf::DT_NULL));
        }
        let value = |wanted| entries.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
        let needed = entries.iter().filter(|(tag, _)| *tag == elf::DT_NEEDED);
        let needed = needed.filter_map(|(_, at)| u32::try_from(*at).ok()).collect();
        let strings = match (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) {
            (Some(address), Some(length)) => {
                let start = offset(elf, address).ok_or("the names are not in the file")?;
                StringTable::new(elf.data(), start, start.saturating_add(length))
            }
            _ => StringTable::default(),
        };
        let in_section = elf.elf_dynamic_symbol_table().symbols();
        let symbols = match value(elf::DT_SYMTAB) {
            Some(address) if in_section.is_empty() => {
                let hashed = value(elf::DT_GNU_HASH).and_then(|hash| hashed_symbols(elf, hash));
                // Or else they reach as far as the next table at most.
                let tables = entries.iter().filter(|(tag, _)| IS_TABLE.contains(tag)).map(|(_, address)| *address);
                let next = tables.filter(|table| *table > address).min();
                let count = hashed.or(next.map(|next| (next - address) / size_of::<elf::Sym64<Endianness>>() as u64));
                let start = offset(elf, address).ok_or("the symbols are not in the file")?;
                let count = usize::try_from(count.unwrap_or(0)).unwrap_or(usize::MAX);
                elf.data().read_slice_at(start, count).map_err(|()| "the symbols are cut short")?
            }
            _ => in_section,
        };
        Ok(Tables { symbols, strings, needed })
    }

    /// The libraries that the file is linked to.
    pub(super) fn needed(&self) -> Vec<String> {
        let names = self.needed.iter().filter_map(|at| self.strings.get(*at).ok());
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }
}

/// The entries whose values are addresses of tables that may follow the symbols.
const IS_TABLE: [elf::DynamicTag; 8] = [
    elf::DT_STRTAB,
    elf::DT_HASH,
    elf::DT_GNU_HASH,
    elf::DT_VERSYM,
    elf::DT_VERNEED,
    elf::DT_VERDEF,
    elf::DT_RELA,
    elf::DT_JMPREL,
];

/// How many symbols there are, by the table of hashes; it does not say so if there are none that others may find.
fn hashed_symbols<'data, R: ReadRef<'data>>(elf: &Elf<'data, R>, address: u64) -> Option<u64> {
    let segment = bytes_from(elf, address)?;
    let table = GnuHashTable::<elf::FileHeader64<Endianness>>::parse(elf.endian(), segment).ok()?;
    table.symbol_table_length(elf.endian()).map(u64::from)
}

/// The bytes that the file has at an address where it is loaded.
pub(super) fn bytes_at<'data, R: ReadRef<'data>>(
    elf: &Elf<'data, R>,
    address: u64,
    length: usize,
) -> Option<&'data [u8]> {
    bytes_from(elf, address)?.get(..length)
}

/// All bytes from an address to the end of its segment.
fn bytes_from<'data, R: ReadRef<'data>>(elf: &Elf<'data, R>, address: u64) -> Option<&'data [u8]> {
    let (segment, at) = segment_of(elf, address)?;
    segment.data(elf.endian(), elf.data()).ok()?.get(usize::try_from(at).ok()?..)
}

/// Where in the file is what is loaded to an address.
fn offset<'data, R: ReadRef<'data>>(elf: &Elf<'data, R>, address: u64) -> Option<u64> {
    let (segment, at) = segment_of(elf, address)?;
    segment.p_offset(elf.endian()).checked_add(at)
}

/// The segment of the file that is loaded to an address, and how far in it that is.
fn segment_of<'data, R: ReadRef<'data>>(
    elf: &Elf<'data, R>,
    address: u64,
) -> Option<(&'data elf::ProgramHeader64<Endianness>, u64)> {
    let endian = elf.endian();
    let mut loaded = elf.elf_program_headers().iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD);
    loaded.find_map(|segment| {
        let at = address.checked_sub(segment.p_vaddr(endian))?;
        (at < segment.p_filesz(endian)).then_some((segment, at))
    })
}

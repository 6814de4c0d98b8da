//! The headers of `.npy` files: a dict as Python writes it, of which exactly what NumPy writes is read. Nothing in it is
//! believed before it is checked, as its shape says how much memory the array takes.

use std::io::Read;

use kernlink_framework::error::{Error, Result, shortened};
use npyz::TypeStr;

/// Bytes that the dict may have.
const MAX_LENGTH: usize = 64 * 1024;

/// What a header says of the array behind it.
pub(super) struct Header {
    pub(super) ty: TypeStr,
    /// The name of the field if the elements are records of one field, which has the type `ty`.
    pub(super) field: Option<String>,
    /// Whether the elements are in column-major order.
    pub(super) is_fortran: bool,
    pub(super) dims: Vec<i64>,
}

/// An error about a file that is not as NumPy writes it.
fn malformed(why: impl std::fmt::Display) -> Error {
    Error::invalid_argument(format!("this is no .npy file: {why}"))
}

impl Header {
    /// Reads a header, and leaves the reader where the array begins.
    pub(super) fn read(reader: &mut impl Read) -> Result<Header> {
        let mut fill = |bytes: &mut [u8]| {
            reader.read_exact(bytes).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => malformed("it ends within its header"),
                _ => malformed(error),
            })
        };
        let mut start = [0; 8];
        fill(&mut start)?;
        let [magic @ .., major, minor] = start;
        if magic != *b"\x93NUMPY" {
            return Err(malformed("it does not begin as one"));
        }
        let mut length = [0; 4];
        match (major, minor) {
            (1, 0) => fill(&mut length[..2])?,
            (2 | 3, 0) => fill(&mut length)?,
            _ => {
                return Err(malformed(format!("its version is {major}.{minor}, and those known are 1.0, 2.0 and 3.0")));
            }
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_LENGTH {
            return Err(malformed(format!("its header has {length} bytes, more than {MAX_LENGTH}")));
        }
        let mut text = vec![0; length];
        fill(&mut text)?;
        Parser { rest: &text }.header()
    }
}

/// What is still to be read of a header.
struct Parser<'t> {
    rest: &'t [u8],
}

impl<'t> Parser<'t> {
    fn header(mut self) -> Result<Header> {
        let (mut descr, mut is_fortran, mut dims) = (None, None, None);
        self.expect("{")?;
        while !self.takes("}") {
            let key = self.string().ok_or_else(|| malformed("a key of its header is no string"))?;
            self.expect(":")?;
            let is_second = match key {
                b"descr" => descr.replace(self.descr()?).is_some(),
                b"fortran_order" => is_fortran.replace(self.bool()?).is_some(),
                b"shape" => dims.replace(self.dims()?).is_some(),
                _ => return Err(malformed(format!("its header states `{}`", text(key)))),
            };
            if is_second {
                return Err(malformed(format!("its header states `{}` twice", text(key))));
            }
            if !self.takes(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.trim_ascii().is_empty() {
            return Err(malformed("its header goes on behind the dict"));
        }
        let lacks = |key| move || malformed(format!("its header does not state `{key}`"));
        let (ty, field) = descr.ok_or_else(lacks("descr"))?;
        let is_fortran = is_fortran.ok_or_else(lacks("fortran_order"))?;
        Ok(Header { ty, field, is_fortran, dims: dims.ok_or_else(lacks("shape"))? })
    }

    /// Takes these characters, if they are next.
    fn takes(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let rest = self.rest.strip_prefix(token.as_bytes());
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        match self.takes(token) {
            true => Ok(()),
            false => Err(malformed(format!("its header lacks a `{token}`"))),
        }
    }

    /// What stands between quotes. Names of keys and types have no escapes.
    fn string(&mut self) -> Option<&'t [u8]> {
        let rest = self.rest.trim_ascii_start();
        let (quote, rest) = rest.split_first().filter(|(quote, _)| matches!(quote, b'\'' | b'"'))?;
        let end = rest.iter().position(|byte| byte == quote || *byte == b'\\').filter(|&end| rest[end] == *quote)?;
        self.rest = &rest[end + 1..];
        Some(&rest[..end])
    }

    fn bool(&mut self) -> Result<bool> {
        match (self.takes("True"), self.takes("False")) {
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            _ => Err(malformed("`fortran_order` is neither True nor False")),
        }
    }

    /// A type, and the name of the field that has it.
    fn descr(&mut self) -> Result<(TypeStr, Option<String>)> {
        if let Some(ty) = self.string() {
            return Ok((type_of(ty)?, None));
        }
        match self.record() {
            Some((field, ty)) => Ok((type_of(ty)?, Some(text(field)))),
            None => Err(Error::invalid_argument("structured arrays cannot become tensors")),
        }
    }

    /// The name and type of a record's only field: `[('qint8', '|i1')]`.
    fn record(&mut self) -> Option<(&'t [u8], &'t [u8])> {
        let is_begun = self.takes("[") && self.takes("(");
        let field = self.string().filter(|_| is_begun && self.takes(","))?;
        let ty = self.string()?;
        self.takes(",");
        let is_closed = self.takes(")");
        self.takes(",");
        (is_closed && self.takes("]")).then_some((field, ty))
    }

    fn dims(&mut self) -> Result<Vec<i64>> {
        self.expect("(")?;
        let mut dims = Vec::new();
        while !self.takes(")") {
            let end = self.rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            if digits.is_empty() {
                return Err(malformed("a dimension of its shape is no whole number"));
            }
            let dim = text(digits).parse().map_err(|_| Error::invalid_argument("the array has too many elements"))?;
            dims.push(dim);
            self.rest = rest;
            if !self.takes(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(dims)
    }
}

fn text(bytes: &[u8]) -> String {
    shortened(&String::from_utf8_lossy(bytes)).into_owned()
}

fn type_of(name: &[u8]) -> Result<TypeStr> {
    let name = match name {
        // NumPy calls 8-bit floats of one kind so, which is no type to anybody, not even to itself: they are raw bytes.
        b"<f1" | b"|f1" => "|V1".into(),
        name => text(name),
    };
    name.parse().map_err(|error| malformed(format!("its type `{name}` is unknown: {error}")))
}

#[cfg(test)]
mod tests {
    use kernlink_framework::error::Code;

    use super::*;

    fn read(dict: &str) -> Result<Header> {
        let bytes = [b"\x93NUMPY\x02\0", &(dict.len() as u32).to_le_bytes()[..], dict.as_bytes()].concat();
        Header::read(&mut bytes.as_slice())
    }

    #[test]
    fn dicts_are_read_as_python_may_write_them() {
        for dict in [
            "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }   \n",
            "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":True}",
        ] {
            let header = read(dict).unwrap();
            assert_eq!((header.ty.to_string(), header.field), ("<f4".to_owned(), None));
            assert_eq!((header.is_fortran, header.dims), (true, vec![2, 3]));
        }
        let header = read("{'descr': [('qint8', '|i1')], 'fortran_order': False, 'shape': ()}").unwrap();
        assert_eq!((header.field.as_deref(), header.dims.len()), (Some("qint8"), 0));
    }

    #[test]
    fn each_key_stands_there_once() {
        let rest = "'descr': '<f4', 'fortran_order': False";
        let deep = format!("{{'descr': {}", "[".repeat(60_000));
        for (dict, why) in [
            (format!("{{{rest}, 'shape': (1,), 'shape': (4611686018427387904, 8), }}"), "`shape` twice"),
            (format!("{{{rest}, 'descr': '<f8', 'shape': (1,)}}"), "`descr` twice"),
            (format!("{{{rest}}}"), "not state `shape`"),
            (format!("{{{rest}, 'shape': (1,), 'x': 1}}"), "states `x`"),
            (format!("{{{rest}, 'shape': (1,)}} {{"), "goes on"),
            (format!("{{{rest}, 'shape': (-1,)}}"), "no whole number"),
            (format!("{{{rest}, 'shape': (99999999999999999999,)}}"), "too many elements"),
            (format!("{{{rest}, 'shape': (1"), "lacks a `)`"),
            ("{'descr': 'x', 'fortran_order': False, 'shape': ()}".to_owned(), "type `x`"),
            ("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}".to_owned(), "neither True nor False"),
            ("{'de\\x73cr': '<f4'}".to_owned(), "no string"),
            (deep, "structured"),
            (" ".repeat(70_000), "more than 65536"),
            (String::new(), "lacks a `{`"),
        ] {
            let error = read(&dict).map(drop).unwrap_err();
            assert!(error.code() == Code::InvalidArgument && error.message().contains(why), "{why}: {error}");
        }
    }
}

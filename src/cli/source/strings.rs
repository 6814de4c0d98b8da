//! Strings that are bytes: of files, lines of files, and base64.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;

use crate::dtype::TString;
use crate::error::{Error, Result, shortened};
use crate::tensor::{FileBytes, Tensor, may_request};

/// The key of bytes in base64, as TensorFlow Serving's REST API has it.
const BASE64: &str = "b64";

/// A kind of source that is for strings alone.
pub(super) enum Strings<'s> {
    /// `@bytes:FILE`, or a file whose name says nothing else: all of it.
    Bytes(&'s Path),
    /// `@lines:FILE`
    Lines(&'s Path),
    /// `[@FILE, @FILE]`
    Files(Vec<&'s Path>),
}

impl<'s> Strings<'s> {
    /// The source that is written so, if it is one of strings by its form.
    pub(super) fn of(source: &'s str) -> Option<Strings<'s>> {
        if let Some(file) = source.strip_prefix("@bytes:") {
            return Some(Strings::Bytes(Path::new(file)));
        }
        if let Some(file) = source.strip_prefix("@lines:") {
            return Some(Strings::Lines(Path::new(file)));
        }
        let list = source.trim().strip_prefix('[')?.strip_suffix(']')?;
        let file = |part: &'s str| {
            let file = part.trim().strip_prefix('@')?;
            Some(Path::new(file.strip_prefix("bytes:").unwrap_or(file)))
        };
        list.split(',').map(file).collect::<Option<Vec<_>>>().map(Strings::Files)
    }

    pub(super) fn read(&self) -> Result<Tensor> {
        match self {
            Strings::Bytes(file) => Ok(Tensor::scalar(bytes(file)?)),
            Strings::Files(files) => {
                check_room_for_all(files)?;
                Tensor::vector(&files.iter().map(|file| bytes(file)).collect::<Result<Vec<TString>>>()?)
            }
            Strings::Lines(file) => lines(&FileBytes::open(file)?).map_err(|error| error.context(file.display())),
        }
    }
}

/// What to write in the place of a list that [`mixes`].
pub(super) const ALL_FILES_OR_JSON: &str = "; a list is all of files, `[@a.jpg, @b.jpg]`, or all JSON, in which the bytes \
                                            of a file are base64: `[{\"b64\": \"/9j/4AA=\"}, \"text\"]`";

/// Whether a list names files and has something else, too.
pub(super) fn mixes(source: &str) -> bool {
    let list = source.trim().strip_prefix('[').map(|list| list.strip_suffix(']').unwrap_or(list));
    list.is_some_and(|list| list.split(',').any(|part| part.trim_start().starts_with('@')))
}

/// Refuses files that do not fit into memory together, before any is read.
fn check_room_for_all(files: &[&Path]) -> Result<()> {
    // Reading it tells what is wrong with a file that has no length.
    let lengths = files.iter().map(|file| std::fs::metadata(file).map_or(0, |about| about.len()));
    let total = lengths.fold(0, u64::saturating_add);
    match may_request(usize::try_from(total).unwrap_or(usize::MAX)) {
        true => Ok(()),
        false => {
            let message = format!("there is not enough memory for {} files of {total} bytes together", files.len());
            Err(Error::resource_exhausted(message))
        }
    }
}

/// What is in a file.
fn bytes(file: &Path) -> Result<TString> {
    let content = FileBytes::open(file)?;
    match may_request(content.len()) {
        true => Ok(TString::from(&content[..])),
        false => Err(Error::resource_exhausted(format!("there is not enough memory for {}", file.display()))),
    }
}

/// A vector of the lines of a text, without what ends them.
fn lines(text: &[u8]) -> Result<Tensor> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let count = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    if !may_request(text.len().saturating_add(count.saturating_mul(2 * size_of::<TString>()))) {
        return Err(Error::resource_exhausted(format!("there is not enough memory for {count} lines")));
    }
    let lines = text.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        TString::from(line.strip_suffix(b"\r").unwrap_or(line))
    });
    Tensor::vector(&lines.collect::<Vec<_>>())
}

/// The string that a JSON value stands for: its text, or the bytes of `{"b64": "..."}`.
pub(super) fn of_json(value: &Value) -> Option<Result<TString>> {
    if let Some(text) = value.as_str() {
        return Some(Ok(TString::from(text)));
    }
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let text = object.get(BASE64)?.as_str()?;
    let bytes = BASE64_STANDARD.decode(text).map_err(|error| {
        Error::invalid_argument(format!("`{}` is no base64 as RFC 4648 has it: {error}", shortened(text)))
    });
    Some(bytes.map(|bytes| TString::from(&bytes[..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_files_have_it() {
        let strings = |text: &[u8]| lines(text).unwrap().values_text().to_string();
        assert_eq!(strings(b"a\nb c\r\n\n"), "[\"a\" \"b c\" \"\"]");
        assert_eq!(strings(b"\xef\xbb\xbfa"), "[\"a\"]");
        assert_eq!(lines(b"").unwrap().shape().dims(), [0]);
    }

    #[test]
    fn files_must_fit_together() {
        // A file of a gigabyte that takes no place on the disk, which may well fit alone.
        let path = std::env::temp_dir().join(format!("kernlink-sparse-{}", std::process::id()));
        std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let files = vec![path.as_path(); 1 << 16];
        let error = Strings::Files(files).read().unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(error.code(), crate::error::Code::ResourceExhausted);
        assert!(error.message().contains("65536 files of 70368744177664 bytes together"), "{error}");
    }

    #[test]
    fn forms_of_sources() {
        let files = |source| match Strings::of(source) {
            Some(Strings::Files(files)) => files,
            _ => Vec::new(),
        };
        assert_eq!(files("[@a.jpg, @bytes:b.json]"), [Path::new("a.jpg"), Path::new("b.json")]);
        for source in ["[1, 2]", "[@a, b]", "[]", "@x.npy", "\"@a\"", "[\"@a\"]"] {
            assert!(Strings::of(source).is_none(), "{source}");
        }
        for (source, is_mixed) in [("[@a, \"b\"]", true), ("[\"b\", @a", true), ("[\"@a\"]", false), ("@a", false)] {
            assert_eq!(mixes(source), is_mixed, "{source}");
        }
    }
}

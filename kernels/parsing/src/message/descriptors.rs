//! Where the types of messages are declared.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::sync::LazyLock;

use kernlink::dtype::TString;
use kernlink::ensure;
use kernlink::error::{Error, Result, shortened, shortened_bytes};
use kernlink::tensor::scratch;
use kernlink_kernels_common::files::path_of;
use prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::Type;
use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use prost_reflect::{DescriptorPool, MessageDescriptor};

use super::super::compressed::Expander;
use super::{files, maps};

/// The types that a source declares.
#[derive(Clone)]
pub(in super::super) struct Types {
    pub(super) pool: DescriptorPool,
    /// The same types, for parsing whole messages: strings of `proto2` files are bytes, as they need not be UTF-8.
    lenient: DescriptorPool,
}

static LOCAL: LazyLock<Result<Types>> =
    LazyLock::new(|| Types::new(&Expander::new().unzlib(include_bytes!("../../local/local.desc.zlib"))?));

impl Types {
    fn new(set: &[u8]) -> Result<Types> {
        let wrong = |error| Error::invalid_argument(format!("no serialized FileDescriptorSet: {error}"));
        let mut set = FileDescriptorSet::decode(set).map_err(wrong)?;
        files::prepare(&mut set.file)?;
        let pool = pool_of(&set)?;
        maps::check(&pool)?;
        for file in set.file.iter_mut().filter(|file| matches!(file.syntax(), "" | "proto2")) {
            file.extension.iter_mut().for_each(strings_to_bytes);
            file.message_type.iter_mut().for_each(loosen);
        }
        Ok(Types { pool, lenient: pool_of(&set)? })
    }

    /// The types of an attr `descriptor_source`: TensorFlow's, those of a file, or those that the attr holds.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is none of these; UNIMPLEMENTED if a file has an edition; RESOURCE_EXHAUSTED if there is not enough
    /// memory, or the files take too much.
    pub(in super::super) fn of(source: &TString) -> Result<Types> {
        let found = match source.strip_prefix(b"bytes://") {
            _ if matches!(&**source, b"" | b"local://") => LOCAL.clone(),
            Some(set) => Types::new(set),
            None => file_bytes(source).and_then(|set| Types::new(&set)),
        };
        found.map_err(|error| {
            let message = format!("descriptor_source '{}': {}", shortened_bytes(source), error.message());
            Error::new(error.code(), message)
        })
    }

    /// The type of this name.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none.
    pub(in super::super) fn message(&self, name: &str) -> Result<MessageDescriptor> {
        // `DescriptorPool` takes a full name, which begins with a dot, too; TensorFlow does not.
        let found = self.pool.get_message_by_name(name).filter(|_| !name.starts_with('.'));
        found.ok_or_else(|| Error::invalid_argument(format!("No descriptor found for message type {name}")))
    }

    /// The type of this name for parsing whole messages.
    pub(in super::super) fn lenient_message(&self, name: &str) -> Option<MessageDescriptor> {
        self.lenient.get_message_by_name(name)
    }
}

/// The bytes of a file, of which there are no more than when it was opened. Devices and pipes are none: they may have no end.
fn file_bytes(name: &TString) -> Result<Vec<u8>> {
    let wrong = |why: &dyn Display| {
        Error::invalid_argument(format!("neither local://, nor bytes:// and a FileDescriptorSet, nor a file: {why}"))
    };
    let path = path_of(name).map_err(|error| wrong(&error.message()))?;
    let metadata = path.metadata().map_err(|error| wrong(&error))?;
    ensure!(metadata.is_file(), InvalidArgument, "it is no file");
    let mut bytes = scratch::room(usize::try_from(metadata.len()).unwrap_or(usize::MAX))?;
    File::open(path)
        .and_then(|file| file.take(metadata.len()).read_to_end(&mut bytes))
        .map_err(|error| wrong(&error))?;
    Ok(bytes)
}

/// The pool of files, each of which stands behind those that it imports.
fn pool_of(set: &FileDescriptorSet) -> Result<DescriptorPool> {
    let mut pool = DescriptorPool::new();
    for file in &set.file {
        pool.add_file_descriptor_proto(file.clone())
            .map_err(|error| Error::invalid_argument(shortened(&format!("{}: {error}", file.name()))))?;
    }
    Ok(pool)
}

fn strings_to_bytes(field: &mut FieldDescriptorProto) {
    if field.r#type() == Type::String {
        field.set_type(Type::Bytes);
        // Its escapes are those of bytes, and parsing asks for no default.
        field.default_value = None;
    }
}

fn loosen(message: &mut DescriptorProto) {
    // Keys of maps may not be bytes.
    if !message.options.as_ref().is_some_and(|options| options.map_entry()) {
        message.field.iter_mut().for_each(strings_to_bytes);
    }
    message.extension.iter_mut().for_each(strings_to_bytes);
    message.nested_type.iter_mut().for_each(loosen);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_type_begins_with_a_dot() {
        let types = Types::of(&TString::from("local://")).unwrap();
        assert!(types.message("tensorflow.Example").is_ok());
        assert!(types.message(".tensorflow.Example").is_err());
    }

    #[test]
    fn only_files_are_read() {
        let set = Expander::new().unzlib(include_bytes!("../../local/local.desc.zlib")).unwrap();
        let path = std::env::temp_dir().join(format!("kernlink-descriptors-{}", std::process::id()));
        std::fs::write(&path, &set).unwrap();
        let name = path.display().to_string();
        for name in [name.clone(), format!("file://{name}")] {
            Types::of(&name.as_str().into()).unwrap().message("tensorflow.Example").unwrap();
        }
        std::fs::remove_file(&path).unwrap();
        for name in [&name[..], "/dev/zero", "/dev/stdin", "/", "http://there"] {
            let error = Types::of(&name.into()).err().unwrap();
            assert_eq!(error.code(), kernlink::Code::InvalidArgument, "{name}");
        }
    }

    #[test]
    fn an_empty_source_is_tensorflows_types() {
        assert!(Types::of(&"".into()).unwrap().message("tensorflow.Example").is_ok());
    }

    #[test]
    fn an_error_says_what_is_wrong() {
        let message = |source: &[u8]| Types::of(&TString::from(source)).err().unwrap().message().to_owned();
        // A message with a field of a type that there is not.
        let file = b"bytes://\x0a\x13\x0a\x01f\x22\x0e\x0a\x01M\x12\x09\x0a\x01x\x18\x01\x32\x02.N";
        assert!(message(file).ends_with("f: name '.N' is not defined"), "{}", message(file));
        assert!(message(b"bytes://\xff").contains("no serialized FileDescriptorSet"));
        assert!(message(b"/no/such").contains("nor a file: "));
    }
}

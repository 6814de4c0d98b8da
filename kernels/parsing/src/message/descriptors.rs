//! Where the types of messages are declared.

use std::sync::LazyLock;

use kernlink::dtype::TString;
use kernlink::error::{Error, Result, shortened_bytes};
use prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::Type;
use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use prost_reflect::{DescriptorPool, MessageDescriptor};

use super::super::compressed::unzlib;

/// The types that a source declares.
#[derive(Clone)]
pub(in super::super) struct Types {
    pub(super) pool: DescriptorPool,
    /// The same types, for parsing whole messages: strings of `proto2` files are bytes, as they need not be UTF-8.
    lenient: DescriptorPool,
}

static LOCAL: LazyLock<Option<Types>> = LazyLock::new(|| {
    let set = unzlib(include_bytes!("../../local/local.desc.zlib")).ok()?;
    Types::new(&set)
});

impl Types {
    fn new(set: &[u8]) -> Option<Types> {
        let mut set = FileDescriptorSet::decode(set).ok()?;
        let pool = pool_of(&set)?;
        for file in set.file.iter_mut().filter(|file| matches!(file.syntax(), "" | "proto2")) {
            file.extension.iter_mut().for_each(strings_to_bytes);
            file.message_type.iter_mut().for_each(loosen);
        }
        Some(Types { pool, lenient: pool_of(&set)? })
    }

    /// The types of an attr `descriptor_source`: TensorFlow's, those of a file, or those that the attr holds.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is none of these.
    pub(in super::super) fn of(source: &TString) -> Result<Types> {
        let from_file = || {
            let name = std::str::from_utf8(source).ok()?;
            Types::new(&std::fs::read(name).ok()?)
        };
        let found = match source.strip_prefix(b"bytes://") {
            _ if &**source == b"local://" => LOCAL.clone(),
            Some(set) => from_file().or_else(|| Types::new(set)),
            None => from_file(),
        };
        found.ok_or_else(|| {
            Error::invalid_argument(format!(
                "descriptor_source '{}' is neither local://, nor a file that holds a serialized FileDescriptorSet, nor \
                 bytes:// with one behind it; each file must stand behind those that it imports",
                shortened_bytes(source)
            ))
        })
    }

    /// The type of this name.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none.
    pub(in super::super) fn message(&self, name: &str) -> Result<MessageDescriptor> {
        self.pool
            .get_message_by_name(name)
            .ok_or_else(|| Error::invalid_argument(format!("No descriptor found for message type {name}")))
    }

    /// The type of this name for parsing whole messages.
    pub(in super::super) fn lenient_message(&self, name: &str) -> Option<MessageDescriptor> {
        self.lenient.get_message_by_name(name)
    }
}

/// The pool of files, each of which stands behind those that it imports.
fn pool_of(set: &FileDescriptorSet) -> Option<DescriptorPool> {
    let mut pool = DescriptorPool::new();
    for file in &set.file {
        pool.add_file_descriptor_proto(file.clone()).ok()?;
    }
    Some(pool)
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

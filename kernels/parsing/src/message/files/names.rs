//! The names that files of descriptors declare and use, and what TensorFlow asks of what has them.

use std::collections::{HashMap, HashSet};

use kernlink::ensure;
use kernlink::error::{Error, Result, shortened};
use kernlink::tensor::scratch::{self, MakeRoom};
use prost_reflect::DescriptorPool;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, UninterpretedOption,
};

/// The names that files declare, and those that the last one uses.
#[derive(Default)]
pub(super) struct Names {
    /// The file that declares the type or extension of a full name.
    declared: HashMap<String, usize>,
    file: usize,
    /// The other files of which the file names something, whether it sees them or not.
    pub(super) wanted: HashSet<usize>,
    /// The full name of what is looked at.
    scope: String,
    /// How many messages that lies in.
    nested: usize,
    is_proto3: bool,
    pub(super) budget: Budget,
}

/// The deepest nesting of messages that TensorFlow takes.
const MOST_NESTED: usize = 31;

/// The most bytes and dots of a package that TensorFlow takes.
const PACKAGE_BYTES: usize = 511;
const PACKAGE_DOTS: usize = 100;

/// The most bytes of a full name that TensorFlow takes, but for values of enums. For fields it counts other forms of the name, too.
const NAME_BYTES: usize = u16::MAX as usize;

/// How many bytes names may still take: full names are far longer than the files that they come from if one lies within another.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Budget {
        Budget(64 << 20)
    }
}

impl Budget {
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        match self.0.checked_sub(bytes) {
            Some(left) => self.0 = left,
            None => return Err(Error::resource_exhausted("the full names take more than 64 MiB")),
        }
        Ok(())
    }
}

/// The options that are written as text, of something that may have options.
macro_rules! uninterpreted {
    ($of:expr) => {
        $of.options.as_ref().map_or(&[][..], |options| &options.uninterpreted_option)
    };
}

impl Names {
    pub(super) fn enter(&mut self, at: usize, file: &FileDescriptorProto) -> Result<()> {
        let package = file.package();
        ensure!(
            package.len() <= PACKAGE_BYTES && package.bytes().filter(|&byte| byte == b'.').count() <= PACKAGE_DOTS,
            InvalidArgument,
            "{}: a package has at most {PACKAGE_BYTES} bytes and {PACKAGE_DOTS} dots",
            shortened(file.name())
        );
        (self.file, self.scope, self.nested) = (at, package.to_owned(), 0);
        self.is_proto3 = file.syntax() == "proto3";
        self.wanted.clear();
        if !package.is_empty() {
            package.split('.').try_for_each(check_name)?;
        }
        self.options(uninterpreted!(file))?;
        file.message_type.iter().try_for_each(|message| self.message(message))?;
        file.enum_type.iter().try_for_each(|of| self.enumeration(of))?;
        file.extension.iter().try_for_each(|extension| self.field(extension))?;
        for service in &file.service {
            self.within(service.name(), |names| {
                names.options(uninterpreted!(service))?;
                service.method.iter().try_for_each(|method| {
                    names.within(method.name(), |names| {
                        names.options(uninterpreted!(method))?;
                        names.want(method.input_type())?;
                        names.want(method.output_type())
                    })
                })
            })?;
        }
        Ok(())
    }

    fn message(&mut self, message: &DescriptorProto) -> Result<()> {
        self.within(message.name(), |names| {
            names.declare()?;
            names.check_options_type(message)?;
            names.check_message(message)?;
            names.options(uninterpreted!(message))?;
            message.extension_range.iter().try_for_each(|range| names.options(uninterpreted!(range)))?;
            for oneof in &message.oneof_decl {
                names.within(oneof.name(), |names| names.options(uninterpreted!(oneof)))?;
            }
            message.field.iter().chain(&message.extension).try_for_each(|field| names.field(field))?;
            message.enum_type.iter().try_for_each(|of| names.enumeration(of))?;
            names.nested += 1;
            message.nested_type.iter().try_for_each(|nested| names.message(nested))?;
            names.nested -= 1;
            Ok(())
        })
    }

    fn enumeration(&mut self, of: &EnumDescriptorProto) -> Result<()> {
        self.within(of.name(), |names| {
            names.declare()?;
            names.options(uninterpreted!(of))
        })?;
        of.value.iter().try_for_each(|value| {
            self.within_at_most(usize::MAX, value.name(), |names| names.options(uninterpreted!(value)))
        })
    }

    fn field(&mut self, field: &FieldDescriptorProto) -> Result<()> {
        self.within_at_most(NAME_BYTES.saturating_sub(other_forms(field)), field.name(), |names| {
            names.check_field(field)?;
            if field.extendee.is_some() {
                names.declare()?;
                names.want(field.extendee())?;
            }
            names.want(field.type_name())?;
            names.options(uninterpreted!(field))
        })
    }

    /// What TensorFlow asks of a field, and `prost-reflect` does not.
    fn check_field(&self, field: &FieldDescriptorProto) -> Result<()> {
        let (ty, label) = (field.r#type(), field.label());
        let name = shortened(&self.scope);
        ensure!(
            !self.is_proto3 || label != Label::Required && ty != Type::Group && field.default_value.is_none(),
            InvalidArgument,
            "{name}: fields of proto3 are not required, are no groups and have no defaults"
        );
        let is_packed = field.options.as_ref().is_some_and(|options| options.packed());
        let can_be =
            label == Label::Repeated && !matches!(ty, Type::String | Type::Bytes | Type::Group | Type::Message);
        ensure!(!is_packed || can_be, InvalidArgument, "{name}: only repeated numbers are packed");
        Ok(())
    }

    /// What TensorFlow asks of a message, and `prost-reflect` does not.
    fn check_message(&self, message: &DescriptorProto) -> Result<()> {
        let name = shortened(&self.scope);
        ensure!(self.nested < MOST_NESTED, InvalidArgument, "{name}: messages are nested too deeply");
        let is_set = message.options.as_ref().is_some_and(|options| options.message_set_wire_format());
        ensure!(
            !is_set || message.field.is_empty() && !self.is_proto3,
            InvalidArgument,
            "{name}: a message set has fields, or is of proto3"
        );
        let mut ended = HashSet::new();
        let mut last = None;
        for field in &message.field {
            if field.oneof_index != last {
                ended.extend(last);
                last = field.oneof_index;
            }
            let Some(index) = last else { continue };
            ensure!(
                field.label() == Label::Optional && !ended.contains(&index),
                InvalidArgument,
                "{name}: members of a oneof are neither repeated nor required, and stand together"
            );
        }
        ended.extend(last);
        ensure!(ended.len() >= message.oneof_decl.len(), InvalidArgument, "{name}: a oneof has no members");
        Ok(())
    }

    fn options(&mut self, options: &[UninterpretedOption]) -> Result<()> {
        let mut parts = options.iter().flat_map(|option| &option.name).filter(|part| part.is_extension);
        parts.try_for_each(|part| self.want(&part.name_part))
    }

    /// `prost-reflect` writes options as the set declares their types, and then takes it for granted that they are read as its own types.
    fn check_options_type(&self, message: &DescriptorProto) -> Result<()> {
        let own = self.scope.strip_prefix("google.protobuf.").filter(|name| name.ends_with("Options"));
        let Some(known) = own.and_then(|_| DescriptorPool::global().get_message_by_name(&self.scope)) else {
            return Ok(());
        };
        let differs = |field: &&FieldDescriptorProto| {
            let known = u32::try_from(field.number()).ok().and_then(|number| known.get_field(number));
            known.is_some_and(|known| {
                let known = known.field_descriptor_proto();
                (known.r#type(), known.label()) != (field.r#type(), field.label())
            })
        };
        match message.field.iter().find(differs) {
            Some(field) => Err(Error::invalid_argument(format!(
                "{}: the field {} has another type than in descriptor.proto",
                shortened(&self.scope),
                shortened(field.name())
            ))),
            None => Ok(()),
        }
    }

    fn within(&mut self, name: &str, inner: impl FnOnce(&mut Names) -> Result<()>) -> Result<()> {
        self.within_at_most(NAME_BYTES, name, inner)
    }

    /// Like [`within`](Names::within), of a full name of so many bytes.
    fn within_at_most(&mut self, most: usize, name: &str, inner: impl FnOnce(&mut Names) -> Result<()>) -> Result<()> {
        check_name(name)?;
        let length = self.scope.len();
        let longer = length + 1 + name.len();
        ensure!(
            longer - usize::from(length == 0) <= most,
            InvalidArgument,
            "{}: the name is too long",
            shortened(name)
        );
        self.budget.take(longer)?;
        self.scope.make_room(1 + name.len())?;
        if length != 0 {
            self.scope.push('.');
        }
        self.scope.push_str(name);
        inner(self)?;
        self.scope.truncate(length);
        Ok(())
    }

    fn declare(&mut self) -> Result<()> {
        if !self.declared.contains_key(&self.scope) {
            self.declared.insert(scratch::copied_text(&self.scope)?, self.file);
        }
        Ok(())
    }

    /// Wants all that the name may mean here: it is looked for in the scope and all that this lies in.
    fn want(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Ok(());
        }
        let mut consider = |full_name: &str| match self.declared.get(full_name) {
            Some(&file) if file != self.file => _ = self.wanted.insert(file),
            _ => {}
        };
        match name.strip_prefix('.') {
            Some(full_name) => consider(full_name),
            None => {
                consider(name);
                let mut candidate = scratch::copied_text(&self.scope)?;
                candidate.make_room(1 + name.len())?;
                candidate.push('.');
                let mut scope = &self.scope[..];
                loop {
                    self.budget.take(scope.len() + 1 + name.len())?;
                    candidate.truncate(scope.len() + 1);
                    candidate.push_str(name);
                    consider(&candidate);
                    match scope.rfind('.') {
                        Some(end) => scope = &scope[..end],
                        None => break,
                    }
                }
            }
        }
        Ok(())
    }
}

/// How many bytes TensorFlow keeps for other forms of a field's name, behind its full name: in lower case, without underscores, and that of
/// JSON. Of a name that is `like_this`, and has none of its own for JSON, only one differs.
fn other_forms(field: &FieldDescriptorProto) -> usize {
    let name = field.name();
    let joined = name.bytes().filter(|&byte| byte != b'_').count();
    let is_usual = name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.bytes().any(|byte| byte.is_ascii_uppercase());
    match &field.json_name {
        None if is_usual && joined == name.len() => 0,
        None if is_usual => joined + 2,
        json => name.len() + joined + json.as_ref().map_or(joined, String::len) + 4,
    }
}

fn check_name(name: &str) -> Result<()> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    ensure!(
        is_name,
        InvalidArgument,
        "the name '{}' has something else than letters, digits and underscores, or is empty",
        shortened(name)
    );
    Ok(())
}

//! Checks the types that maps declare for their entries.

use kernlink::ensure;
use kernlink::error::{Result, shortened};
use prost_reflect::prost_types::FieldDescriptorProto;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::{Cardinality, DescriptorPool, FieldDescriptor, Kind, MessageDescriptor};

/// Fails unless the entries of all maps of the pool are pairs of a key and a value.
pub(super) fn check(pool: &DescriptorPool) -> Result<()> {
    for message in pool.all_messages() {
        for field in message.fields() {
            if let Kind::Message(entry) = field.kind()
                && entry.is_map_entry()
            {
                ensure!(
                    is_entry_of(&field, &entry, &message),
                    InvalidArgument,
                    "{}: the type of its entries is none for a map",
                    shortened(field.full_name())
                );
            }
        }
    }
    let is_map = |kind: Kind| matches!(kind, Kind::Message(entry) if entry.is_map_entry());
    ensure!(!pool.all_extensions().any(|field| is_map(field.kind())), InvalidArgument, "an extension is a map");
    Ok(())
}

/// Whether the type is the one that `map<key, value>` declares for the field.
fn is_entry_of(field: &FieldDescriptor, entry: &MessageDescriptor, message: &MessageDescriptor) -> bool {
    let declared = entry.descriptor_proto();
    let [key, value] = &declared.field[..] else { return false };
    let fits = |field: &FieldDescriptorProto, name: &str, number: i32| {
        field.label() == Label::Optional && field.name() == name && field.number() == number
    };
    let has_key = matches!(
        key.r#type(),
        Type::Int32
            | Type::Int64
            | Type::Uint32
            | Type::Uint64
            | Type::Sint32
            | Type::Sint64
            | Type::Fixed32
            | Type::Fixed64
            | Type::Sfixed32
            | Type::Sfixed64
            | Type::Bool
            | Type::String
    );
    let zero_first = |kind: Kind| match kind {
        Kind::Enum(kind) => kind.values().next().is_some_and(|first| first.number() == 0),
        _ => true,
    };
    // The name of the field in upper camel case.
    let words = field.name().split('_').map(|word| match word.split_at_checked(1) {
        Some((first, rest)) => first.to_ascii_uppercase() + rest,
        None => word.to_owned(),
    });
    field.cardinality() == Cardinality::Repeated
        && entry.parent_message().as_ref() == Some(message)
        && entry.name() == words.collect::<String>() + "Entry"
        && fits(key, "key", 1)
        && fits(value, "value", 2)
        && has_key
        && entry.get_field(2).is_some_and(|value| zero_first(value.kind()))
        && declared.extension.is_empty()
        && declared.extension_range.is_empty()
        && declared.nested_type.is_empty()
        && declared.enum_type.is_empty()
        && declared.oneof_decl.is_empty()
}

#[cfg(test)]
mod tests {
    use prost_reflect::prost_types::{DescriptorProto, FileDescriptorProto};

    use super::*;

    fn field(name: &str, number: i32) -> FieldDescriptorProto {
        let mut field = FieldDescriptorProto { name: Some(name.into()), number: Some(number), ..Default::default() };
        field.set_type(Type::Int32);
        field
    }

    /// Whether a map is taken after a change to its field and the type of its entries.
    fn taken(change: impl Fn(&mut FieldDescriptorProto, &mut DescriptorProto)) -> bool {
        let fields = vec![field("key", 1), field("value", 2)];
        let mut entry = DescriptorProto { name: Some("AMapEntry".into()), field: fields, ..Default::default() };
        entry.options.get_or_insert_default().map_entry = Some(true);
        let mut map = field("a_map", 1);
        map.type_name = Some("AMapEntry".into());
        map.set_type(Type::Message);
        map.set_label(Label::Repeated);
        change(&mut map, &mut entry);
        let message = DescriptorProto {
            name: Some("M".into()),
            field: vec![map],
            nested_type: vec![entry],
            ..Default::default()
        };
        let file = FileDescriptorProto { message_type: vec![message], ..Default::default() };
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_proto(file).unwrap();
        check(&pool).is_ok()
    }

    #[test]
    fn entries_of_maps_are_pairs() {
        assert!(taken(|_, _| {}));
        assert!(!taken(|map, _| map.set_label(Label::Optional)));
        assert!(!taken(|map, _| map.name = Some("other".into())));
        assert!(!taken(|_, entry| entry.field[0].set_type(Type::Double)));
        assert!(!taken(|_, entry| entry.field[1].set_label(Label::Repeated)));
        assert!(!taken(|_, entry| entry.field[1].number = Some(3)));
        assert!(!taken(|_, entry| entry.field.swap(0, 1)));
        assert!(!taken(|_, entry| entry.field.push(field("more", 3))));
        assert!(!taken(|_, entry| entry.field.clear()));
        let nested = || DescriptorProto { name: Some("N".into()), ..Default::default() };
        assert!(!taken(|_, entry| entry.nested_type.push(nested())));
    }
}

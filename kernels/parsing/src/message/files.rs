//! Checks files of descriptors and rewrites them for `prost-reflect`, which panics at some that are wrong, takes exponential time for
//! public imports, and does not see all that they bring.

mod defaults;
mod names;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use kernlink::ensure;
use kernlink::error::{Error, Result, shortened};
use kernlink::tensor::scratch;
use prost_reflect::prost_types::FileDescriptorProto;

use names::{Budget, Names};

/// Makes the files ready: each then imports, not publicly, just those of which it names a type or an extension.
///
/// # Errors
/// UNIMPLEMENTED if a file has an edition; INVALID_ARGUMENT if it has an unknown syntax, imports what does not stand before it, or stands
/// twice with different contents, and if names, options or defaults are wrong; RESOURCE_EXHAUSTED if full names take too much memory, or
/// there is not enough, and if it takes too long to find what is imported.
pub(super) fn prepare(files: &mut [FileDescriptorProto]) -> Result<()> {
    let (needed, mut budget) = needed(files)?;
    for (at, needed) in needed.into_iter().enumerate() {
        let names = scratch::collected_ok(needed.iter().map(|&needed| {
            budget.take(files[needed].name().len())?;
            scratch::copied_text(files[needed].name())
        }))?;
        let file = &mut files[at];
        (file.dependency, file.public_dependency, file.weak_dependency) = (names, Vec::new(), Vec::new());
        file.syntax = file.syntax.take().filter(|syntax| !syntax.is_empty());
        defaults::escape(file)?;
    }
    Ok(())
}

/// How many steps the search for imports may take beyond those that it takes for each.
const MOST_STEPS: usize = 1 << 24;

/// For each file, those that it imports, itself or publicly by another, and of which it names something.
fn needed(files: &[FileDescriptorProto]) -> Result<(Vec<Vec<usize>>, Budget)> {
    let mut places = HashMap::new();
    let mut names = Names::default();
    let mut needed = Vec::with_capacity(files.len());
    let mut public: Vec<Vec<usize>> = Vec::with_capacity(files.len());
    let mut reached = vec![0; files.len()];
    // Files may each see all before them, and want what they do not see.
    let imports = files.iter().fold(files.len(), |sum, file| sum.saturating_add(file.dependency.len()));
    let mut steps = imports.saturating_mul(64).saturating_add(MOST_STEPS);
    for (at, file) in files.iter().enumerate() {
        ensure!(
            file.syntax() != "editions",
            Unimplemented,
            "{}: files with an edition are not supported, only those of proto2 and proto3",
            shortened(file.name())
        );
        ensure!(
            matches!(file.syntax(), "" | "proto2" | "proto3"),
            InvalidArgument,
            "{}: the syntax '{}' is neither proto2 nor proto3",
            shortened(file.name()),
            shortened(file.syntax())
        );
        let imports = Imports::new(file, &places)?;
        public.push(imports.public);
        match places.entry(file.name()) {
            Entry::Vacant(entry) => _ = entry.insert(at),
            Entry::Occupied(entry) => ensure!(
                files[*entry.get()] == *file,
                InvalidArgument,
                "{}: two different files have this name",
                shortened(file.name())
            ),
        }
        names.enter(at, file)?;
        // What a file sees may be all files before it, so only what it needs is kept.
        let (mut found, mut open, mut seen) = (Vec::new(), Vec::new(), &imports.all);
        while found.len() < names.wanted.len() {
            steps = steps.checked_sub(seen.len()).ok_or_else(|| {
                Error::resource_exhausted(format!(
                    "{}: it takes too long to find what the file imports by others",
                    shortened(file.name())
                ))
            })?;
            for &next in seen {
                if reached[next] <= at {
                    reached[next] = at + 1;
                    scratch::push(&mut open, next)?;
                    if names.wanted.contains(&next) {
                        scratch::push(&mut found, next)?;
                    }
                }
            }
            let Some(next) = open.pop() else { break };
            // One for the file itself, which may have no public imports.
            steps = steps.saturating_sub(1);
            seen = &public[next];
        }
        needed.push(found);
    }
    Ok((needed, names.budget))
}

/// The files that a file imports, by their places in the set.
struct Imports {
    all: Vec<usize>,
    public: Vec<usize>,
}

impl Imports {
    fn new(file: &FileDescriptorProto, places: &HashMap<&str, usize>) -> Result<Imports> {
        let imports = &file.dependency;
        let indices = |indices: &[i32]| -> Result<HashSet<usize>> {
            let index = |&index: &i32| usize::try_from(index).ok().filter(|&index| index < imports.len());
            indices.iter().map(index).collect::<Option<_>>().ok_or_else(|| {
                Error::invalid_argument(format!("{}: an index of an import is out of range", shortened(file.name())))
            })
        };
        let (publicly, weakly) = (indices(&file.public_dependency)?, indices(&file.weak_dependency)?);
        let mut names = HashSet::with_capacity(imports.len());
        let (mut all, mut public) = (Vec::with_capacity(imports.len()), Vec::with_capacity(publicly.len()));
        for (index, name) in imports.iter().enumerate() {
            ensure!(
                names.insert(name),
                InvalidArgument,
                "{}: {} is imported twice",
                shortened(file.name()),
                shortened(name)
            );
            let Some(&place) = places.get(&name[..]) else {
                // Of a weak import only the types that it would bring are missed.
                ensure!(
                    weakly.contains(&index),
                    InvalidArgument,
                    "{}: {} is imported, but does not stand before it",
                    shortened(file.name()),
                    shortened(name)
                );
                continue;
            };
            all.push(place);
            if publicly.contains(&index) {
                public.push(place);
            }
        }
        Ok(Imports { all, public })
    }
}

#[cfg(test)]
mod tests {
    use kernlink::Code;
    use prost_reflect::DescriptorPool;
    use prost_reflect::prost_types::EnumValueDescriptorProto;
    use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
    use prost_reflect::prost_types::uninterpreted_option::NamePart as UninterpretedNamePart;
    use prost_reflect::prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, UninterpretedOption};

    use super::defaults::unescaped;
    use super::*;

    /// A file of the package `t` with a message of its name, in upper case, that has a field of the type.
    fn file(name: &str, imports: &[&str], public: &[i32], of: &str) -> FileDescriptorProto {
        let field = FieldDescriptorProto {
            name: Some("x".into()),
            number: Some(1),
            type_name: Some(of.into()).filter(|of: &String| !of.is_empty()),
            ..Default::default()
        };
        let message = DescriptorProto { name: Some(name.to_uppercase()), field: vec![field], ..Default::default() };
        FileDescriptorProto {
            name: Some(name.into()),
            package: Some("t".into()),
            dependency: imports.iter().map(|&import| import.into()).collect(),
            public_dependency: public.into(),
            message_type: vec![message],
            ..Default::default()
        }
    }

    /// Whether `prost-reflect` takes the files once they are ready.
    fn taken(files: &[FileDescriptorProto]) -> bool {
        let mut files = files.to_vec();
        let mut pool = DescriptorPool::new();
        prepare(&mut files).is_ok() && files.into_iter().all(|file| pool.add_file_descriptor_proto(file).is_ok())
    }

    fn with_syntax(syntax: &str) -> FileDescriptorProto {
        FileDescriptorProto { syntax: Some(syntax.into()), ..file("a", &[], &[], "") }
    }

    #[test]
    fn a_syntax_is_known() {
        for syntax in ["", "proto2", "proto3"] {
            assert!(taken(&[with_syntax(syntax)]), "{syntax}");
        }
        for syntax in ["proto9", "editions", "proto"] {
            assert!(!taken(&[with_syntax(syntax)]), "{syntax}");
            let code = if syntax == "editions" { Code::Unimplemented } else { Code::InvalidArgument };
            assert_eq!(prepare(&mut [with_syntax(syntax)]).unwrap_err().code(), code);
        }
    }

    #[test]
    fn a_file_sees_what_it_imports_itself_or_publicly_by_another() {
        let a = file("a", &[], &[], "");
        let (private, public) = (file("b", &["a"], &[], ""), file("b", &["a"], &[0], ""));
        assert!(taken(&[a.clone(), file("b", &["a"], &[], ".t.A")]));
        assert!(taken(&[a.clone(), file("b", &["a"], &[0, 0], "A")]));
        assert!(!taken(&[a.clone(), file("b", &[], &[], ".t.A")]));
        assert!(!taken(&[a.clone(), private.clone(), file("c", &["b"], &[], "t.A")]));
        assert!(taken(&[a.clone(), public.clone(), file("c", &["b"], &[], "t.A")]));
        assert!(taken(&[a.clone(), public.clone(), file("c", &["b"], &[0], ""), file("d", &["c"], &[], ".t.A")]));
        assert!(!taken(&[a, public, file("c", &["b"], &[], ""), file("d", &["c"], &[], ".t.A")]));
    }

    #[test]
    fn imports_are_files_before() {
        let a = file("a", &[], &[], "");
        let weakly = |of| FileDescriptorProto { weak_dependency: vec![0], ..file("b", &["a"], &[], of) };
        assert!(taken(&[weakly("")]));
        assert!(!taken(&[weakly(".t.A")]));
        assert!(!taken(&[file("b", &["a"], &[], "")]));
        assert!(!taken(&[file("b", &["a"], &[], ""), a.clone()]));
        assert!(!taken(&[a.clone(), file("b", &["a", "a"], &[], "")]));
        assert!(!taken(&[file("a", &["a"], &[0], "")]));
        assert!(!taken(&[a.clone(), file("b", &["a"], &[1], "")]));
        assert!(!taken(&[a.clone(), file("b", &["a"], &[-1], "")]));
        assert!(taken(&[a.clone(), a.clone()]));
        // A file that stands twice, and names its own type and another file's.
        let mut b = file("b", &["a"], &[], ".t.A");
        let own = FieldDescriptorProto {
            name: Some("own".into()),
            number: Some(2),
            type_name: Some(".t.B".into()),
            ..Default::default()
        };
        b.message_type[0].field.push(own);
        assert!(taken(&[a.clone(), b.clone(), b.clone(), file("c", &["b"], &[], ".t.B"), b]));
        assert!(!taken(&[a, file("a", &[], &[], ".t.A")]));
    }

    #[test]
    fn many_public_imports_take_little() {
        for (count, most) in [(60usize, 2), (200, 50), (3000, 1)] {
            let name = |at: usize| format!("f{at}");
            let files = (0..count).map(|at| {
                let imports: Vec<_> = (at.saturating_sub(most)..at).map(name).collect();
                let imports: Vec<_> = imports.iter().map(|import| &import[..]).collect();
                let public: Vec<_> = (0..).take(imports.len()).collect();
                file(&name(at), &imports, &public, if at == 0 { "" } else { ".t.F0" })
            });
            let mut files: Vec<_> = files.collect();
            assert!(taken(&files), "{count} {most}");
            prepare(&mut files).unwrap();
            assert_eq!(files[count - 1].dependency, ["f0"]);
        }
        // All see the files that the one before them sees, but not the first, of which they name a message.
        for (count, most) in [(300usize, 1), (300, 50), (3000, 50)] {
            let name = |at: usize| format!("f{at}");
            let files = (0..count).map(|at| {
                let imports: Vec<_> = (at.saturating_sub(most).max(1)..at).map(name).collect();
                let imports: Vec<_> = imports.iter().map(|import| &import[..]).collect();
                let public: Vec<_> = (0..).take(imports.len()).collect();
                file(&name(at), &imports, &public, if at == 0 { "" } else { "F0" })
            });
            let prepared = prepare(&mut files.collect::<Vec<_>>()).map_err(|error| error.code());
            assert_eq!(prepared, if count == 300 { Ok(()) } else { Err(Code::ResourceExhausted) }, "{count} {most}");
        }
    }

    #[test]
    fn defaults_of_bytes_are_escaped() {
        let text = |text: &str| unescaped(text.as_bytes()).unwrap();
        assert_eq!(text(r#"a\a\n\?\'\"\\"#).unwrap(), b"a\x07\n?'\"\\");
        assert_eq!(text(r"\1234\7\x1é\X41").unwrap(), "S4\x07\x01éA".as_bytes());
        assert_eq!(text(r"\u00e9b\u20AC\U0001F6005\u0000a").unwrap(), "éb€\u{1f600}5\0a".as_bytes());
        assert_eq!(text(r"\ud7ff\uE000\U0010FFFF").unwrap(), "\u{d7ff}\u{e000}\u{10ffff}".as_bytes());
        for wrong in [
            r"\",
            r"\w",
            r"\8",
            r"\x",
            r"\xé",
            r"\777",
            r"\xabc",
            r"\u",
            r"\u123",
            r"\u00zz",
            r"\u+123",
            r"\U0001F60",
            r"\ud800",
            r"\udfff",
            r"\ud83d\ude00",
            r"\U0000D800",
            r"\U00110000",
            r"\UFFFFFFFF",
        ] {
            assert_eq!(text(wrong), None, "{wrong}");
        }
        let mut bytes = file("a", &[], &[], "");
        let field = &mut bytes.message_type[0].field[0];
        field.set_type(Type::Bytes);
        field.default_value = Some("\\x1é".into());
        prepare(std::slice::from_mut(&mut bytes)).unwrap();
        assert_eq!(bytes.message_type[0].field[0].default_value(), r"\001\303\251");
        assert!(taken(&[bytes]));
    }

    /// Whether a file of the syntax with the message is taken.
    fn message_taken(syntax: &str, change: impl Fn(&mut DescriptorProto)) -> bool {
        let mut file = with_syntax(syntax);
        change(&mut file.message_type[0]);
        taken(&[file])
    }

    #[test]
    fn members_of_oneofs_are_optional_and_together() {
        let with = |members: &[(Option<i32>, Label)]| {
            message_taken("proto2", |message| {
                message.oneof_decl = vec![Default::default(); 1];
                message.oneof_decl[0].name = Some("o".into());
                message.field.clear();
                for (index, &(oneof_index, label)) in (1..).zip(members) {
                    let mut field = FieldDescriptorProto {
                        name: Some(format!("f{index}")),
                        number: Some(index),
                        oneof_index,
                        ..Default::default()
                    };
                    field.set_label(label);
                    message.field.push(field);
                }
            })
        };
        let (member, other) = ((Some(0), Label::Optional), (None, Label::Required));
        assert!(with(&[member]) && with(&[other, member, member, other]));
        assert!(!with(&[]) && !with(&[other]) && !with(&[member, other, member]));
        assert!(!with(&[(Some(0), Label::Repeated)]) && !with(&[(Some(0), Label::Required)]));
    }

    #[test]
    fn proto3_has_neither_defaults_nor_required_fields() {
        for syntax in ["proto2", "proto3"] {
            let is_proto2 = syntax == "proto2";
            assert!(message_taken(syntax, |_| {}));
            assert_eq!(message_taken(syntax, |message| message.field[0].set_label(Label::Required)), is_proto2);
            assert_eq!(message_taken(syntax, |message| message.field[0].default_value = Some("1".into())), is_proto2);
        }
        let set = |message: &mut DescriptorProto| {
            message.options.get_or_insert_default().message_set_wire_format = Some(true);
        };
        assert!(!message_taken("proto2", set));
        assert!(message_taken("proto2", |message| {
            set(message);
            message.field.clear();
        }));
    }

    #[test]
    fn messages_are_nested_31_deep_at_most() {
        for depth in [31, 32] {
            let mut message = DescriptorProto { name: Some("A".into()), ..Default::default() };
            for _ in 1..depth {
                message = DescriptorProto { name: Some("A".into()), nested_type: vec![message], ..Default::default() };
            }
            assert_eq!(message_taken("proto2", |outer| *outer = message.clone()), depth == 31);
        }
    }

    #[test]
    fn names_are_of_letters_digits_and_underscores() {
        for (name, is_name) in [("a_1", true), ("1", true), ("", false), ("a.b", false), ("a b", false), ("é", false)]
        {
            assert_eq!(message_taken("proto2", |message| message.name = Some(name.into())), is_name, "{name}");
            assert_eq!(message_taken("proto2", |message| message.field[0].name = Some(name.into())), is_name, "{name}");
        }
        for (package, is_name) in [("", true), ("a.b", true), ("a..b", false), (".a", false), ("a-b", false)] {
            let file = FileDescriptorProto { package: Some(package.into()), ..with_syntax("proto2") };
            assert_eq!(taken(&[file]), is_name, "{package}");
        }
    }

    #[test]
    fn names_are_as_long_as_tensorflow_takes() {
        let long = |count: usize| Some("a".repeat(count));
        for (package, is_taken) in [
            (vec!["a"; 101].join("."), true),
            (vec!["a"; 102].join("."), false),
            ("a".repeat(511), true),
            ("a".repeat(512), false),
        ] {
            let file = FileDescriptorProto { package: Some(package), ..with_syntax("proto2") };
            assert_eq!(prepare(&mut [file]).is_ok(), is_taken);
        }
        // Within the package `t`, and the message `t.A`.
        let takes = |change: &dyn Fn(&mut DescriptorProto)| message_taken("proto2", change);
        for (most, is_taken) in [(0, true), (1, false)] {
            assert_eq!(takes(&|message| message.name = long(65533 - 2 + most)), is_taken);
            let field = |name: String, json: Option<String>| {
                takes(&|message| {
                    let field = &mut message.field[0];
                    (field.name, field.json_name) = (Some(name.clone()), json.clone());
                })
            };
            assert_eq!(field("a".repeat(65531 + most), None), is_taken);
            // Other forms of names count, too.
            assert_eq!(field("A".repeat(16381 + most), None), is_taken);
            assert_eq!(field("a_".repeat(21843 + most), None), is_taken);
            assert_eq!(field(format!("_{}", "a".repeat(16381 + most)), None), is_taken);
            assert_eq!(field("a".into(), long(65524 + most)), is_taken);
        }
        assert!(takes(&|message| {
            let value = EnumValueDescriptorProto { name: long(70000), number: Some(0), ..Default::default() };
            let of = EnumDescriptorProto { name: Some("E".into()), value: vec![value], ..Default::default() };
            message.enum_type.push(of);
        }));
    }

    #[test]
    fn names_within_names_take_little() {
        let refused = |change: &dyn Fn(&mut DescriptorProto)| {
            let mut file = with_syntax("proto2");
            change(&mut file.message_type[0]);
            prepare(&mut [file]).unwrap_err().code() == Code::ResourceExhausted
        };
        let named = |name: &str| FieldDescriptorProto { name: Some(name.into()), ..Default::default() };
        assert!(refused(&|message| {
            message.name = Some("a".repeat(60000));
            message.field = (0..5000).map(|at| named(&format!("a{at}"))).collect();
        }));
        // One full name, within which others are looked for.
        assert!(refused(&|message| {
            let part = UninterpretedNamePart { name_part: "a".into(), is_extension: true };
            let option = UninterpretedOption { name: vec![part; 5000], ..Default::default() };
            message.name = Some("a".repeat(60000));
            message.options.get_or_insert_default().uninterpreted_option.push(option);
        }));
        // A long name of a file that many see by another.
        let long = "f".repeat(1 << 20);
        let mut files = vec![file(&long, &[], &[], ""), file("b", &[&long], &[0], "")];
        files[0].message_type[0].name = Some("F".into());
        files.extend((0..300).map(|at| file(&format!("c{at}"), &["b"], &[], ".t.F")));
        assert_eq!(prepare(&mut files).unwrap_err().code(), Code::ResourceExhausted);
    }

    #[test]
    fn repeated_numbers_alone_are_packed() {
        let with = |label: Label, ty: Type| {
            message_taken("proto2", |message| {
                let field = &mut message.field[0];
                field.options.get_or_insert_default().packed = Some(true);
                field.set_label(label);
                field.set_type(ty);
            })
        };
        assert!(with(Label::Repeated, Type::Int32));
        assert!(!with(Label::Optional, Type::Int32) && !with(Label::Repeated, Type::String));
    }

    #[test]
    fn options_are_of_the_known_types() {
        let mut options = file("options", &[], &[], "");
        options.package = Some("google.protobuf".into());
        let message = &mut options.message_type[0];
        message.name = Some("FieldOptions".into());
        message.field[0].number = Some(2);
        message.field[0].set_type(Type::Bool);
        message.field[0].set_label(Label::Optional);
        assert!(taken(&[options.clone()]));
        options.message_type[0].field[0].set_type(Type::String);
        assert!(!taken(&[options]));
    }
}

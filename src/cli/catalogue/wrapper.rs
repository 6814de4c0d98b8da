//! The wrapper that `#[register_op]` writes, from the OpDef: how it is called.

use crate::collect::OpEntry;
use crate::op::{ArgDef, AttrBase, AttrDef};
use kernlink_spec::function_name;

use super::words;

/// Methods that every builder has.
const METHODS: [&str; 5] = ["name", "device", "attr", "control_input", "build"];

/// Words that are no identifiers.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "Self", "self", "static", "struct", "super", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_",
];

/// A wrapper function and the methods of the builder that it returns.
pub(super) struct Wrapper {
    /// The function's name.
    pub(super) function: String,
    /// Its parameters after the scope: name and type.
    pub(super) parameters: Vec<(String, String)>,
    /// The struct that is its last parameter: its name and its fields, each with its type.
    pub(super) required: Option<(String, Vec<(String, String)>)>,
    /// The builder's methods for optional attrs: name, type, default.
    pub(super) setters: Vec<(String, String, String)>,
    /// What `build` returns, errors aside.
    pub(super) returns: String,
}

impl Wrapper {
    /// The wrapper of an op; `None` if the op was not declared in Rust source.
    pub(super) fn of(entry: &OpEntry) -> Option<Wrapper> {
        let op = entry.def;
        if entry.provider.name.starts_with('(') {
            return None;
        }
        let mut taken = vec!["scope".to_owned()];
        let inputs = op.inputs.iter().map(|arg| (unique(&arg.name, &mut taken), input_type(arg)));
        let mut parameters: Vec<_> = inputs.collect();
        let given = |optional: bool| {
            let wanted = move |attr: &&AttrDef| !op.is_inferred(&attr.name) && attr.default.is_some() == optional;
            op.attrs.iter().filter(wanted)
        };
        // Where values in the wrong order would compile, they are given by name.
        let types: Vec<_> = given(false).map(|attr| attr.ty).collect();
        let is_struct = types.iter().enumerate().any(|(i, ty)| types[..i].contains(ty));
        let required = match is_struct {
            true => {
                let mut taken = Vec::new();
                let fields =
                    given(false).map(|attr| (unique(&function_name(&attr.name), &mut taken), field_type(attr)));
                Some((format!("{}Required", op.name.replace('>', "")), fields.collect()))
            }
            false => {
                let each = given(false);
                let each = each.map(|attr| (unique(&function_name(&attr.name), &mut taken), words::rust_type(attr)));
                parameters.extend(each);
                None
            }
        };
        let mut taken = METHODS.map(str::to_owned).to_vec();
        let setters = given(true).map(|attr| {
            let method = unique(&function_name(&attr.name), &mut taken);
            (method, words::rust_type(attr), words::default(attr).unwrap_or_default())
        });
        Some(Wrapper {
            function: free(&function_name(&op.name)),
            parameters,
            required,
            setters: setters.collect(),
            returns: returns(&op.outputs),
        })
    }

    /// The calls, one a line.
    pub(super) fn text(&self) -> String {
        let typed = |(name, ty): &(String, String)| format!("{name}: {ty}");
        let mut parameters: Vec<_> =
            ["scope".to_owned()].into_iter().chain(self.parameters.iter().map(typed)).collect();
        parameters.extend(self.required.as_ref().map(|(name, fields)| {
            let fields: Vec<_> = fields.iter().map(typed).collect();
            format!("{name} {{ {} }}", fields.join(", "))
        }));
        let mut text = format!("{}({})", self.function, parameters.join(", "));
        if text.len() > 88 {
            let parameters = parameters.iter().map(|parameter| format!("    {parameter},\n"));
            text = format!("{}(\n{})", self.function, parameters.collect::<String>());
        }
        let calls: Vec<_> = self.setters.iter().map(|(name, ty, _)| format!("    .{name}({ty})")).collect();
        let width = calls.iter().map(|call| call.chars().count()).max().unwrap_or_default().min(48);
        for (call, (.., default)) in calls.iter().zip(&self.setters) {
            text += &format!("\n{call:<width$}  // default {default}").replace("\r", " ");
        }
        text + &format!("\n    .build() -> Result<{}>", self.returns)
    }
}

fn input_type(arg: &ArgDef) -> String {
    if arg.is_list() { "impl IntoIterator<Item = Output>" } else { "Output" }.to_owned()
}

/// The type of a field: one that a literal borrows.
fn field_type(attr: &AttrDef) -> String {
    let ty = words::value_type(attr);
    match (attr.ty.list, attr.ty.base) {
        (false, AttrBase::String) => "&str".to_owned(),
        (true, AttrBase::String) => "&[&str]".to_owned(),
        (false, _) => ty.to_owned(),
        (true, _) => format!("&[{ty}]"),
    }
}

fn returns(outputs: &[ArgDef]) -> String {
    let ty = |arg: &ArgDef| if arg.is_list() { "Vec<Output>" } else { "Output" };
    match outputs {
        [] => "NodeId".to_owned(),
        [output] => ty(output).to_owned(),
        outputs => {
            let fields = outputs.iter().map(|arg| format!("{}: {}", arg.name, ty(arg)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A name that is an identifier.
fn free(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// One that is not taken yet: attrs may differ from inputs in case alone.
fn unique(name: &str, taken: &mut Vec<String>) -> String {
    let mut name = free(name);
    while taken.contains(&name) {
        name.push('_');
    }
    taken.push(name.clone());
    name
}

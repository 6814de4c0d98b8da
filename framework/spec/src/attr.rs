//! The specs of attrs: `name: type [>= minimum] [= default]`.

use std::fmt;

use crate::cursor::Cursor;
use crate::default::{self, DefaultValue};
use crate::dtype::{Dtype, SETS, dtype_from_word, dtype_set, dtype_words};
use crate::error::{Span, SpecError, did_you_mean, rust_dtype};

/// The spec of an attr.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrSpec {
    /// The attr's name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The type of its values.
    pub ty: AttrType,
    /// The values that are allowed, if not all of the type are.
    pub allowed: Option<Allowed>,
    /// The least value, or of a list the least length.
    pub minimum: Option<i64>,
    /// The value that it has when a node leaves it out.
    pub default: Option<DefaultValue>,
    /// Where the default stands.
    pub default_span: Span,
}

/// The type of an attr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttrType {
    /// The type of the value or, of a list, of its elements.
    pub base: Base,
    /// Whether it is a list.
    pub list: bool,
}

/// The base types of attrs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A byte string.
    String,
    /// A 64-bit signed integer.
    Int,
    /// A 32-bit float.
    Float,
    /// A bool.
    Bool,
    /// A dtype.
    Type,
    /// A partial shape.
    Shape,
    /// A tensor.
    Tensor,
    /// A function's name, with attrs.
    Func,
}

impl Base {
    /// All of them.
    pub const ALL: [Base; 8] =
        [Base::String, Base::Int, Base::Float, Base::Bool, Base::Type, Base::Shape, Base::Tensor, Base::Func];

    /// The word in specs.
    pub const fn name(self) -> &'static str {
        match self {
            Base::String => "string",
            Base::Int => "int",
            Base::Float => "float",
            Base::Bool => "bool",
            Base::Type => "type",
            Base::Shape => "shape",
            Base::Tensor => "tensor",
            Base::Func => "func",
        }
    }

    /// The type with this word.
    pub fn from_name(word: &str) -> Option<Base> {
        Base::ALL.into_iter().find(|base| base.name() == word)
    }
}

impl AttrType {
    /// The type that `int` or `list(int)` names.
    pub fn from_name(text: &str) -> Option<AttrType> {
        let element = text.strip_prefix("list(").and_then(|rest| rest.strip_suffix(')'));
        Some(AttrType { base: Base::from_name(element.unwrap_or(text))?, list: element.is_some() })
    }
}

impl fmt::Display for AttrType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.list { write!(f, "list({})", self.base.name()) } else { f.write_str(self.base.name()) }
    }
}

/// The values that an attr may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Dtypes, in the order written, sets expanded in place.
    Types(Vec<Dtype>),
    /// Strings.
    Strings(Vec<String>),
}

/// Reads the spec of an attr, such as `"T: {float, int32} = DT_FLOAT"`.
///
/// # Errors
/// If it does not follow the grammar, or its parts contradict each other.
pub fn parse_attr(spec: &str) -> Result<AttrSpec, SpecError> {
    let mut cursor = Cursor::new(spec);
    let (name, name_span) = cursor.name(
        "<name>",
        "a name that begins with a letter, as in `T: type`",
        |c| c.is_ascii_alphabetic(),
        |c| c.is_ascii_alphanumeric() || c == '_',
    )?;
    let (ty, allowed) = attr_type(&mut cursor)?;
    cursor.skip_blanks();
    let minimum = minimum(&mut cursor, ty)?;
    cursor.skip_blanks();
    let mut spec = AttrSpec { name, name_span, ty, allowed, minimum, default: None, default_span: 0..0 };
    if cursor.eat("=") {
        cursor.skip_blanks();
        let start = cursor.at();
        spec.default = Some(default::parse(&mut cursor, ty)?);
        spec.default_span = start..cursor.at();
        cursor.finish("nothing after the default")?;
    } else if spec.minimum.is_some() {
        cursor.finish("`= default` or nothing after the minimum")?;
    } else if ty.list || ty.base == Base::Int {
        cursor.finish("`>= minimum`, `= default` or nothing after the type")?;
    } else {
        cursor.finish("`= default` or nothing after the type")?;
    }
    if let Some(default) = &spec.default {
        spec.check_value(default)?;
    }
    Ok(spec)
}

impl AttrSpec {
    /// Whether the default fits the minimum and the allowed values.
    pub(crate) fn check_value(&self, default: &DefaultValue) -> Result<(), SpecError> {
        default.check(self).map_err(|message| SpecError::new(self.default_span.clone(), message))
    }
}

fn attr_type(cursor: &mut Cursor<'_>) -> Result<(AttrType, Option<Allowed>), SpecError> {
    let before = cursor.clone();
    if cursor.word() == "list" {
        cursor.skip_blanks();
        if !cursor.eat("(") {
            return Err(cursor.expected("`(` after `list`, as in `list(int)`"));
        }
        cursor.skip_blanks();
        let (base, allowed) = base_type(cursor)?;
        cursor.skip_blanks();
        if !cursor.eat(")") {
            let (span, found) = cursor.found();
            return Err(SpecError::new(span, format!("expected `)` to close `list(`, not: {found}")));
        }
        return Ok((AttrType { base, list: true }, allowed));
    }
    *cursor = before;
    let (base, allowed) = base_type(cursor)?;
    Ok((AttrType { base, list: false }, allowed))
}

fn base_type(cursor: &mut Cursor<'_>) -> Result<(Base, Option<Allowed>), SpecError> {
    if cursor.eat("{") {
        cursor.skip_blanks();
        return match cursor.peek() {
            Some('\'' | '"') => Ok((Base::String, Some(Allowed::Strings(strings(cursor)?)))),
            _ => Ok((Base::Type, Some(Allowed::Types(types(cursor)?)))),
        };
    }
    let start = cursor.at();
    let word = cursor.word();
    let span = start..cursor.at();
    if let Some(base) = Base::from_name(word) {
        return Ok((base, None));
    }
    if let Some(types) = dtype_set(word) {
        return Ok((Base::Type, Some(Allowed::Types(types))));
    }
    if word.is_empty() {
        return Err(cursor.expected("the type of the attr, such as `int` or `{float, double}`"));
    }
    let help = match word {
        "list" => "lists of lists do not exist".to_owned(),
        "any" => "`any` is for attrs that TensorFlow itself makes; write `type` for any dtype".to_owned(),
        "str" => "did you mean `string`?".to_owned(),
        "boolean" => "did you mean `bool`?".to_owned(),
        // As Rust calls them.
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => {
            "write `int` for an integer; attrs have 64 bits".to_owned()
        }
        "f32" | "f64" => "write `float` for a number; attrs have 32 bits".to_owned(),
        "dtype" | "DataType" => "did you mean `type`?".to_owned(),
        "function" => "did you mean `func`?".to_owned(),
        "int32" | "int64" | "int8" | "int16" => {
            format!("write `int` for an integer, or `{{{word}}}` for a dtype that must be {word}")
        }
        "double" => "write `float` for a number, or `{double}` for a dtype that must be double".to_owned(),
        _ if dtype_from_word(word).is_some() => format!("write `{{{word}}}` for a dtype that must be {word}"),
        _ => {
            let words =
                Base::ALL.iter().map(|base| base.name()).chain(SETS.iter().map(|(set, _)| *set)).chain(["list"]);
            did_you_mean(word, words, || {
                "expected string, int, float, bool, type, shape, tensor, func, list(...), numbertype, \
                 realnumbertype, quantizedtype, or allowed values in braces"
                    .to_owned()
            })
        }
    };
    Err(SpecError::new(span, format!("unrecognized attr type `{word}`: {help}")))
}

/// The rest of `{'a', "b",}`.
fn strings(cursor: &mut Cursor<'_>) -> Result<Vec<String>, SpecError> {
    let mut strings = Vec::new();
    loop {
        let start = cursor.at();
        if !matches!(cursor.peek(), Some('\'' | '"')) {
            let (span, found) = cursor.found();
            let message = format!(
                "trouble parsing allowed string: expected a quoted string such as `'SAME'`, found {found} (strings \
                 and dtypes cannot be mixed)"
            );
            return Err(SpecError::new(span, message));
        }
        let bytes = cursor.quoted()?;
        let text = String::from_utf8(bytes)
            .map_err(|_| SpecError::new(start..cursor.at(), "an allowed string must be UTF-8"))?;
        if strings.contains(&text) {
            return Err(SpecError::new(start..cursor.at(), format!("the string `{text}` is listed twice")));
        }
        strings.push(text);
        if next(cursor, "strings")? {
            return Ok(strings);
        }
    }
}

/// The rest of `{int32, numbertype,}`.
fn types(cursor: &mut Cursor<'_>) -> Result<Vec<Dtype>, SpecError> {
    let mut types = Vec::new();
    loop {
        let start = cursor.at();
        let word = cursor.word();
        let span = start..cursor.at();
        if word.is_empty() {
            let (span, found) = cursor.found();
            let message = format!(
                "trouble parsing type string: expected a dtype such as `float`, or a set such as `numbertype`, found \
                 {found}"
            );
            return Err(SpecError::new(span, message));
        }
        if let Some(set) = dtype_set(word) {
            types.extend(set);
        } else if let Some(dtype) = dtype_from_word(word) {
            types.push(dtype);
        } else {
            let help = if let Some(dtype) = crate::DTYPES.iter().find(|dtype| dtype.proto_name == word) {
                format!("in braces it is written `{}`", dtype.name)
            } else if word.strip_suffix("_ref").and_then(dtype_from_word).is_some() {
                "references are stated at the argument, as `Ref(T)`".to_owned()
            } else {
                rust_dtype(word).unwrap_or_else(|| {
                    did_you_mean(word, dtype_words(), || {
                        format!(
                            "expected a dtype such as `float`, or numbertype, realnumbertype or quantizedtype; a string \
                             stands in quotes, `'{word}'`"
                        )
                    })
                })
            };
            return Err(SpecError::new(span, format!("unrecognized type string `{word}`: {help}")));
        }
        if next(cursor, "types")? {
            return Ok(types);
        }
    }
}

/// Passes over `,` or `}`; true at the end of the braces.
fn next(cursor: &mut Cursor<'_>, what: &str) -> Result<bool, SpecError> {
    cursor.skip_blanks();
    let comma = cursor.eat(",");
    cursor.skip_blanks();
    if cursor.eat("}") {
        return Ok(true);
    }
    if comma {
        return Ok(false);
    }
    let (span, found) = cursor.found();
    Err(SpecError::new(span, format!("expected `,` or `}}` after {what} in braces, not: {found}")))
}

fn minimum(cursor: &mut Cursor<'_>, ty: AttrType) -> Result<Option<i64>, SpecError> {
    let start = cursor.at();
    if !cursor.eat(">") {
        return Ok(None);
    }
    if !cursor.eat("=") {
        return Err(cursor.expected("a minimum such as `>= 1`: `=` after `>`"));
    }
    cursor.skip_blanks();
    let at = cursor.at();
    let word = cursor.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'));
    let span = at..cursor.at();
    let Some(minimum) = word.parse::<i64>().ok().filter(|_| !word.starts_with('+')) else {
        let found = if word.is_empty() { cursor.found().1 } else { format!("`{word}`") };
        let span = if word.is_empty() { cursor.found().0 } else { span };
        let message = format!(
            "could not parse integer lower limit after `>=`, found {found} instead: expected an integer such as `1`"
        );
        return Err(SpecError::new(span, message));
    };
    if !ty.list && ty.base != Base::Int {
        let message = format!("a minimum is for int and for lists (their length), not for {ty}: remove it");
        return Err(SpecError::new(start..cursor.at(), message));
    }
    if ty.list && minimum < 0 {
        let message = format!("the minimum of a list is its least length and must not be negative, not {minimum}");
        return Err(SpecError::new(span, message));
    }
    Ok(Some(minimum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::default::Scalar;

    fn names(allowed: &Option<Allowed>) -> Vec<&str> {
        match allowed {
            Some(Allowed::Types(types)) => types.iter().map(|dtype| dtype.name).collect(),
            Some(Allowed::Strings(strings)) => strings.iter().map(String::as_str).collect(),
            None => Vec::new(),
        }
    }

    #[test]
    fn every_base_type_alone_and_in_lists() {
        for base in Base::ALL {
            let spec = parse_attr(&format!("a: {}", base.name())).unwrap();
            assert_eq!((spec.ty, spec.allowed), (AttrType { base, list: false }, None));
            let spec = parse_attr(&format!("a: list({})", base.name())).unwrap();
            assert_eq!((spec.ty, spec.minimum), (AttrType { base, list: true }, None));
        }
    }

    #[test]
    fn blanks_are_allowed_between_words() {
        let spec = parse_attr("N : list ( { int32 , numbertype , } ) >= 2 = [ DT_INT32 , DT_FLOAT ] ").unwrap();
        assert_eq!(names(&spec.allowed)[..3], ["int32", "float", "double"]);
        assert_eq!(names(&spec.allowed).len(), 20);
        assert_eq!(spec.minimum, Some(2));
        assert_eq!(parse_attr("N:int>=-1=3").unwrap().default, Some(DefaultValue::One(Scalar::Int(3))));
    }

    #[test]
    fn sets_of_types() {
        assert_eq!(names(&parse_attr("T: numbertype").unwrap().allowed).len(), 19);
        assert_eq!(names(&parse_attr("T: numerictype").unwrap().allowed).len(), 19);
        assert_eq!(names(&parse_attr("T: realnumbertype").unwrap().allowed).len(), 12);
        assert_eq!(names(&parse_attr("T: list(quantizedtype)").unwrap().allowed).len(), 5);
        assert_eq!(names(&parse_attr("T: {float32,float8_e5m2}").unwrap().allowed), ["float", "float8_e5m2"]);
        assert_eq!(names(&parse_attr("T: {realnumbertype, string}").unwrap().allowed).len(), 13);
    }

    #[test]
    fn sets_of_strings() {
        let spec = parse_attr(r#"p: {'SAME', "it's", 'a\x041\101\'', '\u00e9' } = "SAME""#).unwrap();
        assert_eq!(spec.ty, AttrType { base: Base::String, list: false });
        assert_eq!(names(&spec.allowed), ["SAME", "it's", "aAA'", "é"]);
        assert!(parse_attr("p: list({'a','b'}) = ['b','a']").unwrap().ty.list);
    }

    #[track_caller]
    fn fails(spec: &str, message: &str, piece: &str) {
        let error = parse_attr(spec).unwrap_err();
        assert!(error.message.contains(message), "{}", error.render(spec));
        assert_eq!(&spec[error.span.clone()], piece, "{}", error.render(spec));
    }

    #[test]
    fn errors_of_names() {
        fails("", "the spec is empty", "");
        fails(" T: type", "remove the leading blank", " ");
        fails("_T: type", "trouble parsing `<name>:`: expected a name that begins with a letter", "_T");
        fails("1T: type", "trouble parsing", "1T");
        fails("T type", "expected `:` after the name `T`, found `type`", "type");
        fails("T-x: type", "expected `:` after the name `T`, found `-`", "-");
    }

    #[test]
    fn errors_of_types() {
        fails("T:", "expected the type of the attr", "");
        fails("T: = 3", "expected the type of the attr", "=");
        fails("T: typefoo", "unrecognized attr type `typefoo`", "typefoo");
        fails("T: ints", "did you mean `int`?", "ints");
        fails("T: int32", "write `int` for an integer, or `{int32}`", "int32");
        fails("T: half", "write `{half}` for a dtype", "half");
        fails("T: any", "write `type`", "any");
        fails("T: list", "expected `(` after `list`", "");
        fails("T: list(list(int))", "lists of lists do not exist", "list");
        fails("T: list(int", "expected `)` to close `list(`, not: the end", "");
        fails("T: list(int]", "expected `)` to close `list(`, not: `]`", "]");
        fails("T: list(wat)", "unrecognized attr type `wat`", "wat");
        fails("T: int int", "extra `int` at the end: expected `>= minimum`", "int");
        fails("T: bool x", "expected `= default` or nothing", "x");
    }

    #[test]
    fn errors_of_allowed_values() {
        fails("T: {}", "trouble parsing type string", "}");
        fails("T: {", "trouble parsing type string", "");
        fails("T: {,}", "trouble parsing type string", ",");
        fails("T: {float", "expected `,` or `}` after types in braces, not: the end", "");
        fails("T: {float double}", "expected `,` or `}` after types", "double");
        fails("T: {flaot}", "unrecognized type string `flaot`: did you mean `float`?", "flaot");
        fails("T: {DT_FLOAT}", "in braces it is written `float`", "DT_FLOAT");
        fails("T: {float_ref}", "as `Ref(T)`", "float_ref");
        fails("T: {float, 'a'}", "trouble parsing type string", "'");
        fails("T: {'a', float}", "strings and dtypes cannot be mixed", "float");
        fails("T: {'a' 'b'}", "expected `,` or `}` after strings", "'");
        fails("T: {'a', 'a'}", "listed twice", "'a'");
        fails("T: {'a", "no closing '", "'a");
        fails(r"T: {'\q'}", r"trouble unescaping `\q`", r"\q");
        fails(r"T: {'\xg'}", "hexadecimal digits", r"\x");
        fails(r"T: {'\777'}", "above 255", r"\777");
        fails(r"T: {'\x41b'}", "above ff", r"\x41b");
        fails(r"T: {'\u041'}", "expected 4 hexadecimal digits of a character", r"\u041");
        fails(r"T: {'\ud800'}", "expected 4 hexadecimal digits of a character", r"\ud800");
        fails(r"T: {'\xff'}", "must be UTF-8", r"'\xff'");
    }

    #[test]
    fn errors_of_minimums() {
        fails("N: int >= x", "could not parse integer lower limit after `>=`, found `x` instead", "x");
        fails("N: int >=", "found the end instead", "");
        fails("N: int >= 1.5", "found `1.5` instead", "1.5");
        fails("N: int >= +1", "found `+1` instead", "+1");
        fails("N: int > 1", "expected a minimum such as `>= 1`: `=` after `>`, found a blank", " ");
        fails("N: float >= 1", "a minimum is for int and for lists", ">= 1");
        fails("N: type >= 1", "a minimum is for int and for lists", ">= 1");
        fails("N: list(int) >= -1", "must not be negative", "-1");
        fails("N: int >= 1 2", "extra `2` at the end", "2");
        fails("N: int >= 2 = 1", "must be at least minimum 2", "1");
        fails("N: list(int) >= 2 = [1]", "must be at least minimum 2", "[1]");
    }
}

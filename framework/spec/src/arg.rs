//! The specs of inputs and outputs: `name: [Ref(] [N *] T [)]`.

use crate::cursor::Cursor;
use crate::error::{Span, SpecError};

/// The spec of an input or output, as written: [`check_op`](crate::check_op) says what its words mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgSpec {
    /// The argument's name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The dtype, or the name of an attr.
    pub ty: Word,
    /// For `N * T`, the name of the attr that holds the number of tensors.
    pub number: Option<Word>,
    /// Whether it is `Ref(...)`.
    pub is_ref: bool,
}

/// A word of a spec, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// Reads the spec of an input or output, such as `"values: N * T"`.
///
/// # Errors
/// If it does not follow the grammar.
pub fn parse_arg(spec: &str) -> Result<ArgSpec, SpecError> {
    let mut cursor = Cursor::new(spec);
    let form = "a snake_case name that begins with a lower-case letter, as in `values: T`";
    let (name, name_span) = cursor.name(
        "name",
        form,
        |c| c.is_ascii_lowercase(),
        |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_',
    )?;
    let before = cursor.clone();
    let is_ref = cursor.word() == "Ref" && {
        cursor.skip_blanks();
        cursor.eat("(")
    };
    if is_ref {
        cursor.skip_blanks();
    } else {
        cursor = before;
    }
    let mut ty = type_or_attr(&mut cursor)?;
    cursor.skip_blanks();
    let number = if cursor.eat("*") {
        cursor.skip_blanks();
        Some(std::mem::replace(&mut ty, type_or_attr(&mut cursor)?))
    } else {
        None
    };
    if is_ref {
        cursor.skip_blanks();
        if !cursor.eat(")") {
            let (span, found) = cursor.found();
            let message = format!("did not find closing `)` for `Ref(`, instead found: {found}");
            return Err(SpecError::new(span, message));
        }
    }
    cursor.finish("a spec of the form `name: T`, `name: N * T` or `name: Ref(T)`")?;
    Ok(ArgSpec { name, name_span, ty, number, is_ref })
}

fn type_or_attr(cursor: &mut Cursor<'_>) -> Result<Word, SpecError> {
    let start = cursor.at();
    if cursor.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
        let text = cursor.word().to_owned();
        return Ok(Word { text, span: start..cursor.at() });
    }
    let (span, found) = cursor.found();
    let message = format!(
        "trouble parsing either a type or an attr name: expected a dtype such as `float`, or the name of an attr, \
         found {found}"
    );
    Err(SpecError::new(span, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, start: usize) -> Word {
        Word { text: text.to_owned(), span: start..start + text.len() }
    }

    #[test]
    fn every_form() {
        let plain = parse_arg("x: T").unwrap();
        assert_eq!((plain.name.as_str(), plain.ty, plain.number, plain.is_ref), ("x", word("T", 3), None, false));
        let list = parse_arg("values: N * T").unwrap();
        assert_eq!((list.ty, list.number), (word("T", 12), Some(word("N", 8))));
        let tight = parse_arg("values:N*int32").unwrap();
        assert_eq!((tight.ty, tight.number), (word("int32", 9), Some(word("N", 7))));
        let reference = parse_arg("ref: Ref(T)").unwrap();
        assert!(reference.is_ref && reference.ty == word("T", 9));
        let reference = parse_arg("refs: Ref( N*float ) ").unwrap();
        assert!(reference.is_ref && reference.number == Some(word("N", 11)));
        assert_eq!(parse_arg("a_1 : float8_e5m2").unwrap().ty, word("float8_e5m2", 6));
        // An attr may be called `Reference`, or even `Ref`.
        assert_eq!(parse_arg("x: Reference").unwrap().ty, word("Reference", 3));
        assert_eq!(parse_arg("x: Ref").unwrap().ty, word("Ref", 3));
    }

    #[track_caller]
    fn fails(spec: &str, message: &str, span: Span) {
        let error = parse_arg(spec).unwrap_err();
        assert!(error.message.contains(message), "{}", error.render(spec));
        assert_eq!(error.span, span, "{}", error.render(spec));
    }

    #[test]
    fn errors() {
        fails("", "the spec is empty", 0..0);
        fails(" x: T", "remove the leading blank", 0..1);
        fails("X: T", "trouble parsing `name:`", 0..1);
        fails("_x: T", "found `_x`", 0..2);
        fails("xY: T", "expected `:` after the name `x`, found `Y`", 1..2);
        fails("x T", "expected `:` after the name `x`, found `T`", 2..3);
        fails("x", "found the end", 1..1);
        fails("x:", "either a type or an attr name", 2..2);
        fails("x: *T", "either a type or an attr name", 3..4);
        fails("x: 3*T", "either a type or an attr name", 3..4);
        fails("x: N*", "either a type or an attr name", 5..5);
        fails("x: Ref(T", "did not find closing `)` for `Ref(`, instead found: the end", 8..8);
        fails("x: Ref(T*N*M)", "instead found: `*`", 10..11);
        fails("x: T U", "extra `U` at the end", 5..6);
        fails("x: list(T)", "extra `(T)` at the end", 7..10);
        fails("x: T)", "extra `)`", 4..5);
    }
}

//! Texts as a shell reads them.

use std::path::Path;

/// A word.
pub(crate) fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A path, in quotes only if it needs them.
pub(crate) fn path(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '\\' | ':' | '.' | '_' | '-' | '+' | ',' | '~');
    let dashed = if text.starts_with('-') { format!("./{text}") } else { text };
    if dashed.chars().all(is_plain) { dashed } else { word(&dashed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_read_paths() {
        for (from, text) in [("../my-ops", "../my-ops"), ("my ops", "'my ops'"), ("a'b", r"'a'\''b'"), ("-x", "./-x")] {
            assert_eq!(path(Path::new(from)), text);
        }
    }

    #[test]
    fn words_may_hold_quotes() {
        assert_eq!(word(r#""it's""#), r#"'"it'\''s"'"#);
    }
}

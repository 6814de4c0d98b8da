//! The functions of `math.wgsl` and `special.wgsl` that a shader calls.

use std::sync::OnceLock;

/// The name and the text of a function.
type Helper = (&'static str, &'static str);

/// All functions of the files, in their order.
fn helpers() -> &'static [Helper] {
    static HELPERS: OnceLock<Vec<Helper>> = OnceLock::new();
    HELPERS.get_or_init(|| {
        let text = concat!(include_str!("math.wgsl"), "\n", include_str!("special.wgsl"));
        let starts: Vec<usize> = text.match_indices("\nfn ").map(|(at, _)| at + 1).collect();
        let ends = starts.iter().map(|&start| start + text[start..].find("\n}\n").map_or(0, |end| end + 3));
        let functions = starts.iter().zip(ends).map(|(&start, end)| {
            let function = &text[start..end];
            let name = &function["fn ".len()..function.find('(').unwrap_or(function.len())];
            (name, function)
        });
        functions.collect()
    })
}

/// Whether a text calls a function.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let is_part = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_part && text[at + name.len()..].starts_with('(')
    })
}

/// The texts of the functions that `text` calls, and of those that these call, in the order of the files.
pub(crate) fn for_text(text: &str) -> String {
    let all = helpers();
    let mut wanted = vec![false; all.len()];
    let mut texts = vec![text];
    while let Some(text) = texts.pop() {
        for (wanted, &(name, function)) in wanted.iter_mut().zip(all) {
            if !*wanted && calls(text, name) {
                *wanted = true;
                texts.push(function);
            }
        }
    }
    all.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(&(_, function), _)| function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_is_there_once() {
        let text = for_text("fn f(x: f32) -> f32 { return own_tanh(x) + own_tanh(x); }");
        assert_eq!(text.matches("fn own_tanh(").count(), 1);
        assert_eq!(text.matches("fn bounded(").count(), 1);
        assert!(!text.contains("fn own_exp("));
        assert_eq!(for_text("return not_inf(x);"), "");
        assert!(helpers().len() > 40);
    }
}

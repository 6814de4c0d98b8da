//! The documentation of an op as TensorFlow writes it: one text for the op and all its parts.

use super::OpDef;

/// Parses a documentation text: the first line that is not blank is the summary; what follows, up to the first
/// line of the form `word:`, the description; and each `word:` begins the text of the argument or attr of that name,
/// whose further lines lose the indent that they have in common.
pub(super) fn apply(text: &str, op: &mut OpDef) -> Result<(), Vec<String>> {
    let mut lines = text.lines().map(str::trim_end).skip_while(|line| line.is_empty()).peekable();
    let summary = lines.next().unwrap_or_default();
    let mut description: Vec<&str> = Vec::new();
    while let Some(line) = lines.next_if(|line| name_and_rest(line).is_none()) {
        description.push(line);
    }
    let mut errors = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    while let Some((name, rest)) = lines.next().and_then(name_and_rest) {
        let mut block = vec![rest];
        while let Some(line) = lines.next_if(|line| name_and_rest(line).is_none()) {
            block.push(line);
        }
        let text = part_text(block);
        if seen.contains(&name) {
            errors.push(format!("`{name}` is documented twice: remove one of the two texts"));
            continue;
        }
        seen.push(name);
        if !set_part(op, name, text) {
            errors.push(format!(
                "no matching input/output/attr for name `{name}`: a line that begins with `{name}:` documents the part \
                 of that name; correct the name, or indent the line if it belongs to the text above"
            ));
        }
    }
    op.summary = summary.to_owned().into();
    op.description = trim_blank_lines(&description).join("\n").into();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// `name: rest`, if the line is of this form.
fn name_and_rest(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start().strip_prefix(':')?;
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| (name, rest.trim_start()))
}

/// The lines of a part's text, the common indent of all but the first removed.
fn part_text(mut block: Vec<&str>) -> String {
    while block.last().is_some_and(|line| line.is_empty()) {
        block.pop();
    }
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let common = block.iter().skip(1).filter(|line| !line.is_empty()).map(|line| indent(line)).min().unwrap_or(0);
    for line in block.iter_mut().skip(1).filter(|line| !line.is_empty()) {
        *line = &line[common..];
    }
    block.join("\n")
}

fn trim_blank_lines<'a, 'b>(mut lines: &'b [&'a str]) -> &'b [&'a str] {
    while let [first, rest @ ..] = lines
        && first.is_empty()
    {
        lines = rest;
    }
    while let [rest @ .., last] = lines
        && last.is_empty()
    {
        lines = rest;
    }
    lines
}

fn set_part(op: &mut OpDef, name: &str, text: String) -> bool {
    let inputs = op.inputs.to_mut().iter_mut();
    if let Some(arg) = inputs.chain(op.outputs.to_mut().iter_mut()).find(|arg| arg.name == name) {
        arg.description = text.into();
        return true;
    }
    if let Some(attr) = op.attrs.to_mut().iter_mut().find(|attr| attr.name == name) {
        attr.description = text.into();
        return true;
    }
    false
}

//! The simple markdown of documentation, as HTML: paragraphs, lists, headings, code, emphasis, links. What is not
//! understood, HTML included, appears as it is written.

use super::markup::Html;

/// Where an op's name in backticks leads to.
pub(super) type Links<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A block of lines.
#[derive(Debug, PartialEq)]
enum Block {
    Paragraph(String),
    Heading(String),
    Code(String),
    List { ordered: bool, items: Vec<String> },
}

/// A text of several paragraphs.
pub(super) fn blocks(html: &mut Html, text: &str, links: Links<'_>) {
    nested(html, text, links, 0);
}

/// The same, of which a single paragraph needs no element of its own.
pub(super) fn cell(html: &mut Html, text: &str, links: Links<'_>) {
    match &parse(text)[..] {
        [Block::Paragraph(text)] => inline(html, text, links),
        _ => blocks(html, text, links),
    }
}

fn nested(html: &mut Html, text: &str, links: Links<'_>, depth: usize) {
    for block in parse(text) {
        match block {
            Block::Paragraph(text) => {
                html.element("p", &[], |html| inline(html, &text, links));
            }
            Block::Heading(text) => {
                html.element("h4", &[], |html| inline(html, &text, links));
            }
            Block::Code(text) => {
                html.element("pre", &[("tabindex", "0")], |html| {
                    html.leaf("code", &[], &text);
                });
            }
            Block::List { ordered, items } => {
                html.element(if ordered { "ol" } else { "ul" }, &[], |html| {
                    for item in items {
                        html.element("li", &[], |html| match &parse(&item)[..] {
                            [Block::Paragraph(text)] => inline(html, text, links),
                            // Deeper than anybody writes.
                            _ if depth > 8 => inline(html, &item, links),
                            _ => nested(html, &item, links, depth + 1),
                        });
                    }
                });
            }
        }
    }
}

fn parse(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        let trimmed = line.trim_start();
        if trimmed.is_empty() {
            at += 1;
        } else if let Some(fence) = fence(trimmed) {
            let end = lines[at + 1..].iter().position(|line| line.trim() == fence).map(|n| at + 1 + n);
            let body = &lines[at + 1..end.unwrap_or(lines.len())];
            blocks.push(Block::Code(outdent(body, indent(line))));
            at = end.map_or(lines.len(), |end| end + 1);
        } else if indent(line) >= 4 {
            let is_code = |line: &&&str| line.is_empty() || indent(line) >= 4;
            let length = lines[at..].iter().take_while(is_code).count();
            blocks.push(Block::Code(outdent(&lines[at..at + length], 4).trim_end().to_owned()));
            at += length;
        } else if let Some(heading) = heading(trimmed) {
            blocks.push(Block::Heading(heading.to_owned()));
            at += 1;
        } else if let Some((ordered, _)) = marker(line) {
            let mut items: Vec<String> = Vec::new();
            let mut body = 0;
            while let Some(&line) = lines.get(at) {
                match marker(line) {
                    Some((of, start)) if items.is_empty() || (indent(line) < body && of == ordered) => {
                        items.push(line[start..].to_owned());
                        body = start;
                    }
                    Some(_) if indent(line) < body => break,
                    _ if line.is_empty() => {
                        // A blank line ends the list unless it goes on below.
                        let next = lines[at..].iter().find(|line| !line.is_empty());
                        let goes_on = next.is_some_and(|next| {
                            indent(next) >= body || marker(next).is_some_and(|(of, _)| of == ordered)
                        });
                        if !goes_on {
                            break;
                        }
                        add(&mut items, "");
                    }
                    _ => add(&mut items, &outdent(&[line], body)),
                }
                at += 1;
            }
            let items = items.into_iter().map(|item| item.trim_end().to_owned()).collect();
            blocks.push(Block::List { ordered, items });
        } else {
            let begins_block = |line: &str| {
                line.is_empty()
                    || fence(line.trim_start()).is_some()
                    || heading(line).is_some()
                    || marker(line).is_some_and(|(ordered, _)| !ordered || line.trim_start().starts_with("1."))
            };
            let length = 1 + lines[at + 1..].iter().take_while(|line| !begins_block(line)).count();
            let words: Vec<&str> = lines[at..at + length].iter().map(|line| line.trim()).collect();
            blocks.push(Block::Paragraph(words.join("\n")));
            at += length;
        }
    }
    blocks
}

fn add(items: &mut [String], line: &str) {
    if let Some(item) = items.last_mut() {
        item.push('\n');
        item.push_str(line);
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn outdent(lines: &[&str], by: usize) -> String {
    lines.iter().map(|line| &line[indent(line).min(by)..]).collect::<Vec<_>>().join("\n")
}

fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|fence| line.strip_prefix(fence).is_some_and(|rest| !rest.contains('`')))
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (1..=6).contains(&level).then(|| rest.strip_prefix(' ')).flatten().map(str::trim)
}

/// Whether a line begins an item of a list: whether that is numbered, and where its text begins.
fn marker(line: &str) -> Option<(bool, usize)> {
    let text = line.trim_start_matches(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (ordered, after) = match text.as_bytes().first()? {
        b'-' | b'*' | b'+' => (false, 1),
        _ if (1..=9).contains(&digits) && matches!(text.as_bytes().get(digits), Some(b'.' | b')')) => {
            (true, digits + 1)
        }
        _ => return None,
    };
    let blanks = indent(text.get(after..)?);
    let has_text = text.len() > after + blanks;
    (blanks > 0 && has_text).then(|| (ordered, indent(line) + after + blanks.min(4)))
}

/// Text within a paragraph.
pub(super) fn inline(html: &mut Html, text: &str, links: Links<'_>) {
    let mut rest = text;
    let mut plain = String::new();
    let flush = |html: &mut Html, plain: &mut String| {
        html.text(plain);
        plain.clear();
    };
    while let Some(c) = rest.chars().next() {
        let before = plain.chars().last();
        if let Some((code, after)) = (c == '`').then(|| code_span(rest)).flatten() {
            flush(html, &mut plain);
            code_or_link(html, code, links);
            rest = after;
        } else if c == '`' {
            let run = rest.len() - rest.trim_start_matches('`').len();
            plain.push_str(&rest[..run]);
            rest = &rest[run..];
        } else if let Some((label, target, after)) = (c == '[').then(|| link(rest)).flatten() {
            flush(html, &mut plain);
            let web = target.filter(|target| target.starts_with("https://") || target.starts_with("http://"));
            match web {
                Some(web) => {
                    html.element("a", &[("href", web), ("rel", "noreferrer")], |html| inline(html, label, &|_| None));
                }
                None => inline(html, label, links),
            }
            rest = after;
        } else if let Some((strong, inner, after)) = emphasis(rest, before) {
            flush(html, &mut plain);
            html.element(if strong { "strong" } else { "em" }, &[], |html| inline(html, inner, links));
            rest = after;
        } else {
            let escaped = rest[c.len_utf8()..].chars().next().filter(|next| c == '\\' && "\\`*_[]<>#".contains(*next));
            plain.push(escaped.unwrap_or(c));
            rest = &rest[c.len_utf8() + escaped.map_or(0, char::len_utf8)..];
        }
    }
    flush(html, &mut plain);
}

/// A span of code, and what follows it.
fn code_span(text: &str) -> Option<(&str, &str)> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let body = &text[ticks..];
    let mut at = 0;
    while let Some(found) = body[at..].find('`') {
        let start = at + found;
        let run = body[start..].len() - body[start..].trim_start_matches('`').len();
        if run == ticks {
            let code = &body[..start];
            let inner = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
            let code = inner.filter(|inner| !inner.trim().is_empty()).unwrap_or(code);
            return Some((code, &body[start + run..]));
        }
        at = start + run;
    }
    None
}

fn code_or_link(html: &mut Html, code: &str, links: Links<'_>) {
    let name = code.rsplit("::").next().unwrap_or(code);
    match links(name) {
        Some(target) => html.element("a", &[("href", &target)], |html| {
            html.leaf("code", &[], name);
        }),
        None => html.leaf("code", &[], code),
    };
}

/// `[label](target)`, or `[label]` around code, as Rust's documentation links to items.
fn link(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let body = &text[1..];
    if body.starts_with('`') {
        let (_, after) = code_span(body)?;
        let label = &body[..body.len() - after.len()];
        let after = after.strip_prefix(']')?;
        let target = target(after);
        return Some((label, target.map(|(target, _)| target), target.map_or(after, |(_, after)| after)));
    }
    let end = body.find(']').filter(|end| !body[..*end].contains('['))?;
    let (target, after) = target(&body[end + 1..])?;
    Some((&body[..end], Some(target), after))
}

fn target(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_prefix('(')?;
    let end = body.find(')').filter(|end| !body[..*end].contains(char::is_whitespace))?;
    Some((&body[..end], &body[end + 1..]))
}

/// `**strong**`, `*emphasis*` or `_emphasis_`, and what follows. Products and `snake_case` are neither.
fn emphasis(text: &str, before: Option<char>) -> Option<(bool, &str, &str)> {
    let sign = ["**", "*", "_"].into_iter().find(|sign| text.starts_with(sign))?;
    let body = &text[sign.len()..];
    if before.is_some_and(char::is_alphanumeric) || body.starts_with(|c: char| c.is_whitespace() || c == '*') {
        return None;
    }
    let mut at = 0;
    loop {
        let end = at + body[at..].find(sign)?;
        let (inner, after) = (&body[..end], &body[end + sign.len()..]);
        let closes = !inner.is_empty()
            && !inner.ends_with(|c: char| c.is_whitespace() || c == '*')
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '*')
            && inner.matches('`').count() % 2 == 0
            && !inner.contains("\n\n");
        if closes {
            return Some((sign == "**", inner, after));
        }
        at = end + sign.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(name: &str) -> Option<String> {
        ["Softmax", "MatMul"].contains(&name).then(|| format!("nn.html#{name}"))
    }

    #[track_caller]
    fn renders(text: &str, expected: &str) {
        let mut html = Html::new();
        blocks(&mut html, text, &links);
        assert_eq!(html.into_text().replace('\n', ""), expected, "{text}");
    }

    #[test]
    fn paragraphs_and_what_is_in_them() {
        renders("One\ntwo.\n\n\nThree", "<p>Onetwo.</p><p>Three</p>");
        renders(
            "`a < b`, ``a`b`` and a lone ` tick",
            "<p><code>a &lt; b</code>, <code>a`b</code> and a lone ` tick</p>",
        );
        renders("**strong**, *so* _so_", "<p><strong>strong</strong>, <em>so</em> <em>so</em></p>");
        renders("a * b * c, 2*x*y, snake_case_name, **", "<p>a * b * c, 2*x*y, snake_case_name, **</p>");
        renders("*a `*` b*", "<p><em>a <code>*</code> b</em></p>");
        renders(r"\*not\* [i, j] [a](b c)", "<p>*not* [i, j] [a](b c)</p>");
    }

    #[test]
    fn links_to_ops_and_to_the_web_alone() {
        let softmax = "<a href=\"nn.html#Softmax\"><code>Softmax</code></a>";
        renders("See `Softmax`.", &format!("<p>See {softmax}.</p>"));
        renders("See [`Softmax`].", &format!("<p>See {softmax}.</p>"));
        renders("See [`Softmax`](crate::nn::Softmax), [`a::Softmax`]", &format!("<p>See {softmax}, {softmax}</p>"));
        renders("[`Other`]", "<p><code>Other</code></p>");
        renders(
            "[so](https://a.b/?c=\"d\")",
            "<p><a href=\"https://a.b/?c=&quot;d&quot;\" rel=\"noreferrer\">so</a></p>",
        );
        renders("[so](javascript:alert)", "<p>so</p>");
        renders("[`so`](JavaScript:alert)", "<p><code>so</code></p>");
    }

    #[test]
    fn lists_headings_and_code() {
        renders("Of:\n- a\n  b\n- c", "<p>Of:</p><ul><li>ab</li><li>c</li></ul>");
        renders("1. a\n2. b\n\nEnd", "<ol><li>a</li><li>b</li></ol><p>End</p>");
        renders("- a\n  - b\n  - c\n- d", "<ul><li><p>a</p><ul><li>b</li><li>c</li></ul></li><li>d</li></ul>");
        renders("- a\n\n  more\n\n- b", "<ul><li><p>a</p><p>more</p></li><li>b</li></ul>");
        renders("  - a\n  - b", "<ul><li>a</li><li>b</li></ul>");
        renders("# Head\nText\n## <b>", "<h4>Head</h4><p>Text</p><h4>&lt;b&gt;</h4>");
        renders("```text\na  < b\n\n- c\n```\nd", "<pre tabindex=\"0\"><code>a  &lt; b- c</code></pre><p>d</p>");
        renders("a\n\n    code\n      more\n\nb", "<p>a</p><pre tabindex=\"0\"><code>code  more</code></pre><p>b</p>");
        renders("```\nnever ends", "<pre tabindex=\"0\"><code>never ends</code></pre>");
    }

    #[test]
    fn any_text_is_rendered() {
        let signs =
            ["`", "*", "**", "_", "[", "](", ")", "\\", "- ", "1. ", "\n", "\n\n", "    ", "# ", "```", "é", "x"];
        let mut state = 1u64;
        for _ in 0..3_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text += signs[(state >> 33) as usize % signs.len()];
            }
            let mut html = Html::new();
            blocks(&mut html, &text, &links);
            let html = html.into_text();
            assert!(html.matches("</").count() * 2 == html.matches('<').count(), "{text:?}: {html}");
            // Nothing is lost but the target of a link and the language of code.
            let letters = |text: &str| text.matches('é').count();
            assert!(
                text.contains("](") || text.contains("```") || letters(&html) == letters(&text),
                "{text:?}: {html}"
            );
        }
    }
}

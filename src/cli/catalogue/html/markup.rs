//! HTML that cannot be malformed: elements close themselves, and text is escaped on its way in.

/// A piece of a page.
#[derive(Default)]
pub(super) struct Html {
    text: String,
}

/// Elements after which no line ends, lest blanks appear where none are meant.
const INLINE: [&str; 7] = ["a", "code", "strong", "em", "span", "small", "output"];

impl Html {
    pub(super) fn new() -> Html {
        Html::default()
    }

    /// Text, whatever it contains.
    pub(super) fn text(&mut self, text: &str) -> &mut Html {
        for c in text.chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\'' => self.text.push_str("&#39;"),
                c if is_hidden(c) => self.text.push('\u{fffd}'),
                c => self.text.push(c),
            }
        }
        self
    }

    /// An element with attributes and what `body` puts into it.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        body: impl FnOnce(&mut Html),
    ) -> &mut Html {
        self.open(tag, attributes);
        body(self);
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push('>');
        self.end_line(tag)
    }

    /// An element that contains text alone.
    pub(super) fn leaf(&mut self, tag: &'static str, attributes: &[(&'static str, &str)], text: &str) -> &mut Html {
        self.element(tag, attributes, |html| {
            html.text(text);
        })
    }

    /// An element that never has contents, such as `meta`.
    pub(super) fn void(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) -> &mut Html {
        self.open(tag, attributes);
        self.end_line(tag)
    }

    /// A style or script of the program's own, which is not escaped.
    pub(super) fn raw(&mut self, tag: &'static str, source: &'static str) -> &mut Html {
        debug_assert!(!source.contains("</"), "would end the element");
        self.open(tag, &[]);
        self.text.push('\n');
        self.text.push_str(source);
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push_str(">\n");
        self
    }

    /// The piece as a whole document.
    pub(super) fn into_document(self) -> String {
        format!("<!DOCTYPE html>\n{}", self.text)
    }

    #[cfg(test)]
    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn open(&mut self, tag: &str, attributes: &[(&str, &str)]) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            self.text(value);
            self.text.push('"');
        }
        self.text.push('>');
    }

    fn end_line(&mut self, tag: &str) -> &mut Html {
        if !INLINE.contains(&tag) {
            self.text.push('\n');
        }
        self
    }
}

/// Characters that HTML forbids, and those that make text look like other text.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}')
        || c as u32 & 0xfffe == 0xfffe
}

/// The address of an element in a page: of an op, whose name may hold `>`.
pub(super) fn address(file: &str, id: &str) -> String {
    let mut address = format!("{file}#");
    for byte in id.bytes() {
        match byte {
            b if b.is_ascii_alphanumeric() || b"_-.".contains(&b) => address.push(b as char),
            b => address.push_str(&format!("%{b:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_through_unescaped() {
        let mut html = Html::new();
        html.leaf("a", &[("href", "\"><script>")], "<b>&'\u{0}\u{202e}\u{ffff}");
        let expected = "<a href=\"&quot;&gt;&lt;script&gt;\">&lt;b&gt;&amp;&#39;\u{fffd}\u{fffd}\u{fffd}</a>";
        assert_eq!(html.into_text(), expected);
    }

    #[test]
    fn addresses_are_percent_encoded() {
        assert_eq!(address("a.html", "Ns>Op_2"), "a.html#Ns%3EOp_2");
    }
}

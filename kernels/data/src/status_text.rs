//! Statuses as text: a `StatusProto` in the text format of protobuf.

use kernlink::Code;

/// What a text is made of.
#[derive(Debug, PartialEq)]
enum Token<'t> {
    /// A name or a number.
    Word(&'t [u8]),
    Text(Vec<u8>),
    Sign(u8),
}

struct Tokens<'t>(&'t [u8]);

impl<'t> Tokens<'t> {
    fn skip_space(&mut self) {
        while let [first, rest @ ..] = self.0 {
            match first {
                b'#' => self.0 = &self.0[self.0.iter().position(|byte| *byte == b'\n').unwrap_or(self.0.len())..],
                space if space.is_ascii_whitespace() => self.0 = rest,
                _ => break,
            }
        }
    }

    /// The next one; `None` at the end, `Some(None)` for what is none.
    fn next(&mut self) -> Option<Option<Token<'t>>> {
        self.skip_space();
        let first = *self.0.first()?;
        if matches!(first, b'"' | b'\'') {
            self.0 = &self.0[1..];
            return Some(self.text(first).map(Token::Text));
        }
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.');
        let length = self.0.iter().position(|byte| !is_word(byte)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(length.max(1));
        self.0 = rest;
        Some(Some(if length > 0 { Token::Word(word) } else { Token::Sign(first) }))
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// A number of at most so many digits.
    fn number(&mut self, radix: u32, digits: usize) -> Option<u32> {
        let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
        let length = self.0.iter().take(digits).take_while(is_digit).count();
        let (number, rest) = self.0.split_at(length);
        self.0 = rest;
        u32::from_str_radix(std::str::from_utf8(number).ok()?, radix).ok()
    }

    /// The text up to a quote.
    fn text(&mut self, quote: u8) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        loop {
            match self.byte()? {
                byte if byte == quote => return Some(text),
                b'\n' => return None,
                b'\\' => match self.0.first()? {
                    b'0'..=b'7' => text.push(self.number(8, 3)? as u8),
                    _ => match self.byte()? {
                        b'a' => text.push(7),
                        b'b' => text.push(8),
                        b't' => text.push(b'\t'),
                        b'n' => text.push(b'\n'),
                        b'v' => text.push(11),
                        b'f' => text.push(12),
                        b'r' => text.push(b'\r'),
                        b'x' | b'X' => text.push(self.number(16, 2)? as u8),
                        long @ (b'u' | b'U') => {
                            let number = self.number(16, if long == b'u' { 4 } else { 8 })?;
                            text.extend(char::from_u32(number)?.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        itself @ (b'\\' | b'\'' | b'"' | b'?') => text.push(itself),
                        _ => return None,
                    },
                },
                byte => text.push(byte),
            }
        }
    }

    /// Whether a sign comes, which is passed over.
    fn takes(&mut self, sign: u8) -> bool {
        self.skip_space();
        let takes = self.0.first() == Some(&sign);
        if takes {
            self.0 = &self.0[1..];
        }
        takes
    }

    /// Passes over a message in brackets.
    fn message(&mut self) -> Option<()> {
        let mut open = Vec::new();
        loop {
            match self.next()?? {
                Token::Sign(bracket @ (b'{' | b'<')) => open.push(if bracket == b'{' { b'}' } else { b'>' }),
                Token::Sign(bracket @ (b'}' | b'>')) if open.pop()? != bracket => return None,
                _ => {}
            }
            if open.is_empty() {
                return Some(());
            }
        }
    }
}

/// The code of a name or of a number, `None` for OK; the outer `None` for what is neither.
fn code_of(word: &[u8]) -> Option<Option<Code>> {
    let word = std::str::from_utf8(word).ok()?;
    if word == "OK" {
        return Some(None);
    }
    if let Some(code) = Code::from_name(word) {
        return Some(Some(code));
    }
    let number: i32 = word.parse().ok()?;
    let known = Code::ALL.into_iter().find(|code| *code as i32 == number);
    Some((number != 0).then_some(known.unwrap_or(Code::Unknown)))
}

/// The code and the message of a status; no code stands for OK. `None` for a text that is no status.
pub(crate) fn status_of(text: &[u8]) -> Option<(Option<Code>, String)> {
    let mut tokens = Tokens(text);
    let (mut code, mut message) = (None, None);
    while let Some(token) = tokens.next() {
        match token? {
            Token::Word(b"code") if code.is_none() && tokens.takes(b':') => match tokens.next()?? {
                Token::Word(word) => code = Some(code_of(word)?),
                _ => return None,
            },
            Token::Word(b"message") if message.is_none() && tokens.takes(b':') => {
                let Token::Text(mut whole) = tokens.next()?? else { return None };
                loop {
                    tokens.skip_space();
                    match tokens.0.first() {
                        Some(b'"' | b'\'') => match tokens.next()?? {
                            Token::Text(more) => whole.extend(more),
                            _ => return None,
                        },
                        _ => break,
                    }
                }
                message = Some(whole);
            }
            Token::Word(b"payload") => {
                tokens.takes(b':');
                tokens.message()?;
            }
            _ => return None,
        }
        let _ = tokens.takes(b',') || tokens.takes(b';');
    }
    Some((code.flatten(), String::from_utf8_lossy(&message.unwrap_or_default()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read() {
        let status = |code, message: &str| Some((code, message.to_owned()));
        assert_eq!(status_of(b""), status(None, ""));
        assert_eq!(status_of(b"code: 3 message: \"no good\""), status(Some(Code::InvalidArgument), "no good"));
        assert_eq!(
            status_of(b"code:OUT_OF_RANGE;message:'a\\n\\101\\x42' \"c\","),
            status(Some(Code::OutOfRange), "a\nABc")
        );
        assert_eq!(status_of(b"# why\ncode: 99"), status(Some(Code::Unknown), ""));
        assert_eq!(
            status_of(b"payload { key: \"a}\" value: \"\" } message: \"m\" payload: < key: 'b' >"),
            status(None, "m")
        );
        for text in [
            "garbage{",
            "code",
            "code: ",
            "code: x",
            "code: 1 code: 1",
            "message: \"a",
            "message: 5",
            "payload {",
            "payload { >",
        ] {
            assert_eq!(status_of(text.as_bytes()), None, "{text}");
        }
    }
}

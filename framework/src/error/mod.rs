//! The error of every fallible call: a canonical code, a message, where it was raised, and which node met it.

mod advice;
mod panics;

pub use advice::Advice;
use advice::Advised;
pub(crate) use panics::{Caught, catch};
pub use panics::{catch_panic, watch_panics};

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::panic::Location;

/// `Result` with Kernlink's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The canonical codes, as TensorFlow and gRPC number them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Code {
    /// The operation was cancelled.
    Cancelled = 1,
    /// No other code fits.
    Unknown = 2,
    /// The caller gave an argument that no state of the system would accept.
    InvalidArgument = 3,
    /// The deadline passed before the operation ended.
    DeadlineExceeded = 4,
    /// Something that was asked for does not exist.
    NotFound = 5,
    /// Something that was to be created exists.
    AlreadyExists = 6,
    /// The caller may not do this.
    PermissionDenied = 7,
    /// Memory or another resource has run out.
    ResourceExhausted = 8,
    /// The system is not in the state that the operation needs.
    FailedPrecondition = 9,
    /// The operation was aborted.
    Aborted = 10,
    /// An index or range is outside the valid range.
    OutOfRange = 11,
    /// The operation is not supported.
    Unimplemented = 12,
    /// An invariant of Kernlink or of a kernel is broken.
    Internal = 13,
    /// The service is not available at present.
    Unavailable = 14,
    /// Data was lost or is corrupt.
    DataLoss = 15,
    /// Who asks has not proved who they are.
    Unauthenticated = 16,
}

impl Code {
    /// Every code, in numerical order.
    pub const ALL: [Code; 16] = [
        Code::Cancelled,
        Code::Unknown,
        Code::InvalidArgument,
        Code::DeadlineExceeded,
        Code::NotFound,
        Code::AlreadyExists,
        Code::PermissionDenied,
        Code::ResourceExhausted,
        Code::FailedPrecondition,
        Code::Aborted,
        Code::OutOfRange,
        Code::Unimplemented,
        Code::Internal,
        Code::Unavailable,
        Code::DataLoss,
        Code::Unauthenticated,
    ];

    /// The canonical name, such as `INVALID_ARGUMENT`.
    pub const fn name(self) -> &'static str {
        match self {
            Code::Cancelled => "CANCELLED",
            Code::Unknown => "UNKNOWN",
            Code::InvalidArgument => "INVALID_ARGUMENT",
            Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Code::NotFound => "NOT_FOUND",
            Code::AlreadyExists => "ALREADY_EXISTS",
            Code::PermissionDenied => "PERMISSION_DENIED",
            Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Code::FailedPrecondition => "FAILED_PRECONDITION",
            Code::Aborted => "ABORTED",
            Code::OutOfRange => "OUT_OF_RANGE",
            Code::Unimplemented => "UNIMPLEMENTED",
            Code::Internal => "INTERNAL",
            Code::Unavailable => "UNAVAILABLE",
            Code::DataLoss => "DATA_LOSS",
            Code::Unauthenticated => "UNAUTHENTICATED",
        }
    }

    /// The code with this canonical name.
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The most bytes that an error quotes of a name or value from a file or a command line.
const MAX_QUOTED: usize = 200;

/// The most bytes of a message.
const MAX_MESSAGE: usize = 256 << 10;

/// A name or value as errors quote it: a long one is cut, with its length, and control characters are escaped.
pub fn shortened(text: &str) -> Cow<'_, str> {
    let head = &text[..text.floor_char_boundary(MAX_QUOTED)];
    let shown = escaped(head);
    match text.len() - head.len() {
        0 => shown,
        _ => Cow::Owned(format!("{shown}... ({} bytes)", text.len())),
    }
}

/// Bytes as errors quote them: as [`shortened`] does, with `\u{FFFD}` for what is not UTF-8.
pub fn shortened_bytes(bytes: &[u8]) -> String {
    let mut end = bytes.len().min(MAX_QUOTED);
    // A character is not cut: at most three bytes continue it.
    while end < bytes.len() && end + 3 > MAX_QUOTED && bytes[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    let text = String::from_utf8_lossy(&bytes[..end]);
    match bytes.len() - end {
        0 => escaped(&text).into_owned(),
        _ => format!("{}... ({} bytes)", escaped(&text), bytes.len()),
    }
}

/// A text with its control characters as escapes, such as `\n`: a terminal obeys none of them.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Bounds a message's length. Both ends are kept: the end may say what to do. It is cut where it is, which takes no memory.
fn bounded(mut message: String) -> String {
    if message.len() <= MAX_MESSAGE {
        return message;
    }
    let head = message.floor_char_boundary(MAX_MESSAGE / 2);
    let tail = message.ceil_char_boundary(message.len() - MAX_MESSAGE / 4);
    message.replace_range(head..tail, &format!("... ({} bytes) ...", message.len()));
    message.shrink_to_fit();
    message
}

/// A message while it is written: bounded in length, and as far as there is memory for it. Of one that is too long both
/// ends are kept: the end may say what to do.
#[derive(Default)]
struct Message {
    text: String,
    /// The bytes that were written, kept or not.
    written: usize,
    /// Where bytes were left out.
    cut: Option<usize>,
    /// Whether memory was refused: a long list would ask for each of its elements again.
    refused: bool,
}

impl Message {
    fn of(arguments: fmt::Arguments<'_>) -> String {
        if let Some(text) = arguments.as_str() {
            return bounded(text.to_owned());
        }
        let mut message = Message::default();
        // An error of a value's own `Display` leaves what came before.
        let _ = message.write_fmt(arguments);
        message.finish()
    }

    /// Leaves out what is neither among the first nor among the last bytes.
    fn cut(&mut self) {
        let from = self.cut.unwrap_or_else(|| self.text.floor_char_boundary(MAX_MESSAGE / 2));
        let to = self.text.ceil_char_boundary(self.text.len().saturating_sub(MAX_MESSAGE / 4));
        if from < to {
            self.text.drain(from..to);
        }
        self.cut = Some(from);
    }

    fn finish(mut self) -> String {
        if self.written > MAX_MESSAGE {
            self.cut();
        }
        if let Some(place) = self.cut
            && self.text.try_reserve(64).is_ok()
        {
            self.text.insert_str(place, &format!("... ({} bytes) ...", self.written));
        }
        self.text
    }
}

impl fmt::Write for Message {
    fn write_str(&mut self, mut piece: &str) -> fmt::Result {
        self.written = self.written.saturating_add(piece.len());
        while !piece.is_empty() && !self.refused {
            let (part, rest) = piece.split_at(piece.floor_char_boundary(MAX_MESSAGE / 4));
            if self.text.len() + part.len() > MAX_MESSAGE {
                self.cut();
            }
            self.refused = self.text.try_reserve(part.len()).is_err();
            if self.refused {
                self.cut.get_or_insert(self.text.len());
                return Ok(());
            }
            self.text.push_str(part);
            piece = rest;
        }
        Ok(())
    }
}

/// An error: code, message, the source line that raised it and, once a node has met it, that node, its op and device.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: Code,
    message: String,
    location: &'static Location<'static>,
    /// Where a panic began that the error stands for, if it is known.
    panicked_at: Option<PanicPlace>,
    /// Whether what is missing is a resource.
    is_missing_resource: bool,
    /// Whether it came with the end of a dataset's elements.
    is_at_end: bool,
    /// What to do, and where the message says it.
    advised: Vec<Advised>,
    node: Option<NodeContext>,
}

/// Where a panic began. A hook is not told for how long the file's name is there, so this has its own.
#[derive(Clone)]
struct PanicPlace {
    file: String,
    line: u32,
    column: u32,
}

impl fmt::Display for PanicPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The node that met an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeContext {
    /// The node's name in its graph.
    pub node: String,
    /// The node's op.
    pub op: String,
    /// The device on which it ran; empty before placement.
    pub device: String,
    /// The function whose body has the node; empty for a node of the graph itself, and before a run.
    pub function: String,
}

macro_rules! constructors {
    ($($name:ident => $code:ident),* $(,)?) => {
        $(
            #[doc = concat!("An error with [`Code::", stringify!($code), "`].")]
            #[track_caller]
            pub fn $name(message: impl Into<String>) -> Error {
                Error::new(Code::$code, message)
            }
        )*
    };
}

impl Error {
    /// An error raised at the caller's line.
    #[track_caller]
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error::raised(code, bounded(message.into()), Location::caller())
    }

    /// An error raised at the caller's line, whose message `format_args!` gives. Unlike [`Error::new`] with `format!`, it
    /// takes no more memory than a message may have, however long the values in it are, and none that cannot be refused.
    #[track_caller]
    pub fn format(code: Code, message: fmt::Arguments<'_>) -> Error {
        Error::raised(code, Message::of(message), Location::caller())
    }

    fn raised(code: Code, message: String, location: &'static Location<'static>) -> Error {
        let inner = Inner {
            code,
            message,
            location,
            panicked_at: None,
            is_missing_resource: false,
            is_at_end: false,
            advised: Vec::new(),
            node: None,
        };
        Error(Box::new(inner))
    }

    /// An error of the operating system about a file, with TensorFlow's code for it.
    #[track_caller]
    pub fn from_io(what: impl fmt::Display, error: &std::io::Error) -> Error {
        use std::io::ErrorKind as Kind;
        let code = match error.kind() {
            Kind::NotFound => Code::NotFound,
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Code::PermissionDenied,
            Kind::AlreadyExists => Code::AlreadyExists,
            Kind::IsADirectory | Kind::NotADirectory | Kind::DirectoryNotEmpty => Code::FailedPrecondition,
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge | Kind::OutOfMemory => Code::ResourceExhausted,
            Kind::InvalidInput | Kind::InvalidFilename => Code::InvalidArgument,
            Kind::UnexpectedEof => Code::OutOfRange,
            Kind::Interrupted => Code::Unavailable,
            Kind::Unsupported => Code::Unimplemented,
            _ => Code::Unknown,
        };
        Error::format(code, format_args!("{what}: {error}"))
    }

    constructors! {
        cancelled => Cancelled,
        unknown => Unknown,
        invalid_argument => InvalidArgument,
        deadline_exceeded => DeadlineExceeded,
        not_found => NotFound,
        already_exists => AlreadyExists,
        permission_denied => PermissionDenied,
        resource_exhausted => ResourceExhausted,
        failed_precondition => FailedPrecondition,
        aborted => Aborted,
        out_of_range => OutOfRange,
        unimplemented => Unimplemented,
        internal => Internal,
        unavailable => Unavailable,
        data_loss => DataLoss,
        unauthenticated => Unauthenticated,
    }

    /// The canonical code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message, without the node and the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The source line that raised the error; of a panic, which has its place in the message if the program
    /// [watches](watch_panics) for it, the line that caught it.
    pub fn location(&self) -> &'static Location<'static> {
        self.0.location
    }

    /// The node that met the error, if one did.
    pub fn node(&self) -> Option<&NodeContext> {
        self.0.node.as_ref()
    }

    /// The same error with `context: ` before its message.
    pub fn context(self, context: impl fmt::Display) -> Error {
        let message = Message::of(format_args!("{context}: {}", self.0.message));
        let before = message.len().saturating_sub(self.0.message.len());
        self.with_message(message, before)
    }

    /// The same error with more text after its message.
    pub fn append(self, text: impl fmt::Display) -> Error {
        let message = Message::of(format_args!("{}{text}", self.0.message));
        self.with_message(message, 0)
    }

    /// The same error with another message, in which so much stands before what it was.
    fn with_message(mut self, message: String, before: usize) -> Error {
        let was = std::mem::replace(&mut self.0.message, message);
        let Inner { advised, message, .. } = &mut *self.0;
        advised.retain_mut(|advised| advised.follow(&was, message, before));
        self
    }

    /// The same error with a separator, what to do, and more text after its message, behind the advice that it has.
    pub fn advise(self, separator: &str, advice: Advice, text: impl fmt::Display) -> Error {
        let words = advice.to_string();
        let start = self.0.message.len() + separator.len();
        let at = start..start + words.len();
        let mut error = self.append(format_args!("{separator}{words}{text}"));
        if error.0.message.get(at.clone()) == Some(&*words) {
            error.0.advised.push(Advised { advice, at });
        }
        error
    }

    /// The same error with several pieces of advice, each behind a separator.
    pub(crate) fn advise_all(self, separator: &str, all: Vec<Advice>) -> Error {
        all.into_iter().fold(self, |error, advice| error.advise(separator, advice, ""))
    }

    /// What to do about it, as far as the message has that in words that depend on who reads it, in the order of the message.
    pub fn advice(&self) -> impl Iterator<Item = &Advice> {
        self.0.advised.iter().map(|advised| &advised.advice)
    }

    /// The same error with other words for what to do.
    pub fn in_words(mut self, words: impl Fn(&Advice) -> String) -> Error {
        // From the back, as the places of what stands before stay.
        while let Some(Advised { advice, at }) = self.0.advised.pop() {
            self.0.message.replace_range(at, &words(&advice));
        }
        self
    }

    /// The same error, which stands for a panic that began there.
    fn begun_at(mut self, place: PanicPlace) -> Error {
        self.0.panicked_at = Some(place);
        self
    }

    /// Whether it stands for a panic that the program watched for.
    pub(crate) fn is_panic(&self) -> bool {
        self.0.panicked_at.is_some()
    }

    /// The same error, of a resource that is not there.
    pub(crate) fn of_missing_resource(mut self) -> Error {
        self.0.is_missing_resource = true;
        self
    }

    /// Whether the error is that a resource is not there, which something that is to run first makes.
    #[doc(hidden)]
    pub fn is_missing_resource(&self) -> bool {
        self.0.is_missing_resource
    }

    /// The same error, which comes with the end of a dataset's elements: TensorFlow's iterators tell both at once.
    #[doc(hidden)]
    pub fn at_end(mut self) -> Error {
        self.0.is_at_end = true;
        self
    }

    /// The same error, which comes before the end of a dataset's elements, as errors do.
    #[doc(hidden)]
    pub fn before_end(mut self) -> Error {
        self.0.is_at_end = false;
        self
    }

    /// Whether the error comes with the end of a dataset's elements.
    #[doc(hidden)]
    pub fn is_at_end(&self) -> bool {
        self.0.is_at_end
    }

    /// The same error, met by `node`; a node that is already named stays.
    pub fn at_node(mut self, node: &str, op: &str, device: &str) -> Error {
        self.0.node.get_or_insert_with(|| NodeContext {
            node: node.to_owned(),
            op: op.to_owned(),
            device: device.to_owned(),
            function: String::new(),
        });
        self
    }

    /// The same error, whose node is in the body of `function`; the innermost function stays.
    pub fn in_function(mut self, function: &str) -> Error {
        if let Some(node) = self.0.node.as_mut().filter(|node| node.function.is_empty()) {
            function.clone_into(&mut node.function);
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)?;
        if let Some(NodeContext { node, op, device, function }) = &self.0.node {
            write!(f, "\n  in node `{}` (op {}", shortened(node), shortened(op))?;
            if !device.is_empty() {
                write!(f, ", {}", shortened(device))?;
            }
            f.write_str(")")?;
            if !function.is_empty() {
                write!(f, " in function `{}`", shortened(function))?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.panicked_at {
            Some(place) => write!(f, "{self}\n  raised at {place}"),
            None => write!(f, "{self}\n  raised at {}", self.0.location),
        }
    }
}

impl std::error::Error for Error {}

/// Returns an [`Error`] with the given [`Code`] and formatted message from the surrounding function.
///
/// `bail!(InvalidArgument, "axis {axis} is out of range")`
#[macro_export]
macro_rules! bail {
    ($code:ident, $($message:tt)+) => {
        return ::std::result::Result::Err($crate::Error::format($crate::Code::$code, ::std::format_args!($($message)+)))
    };
}

/// Returns an [`Error`] with the given [`Code`] and formatted message unless the condition holds.
///
/// `ensure!(rank <= 8, Unimplemented, "rank {rank} is above 8")`
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $code:ident, $($message:tt)+) => {
        if !$condition {
            $crate::bail!($code, $($message)+);
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names and numbers are those of TensorFlow's `absl::StatusCode`.
    #[test]
    fn every_code_has_a_number_a_name_and_a_short_form() {
        type Short = fn(&'static str) -> Error;
        let forms: [(Short, u8, &str); 16] = [
            (Error::cancelled, 1, "CANCELLED"),
            (Error::unknown, 2, "UNKNOWN"),
            (Error::invalid_argument, 3, "INVALID_ARGUMENT"),
            (Error::deadline_exceeded, 4, "DEADLINE_EXCEEDED"),
            (Error::not_found, 5, "NOT_FOUND"),
            (Error::already_exists, 6, "ALREADY_EXISTS"),
            (Error::permission_denied, 7, "PERMISSION_DENIED"),
            (Error::resource_exhausted, 8, "RESOURCE_EXHAUSTED"),
            (Error::failed_precondition, 9, "FAILED_PRECONDITION"),
            (Error::aborted, 10, "ABORTED"),
            (Error::out_of_range, 11, "OUT_OF_RANGE"),
            (Error::unimplemented, 12, "UNIMPLEMENTED"),
            (Error::internal, 13, "INTERNAL"),
            (Error::unavailable, 14, "UNAVAILABLE"),
            (Error::data_loss, 15, "DATA_LOSS"),
            (Error::unauthenticated, 16, "UNAUTHENTICATED"),
        ];
        assert_eq!(forms.map(|(short, ..)| short("why").code()), Code::ALL);
        for (short, number, name) in forms {
            let error = short("why");
            assert_eq!((error.code() as u8, error.code().name(), error.message()), (number, name, "why"));
            assert_eq!(Code::from_name(name), Some(error.code()));
            assert_eq!(error.to_string(), format!("{name}: why"));
        }
        let (error, line) = (Error::unauthenticated("who?"), line!());
        assert_eq!((error.location().file(), error.location().line()), (file!(), line));
    }

    #[test]
    fn messages_end_where_memory_was_refused() {
        let mut message = Message { text: "a list: [1, ".into(), written: 12, cut: Some(12), refused: true };
        (2..10).for_each(|element| write!(message, "{element}, ").expect("a message takes all"));
        assert_eq!(message.finish(), "a list: [1, ... (36 bytes) ...");
    }

    #[test]
    fn messages_are_bounded_while_they_are_written() {
        struct Long(usize);
        impl fmt::Display for Long {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (0..self.0).try_for_each(|number| write!(f, "{number} é"))
            }
        }
        for count in [0, 1000, 1_000_000] {
            let error = Error::format(Code::Internal, format_args!("first {} last", Long(count)));
            let whole = format!("first {} last", Long(count));
            let (head, tail) = (&whole[..whole.len().min(1000)], &whole[whole.len() - whole.len().min(1000)..]);
            assert!(error.message().starts_with(head) && error.message().ends_with(tail));
            match whole.len() <= MAX_MESSAGE {
                true => assert_eq!(error.message(), whole),
                false => {
                    assert!(error.message().len() <= MAX_MESSAGE + 64);
                    assert!(error.message().contains(&format!("... ({} bytes) ...", whole.len())));
                }
            }
        }
        // One piece, which is cut between characters.
        let whole = "é".repeat(MAX_MESSAGE);
        assert!(Error::format(Code::Internal, format_args!("{whole}!")).message().ends_with("é!"));
    }

    #[test]
    fn messages_are_bounded() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened("a\u{1b}[31m\nb\u{9b}é"), "a\\u{1b}[31m\\nb\\u{9b}é");
        let name = "é".repeat(500_000);
        assert!(shortened(&name).ends_with("... (1000000 bytes)") && shortened(&name).len() < 250);
        assert_eq!(shortened_bytes(b"a\n\xffb"), "a\\n\u{FFFD}b");
        for text in [name.as_str(), &format!("x{name}"), &"\u{1F600}".repeat(100)] {
            assert_eq!(shortened_bytes(text.as_bytes()), shortened(text));
        }
        let error = Error::invalid_argument(format!("`{name}` is long")).context(&name).append("; do this");
        let error = error.at_node(&name, &name, &name);
        let text = error.to_string();
        assert!(text.len() < 300_000 && text.contains("; do this"), "{}", text.len());
    }
}

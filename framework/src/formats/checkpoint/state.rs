//! The list of a folder's checkpoints: the file `checkpoint`, TensorFlow's `CheckpointState` as protobuf text.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use kernlink_spec::{TextField, TextKind, parse_message};

use super::names::NewFile;
use crate::error::{Code, Error, Result, shortened};
use crate::tensor::FileBytes;

/// The file that lists a folder's checkpoints.
const STATE_FILE: &str = "checkpoint";

/// The most bytes of a list of checkpoints.
const MAX_BYTES: usize = 16 << 20;

/// What a list says, in the words of the list.
#[derive(Default)]
pub(super) struct State {
    pub(super) latest: Option<String>,
    pub(super) all: Vec<String>,
}

/// Where a checkpoint in a list lies.
pub(super) struct Place {
    /// Its name in the list's folder.
    pub(super) name: String,
    /// Whether the list names another folder, of which only the last part of the name is taken.
    pub(super) is_elsewhere: bool,
}

impl State {
    pub(super) fn path(folder: &Path) -> PathBuf {
        folder.join(STATE_FILE)
    }

    /// The list in a folder, if there is one.
    pub(super) fn read(folder: &Path) -> Result<Option<State>> {
        let path = State::path(folder);
        let bytes = match FileBytes::open(&path) {
            Err(error) if error.code() == Code::NotFound => return Ok(None),
            bytes => bytes?,
        };
        let state = State::parse(&bytes);
        state.map(Some).map_err(|error| error.context(format!("{}: it is no list of checkpoints", path.display())))
    }

    fn parse(bytes: &[u8]) -> Result<State> {
        if bytes.len() > MAX_BYTES {
            return Err(Error::data_loss(format!("it has {} bytes, and lists have at most {MAX_BYTES}", bytes.len())));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Error::data_loss("it is not UTF-8"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let fault = |at: usize, message: &str| {
            let line = text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1;
            Error::data_loss(format!("line {line}: {}", shortened(message)))
        };
        let fields = parse_message(text).map_err(|error| fault(error.span.start, &error.message))?;
        let mut state = State::default();
        for field in &fields {
            state.add(field).map_err(|message| fault(field.name_span.start, &message))?;
        }
        Ok(state)
    }

    fn add(&mut self, field: &TextField) -> Result<(), String> {
        let name = shortened(&field.name);
        let text = |kind: &TextKind| match kind {
            TextKind::Bytes(bytes) => String::from_utf8(bytes.clone()).map_err(|_| format!("{name} is not UTF-8")),
            _ => Err(format!("{name} is no string: expected {name}: \"NAME\"")),
        };
        match (field.name.as_str(), &field.value.kind) {
            ("model_checkpoint_path", kind) => match self.latest.replace(text(kind)?) {
                None => Ok(()),
                Some(_) => Err(format!("{name} stands there twice")),
            },
            ("all_model_checkpoint_paths", TextKind::List(values)) => {
                values.iter().try_for_each(|value| text(&value.kind).map(|path| self.all.push(path)))
            }
            ("all_model_checkpoint_paths", kind) => text(kind).map(|path| self.all.push(path)),
            ("all_model_checkpoint_timestamps" | "last_preserved_timestamp", _) => Ok(()),
            _ => Err(format!("it has the field `{name}`, which lists of checkpoints lack")),
        }
    }

    /// Writes a list of checkpoints, oldest first.
    pub(super) fn write(folder: &Path, names: &[String]) -> Result<()> {
        let mut text = String::new();
        if let Some(last) = names.last() {
            let _ = writeln!(text, "model_checkpoint_path: {}", quoted(last));
        }
        for name in names {
            let _ = writeln!(text, "all_model_checkpoint_paths: {}", quoted(name));
        }
        let mut file = NewFile::create(State::path(folder))?;
        file.write(text.as_bytes())?;
        file.rename()
    }
}

/// The path of the checkpoint `listed` in a list in `folder`. A list may only refer to its own folder and folders in it: of
/// any other path, as after a folder was moved, only the last component counts.
pub(super) fn place(folder: &Path, listed: &str) -> Result<Place> {
    let path = Path::new(listed);
    let inside = |path: &Path| {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        let part = |part| match part {
            Component::Normal(part) => Some(part.to_str()?.to_owned()),
            _ => None,
        };
        Some(parts.map(part).collect::<Option<Vec<String>>>()?.join("/")).filter(|name| !name.is_empty())
    };
    if let Some(name) = inside(path) {
        return Ok(Place { name, is_elsewhere: false });
    }
    let own = [Some(folder.to_owned()), std::path::absolute(folder).ok(), folder.canonicalize().ok()];
    let below =
        own.iter().flatten().filter(|own| own.is_absolute()).find_map(|own| inside(path.strip_prefix(own).ok()?));
    if let Some(name) = below {
        return Ok(Place { name, is_elsewhere: false });
    }
    match path.components().next_back() {
        Some(Component::Normal(name)) => Ok(Place { name: name.to_string_lossy().into_owned(), is_elsewhere: true }),
        _ => {
            let (list, listed) = (State::path(folder), shortened(listed));
            Err(Error::data_loss(format!("{}: `{listed}` names no checkpoint", list.display())))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let text = "# of a run\nmodel_checkpoint_path: \"/elsewhere/a\\\"b-2\" all_model_checkpoint_paths: \
                    \"x\\303\\244-1\"\nall_model_checkpoint_paths: 'b-' '2';\nall_model_checkpoint_timestamps: 1.5\n";
        let state = State::parse(text.as_bytes()).unwrap();
        assert_eq!(state.latest.unwrap(), "/elsewhere/a\"b-2");
        assert_eq!(state.all, ["xä-1", "b-2"]);
        let state = State::parse(format!("\u{feff}model_checkpoint_path: {}", quoted("a\"\\\nb")).as_bytes()).unwrap();
        assert_eq!(state.latest.unwrap(), "a\"\\\nb");
        assert!(State::parse(b"").unwrap().latest.is_none());
    }

    #[test]
    fn what_is_no_list_is_told() {
        for (text, why) in [
            ("model_checkpoint_path: x", "line 1: model_checkpoint_path is no string"),
            ("\nmodel_checkpoint_path: 'x", "line 2: the string has no closing '"),
            (
                "model_checkpoint_path: 'x'\nmodel_checkpoint_path: 'y'",
                "line 2: model_checkpoint_path stands there twice",
            ),
            ("model_checkpoint_path: '\\377'", "line 1: model_checkpoint_path is not UTF-8"),
            ("node { name: 'x' }", "line 1: it has the field `node`"),
            ("{", "line 1: expected a field"),
        ] {
            let error = State::parse(text.as_bytes()).err().unwrap();
            assert!(error.code() == Code::DataLoss && error.message().contains(why), "{text}: {error}");
        }
        assert!(State::parse(b"\xff").is_err());
        let long = State::parse(format!("{}: 1", "x".repeat(100_000)).as_bytes()).err().unwrap();
        assert!(long.message().len() < 1000, "{long}");
    }

    #[test]
    fn names_stay_in_the_folder_of_their_list() {
        let folder = Path::new("/runs/a");
        for (listed, name, is_elsewhere) in [
            ("model-1", "model-1", false),
            ("sub/./model", "sub/model", false),
            ("/runs/a/sub/model", "sub/model", false),
            ("/runs/b/model", "model", true),
            ("../b/model", "model", true),
            ("sub/../model", "model", true),
            ("/runs/a/../b/model", "model", true),
        ] {
            let place = place(folder, listed).unwrap();
            assert_eq!((place.name.as_str(), place.is_elsewhere), (name, is_elsewhere), "{listed}");
        }
        for path in ["..", "/", "a/..", "", "."] {
            assert!(place(folder, path).is_err(), "{path}");
        }
    }
}

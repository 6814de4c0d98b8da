//! Which choice is the fastest, measured on the device at the first product of each kind and size, and remembered in a
//! file.

use std::collections::HashMap;
use std::fmt;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use kernlink::error::Result;

use super::config::{Choice, Extents, TABLE};
use super::text::Source;
use crate::adapter::AdapterInfo;
use crate::device::lock;
use crate::shader::Scalar;

/// `0` has choices follow from sizes alone, `1` has them measured on software adapters, too.
const SWITCH: &str = "KERNLINK_GPU_TUNE";
/// The folder of the files.
const FOLDER: &str = "KERNLINK_GPU_CACHE";

/// Products that are measured together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Kind {
    pub(crate) scalar: Scalar,
    pub(crate) sources: [Source; 2],
    pub(crate) vectors: [bool; 3],
    /// The logarithms of the sizes, rounded up.
    sizes: [u32; 4],
}

impl Kind {
    pub(crate) fn new(scalar: Scalar, sources: [Source; 2], vectors: [bool; 3], extents: &Extents) -> Kind {
        let Extents { rows, columns, inner, batches } = *extents;
        let sizes = [rows, columns, inner, batches].map(|size| size.max(1).next_power_of_two().ilog2());
        Kind { scalar, sources, vectors, sizes }
    }
}

/// As it stands in a file.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kind { scalar, sources: [a, b], vectors, sizes: [rows, columns, inner, batches] } = self;
        let vectors = vectors.map(|by_fours| if by_fours { '4' } else { '1' });
        let vectors = String::from_iter(vectors);
        write!(f, "{scalar:?} {a:?} {b:?} {vectors} 2^{rows} 2^{columns} 2^{inner} 2^{batches}")
    }
}

/// What was measured so far on a device.
pub(crate) struct Tuner {
    /// Whether products are measured.
    pub(crate) is_on: bool,
    file: Option<PathBuf>,
    known: OnceLock<Known>,
}

struct Known {
    found: Mutex<HashMap<Kind, Arc<Mutex<Option<Choice>>>>>,
    /// The lines of the file.
    read: HashMap<String, Choice>,
}

impl Tuner {
    /// For a device that has timestamps or not.
    pub(crate) fn new(adapter: &AdapterInfo, has_timestamps: bool) -> Tuner {
        let wanted = match std::env::var(SWITCH).as_deref() {
            Ok("0") => false,
            Ok("1") => true,
            _ => !adapter.is_software,
        };
        let is_on = wanted && has_timestamps;
        let file = folder().filter(|_| is_on).map(|folder| folder.join(file_name(adapter)));
        Tuner { is_on, file, known: OnceLock::new() }
    }

    /// The choice for products of this kind; `time` measures those that come into question, if that was not done before.
    /// Who wants to know of the same kind waits for it.
    ///
    /// # Errors
    /// That of the last measurement, if all fail.
    pub(crate) fn choose(
        &self,
        kind: &Kind,
        choices: impl FnOnce() -> Vec<Choice>,
        time: impl FnMut(Choice) -> Result<f64>,
    ) -> Result<Option<Choice>> {
        let known = self.known.get_or_init(|| {
            let text = self.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
            Known { read: text.as_deref().map(parse).unwrap_or_default(), found: Mutex::default() }
        });
        let slot = lock(&known.found).entry(*kind).or_default().clone();
        let mut found = lock(&slot);
        if found.is_none() {
            *found = known.read.get(&kind.to_string()).copied();
        }
        if found.is_none() {
            *found = fastest(&choices(), time)?;
            if let Some(choice) = *found {
                self.write(kind, choice);
            }
        }
        Ok(*found)
    }

    /// That a file cannot be written is no error: the same is found again the next time.
    fn write(&self, kind: &Kind, choice: Choice) {
        let Some(file) = &self.file else { return };
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(file) {
            // One write, so that lines of several processes do not mix.
            let _ = file.write_all(line(kind, choice).as_bytes());
        }
    }
}

/// The folder of the user's caches, or what the environment says.
fn folder() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from(FOLDER)
        .or_else(|| from("XDG_CACHE_HOME").map(|folder| folder.join("kernlink")))
        .or_else(|| from("LOCALAPPDATA").map(|folder| folder.join("kernlink")))
        .or_else(|| from("HOME").map(|folder| folder.join(".cache").join("kernlink")))
}

/// A name for what was measured on an adapter with its driver, and with this version's shaders.
fn file_name(adapter: &AdapterInfo) -> String {
    let text = format!("{} {} {} {}", adapter.name, adapter.backend, adapter.driver, env!("CARGO_PKG_VERSION"));
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    format!("products-{}.txt", text.chars().map(safe).collect::<String>())
}

fn line(kind: &Kind, choice: Choice) -> String {
    let tiles = TABLE[choice.line];
    format!("{kind}: {}x{}x{} {}\n", tiles.rows, tiles.columns, tiles.inner, choice.parts)
}

/// The lines of a file that can be read: what follows a tile that is no longer in the table is measured again.
fn parse(text: &str) -> HashMap<String, Choice> {
    text.lines()
        .filter_map(|line| {
            let (kind, choice) = line.split_once(": ")?;
            let (tiles, parts) = choice.split_once(' ')?;
            let named = |line: &super::config::Tiles| format!("{}x{}x{}", line.rows, line.columns, line.inner) == tiles;
            let line = TABLE.iter().position(named)?;
            let parts = parts.trim().parse().ok().filter(|parts| (1..=1024).contains(parts))?;
            Some((kind.to_owned(), Choice { line, parts }))
        })
        .collect()
}

/// The choice that takes the least time; `time` measures one.
///
/// # Errors
/// That of the last measurement, if all fail.
fn fastest(choices: &[Choice], mut time: impl FnMut(Choice) -> Result<f64>) -> Result<Option<Choice>> {
    let mut best: Option<(f64, Choice)> = None;
    let mut failure = None;
    for &choice in choices {
        match time(choice) {
            Ok(time) if best.is_none_or(|(least, _)| time < least) => best = Some((time, choice)),
            Ok(_) => {}
            Err(error) => failure = Some(error),
        }
    }
    match (best, failure) {
        (None, Some(error)) => Err(error),
        (best, _) => Ok(best.map(|(_, choice)| choice)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let extents = Extents { rows: 100, columns: 64, inner: 1, batches: 0 };
        let kind = Kind::new(Scalar::F32, [Source::Patches, Source::Columns], [true, false, false], &extents);
        assert_eq!(kind.to_string(), "F32 Patches Columns 411 2^7 2^6 2^0 2^0");
        let choice = Choice { line: 2, parts: 8 };
        let text = [line(&kind, Choice { line: 0, parts: 1 }), line(&kind, choice)].concat();
        let known = parse(&format!("{text}{kind}: 7x7x7 1\n{kind}: 64x64x16 0\nnothing\n: \n"));
        assert_eq!(known.get(&kind.to_string()), Some(&choice), "the last that can be read counts");
        assert_eq!(known.len(), 1);
    }

    #[test]
    fn what_was_measured_is_not_measured_again() {
        let folder = std::env::temp_dir().join(format!("kernlink-tune-{}", std::process::id()));
        let tuner = || Tuner { is_on: true, file: Some(folder.join("products.txt")), known: OnceLock::new() };
        let extents = Extents { rows: 9, columns: 9, inner: 9, batches: 1 };
        let kind = Kind::new(Scalar::F16, [Source::Rows, Source::Rows], [false; 3], &extents);
        let choices = || [1, 2].map(|line| Choice { line, parts: 1 }).to_vec();
        let first = tuner();
        let found = first.choose(&kind, choices, |choice| Ok(choice.line as f64));
        assert_eq!(found.unwrap(), Some(Choice { line: 1, parts: 1 }));
        let never = |_| panic!("this was measured");
        assert_eq!(first.choose(&kind, choices, never).unwrap(), Some(Choice { line: 1, parts: 1 }));
        // Another process reads the file.
        assert_eq!(tuner().choose(&kind, choices, never).unwrap(), Some(Choice { line: 1, parts: 1 }));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn one_kind_is_measured_while_another_is() {
        let tuner = Tuner { is_on: true, file: None, known: OnceLock::new() };
        let kind = |rows| {
            let extents = Extents { rows, columns: 1, inner: 1, batches: 1 };
            Kind::new(Scalar::F32, [Source::Rows, Source::Columns], [false; 3], &extents)
        };
        let choices = || vec![Choice { line: 0, parts: 1 }];
        let found = tuner.choose(&kind(8), choices, |_| {
            // Another thread that waited for this one would never end.
            std::thread::scope(|scope| {
                scope.spawn(|| tuner.choose(&kind(1), choices, |_| Ok(1.0))).join().unwrap().map(|_| 1.0)
            })
        });
        assert_eq!(found.unwrap(), Some(choices()[0]));
    }

    #[test]
    fn the_fastest_is_found() {
        let choices = [1, 2, 4].map(|parts| Choice { line: 0, parts });
        let found = fastest(&choices, |choice| match choice.parts {
            1 => Err(kernlink::Error::internal("no")),
            parts => Ok(1.0 / parts as f64),
        });
        assert_eq!(found.unwrap(), Some(choices[2]));
        assert!(fastest(&choices, |_| Err(kernlink::Error::internal("no"))).is_err());
        assert_eq!(fastest(&[], |_| Ok(1.0)).unwrap(), None);
    }
}

//! The bytes of a file as libjpeg reads them: markers, what is skipped, and what happens at the end of a file that was cut.

use std::fmt::{self, Display, Formatter};

use bytemuck::Pod;
use kernlink::tensor::scratch::{self, Pooled};
use kernlink::{Code, Error};

/// Why no more can be read, or written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stop {
    /// The file is broken, in the way that the text says.
    Error(&'static str),
    /// An image of so many rows and columns is too large.
    TooLarge([usize; 2]),
    /// The crop window does not fit into an image of so many rows and columns.
    Beyond([usize; 2]),
    /// The file ends amid what is being read: what came before can be used.
    Suspended,
    /// The system has no memory for it.
    NoMemory,
}

impl Stop {
    /// The error of an op, with this code unless memory is what lacks; `what` says what became of the file.
    #[track_caller]
    pub(crate) fn error(self, code: Code, what: impl Display) -> Error {
        let code = if self == Stop::NoMemory { Code::ResourceExhausted } else { code };
        Error::new(code, format!("{what}: {self}"))
    }
}

impl Display for Stop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Error(reason) => f.write_str(reason),
            Stop::TooLarge([rows, columns]) => write!(f, "an image of {rows} by {columns} pixels is too large"),
            Stop::Beyond([rows, columns]) => {
                write!(f, "the window is empty or goes beyond the image of {rows} by {columns} pixels")
            }
            Stop::Suspended => f.write_str("the file ends too early"),
            Stop::NoMemory => f.write_str("there is no memory for it"),
        }
    }
}

/// Results while a JPEG file is read.
pub(crate) type Read<T> = Result<T, Stop>;

/// Room for `count` elements that are 0.
pub(crate) fn zeros<T: Pod>(count: usize) -> Read<Pooled<T>> {
    scratch::pooled_zeros(count).map_err(|_| Stop::NoMemory)
}

/// What follows a file that was cut, if its reader asks for that: the marker of the end.
const END_OF_IMAGE: &[u8] = &[0xFF, 0xD9];

/// A cut file is read again from where its last unit began, as often as that unit needs. No unit needs more than this.
const MOST_REPEATS: usize = 1 << 16;

/// The bytes of a file.
#[derive(Clone)]
pub(crate) struct Source<'a> {
    data: &'a [u8],
    /// The index of the next byte.
    at: usize,
    /// The index of the byte after what was read as a whole: a marker, or a unit of blocks.
    done: usize,
    /// Whether a file that was cut is taken to go on with the marker of its end.
    recovers: bool,
    repeats: usize,
    /// A marker that was met amid coded data, or 0.
    pub(crate) marker: u8,
    next_restart: u8,
}

impl<'a> Source<'a> {
    pub(crate) fn new(data: &'a [u8], recovers: bool) -> Source<'a> {
        Source { data, at: 0, done: 0, recovers, repeats: 0, marker: 0, next_restart: 0 }
    }

    /// What is left after what was read as a whole.
    pub(crate) fn left(&self) -> usize {
        self.data.len() - self.done
    }

    /// Notes that what was read so far is complete.
    pub(crate) fn commit(&mut self) {
        self.done = self.at;
    }

    /// Makes sure of a next byte, by the rules of TensorFlow's source of data for libjpeg.
    #[cold]
    fn fill(&mut self) -> Read<()> {
        if self.done < self.data.len() {
            if !self.recovers {
                return Err(Stop::Suspended);
            }
            self.repeats += 1;
            if self.repeats > MOST_REPEATS {
                return Err(Stop::Error("the file ends amid its data"));
            }
            self.at = self.done;
            Ok(())
        } else if self.recovers {
            (self.data, self.at, self.done) = (END_OF_IMAGE, 0, 0);
            Ok(())
        } else {
            Err(Stop::Error("the file ends before its marker of the end"))
        }
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Read<u8> {
        if self.at == self.data.len() {
            self.fill()?;
        }
        let byte = self.data[self.at];
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn word(&mut self) -> Read<usize> {
        Ok(usize::from(self.byte()?) << 8 | usize::from(self.byte()?))
    }

    /// The bytes that come next, without the checks of [`byte`](Self::byte), for a reader that knows how many are left.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.data[self.at..]
    }

    /// How many bytes there are from the next marker on; none where coded data go on to the end, or bytes of ones are among them.
    pub(crate) fn size_behind_codes(&self) -> Option<usize> {
        let rest = self.rest();
        let at = rest.windows(2).position(|pair| pair[0] == 0xFF && pair[1] != 0)?;
        rest[at..].iter().find(|&&byte| byte != 0xFF).filter(|&&byte| byte != 0)?;
        Some(rest.len() - at)
    }

    /// Passes over bytes of [`rest`](Self::rest).
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Passes over what a marker says beyond what was read of it.
    pub(crate) fn skip(&mut self, count: usize) -> Read<()> {
        self.commit();
        if count > self.left() {
            self.at = self.data.len();
            self.done = self.at;
            self.fill()
        } else {
            self.at += count;
            self.commit();
            Ok(())
        }
    }

    /// Goes to the next marker, over whatever is before it, and notes it.
    pub(crate) fn next_marker(&mut self) -> Read<u8> {
        loop {
            let mut byte = self.byte()?;
            while byte != 0xFF {
                self.commit();
                byte = self.byte()?;
            }
            while byte == 0xFF {
                byte = self.byte()?;
            }
            self.commit();
            if byte != 0 {
                self.marker = byte;
                return Ok(byte);
            }
        }
    }

    /// Forgets which restart came last, as each scan does.
    pub(crate) fn begin_scan(&mut self) {
        self.next_restart = 0;
    }

    /// Passes the restart marker that is expected. If another marker is there, libjpeg's rules say whether it is passed, data up
    /// to the next are dropped, or it stays, so that the data of this interval count as lost.
    pub(crate) fn restart(&mut self) -> Read<()> {
        if self.marker == 0 {
            self.next_marker()?;
        }
        let expected = self.next_restart;
        loop {
            // How far the marker is ahead of the one that is expected, of eight that follow each other in a ring.
            let distance = self.marker.wrapping_sub(0xD0 + expected) & 7;
            match (self.marker, distance) {
                (0..0xC0, _) | (0xD0..=0xD7, 6 | 7) => _ = self.next_marker()?,
                (0xD0..=0xD7, 1 | 2) => break,
                (0xD0..=0xD7, _) => {
                    self.marker = 0;
                    break;
                }
                _ => break,
            }
        }
        self.next_restart = (expected + 1) & 7;
        Ok(())
    }
}

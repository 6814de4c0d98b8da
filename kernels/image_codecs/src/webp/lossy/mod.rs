//! Lossy pictures: key frames of VP8, as RFC 6386 describes them and libwebp's `src/dec` reads them, to the last bit.

mod coefficients;
mod color;
mod filter;
mod header;
mod lines;
mod modes;
mod plane;
mod predict;
mod reader;
mod tables;
mod transform;

use std::fmt::Display;

use kernlink::tensor::scratch;
use kernlink::{Result as Done, bail};

use super::container::Result;
use coefficients::{Blocks, Edge};
use color::RowConverter;
use filter::Smoothed;
use header::Header;
use modes::{Brightness, Mode, ModeReader, Modes};
use plane::Plane;
use predict::Square;

/// A picture that was read.
pub(super) struct Picture {
    planes: [Plane; 3],
    columns: usize,
    rows: usize,
}

impl Picture {
    /// Reads a picture. `what` begins the text of an error.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the picture is not as it must be, or ends early; RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn read(data: &[u8], columns: usize, rows: usize, what: &impl Display) -> Done<Picture> {
        let mut header = match Header::new(data) {
            Ok(header) => header,
            Err(reason) => bail!(InvalidArgument, "{what} {reason}"),
        };
        let frame = Frame { rows: rows.div_ceil(16), columns: columns.div_ceil(16) };
        let mut planes = [
            Plane::new(16 * frame.rows, 16 * frame.columns)?,
            Plane::new(8 * frame.rows, 8 * frame.columns)?,
            Plane::new(8 * frame.rows, 8 * frame.columns)?,
        ];
        if let Err(reason) = frame.read(&mut header, &mut planes)? {
            bail!(InvalidArgument, "{what} {reason}");
        }
        Ok(Picture { planes, columns, rows })
    }

    /// Writes the pixels in three channels.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn write(&self, out: &mut [u8]) -> Done<()> {
        let mut rows = RowConverter::new(&self.planes, self.columns, self.rows)?;
        out.chunks_exact_mut(3 * self.columns)
            .enumerate()
            .for_each(|(row, out)| rows.write(row, out.as_chunks_mut().0));
        Ok(())
    }

    /// Writes the pixels in four channels, given a plane of alpha; those of a picture without one are opaque.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn write_with_alpha(&self, alpha: Option<&[u8]>, out: &mut [u8]) -> Done<()> {
        let columns = self.columns;
        let mut rows = RowConverter::new(&self.planes, columns, self.rows)?;
        let mut colors = scratch::filled([0; 3], columns)?;
        let opaque = if alpha.is_none() { scratch::filled(255, columns)? } else { Vec::new() };
        for (row, out) in out.chunks_exact_mut(4 * columns).enumerate() {
            rows.write(row, &mut colors);
            let alpha = alpha.map_or(&opaque[..], |alpha| &alpha[row * columns..][..columns]);
            color::join(&colors, alpha, out.as_chunks_mut().0);
        }
        Ok(())
    }
}

/// How many macroblocks there are.
struct Frame {
    rows: usize,
    columns: usize,
}

/// The samples of the macroblock that is predicted.
struct Squares {
    brightness: Square<16, 17>,
    colors: [Square<8, 9>; 2],
}

impl Frame {
    /// Reads and smooths all macroblocks.
    fn read(&self, header: &mut Header<'_>, planes: &mut [Plane; 3]) -> Done<Result<()>> {
        let mut mode_reader = ModeReader::new(header, scratch::filled([Mode::Dc; 4], self.columns)?);
        let mut above = scratch::filled(Edge::default(), self.columns)?;
        let mut row_modes = scratch::room(self.columns)?;
        let mut smoothed = scratch::filled([Smoothed::default(); 2], self.columns)?;
        let mut blocks = Blocks::new();
        let mut squares = Squares { brightness: Square::new(), colors: [Square::new(), Square::new()] };
        for row in 0..self.rows {
            for (plane, count) in planes.iter_mut().zip([16, 8, 8]) {
                plane.begin_rows(count * row, count);
            }
            row_modes.clear();
            row_modes.extend((0..self.columns).map(|column| mode_reader.read(column)));
            if mode_reader.is_over() {
                return Ok(Err("The modes of a lossy picture are cut off."));
            }
            let mut left = Edge::default();
            let partition = row % header.partitions.len();
            for (column, modes) in row_modes.iter().enumerate() {
                let has_block_modes = modes.brightness.has_blocks();
                let edges = [&mut above[column], &mut left];
                let reader = &mut header.partitions[partition];
                let is_changed = if modes.has_coefficients {
                    let steps = &header.steps[modes.segment];
                    blocks.read(reader, &header.probabilities, steps, has_block_modes, edges)
                } else {
                    edges.into_iter().for_each(|edge| edge.clear(has_block_modes));
                    false
                };
                if reader.is_over {
                    return Ok(Err("The coefficients of a lossy picture are cut off."));
                }
                self.predict(planes, &mut squares, [row, column], modes, is_changed.then_some(&blocks));
                let strength = header.strengths[modes.segment][usize::from(has_block_modes)];
                smoothed[column][row % 2] = Smoothed { strength, has_inner: is_changed || has_block_modes };
            }
            // Prediction reads the row above before it is smoothed, so smoothing is one row behind.
            if let Some(before) = row.checked_sub(1) {
                self.smooth(planes, before, header, &smoothed);
            }
        }
        self.smooth(planes, self.rows - 1, header, &smoothed);
        Ok(Ok(()))
    }

    fn smooth(&self, planes: &mut [Plane; 3], row: usize, header: &Header<'_>, smoothed: &[[Smoothed; 2]]) {
        filter::smooth(planes, row, header.smoothing, smoothed.iter().map(|of_rows| of_rows[row % 2]));
    }

    /// Writes the samples of a macroblock.
    fn predict(
        &self,
        planes: &mut [Plane; 3],
        squares: &mut Squares,
        [row, column]: [usize; 2],
        modes: &Modes,
        blocks: Option<&Blocks>,
    ) {
        let has = [row > 0, column > 0];
        let Squares { brightness, colors } = squares;
        let [plane, color_planes @ ..] = planes;
        brightness.begin(plane, [row, column]);
        match modes.brightness {
            Brightness::Whole(mode) => {
                brightness.predict(mode, has);
                if let Some(blocks) = blocks {
                    (0..16).for_each(|index| blocks.add(index, brightness.block([index / 4 * 4, index % 4 * 4])));
                }
            }
            Brightness::Blocks(modes) => {
                let above = &plane.samples[plane.at(16 * row, 16 * column) - plane.stride..];
                brightness.set_right(if row > 0 && column + 1 == self.columns {
                    [above[15]; 4]
                } else if row == 0 {
                    [127; 4]
                } else {
                    [above[16], above[17], above[18], above[19]]
                });
                for (index, &mode) in modes.as_flattened().iter().enumerate() {
                    let at = [index / 4 * 4, index % 4 * 4];
                    brightness.predict_block(at, mode);
                    if let Some(blocks) = blocks {
                        blocks.add(index, brightness.block(at));
                    }
                }
            }
        }
        brightness.write(plane, [row, column]);
        for ((square, plane), first) in colors.iter_mut().zip(color_planes).zip([16, 20]) {
            square.begin(plane, [row, column]);
            square.predict(modes.color, has);
            if let Some(blocks) = blocks {
                (0..4).for_each(|index| blocks.add(first + index, square.block([index / 2 * 4, index % 2 * 4])));
            }
            square.write(plane, [row, column]);
        }
    }
}

//! The coefficients of a file whose components come in several scans, which are kept until its end.

use kernlink::tensor::scratch::Pooled;

use super::arithmetic::Arithmetic;
use super::entropy::{Blocks, Entropy, Sequential};
use super::header::{Found, Header};
use super::idct::Block;
use super::progressive::Progressive;
use super::smooth::{self, SAVED, Unknown};
use super::source::{Read, Stop, zeros};

/// A component's blocks, row by row, with those that only fill the last units.
pub(crate) struct Coefficients {
    blocks: Pooled<Block>,
    /// Which coefficients of AC of each block are not 0, as [`Blocks::single`] says.
    set: Pooled<u64>,
    /// How many blocks a row has.
    across: usize,
    /// How many low bits of each coefficient are unknown yet, now and before the last scan.
    unknown: [i32; 64],
    before: [i32; 64],
}

impl Coefficients {
    pub(crate) fn row(&self, row: usize) -> &[Block] {
        &self.blocks[row * self.across..][..self.across]
    }
}

/// All that the scans said.
pub(crate) struct Scans {
    pub(crate) components: Vec<Coefficients>,
    /// The last row of units for which the last scan that was read had data.
    last_good: usize,
    scans: usize,
}

/// What decodes the header's present scan.
pub(crate) fn entropy(header: &Header<'_>) -> Read<Box<dyn Entropy>> {
    let frame = header.frame()?;
    Ok(if frame.is_arithmetic {
        Box::new(Arithmetic::new(header)?)
    } else if frame.is_progressive {
        Box::new(Progressive::new(header)?)
    } else {
        Box::new(Sequential::new(header)?)
    })
}

/// The blocks of one unit among those of all components.
struct Unit<'u> {
    components: &'u mut [Coefficients],
    /// The component of each block, and its index there.
    places: [(usize, usize); 10],
}

impl Blocks for Unit<'_> {
    fn block(&mut self, index: usize) -> &mut Block {
        let (component, at) = self.places[index];
        &mut self.components[component].blocks[at]
    }

    fn single(&mut self) -> (&mut Block, &mut u64) {
        let (component, at) = self.places[0];
        let component = &mut self.components[component];
        (&mut component.blocks[at], &mut component.set[at])
    }
}

impl Scans {
    /// Reads all scans up to the end of the file.
    pub(crate) fn read(header: &mut Header<'_>) -> Read<Scans> {
        let frame = header.frame()?;
        let mut scans = Scans { components: Vec::new(), last_good: 0, scans: 0 };
        for component in &frame.components {
            let across = component.blocks_across.next_multiple_of(component.across);
            let down = component.blocks_down.next_multiple_of(component.down);
            let (blocks, set) = (zeros(across * down)?, zeros(across * down)?);
            scans.components.push(Coefficients { blocks, set, across, unknown: [-1; 64], before: [0; 64] });
        }
        loop {
            header.latch_quantizers()?;
            let mut entropy = entropy(header)?;
            if frame_is_progressive(header) {
                scans.note_progress(header);
            }
            scans.read_scan(header, &mut *entropy)?;
            scans.scans = header.scans;
            if header.markers()? == Found::End {
                return Ok(scans);
            }
        }
    }

    fn note_progress(&mut self, header: &Header<'_>) {
        let scan = &header.scan;
        for &index in &scan.components {
            let component = &mut self.components[index];
            for k in scan.first.min(1)..=scan.last.max(SAVED - 1) {
                component.before[k] = if header.scans > 1 { component.unknown[k] } else { 0 };
            }
            component.unknown[scan.first..=scan.last].fill(scan.low_bit.into());
        }
    }

    fn read_scan(&mut self, header: &mut Header<'_>, entropy: &mut dyn Entropy) -> Read<()> {
        let frame = header.frame.as_ref().ok_or(Stop::Error("the file has no frame"))?;
        let indices = &header.scan.components;
        let source = &mut header.source;
        let units_down = frame.height.div_ceil(frame.most_down * 8);
        let mut unit = Unit { components: &mut self.components, places: [(0, 0); 10] };
        if let [index] = indices[..] {
            let component = &frame.components[index];
            let stride = unit.components[index].across;
            for row in 0..component.blocks_down {
                let Coefficients { blocks, set, .. } = &mut unit.components[index];
                let range = row * stride..row * stride + component.blocks_across;
                let done = entropy.decode_some(source, &mut blocks[range.clone()], &mut set[range])?;
                if done > 0 {
                    self.last_good = row / component.down;
                }
                for column in done..component.blocks_across {
                    if !entropy.is_exhausted() {
                        self.last_good = row / component.down;
                    }
                    unit.places[0] = (index, row * stride + column);
                    entropy.decode(source, &mut unit)?;
                }
            }
            return Ok(());
        }
        for row in 0..units_down {
            for column in 0..frame.width.div_ceil(frame.most_across * 8) {
                if !entropy.is_exhausted() {
                    self.last_good = row;
                }
                let mut places = unit.places.iter_mut();
                for &index in indices {
                    let component = &frame.components[index];
                    let stride = unit.components[index].across;
                    for y in 0..component.down {
                        for x in 0..component.across {
                            let at = (row * component.down + y) * stride + column * component.across + x;
                            if let Some(place) = places.next() {
                                *place = (index, at);
                            }
                        }
                    }
                }
                entropy.decode(source, &mut unit)?;
            }
        }
        Ok(())
    }

    /// What is unknown of each component's first coefficients, for rows of units that the last scan reached and for those after
    /// them; nothing if guesses would not be useful.
    pub(crate) fn smoothing(&self, header: &Header<'_>) -> Option<Vec<[Unknown; 2]>> {
        let frame = header.frame.as_ref().filter(|frame| frame.is_progressive)?;
        let mut is_useful = false;
        let mut all = Vec::new();
        for (component, coefficients) in frame.components.iter().zip(&self.components) {
            if !component.quantizers.as_deref().is_some_and(smooth::can_smooth) || coefficients.unknown[0] < 0 {
                return None;
            }
            let now: Unknown = std::array::from_fn(|k| coefficients.unknown[k]);
            let before = std::array::from_fn(|k| if self.scans > 1 { coefficients.before[k] } else { -1 });
            is_useful |= now[1..].iter().any(|&bits| bits != 0);
            all.push([now, before]);
        }
        is_useful.then_some(all)
    }

    /// Whether the last scan had data for a row of units.
    pub(crate) fn is_good(&self, row: usize) -> bool {
        row <= self.last_good
    }
}

fn frame_is_progressive(header: &Header<'_>) -> bool {
    header.frame.as_ref().is_some_and(|frame| frame.is_progressive)
}

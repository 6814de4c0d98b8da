//! All shaders of the family: one for each function, size of elements and number of loops.

use super::scatter::Merge;
use super::unit::Unit;
use super::window::Beyond;
use super::{fill, gather, join, one_hot, scatter, segments, sequence, strided, window};
use crate::indices::Indices;
use crate::shader::{Program, Scalar};

/// A shader of the family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variant {
    Fill,
    Spread,
    Range(Scalar),
    Strided(Unit, usize),
    Turn(Unit),
    Window(Beyond, Unit, usize),
    Fold(Scalar),
    Join(Unit, usize),
    Gather(Unit, Indices),
    GatherNd(Unit, Indices),
    ScatterSet(Unit, Indices),
    ScatterMerge(Merge, Scalar, Indices),
    OneHot(Unit, Indices),
    Sequence(Unit, Indices),
    Segments(Merge, Scalar, Indices),
}

const SCALARS: [Scalar; 6] = [Scalar::F32, Scalar::I32, Scalar::U32, Scalar::Bool, Scalar::F16, Scalar::I64];

impl Variant {
    pub(super) fn program(self) -> Program {
        match self {
            Variant::Fill => fill::program(),
            Variant::Spread => fill::spread_program(),
            Variant::Range(scalar) => fill::range_program(scalar),
            Variant::Strided(unit, rank) => strided::program(unit, rank),
            Variant::Turn(unit) => strided::turn_program(unit),
            Variant::Window(beyond, unit, rank) => window::program(beyond, unit, rank),
            Variant::Fold(scalar) => window::fold_program(scalar),
            Variant::Join(unit, inputs) => join::program(unit, inputs),
            Variant::Gather(unit, index) => gather::program(unit, index),
            Variant::GatherNd(unit, index) => gather::nd_program(unit, index),
            Variant::ScatterSet(unit, index) => scatter::set_program(unit, index),
            Variant::ScatterMerge(merge, scalar, index) => scatter::merge_program(merge, scalar, index),
            Variant::OneHot(unit, index) => one_hot::program(unit, index),
            Variant::Sequence(unit, index) => sequence::program(unit, index),
            Variant::Segments(merge, scalar, index) => segments::program(merge, scalar, index),
        }
    }

    pub(super) fn all() -> Vec<Variant> {
        let mut all = vec![Variant::Fill, Variant::Spread];
        all.extend(fill::PROGRESSIONS.map(Variant::Range));
        all.extend(SCALARS.into_iter().filter(|&scalar| scalar != Scalar::Bool).map(Variant::Fold));
        all.extend(Unit::OF_ELEMENTS.map(Variant::Turn));
        for unit in Unit::ALL {
            all.extend(strided::RANKS.map(|rank| Variant::Strided(unit, rank)));
            for beyond in Beyond::ALL {
                all.extend(window::RANKS.map(|rank| Variant::Window(beyond, unit, rank)));
            }
            all.extend((2..=join::MOST).map(|inputs| Variant::Join(unit, inputs)));
            for index in Indices::ALL {
                all.extend([
                    Variant::Gather(unit, index),
                    Variant::GatherNd(unit, index),
                    Variant::ScatterSet(unit, index),
                    Variant::Sequence(unit, index),
                ]);
            }
        }
        for index in Indices::ALL {
            all.extend(Unit::OF_ELEMENTS.map(|unit| Variant::OneHot(unit, index)));
            for merge in Merge::ALL {
                let known = SCALARS.into_iter().filter(|&scalar| merge.is_of(scalar));
                all.extend(known.map(|scalar| Variant::ScatterMerge(merge, scalar, index)));
            }
            for merge in segments::MERGES {
                let known = SCALARS.into_iter().filter(|&scalar| segments::is_of(merge, scalar));
                all.extend(known.map(|scalar| Variant::Segments(merge, scalar, index)));
            }
        }
        all
    }
}

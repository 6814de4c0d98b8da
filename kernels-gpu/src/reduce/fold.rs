//! The shaders of reductions, and which of them a reduction takes.
//!
//! Where neighbours in memory are folded, a workgroup makes an element of the output; where they are kept, or where few
//! elements are folded, a thread does, or some threads where few elements are kept. If that leaves the device idle, parts
//! are reduced first, and then their results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;
use smallvec::SmallVec;

use super::plan::Plan;
use super::reducer::Reducer;
use crate::composition;
use crate::device::{GpuDevice, Groups, lock};
use crate::element_wise::computed;
use crate::places;
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::team::Team;
use crate::transfer::device_bytes;

/// Elements up to which a thread folds alone.
const SHORT: usize = 32;
/// Elements from which on a row is read in vectors.
const LONG: usize = 1024;
/// Threads that keep a device busy.
const BUSY: usize = 32 * 1024;
/// Outputs that are too few for a thread each.
const FEW: usize = 64;
/// The threads of large workgroups.
const THREADS: usize = 256;

/// Numbers of dimensions, kept and folded, that shaders are made for.
const RANKS: [(usize, usize); 3] = [(2, 1), (2, 2), (5, 5)];

/// Which shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Way {
    /// A workgroup for each output.
    Rows { ranks: (usize, usize) },
    /// Likewise, of rows that are one run of vectors.
    VectorRows,
    /// A thread for each output.
    Columns { ranks: (usize, usize) },
    /// A thread for four neighbouring outputs.
    VectorColumns { ranks: (usize, usize) },
    /// A workgroup for all outputs, which are few: some threads for each, neighbours for neighbours.
    FewColumns { ranks: (usize, usize) },
}

impl Way {
    fn all() -> Vec<Way> {
        let mut all = vec![Way::VectorRows];
        for ranks in RANKS {
            all.extend([Way::Rows { ranks }, Way::Columns { ranks }]);
            all.extend([Way::VectorColumns { ranks }, Way::FewColumns { ranks }]);
        }
        all
    }
}

/// Which part of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Whole,
    First,
    Last,
}

/// A shader; `team` matters where a workgroup makes an output.
fn program(reducer: &Reducer, stage: Stage, way: Way, team: Team) -> Program {
    let reducer = match stage {
        Stage::Whole => reducer.clone(),
        Stage::First => reducer.to_parts(),
        Stage::Last => reducer.of_parts(),
    };
    let (ranks, width) = match way {
        Way::Rows { ranks } | Way::Columns { ranks } | Way::FewColumns { ranks } => (ranks, 1),
        Way::VectorRows => ((2, 1), 4),
        Way::VectorColumns { ranks } => (ranks, 4),
    };
    let is_row = matches!(way, Way::Rows { .. } | Way::VectorRows | Way::FewColumns { .. });
    let (x, part, to) = (computed(reducer.from), reducer.part, reducer.to);
    let mut builder =
        Program::trusted(reducer.label).alias("X", x).alias("A", part).alias("R", computed(to)).alias("Y", to);
    builder = if width == 4 { builder.read_vectors("x", reducer.from, 4) } else { builder.read("x", reducer.from) };
    let wide_output = width == 4 && !is_row;
    builder = if wide_output { builder.write_vectors("y", to, 4) } else { builder.write("y", to) };
    builder = builder.param("outputs", "u32").param("folded", "u32").param("chunk", "u32").param("total", "u32");
    builder = places::declare_named(builder, "kept_", ranks.0, &["x"]);
    builder = places::declare_named(builder, "folded_", ranks.1, &["x"]);
    if matches!(way, Way::VectorRows | Way::FewColumns { .. }) {
        builder = builder.workgroup(THREADS as u32);
    }
    let mut body =
        places::function_named("kept_", ranks.0, &["x"]) + &places::function_named("folded_", ranks.1, &["x"]);
    if matches!(way, Way::Rows { .. } | Way::VectorRows) {
        builder = team.declare(builder);
        body += &team.functions("A", &[], &[("all_of", "return merge(a, b);")]);
    }
    let file = match way {
        Way::Rows { .. } | Way::VectorRows => include_str!("rows.wgsl"),
        Way::FewColumns { .. } => include_str!("few_columns.wgsl"),
        Way::Columns { .. } | Way::VectorColumns { .. } => include_str!("columns.wgsl"),
    };
    let names = reducer.names(width == 4);
    body += &composition::compose(file, &names);
    builder.build(if is_row { Entry::Rows } else { Entry::Elements }, &body)
}

/// All programs of a reduction.
pub(crate) fn programs(reducer: &Reducer) -> Vec<Program> {
    let ways = Way::all().into_iter();
    let mut all: Vec<_> = ways.flat_map(|way| [Stage::Whole, Stage::First].map(|stage| (stage, way))).collect();
    let ranks = RANKS[0];
    all.extend(
        [
            Way::Rows { ranks },
            Way::Columns { ranks },
            Way::VectorColumns { ranks },
            Way::VectorRows,
            Way::FewColumns { ranks },
        ]
        .map(|way| (Stage::Last, way)),
    );
    let teams = |way| match way {
        Way::Rows { .. } | Way::VectorRows => Team::of(reducer.part),
        _ => &Team::ALL[..1],
    };
    all.iter()
        .flat_map(|&(stage, way)| teams(way).iter().map(move |&team| program(reducer, stage, way, team)))
        .collect()
}

/// The kernel of a [`Reducer`].
pub(crate) struct Fold {
    pub(super) reducer: Reducer,
    pub(super) part: DataType,
    shaders: Mutex<HashMap<(Stage, Way), Arc<Shader>>>,
}

impl Fold {
    pub(crate) fn new(reducer: Reducer) -> Fold {
        let part = match reducer.part {
            Scalar::F32 | Scalar::F16 => DataType::Float,
            Scalar::I32 => DataType::Int32,
            Scalar::U32 | Scalar::Bool => DataType::Uint32,
            Scalar::I64 => DataType::Int64,
        };
        Fold { reducer, part, shaders: Mutex::default() }
    }

    /// The reduction of a tensor by a plan for its shape; `dtype` is that of the output.
    #[track_caller]
    pub(crate) fn run(&self, gpu: &GpuDevice, input: &Tensor, plan: &Plan, dtype: DataType) -> Result<Tensor> {
        let output = gpu.allocate(dtype, plan.output.clone())?;
        if plan.outputs == 0 {
            return Ok(output);
        }
        if gpu.fit(&[input, &output]) {
            self.reduce(gpu, input, &output, plan, plan.count)?;
        } else {
            self.by_windows(gpu, input, &output, &plan.runs, plan.count)?;
        }
        Ok(output)
    }

    /// Whether results depend on the number of elements.
    pub(super) fn counts(&self) -> bool {
        self.reducer.counts()
    }

    /// The reduction to `output`; results are of `total` elements.
    pub(super) fn reduce(
        &self,
        gpu: &GpuDevice,
        input: &Tensor,
        output: &Tensor,
        plan: &Plan,
        total: usize,
    ) -> Result<()> {
        let most = gpu.gpu.limits.binding / device_bytes(self.part, plan.outputs);
        let parts = parts(plan).min(most).max(1);
        if parts == 1 {
            return self.stage(gpu, Stage::Whole, input, output, plan, 1, total);
        }
        let partial = gpu.allocate(self.part, [parts, plan.outputs])?;
        self.stage(gpu, Stage::First, input, &partial, plan, parts, total)?;
        self.stage(gpu, Stage::Last, &partial, output, &Plan::of_parts(parts, plan.outputs), 1, total)
    }

    #[expect(clippy::too_many_arguments, reason = "what a dispatch consists of")]
    pub(super) fn stage(
        &self,
        gpu: &GpuDevice,
        stage: Stage,
        input: &Tensor,
        output: &Tensor,
        plan: &Plan,
        parts: usize,
        total: usize,
    ) -> Result<()> {
        let chunk = chunk(plan.count, parts);
        let needed = (plan.kept.rank(), plan.folded.rank());
        let ranks = RANKS.into_iter().find(|ranks| needed.0 <= ranks.0 && needed.1 <= ranks.1);
        let Some(ranks) = ranks else {
            kernlink::bail!(Unimplemented, "{needed:?} groups of dimensions are more than the GPU reduces");
        };
        let (by_rows, by_few) = (takes_rows(plan), takes_few_columns(plan));
        let in_row = |plan: &Plan| plan.folded.rank() == 1 && plan.folded.inner().1 == [1];
        let vectors = if by_few {
            None
        } else if by_rows {
            let kept = plan.kept.scaled(4).or_else(|| (plan.outputs == 1).then(|| plan.kept.clone()));
            (plan.count >= LONG && in_row(plan)).then_some(()).and(kept).map(|kept| (kept, plan.folded.clone()))
        } else {
            plan.kept.in_vectors(4).filter(|_| plan.kept.inner().1 == [1]).zip(plan.folded.scaled(4))
        };
        let (way, kept, folded) = match (by_rows, vectors) {
            (true, Some((kept, folded))) => (Way::VectorRows, kept, folded),
            (true, None) => (Way::Rows { ranks }, plan.kept.clone(), plan.folded.clone()),
            (false, None) if by_few => (Way::FewColumns { ranks }, plan.kept.clone(), plan.folded.clone()),
            (false, Some((kept, folded))) => (Way::VectorColumns { ranks }, kept, folded),
            (false, None) => (Way::Columns { ranks }, plan.kept.clone(), plan.folded.clone()),
        };
        let ranks = if way == Way::VectorRows { (2, 1) } else { ranks };
        let outputs = plan.outputs / if matches!(way, Way::VectorColumns { .. }) { 4 } else { 1 };
        let mut words: SmallVec<[u32; 32]> =
            SmallVec::from_slice(&[outputs as u32, plan.count as u32, chunk as u32, total as u32]);
        words.extend(kept.params(ranks.0));
        words.extend(folded.params(ranks.1));
        let groups = if by_few {
            Groups::Rows(parts)
        } else if by_rows {
            Groups::Rows(outputs * parts)
        } else {
            Groups::Elements(outputs * parts)
        };
        let shader = {
            let mut shaders = lock(&self.shaders);
            let made = || Arc::new(Shader::new(program(&self.reducer, stage, way, Team::on(gpu, self.reducer.part))));
            shaders.entry((stage, way)).or_insert_with(made).clone()
        };
        gpu.dispatch(&shader, &[input, output], &words, groups)
    }
}

/// Whether a workgroup makes an element of the output.
fn takes_rows(plan: &Plan) -> bool {
    plan.count > SHORT && plan.inner_folded
}

/// Whether a workgroup makes all of the outputs, which are neighbours in memory.
fn takes_few_columns(plan: &Plan) -> bool {
    plan.count > SHORT && !plan.inner_folded && (2..FEW).contains(&plan.outputs)
}

/// How many parts are reduced by themselves.
pub(super) fn parts(plan: &Plan) -> usize {
    let wanted = if takes_rows(plan) {
        if plan.outputs >= 1024 { 1 } else { (plan.count / (8 * LONG)).min(LONG) }
    } else if takes_few_columns(plan) {
        // Each thread of a part folds some elements.
        (plan.count * plan.outputs.next_power_of_two() / (THREADS * SHORT)).min(LONG)
    } else if plan.count > 2 * SHORT {
        let idle = BUSY.div_ceil(plan.outputs).min(plan.count / SHORT);
        // Long sums of their own would round too often.
        idle.max(plan.count / 4096)
    } else {
        1
    };
    plan.count.div_ceil(chunk(plan.count, wanted.max(1)).max(1)).max(1)
}

/// The elements of a part: whole vectors.
fn chunk(count: usize, parts: usize) -> usize {
    count.div_ceil(parts).next_multiple_of(4)
}

//! Random numbers of datasets, and where their seeds come from.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::resource::Resource;
use kernlink::shape::PartialShape;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, Variant};
use kernlink::{Result, ensure};
use kernlink_geometry::random::philox::Philox;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, INFINITE, Spec, scalar, set_dataset};
use crate::saved::Saved;

/// A generator that gives 32 bits at a time and knows how many it gave.
pub(crate) struct Drawn {
    seeds: (i64, i64),
    count: u64,
    generator: Philox,
    block: [u32; 4],
}

impl Drawn {
    pub(crate) fn new(seeds: (i64, i64)) -> Drawn {
        Drawn { seeds, count: 0, generator: Philox::from_seeds(seeds.0, seeds.1), block: [0; 4] }
    }

    /// The one that has given so many numbers.
    fn after(seeds: (i64, i64), count: u64) -> Drawn {
        let mut drawn = Drawn::new(seeds);
        drawn.generator.skip(count / 4);
        drawn.count = count / 4 * 4;
        (0..count % 4).for_each(|_| _ = drawn.next());
        drawn
    }

    pub(crate) fn next(&mut self) -> u32 {
        let place = (self.count % 4) as usize;
        if place == 0 {
            self.block = self.generator.step();
        }
        self.count += 1;
        self.block[place]
    }

    pub(crate) fn save(&self, saved: &mut Saved) {
        saved.set("seed", self.seeds.0);
        saved.set("seed2", self.seeds.1);
        saved.set("numbers", self.count as i64);
    }

    pub(crate) fn restored(saved: &Saved) -> Result<Drawn> {
        Ok(Drawn::after((saved.get("seed")?, saved.get("seed2")?), saved.get("numbers")? as u64))
    }
}

/// What gives each iterator its seeds: the same, or others each time.
pub(crate) struct Seeds {
    seeds: (i64, i64),
    drawn: Option<Mutex<Drawn>>,
}

impl Seeds {
    /// The seeds that two numbers stand for: random ones if both are zero.
    pub(crate) fn chosen(seed: i64, seed2: i64) -> (i64, i64) {
        let random = || RandomState::new().hash_one(0) as i64;
        if seed == 0 && seed2 == 0 { (random(), random()) } else { (seed, seed2) }
    }

    pub(crate) fn new(seeds: (i64, i64), are_others_each_time: bool) -> Seeds {
        Seeds { seeds, drawn: are_others_each_time.then(|| Mutex::new(Drawn::new(seeds))) }
    }

    /// The seeds of the next iterator.
    pub(crate) fn next(&self) -> (i64, i64) {
        let Some(drawn) = &self.drawn else { return self.seeds };
        let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let first = drawn.next();
        (i64::from(first), i64::from(drawn.next()))
    }

    pub(crate) fn save(&self, saved: &mut Saved) {
        if let Some(drawn) = &self.drawn {
            drawn.lock().unwrap_or_else(PoisonError::into_inner).save(saved.part("seeds", 0));
        }
    }

    pub(crate) fn restore(&self, saved: &Saved) -> Result<()> {
        if let (Some(drawn), Some(saved)) = (&self.drawn, saved.saved_part("seeds", 0)) {
            *drawn.lock().unwrap_or_else(PoisonError::into_inner) = Drawn::restored(saved)?;
        }
        Ok(())
    }
}

impl Resource for Seeds {
    fn type_name() -> &'static str {
        "tensorflow::data::SeedGeneratorManager"
    }
}

/// The type of a generator in the graph of a dataset that TensorFlow wrote: it is in another process.
const ELSEWHERE: &str = "N10tensorflow4data13SeedGeneratorE";

/// The generator that input `seed_generator` names, or one of the dataset's own: a dummy names none.
pub(crate) fn seeds_of(ctx: &RawContext<'_>, make: impl FnOnce() -> Result<Seeds>) -> Result<Arc<Seeds>> {
    let index = ctx.input_range_of("seed_generator")?.start;
    match ctx.resource_at::<Seeds>(index) {
        Ok(seeds) => Ok(seeds),
        Err(error) if error.is_missing_resource() || ctx.handle_at(index)?.type_name == ELSEWHERE => {
            Ok(Arc::new(make()?))
        }
        Err(error) => Err(error),
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::AnonymousRandomSeedGenerator, ops::AnonymousSeedGenerator])]
fn seed_generator(ctx: &mut RawContext<'_>) -> Result<()> {
    let seeds = Seeds::chosen(scalar(ctx, "seed")?, scalar(ctx, "seed2")?);
    let reshuffles = ctx.op().name != "AnonymousSeedGenerator" || scalar(ctx, "reshuffle")?;
    let handle = ctx.resources()?.make_owned_handle(ctx.device_name(), Arc::new(Seeds::new(seeds, reshuffles)));
    ctx.set_output_at(0, Tensor::scalar(handle))?;
    ctx.set_output_at(1, Tensor::scalar(Variant::default()))
}

/// Numbers without end.
struct RandomNumbers {
    head: Head,
    seeds: Arc<Seeds>,
}

struct RandomIterator {
    dataset: Arc<RandomNumbers>,
    drawn: Drawn,
}

impl Dataset for RandomNumbers {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        INFINITE
    }

    fn seeds(&self) -> Option<&Seeds> {
        Some(&self.seeds)
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let drawn = Drawn::new(self.seeds.next());
        Ok(Box::new(RandomIterator { dataset: self, drawn }))
    }
}

impl DatasetIterator for RandomIterator {
    fn next<'a>(&'a mut self, _: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        let number = i64::from(self.drawn.next());
        Box::pin(std::future::ready(Ok(Some(vec![Tensor::scalar(number)]))))
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        self.dataset.seeds.save(saved);
        self.drawn.save(saved);
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.dataset.seeds.restore(saved)?;
            self.drawn = Drawn::restored(saved)?;
            Ok(())
        })
    }
}

struct RandomKernel {
    spec: Spec,
    others_each_time: bool,
}

impl KernelState for RandomKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let others_each_time = match ctx.attrs.get("rerandomize_each_iteration") {
            Some(_) => ctx.attrs.required("rerandomize_each_iteration")?,
            None => false,
        };
        let mut spec = Spec::of(ctx)?;
        ensure!(
            spec.dtypes == [kernlink::dtype::DataType::Int64],
            InvalidArgument,
            "the numbers are int64: `output_types` must be [int64]"
        );
        // TensorFlow's dataset says no more, whatever the attr says: its graph and fingerprint have it so.
        spec.shapes = vec![PartialShape::unknown()];
        Ok(Self { spec, others_each_time })
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::RandomDataset, ops::RandomDatasetV2, ops::ExperimentalRandomDataset])]
fn random(state: &RandomKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let seeds = Seeds::chosen(scalar(ctx, "seed")?, scalar(ctx, "seed2")?);
    let make = || Ok(Seeds::new(seeds, state.others_each_time));
    let seeds = match ctx.op().name == "RandomDatasetV2" {
        true => seeds_of(ctx, make)?,
        false => Arc::new(make()?),
    };
    set_dataset(ctx, RandomNumbers { head: Head::source(&state.spec), seeds })
}

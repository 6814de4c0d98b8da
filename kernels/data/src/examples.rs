//! Examples that are parsed.

use std::collections::BTreeMap;
use std::sync::Arc;

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::{Tensor, Variant};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::example::{Attrs, Config, Parsed, parse_many};
use kernlink_kernels_common::ragged::Ragged;
use kernlink_kernels_common::tensors::TensorValue;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use kernlink_ops::shapes::ExampleAttrs;

use crate::dataset::{Element, Spec, tensors};
use crate::parallel_map::{Keeps, ParallelMap, parallelism};
use crate::prefetch::Call;
use crate::transform::set_transformed;

/// What is parsed, as attrs say.
struct Features {
    spec: Spec,
    attrs: Attrs,
    /// Sparse, dense and ragged ones.
    keys: [Vec<Vec<u8>>; 3],
    /// Where the component of each feature is: those of the sparse ones first, then those of the dense, then of the ragged ones.
    places: [Vec<usize>; 3],
}

impl Features {
    fn config<'a>(&'a self, defaults: &'a [Tensor]) -> Result<Config<'a>> {
        fn slices(keys: &[Vec<u8>]) -> Vec<&[u8]> {
            keys.iter().map(Vec::as_slice).collect()
        }
        let defaults: Vec<&Tensor> = defaults.iter().collect();
        Config::new(&self.attrs, [slices(&self.keys[0]), slices(&self.keys[1]), slices(&self.keys[2])], &defaults)
    }
}

struct FeaturesState(Arc<Features>);

impl KernelState for FeaturesState {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let has_ragged = ctx.attrs.get("ragged_keys").is_some();
        let keys = |name: &str| -> Result<Vec<Vec<u8>>> {
            if name == "ragged_keys" && !has_ragged {
                return Ok(Vec::new());
            }
            let keys: Vec<TString> = ctx.attrs.required(name)?;
            Ok(keys.into_iter().map(|key| key.to_vec()).collect())
        };
        let dtypes = |name: &str| -> Result<Vec<DataType>> {
            if name.starts_with("ragged") && !has_ragged { Ok(Vec::new()) } else { ctx.attrs.required(name) }
        };
        let keys = [keys("sparse_keys")?, keys("dense_keys")?, keys("ragged_keys")?];
        let (sparse_types, dense_types) = (dtypes("sparse_types")?, dtypes("Tdense")?);
        let (ragged_types, splits) = (dtypes("ragged_value_types")?, dtypes("ragged_split_types")?);
        let dense_shapes: Vec<kernlink::shape::PartialShape> = ctx.attrs.required("dense_shapes")?;
        let attrs = Attrs::new(&ExampleAttrs {
            sparse: keys[0].len() as i64,
            dense: keys[1].len() as i64,
            sparse_types: &sparse_types,
            dense_types: &dense_types,
            dense_shapes: &dense_shapes,
            ragged_value_types: &ragged_types,
            ragged_split_types: &splits,
        })?;
        if let Some(deterministic) =
            ctx.attrs.get("deterministic").map(|_| ctx.attrs.required::<String>("deterministic"))
        {
            let deterministic = deterministic?;
            ensure!(
                matches!(deterministic.as_str(), "true" | "false" | "default"),
                InvalidArgument,
                "Could not parse policy string: {deterministic}: `deterministic` is \"true\", \"false\" or \"default\""
            );
        }
        // Components are in the order of the names.
        let mut order = BTreeMap::new();
        for key in keys.iter().flatten() {
            if order.insert(key.clone(), 0).is_some() {
                bail!(InvalidArgument, "Duplicate key not allowed: {}", key.escape_ascii());
            }
        }
        order.values_mut().enumerate().for_each(|(place, value)| *value = place);
        let places = keys.each_ref().map(|keys| keys.iter().map(|key| order[key]).collect());
        let spec = Spec::of(ctx)?;
        ensure!(
            spec.dtypes.len() == order.len(),
            InvalidArgument,
            "output_types must have a dtype for each of the {} features, but has {}",
            order.len(),
            spec.dtypes.len()
        );
        Ok(Self(Arc::new(Features { spec, attrs, keys, places })))
    }
}

struct Parser {
    features: Arc<Features>,
    defaults: Vec<Tensor>,
}

impl Parser {
    fn parse(&self, element: &Element) -> Result<Element> {
        let [serialized] = element.as_slice() else {
            bail!(InvalidArgument, "Examples are one component of strings, but there are {}", element.len());
        };
        ensure!(
            serialized.dtype() == DataType::String,
            InvalidArgument,
            "Examples are strings, not {}",
            serialized.dtype()
        );
        let config = self.features.config(&self.defaults)?;
        let Parsed { dense, sparse: [indices, values, shapes], ragged_values, ragged_splits } =
            parse_many(None, &config, serialized.as_slice::<TString>()?, &[])?;
        let [sparse_places, dense_places, ragged_places] = &self.features.places;
        let mut components = vec![None; self.features.spec.dtypes.len()];
        for (tensor, &place) in dense.into_iter().zip(dense_places) {
            components[place] = Some(tensor);
        }
        for (((indices, values), shape), &place) in indices.into_iter().zip(values).zip(shapes).zip(sparse_places) {
            let parts = [indices, values, shape].map(|part| Variant::new(TensorValue(part)));
            components[place] = Some(Tensor::vector(&parts)?);
        }
        for ((values, splits), &place) in ragged_values.into_iter().zip(ragged_splits).zip(ragged_places) {
            components[place] = Some(Tensor::scalar(Variant::new(Ragged { splits: vec![splits], values })));
        }
        components.into_iter().collect::<Option<Element>>().ok_or_else(|| Error::internal("a feature was not parsed"))
    }
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::ParseExampleDataset, ops::ParseExampleDatasetV2, ops::ExperimentalParseExampleDataset,
])]
fn parse_examples(state: &FeaturesState, ctx: &mut RawContext<'_>) -> Result<()> {
    let parallelism = parallelism(ctx)?;
    let parser = Parser { features: state.0.clone(), defaults: tensors(ctx, "dense_defaults")? };
    parser.features.config(&parser.defaults)?;
    let parser = Arc::new(parser);
    let call: Call = Arc::new(move |element, _| {
        let parser = parser.clone();
        Box::pin(async move { parser.parse(&element).map(Some) })
    });
    let parsed = ParallelMap { call, parallelism, keeps: Keeps::All, has_random_access: false };
    set_transformed(ctx, &state.0.spec, parsed)
}

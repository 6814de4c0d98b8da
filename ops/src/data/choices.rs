//! Datasets that choose where an element comes from: the fastest of several, some place in another.

use kernlink_macros::register_op;

use super::shape::with_scalars;
use crate::shapes;

#[register_op(
    attr("N: int >= 2"),
    attr("num_experiments: int", "For how many elements all of them are asked, before one is chosen."),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_datasets: N * variant", "Datasets of the same elements."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub enum Fastest {
    /// The elements of that of several equal datasets which gives them fastest.
    ChooseFastestDataset,
    /// The elements of that of several equal datasets which gives them fastest.
    ExperimentalChooseFastestDataset,
}

/// The elements of the dataset that a function makes of a dataset: that one of several equal functions which is fastest.
#[register_op(
    attr("Targuments: list(type) >= 0"),
    attr("num_elements_per_branch: int >= 1", "How many elements are taken from each, before one is chosen."),
    attr("branches: list(func) >= 1", "The functions, from a dataset to a dataset."),
    attr("other_arguments_lengths: list(int) >= 1", "How many of the other arguments each of them takes."),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("ratio_numerator: int64", "With the denominator: how many elements of the input make one."),
    input("ratio_denominator: int64"),
    input("other_arguments: Targuments", "What the functions take behind the dataset, of one after the other."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub struct ChooseFastestBranchDataset;

/// The elements of a dataset in random order, without any of them being held: all that the dataset is made of gives elements by
/// their places.
#[register_op(
    attr("reshuffle_each_iteration: bool = true", "Whether each iterator has seeds of its own."),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
    input("seed2: int64"),
    input("seed_generator: resource", "What gives the seeds of each iterator."),
    output("handle: variant", "The dataset."),
    stateful,
    shape_fn = |c| with_scalars(c, &[1, 2, 3]),
)]
pub struct GlobalShuffleDataset;

/// The rows of what a function makes of each element, in the order that another function says.
#[register_op(
    attr("map_func: func", "Makes tensors of an element, whose rows are those of the dataset."),
    attr("index_map_func: func", "Says of a place which element of the input is meant, and which of its rows."),
    attr("Tmap_func_args: list(type) >= 0"),
    attr("Tindex_map_func_args: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("map_func_other_args: Tmap_func_args", "What `map_func` takes behind the components of an element."),
    input("index_map_func_other_args: Tindex_map_func_args", "What `index_map_func` takes behind the place."),
    input("output_cardinality: int64", "How many rows there are; −2 if that is not known."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub struct IndexFlatMapDataset;

/// The elements of several datasets one after the other, of each as many as its weight says, so that one of them is used up.
#[register_op(
    attr("N: int >= 2"),
    attr("M: int >= 2"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_datasets: N * variant", "The datasets, of which it is known how many elements they have."),
    input("weights: M * double", "The weight of each, above zero."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub struct WeightedFlatMapDataset;

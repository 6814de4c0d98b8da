//! Iterators, and what is asked of datasets as a whole.

use kernlink_macros::register_op;

use super::shape::scalars;
use crate::shapes;

#[register_op(
    attr("shared_name: string", "The name under which nodes share it."),
    attr("container: string", "Where it is kept; empty for the default container."),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    output("handle: resource", "A scalar: the handle of the iterator."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum NamedIterators {
    /// An iterator, which `MakeIterator` sets to a dataset.
    // Not by its own name, which is that of a trait.
    #[op(name = "Iterator")]
    OldIterator,
    /// An iterator, which `MakeIterator` sets to a dataset.
    IteratorV2,
}

#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    output("handle: resource", "A scalar: the handle of the iterator."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum AnonymousIterators {
    /// An iterator that goes with its handle.
    AnonymousIterator,
    /// An iterator that goes with its handle.
    #[op(
        output("deleter: variant", "Deletes it with the last copy; nothing else is to be done with it."),
        shape_fn = scalars,
    )]
    AnonymousIteratorV2,
    /// An iterator that goes with its handle.
    AnonymousIteratorV3,
}

/// An iterator over the dataset of a function.
#[register_op(
    attr("dataset_factory: func", "A function without arguments that gives the dataset."),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("container: string = ''", "Where it is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share it."),
    output("handle: resource", "A scalar: the handle of the iterator."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct OneShotIterator;

/// Sets an iterator to the beginning of a dataset.
#[register_op(
    input("dataset: variant", "The dataset, whose elements must be as the iterator's attrs say."),
    input("iterator: resource", "The iterator."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub struct MakeIterator;

#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("iterator: resource", "The iterator."),
    output("components: output_types", "The components."),
    stateful,
    shape_fn = shapes::dataset_iterator_shape,
)]
pub enum Nexts {
    /// The next element of an iterator; OUT_OF_RANGE at the end.
    IteratorGetNext,
    /// The next element of an iterator; OUT_OF_RANGE at the end.
    IteratorGetNextSync,
}

/// The next element of an iterator as an optional, which is empty at the end.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("iterator: resource", "The iterator."),
    output("optional: variant", "The optional."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct IteratorGetNextAsOptional;

#[register_op(
    input("handle: resource", "The handle of what is deleted."),
    input("deleter: variant", "Deletes it with the last copy; nothing else is to be done with it."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub enum Deletions {
    /// Deletes an iterator.
    DeleteIterator,
    /// Deletes a cache.
    DeleteMemoryCache,
    /// Deletes a generator of seeds.
    DeleteSeedGenerator,
    /// Deletes a generator of seeds.
    DeleteRandomSeedGenerator,
}

/// The name of an iterator as a string.
#[register_op(
    input("resource_handle: resource", "The iterator."),
    output("string_handle: string", "The name."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct IteratorToStringHandle;

#[register_op(
    attr("output_types: list(type) >= 0 = []", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 0 = []", "The shapes of the components, as far as they are known."),
    input("string_handle: string", "The name."),
    output("resource_handle: resource", "The iterator."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum IteratorsByName {
    /// The iterator that a string names.
    IteratorFromStringHandle,
    /// The iterator that a string names.
    IteratorFromStringHandleV2,
}

#[register_op(
    input("resource: resource", "The iterator."),
    output("device: string"),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum IteratorDevices {
    /// The device of an iterator.
    IteratorGetDevice,
    /// The device of an iterator.
    ExperimentalIteratorGetDevice,
}

/// The state of an iterator.
#[register_op(
    attr("external_state_policy: int = 0", "Of no effect."),
    input("resource_handle: resource", "The iterator."),
    output("serialized: variant", "The state."),
    stateful,
    shape_fn = |c| shapes::output_shape(c, c.vector(-1)),
)]
pub struct SerializeIterator;

/// Sets the state of an iterator to one that was serialized.
#[register_op(
    input("resource_handle: resource", "The iterator."),
    input("serialized: variant", "The state."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub struct DeserializeIterator;

#[register_op(
    output("handle: resource", "A scalar: the handle of the cache, or of the generator."),
    output("deleter: variant", "Deletes it with the last copy; nothing else is to be done with it."),
    stateful,
    shape_fn = scalars,
)]
pub enum Caches {
    /// A cache that goes with its handle.
    AnonymousMemoryCache,
    /// A generator of seeds that goes with its handle.
    #[op(input("seed: int64", "The seed, with `seed2`; both zero for a random one."), input("seed2: int64"))]
    AnonymousRandomSeedGenerator,
    /// A generator of seeds that goes with its handle.
    #[op(
        input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
        input("seed2: int64"),
        input("reshuffle: bool", "Whether it gives other seeds each time.")
    )]
    AnonymousSeedGenerator,
}

#[register_op(
    output("handle: resource", "A scalar: a handle that names nothing."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum Dummies {
    /// A handle of no cache.
    DummyMemoryCache,
    /// A handle of no generator of seeds.
    DummySeedGenerator,
}

#[register_op(
    input("input_dataset: variant", "The dataset whose elements are taken."),
    output("cardinality: int64", "A scalar: how many elements there are, −1 or −2."),
    shape_fn = shapes::scalar_shape,
)]
pub enum Cardinalities {
    /// How many elements a dataset has: −1 without end, −2 if it is not known.
    #[op(attr(
        "cardinality_options: string = ''",
        "A `CardinalityOptions`: how much TensorFlow may compute for it. Of no effect."
    ))]
    DatasetCardinality,
    /// How many elements a dataset has: −1 without end, −2 if it is not known.
    ExperimentalDatasetCardinality,
}

/// The one element of a dataset.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("dataset: variant", "The dataset; INVALID_ARGUMENT unless it has one element."),
    output("components: output_types", "The components."),
    stateful,
    shape_fn = shapes::dataset_iterator_shape,
)]
pub struct DatasetToSingleElement;

/// The element of a dataset in some place.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("dataset: variant", "The dataset, whose cardinality must be known."),
    input("index: int64", "The place, from 0 to the cardinality − 1; OUT_OF_RANGE for another."),
    output("components: output_types", "The components."),
    shape_fn = shapes::dataset_iterator_shape,
)]
pub struct GetElementAtIndex;

/// What a function makes of a state and all elements, one after the other.
#[register_op(
    attr("f: func", "The function."),
    attr("Tstate: list(type) >= 1"),
    attr("Targuments: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("use_inter_op_parallelism: bool = true", "Of no effect."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("initial_state: Tstate", "The state before the first element."),
    input("other_arguments: Targuments", "What the function takes behind the components of an element."),
    output("components: output_types", "The components."),
    stateful,
    shape_fn = shapes::dataset_iterator_shape,
)]
pub struct ReduceDataset;

/// The options of a dataset.
#[register_op(
    input("input_dataset: variant", "The dataset whose elements are taken."),
    output("serialized_options: string", "An `OptionsProto`."),
    shape_fn = shapes::scalar_shape,
)]
pub struct GetOptions;

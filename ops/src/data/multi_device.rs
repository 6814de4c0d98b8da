//! Iterators whose elements several devices get in turn.

use kernlink_macros::register_op;

use super::shape::scalars;
use crate::shapes;

#[register_op(
    attr("devices: list(string) >= 1", "The devices: their number counts."),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    output("handle: resource", "The iterator."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum MultiDeviceIterators {
    /// An iterator whose elements several devices get in turn.
    #[op(
        attr("shared_name: string", "The name under which nodes share it.", before = "output_types"),
        attr("container: string", "Where it is kept; empty for the default container.", before = "output_types")
    )]
    MultiDeviceIterator,
    /// An iterator whose elements several devices get in turn, and that goes with its handle.
    #[op(
        output("deleter: variant", "Deletes it with the last copy; nothing else is to be done with it."),
        shape_fn = scalars,
    )]
    AnonymousMultiDeviceIterator,
    /// An iterator whose elements several devices get in turn, and that goes with its handle.
    AnonymousMultiDeviceIteratorV3,
}

/// Sets an iterator of several devices to the beginning of a dataset.
#[register_op(
    input("dataset: variant", "The dataset."),
    input("multi_device_iterator: resource", "The iterator."),
    input("max_buffer_size: int64", "How many elements are held for each device."),
    output("incarnation_id: int64", "The number of this beginning, which whoever takes elements says."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct MultiDeviceIteratorInit;

/// The next element of a device; OUT_OF_RANGE at the end.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("multi_device_iterator: resource", "The iterator."),
    input("shard_num: int32", "The number of the device."),
    input("incarnation_id: int64", "What `MultiDeviceIteratorInit` gave."),
    output("components: output_types", "The components."),
    stateful,
    shape_fn = shapes::dataset_iterator_shape,
)]
pub struct MultiDeviceIteratorGetNextFromShard;

/// The name of an iterator of several devices as a string.
#[register_op(
    input("multi_device_iterator: resource", "The iterator."),
    output("string_handle: string", "The name."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct MultiDeviceIteratorToStringHandle;

/// The iterator of several devices that a string names.
#[register_op(
    attr("output_types: list(type) >= 0 = []", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 0 = []", "The shapes of the components, as far as they are known."),
    input("string_handle: string", "The name."),
    output("multi_device_iterator: resource", "The iterator."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct MultiDeviceIteratorFromStringHandle;

/// Deletes an iterator of several devices.
#[register_op(
    attr("N: int >= 0"),
    input("multi_device_iterator: resource", "The iterator."),
    input("iterators: N * resource", "The iterators of the devices, so that they end first."),
    input("deleter: variant", "Deletes it with the last copy; nothing else is to be done with it."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub struct DeleteMultiDeviceIterator;

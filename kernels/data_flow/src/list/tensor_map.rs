//! Maps from tensors to tensors.

use std::collections::HashMap;

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::tensor::{Tensor, Variant, VariantValue};
use kernlink::{Error, Result, ensure};
use kernlink_kernels_common::tensors::add_to;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::rows::join;

/// What tells a key from others: its dtype, its shape and its elements as bytes, strings with their lengths.
type Key = (DataType, Shape, TString);

/// A map from tensors to tensors. The keys are kept as they were given.
#[derive(Default)]
struct TensorMap(HashMap<Key, (Tensor, Tensor)>);

impl TensorMap {
    /// A copy, with room for `more`.
    fn copied(&self, more: usize) -> Result<TensorMap> {
        let mut copy = HashMap::new();
        copy.make_room(self.0.len().saturating_add(more))?;
        copy.extend(self.0.iter().map(|(id, pair)| (id.clone(), pair.clone())));
        Ok(TensorMap(copy))
    }
}

fn key(tensor: &Tensor) -> Result<Key> {
    let bytes = match tensor.dtype() {
        DataType::String => {
            let texts = tensor.as_slice::<TString>()?;
            let mut bytes = scratch::room(texts.iter().map(|text| text.len() + 8).sum())?;
            for text in texts {
                bytes.extend((text.as_bytes().len() as u64).to_be_bytes());
                bytes.extend(text.as_bytes());
            }
            bytes
        }
        // Numbers of either sign of zero are equal.
        DataType::Float => {
            let bits = |x: &f32| if *x == 0.0 { 0.0f32 } else { *x };
            scratch::collected(tensor.as_slice::<f32>()?.iter().flat_map(|x| bits(x).to_ne_bytes()))?
        }
        DataType::Double => {
            let bits = |x: &f64| if *x == 0.0 { 0.0f64 } else { *x };
            scratch::collected(tensor.as_slice::<f64>()?.iter().flat_map(|x| bits(x).to_ne_bytes()))?
        }
        dtype if dtype.is_pod() => scratch::copied(tensor.bytes()?)?,
        dtype => kernlink::bail!(InvalidArgument, "a tensor of dtype {dtype} cannot be the key of a map"),
    };
    Ok((tensor.dtype(), tensor.shape().clone(), TString::from(bytes)))
}

impl VariantValue for TensorMap {
    fn type_name(&self) -> &'static str {
        "tensorflow::TensorMap"
    }

    fn zeros_like(&self) -> Result<Variant> {
        Ok(Variant::new(TensorMap::default()))
    }

    fn add(&self, other: &Variant) -> Result<Variant> {
        let Some(other) = other.get::<TensorMap>() else {
            kernlink::bail!(InvalidArgument, "a map and a variant of type '{}' cannot be added", other.type_name());
        };
        let mut sum = self.copied(other.0.len())?;
        for (id, (key, value)) in &other.0 {
            match sum.0.get_mut(id) {
                Some((_, own)) => add_to(own, value)?,
                None => {
                    sum.0.insert(id.clone(), (key.clone(), value.clone()));
                }
            }
        }
        Ok(Variant::new(sum))
    }
}

/// The map in a variant tensor.
fn map_in(tensor: &Tensor) -> Result<&TensorMap> {
    ensure!(tensor.rank() == 0, InvalidArgument, "Input map must be a scalar. Saw: {}", tensor.shape());
    let variant = &tensor.as_slice::<Variant>()?[0];
    let missing = || Error::invalid_argument(format!("Input handle is not a map. Saw: '{}'", variant.type_name()));
    variant.get().ok_or_else(missing)
}

/// Makes output 0 the map of input 0 after `change`: the map itself if nothing else holds it, else a copy.
fn change_map(ctx: &mut RawContext<'_>, change: impl FnOnce(&mut TensorMap) -> Result<()>) -> Result<()> {
    let mut handle = ctx.take_input_at(0)?;
    map_in(&handle)?;
    if handle.is_unique()
        && let Some(map) = handle.as_mut_slice::<Variant>()?[0].get_mut::<TensorMap>()
    {
        change(map)?;
        return ctx.set_output_at(0, handle);
    }
    let mut map = map_in(&handle)?.copied(1)?;
    change(&mut map)?;
    ctx.set_output_at(0, Tensor::scalar(Variant::new(map)))
}

#[register_kernel(device = Cpu, op = ops::EmptyTensorMap, cheap)]
fn empty(ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.set_output_at(0, Tensor::scalar(Variant::new(TensorMap::default())))
}

#[register_kernel(device = Cpu, op = ops::TensorMapInsert, cheap)]
fn insert(ctx: &mut RawContext<'_>) -> Result<()> {
    let (given, value) = (ctx.input_at(1)?.clone(), ctx.input_at(2)?.clone());
    change_map(ctx, |map| {
        map.0.make_room(1)?;
        map.0.insert(key(&given)?, (given, value));
        Ok(())
    })
}

#[register_kernel(device = Cpu, op = ops::TensorMapLookup, cheap)]
fn lookup(ctx: &mut RawContext<'_>) -> Result<()> {
    let found = map_in(ctx.input_at(0)?)?.0.get(&key(ctx.input_at(1)?)?);
    let Some((_, value)) = found else {
        kernlink::bail!(InvalidArgument, "Trying to lookup non-existent key. Could not find the key in the map.");
    };
    let value = value.clone();
    let dtype = ctx.output_dtype_at(0)?;
    ensure!(value.dtype() == dtype, InvalidArgument, "the value is {}, not {dtype}", value.dtype());
    ctx.set_output_at(0, value)
}

#[register_kernel(device = Cpu, op = ops::TensorMapErase, cheap)]
fn erase(ctx: &mut RawContext<'_>) -> Result<()> {
    let given = key(ctx.input_at(1)?)?;
    change_map(ctx, |map| {
        ensure!(map.0.remove(&given).is_some(), InvalidArgument, "Trying to erase non-existent item.");
        Ok(())
    })
}

#[register_kernel(device = Cpu, op = ops::TensorMapHasKey, cheap)]
fn has_key(ctx: &mut RawContext<'_>) -> Result<()> {
    let found = map_in(ctx.input_at(0)?)?.0.contains_key(&key(ctx.input_at(1)?)?);
    ctx.set_output_at(0, Tensor::from(found))
}

#[register_kernel(device = Cpu, op = ops::TensorMapSize, cheap)]
fn size(ctx: &mut RawContext<'_>) -> Result<()> {
    let size = map_in(ctx.input_at(0)?)?.0.len() as i32;
    ctx.set_output_at(0, Tensor::from(size))
}

#[register_kernel(device = Cpu, op = ops::TensorMapStackKeys, cheap)]
fn stack_keys(ctx: &mut RawContext<'_>) -> Result<()> {
    let map = map_in(ctx.input_at(0)?)?;
    let dtype = ctx.output_dtype_at(0)?;
    let mut entries: Vec<_> = scratch::collected(&map.0)?;
    entries.sort_unstable_by(|(a, _), (b, _)| (a.0, a.1.dims(), &a.2).cmp(&(b.0, b.1.dims(), &b.2)));
    let mut keys = entries.iter().map(|(_, (key, _))| key).peekable();
    let Some(first) = keys.peek() else {
        kernlink::bail!(InvalidArgument, "TensorMapStackKeys cannot be called on empty map.");
    };
    let mut shape = first.shape().clone();
    for key in keys.clone() {
        ensure!(key.dtype() == dtype, InvalidArgument, "Key does not match requested dtype.");
        ensure!(*key.shape() == shape, InvalidArgument, "Keys must all have the same shape.");
    }
    let count = shape.num_elements();
    shape.insert(0, map.0.len());
    let output = join(ctx, dtype, shape, keys.map(|key| (Some(key), count)))?;
    ctx.set_output_at(0, output)
}

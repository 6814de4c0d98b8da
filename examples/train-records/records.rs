//! Files of points on spirals, as a program would leave them that knows nothing of the one that trains.

use std::path::{Path, PathBuf};

use kernlink::prelude::*;

use super::SPIRALS;

/// Writes so many points of each spiral, spread over some files; the files.
pub(crate) fn write(folder: &Path, name: &str, files: usize, points: usize) -> Result<Vec<PathBuf>> {
    let mut random = Random(name.len() as u64);
    let mut examples: Vec<Vec<TString>> = vec![Vec::new(); files];
    for index in 0..points * SPIRALS {
        let label = index % SPIRALS;
        let along = (index / SPIRALS) as f32 / points as f32;
        let turn = 4.0 * along + label as f32 / SPIRALS as f32 * std::f32::consts::TAU;
        let point = [along * turn.cos(), along * turn.sin()].map(|at| at + 0.02 * random.next());
        examples[index % files].push(example(point, label as i64).into());
    }

    // An op writes them: TensorFlow's `DatasetToTFRecord`, over a dataset of strings.
    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    let mut paths = Vec::new();
    for (index, strings) in examples.into_iter().enumerate() {
        let path = folder.join(format!("{name}-{index}.tfrecord"));
        let scalars = &[PartialShape::of_rank(0)][..];
        let dataset = ops::tensor_slice_dataset(&mut eager, [Tensor::vector(&strings)?], scalars).build()?;
        ops::dataset_to_tf_record(&mut eager, dataset, path.to_string_lossy().as_ref(), "").build()?;
        paths.push(path);
    }
    Ok(paths)
}

/// A `tf.train.Example` with the features `point` and `label`, as bytes: a message of protocol buffers.
fn example(point: [f32; 2], label: i64) -> Vec<u8> {
    let floats: Vec<u8> = point.iter().flat_map(|at| at.to_le_bytes()).collect();
    // Feature { float_list { value } }, and Feature { int64_list { value } }: this label is one byte.
    let point = message(2, &message(1, &floats));
    let label = message(3, &message(1, &[label as u8]));
    // Features has a map from names to features, whose entries are messages.
    let entry = |name: &str, feature: &[u8]| message(1, &[message(1, name.as_bytes()), message(2, feature)].concat());
    message(1, &[entry("point", &point), entry("label", &label)].concat())
}

/// A field whose value is a message, a string or packed numbers, of fewer than 128 bytes: its number, its length, the value.
fn message(field: u8, value: &[u8]) -> Vec<u8> {
    assert!(value.len() < 128, "a longer value has a length of several bytes");
    [&[field << 3 | 2, value.len() as u8], value].concat()
}

/// Numbers from −1 to 1, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

//! Rows of elements of one dtype: the keys of a table, and its values.

use kernlink::dtype::{DataType, Element, TString};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::tensor::{ResourceHandle, Tensor, Variant};
use kernlink::{Error, Result, ensure};

/// What stands for the number of a row that there is not.
pub(super) const ABSENT: i64 = -1;

/// Rows of `width` elements each.
pub(super) struct Column {
    dtype: DataType,
    width: usize,
    rows: usize,
    elements: Elements,
}

enum Elements {
    Bytes(Vec<u8>),
    Strings(Vec<TString>),
    Resources(Vec<ResourceHandle>),
    Variants(Vec<Variant>),
}

/// Evaluates `$bytes` with the bytes of plain elements, or else `$objects` with the vector of objects and its type.
macro_rules! elements {
    ($elements:expr, $vec:ident: $t:ident => $objects:expr, $data:ident => $bytes:expr) => {
        match $elements {
            Elements::Bytes($data) => $bytes,
            Elements::Strings($vec) => {
                type $t = TString;
                $objects
            }
            Elements::Resources($vec) => {
                type $t = ResourceHandle;
                $objects
            }
            Elements::Variants($vec) => {
                type $t = Variant;
                $objects
            }
        }
    };
}

/// The elements of a tensor of plain bytes, bools included.
fn pod_bytes(tensor: &Tensor) -> Result<&[u8]> {
    tensor.bytes()
}

impl Column {
    pub(super) fn new(dtype: DataType, width: usize) -> Column {
        let elements = match dtype {
            DataType::String => Elements::Strings(Vec::new()),
            DataType::Resource => Elements::Resources(Vec::new()),
            DataType::Variant => Elements::Variants(Vec::new()),
            _ => Elements::Bytes(Vec::new()),
        };
        Column { dtype, width, rows: 0, elements }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn clear(&mut self) {
        *self = Column::new(self.dtype, self.width);
    }

    fn ensure_dtype(&self, tensor: &Tensor) -> Result<()> {
        ensure!(tensor.dtype() == self.dtype, Internal, "{} elements among {}", tensor.dtype(), self.dtype);
        Ok(())
    }

    /// Adds row `row` of a tensor.
    pub(super) fn push(&mut self, tensor: &Tensor, row: usize) -> Result<()> {
        self.ensure_dtype(tensor)?;
        let (width, size) = (self.width, self.dtype.size());
        elements!(&mut self.elements,
            vec: T => scratch::append(vec, &tensor.as_slice::<T>()?[row * width..][..width])?,
            data => scratch::append(data, &pod_bytes(tensor)?[row * width * size..][..width * size])?);
        self.rows += 1;
        Ok(())
    }

    /// Makes row `index` a copy of row `row` of a tensor.
    pub(super) fn set(&mut self, index: usize, tensor: &Tensor, row: usize) -> Result<()> {
        self.ensure_dtype(tensor)?;
        let (width, size) = (self.width, self.dtype.size());
        elements!(&mut self.elements,
        vec: T => vec[index * width..][..width].clone_from_slice(&tensor.as_slice::<T>()?[row * width..][..width]),
        data => {
            let bytes = width * size;
            data[index * bytes..][..bytes].copy_from_slice(&pod_bytes(tensor)?[row * bytes..][..bytes]);
        });
        Ok(())
    }

    /// Whether row `index` equals row `row` of a tensor. Variants and resources are never equal.
    pub(super) fn equals(&self, index: usize, tensor: &Tensor, row: usize) -> Result<bool> {
        self.ensure_dtype(tensor)?;
        let (width, size) = (self.width, self.dtype.size());
        let range = index * width..(index + 1) * width;
        let others = row * width..(row + 1) * width;
        Ok(match &self.elements {
            Elements::Strings(texts) => texts[range] == tensor.as_slice::<TString>()?[others],
            Elements::Bytes(data) => {
                let own = &data[range.start * size..range.end * size];
                let other = &pod_bytes(tensor)?[others.start * size..others.end * size];
                match self.dtype {
                    DataType::Float => floats(own, f32::from_ne_bytes).eq(floats(other, f32::from_ne_bytes)),
                    DataType::Double => floats(own, f64::from_ne_bytes).eq(floats(other, f64::from_ne_bytes)),
                    _ => own == other,
                }
            }
            Elements::Resources(_) | Elements::Variants(_) => false,
        })
    }

    /// Takes out row `index`; the last row takes its place.
    pub(super) fn swap_remove(&mut self, index: usize) {
        let (width, last) = (self.width, self.rows - 1);
        fn drop_row<T: Clone>(vec: &mut Vec<T>, width: usize, index: usize, last: usize) {
            if index != last {
                let (head, tail) = vec.split_at_mut(last * width);
                head[index * width..][..width].clone_from_slice(&tail[..width]);
            }
            vec.truncate(last * width);
        }
        let size = self.dtype.size();
        elements!(&mut self.elements,
            vec: _T => drop_row(vec, width, index, last),
            data => drop_row(data, width * size, index, last));
        self.rows = last;
    }

    /// A tensor of this shape: for each of `picks` the row, or where it is [`ABSENT`] the first row of `default`, or if
    /// `has_all` its row at the same place.
    pub(super) fn gather(
        &self,
        ctx: &RawContext<'_>,
        picks: &[i64],
        default: &Tensor,
        has_all: bool,
        shape: Shape,
    ) -> Result<Tensor> {
        self.ensure_dtype(default)?;
        let (width, size) = (self.width, self.dtype.size());
        let rows = Rows { ctx, picks, has_all };
        shape.check()?;
        let mut output = Tensor::alloc(self.dtype, shape)?;
        if output.num_elements() == 0 {
            return Ok(output);
        }
        elements!(&self.elements,
        vec: T => rows.copy(output.as_mut_slice::<T>()?, vec, default.as_slice::<T>()?, width),
        data => {
            let default = pod_bytes(default)?;
            if self.dtype == DataType::Bool {
                let bools = |bytes: &[u8]| scratch::collected(bytes.iter().map(|&byte| byte != 0));
                let (own, default) = (bools(data)?, bools(default)?);
                rows.copy(output.as_mut_slice::<bool>()?, &own, &default, width);
            } else {
                let target = output.bytes_mut()?;
                match width * size {
                    4 => rows.copy(target.as_chunks_mut::<4>().0, data.as_chunks::<4>().0, default.as_chunks().0, 1),
                    8 => rows.copy(target.as_chunks_mut::<8>().0, data.as_chunks::<8>().0, default.as_chunks().0, 1),
                    bytes => rows.copy(target, data, default, bytes),
                }
            }
        });
        Ok(output)
    }

    /// Row `index` by itself.
    pub(super) fn row(&self, index: usize) -> Result<Tensor> {
        let (width, size) = (self.width, self.dtype.size());
        elements!(&self.elements,
            vec: T => Tensor::vector::<T>(&vec[index * width..][..width]),
            data => Tensor::from_bytes(self.dtype, [width], &data[index * width * size..][..width * size]))
    }

    /// All rows, in a tensor whose shape is their number followed by `inner`.
    pub(super) fn to_tensor(&self, inner: &Shape) -> Result<Tensor> {
        let mut shape = inner.clone();
        shape.insert(0, self.rows);
        match &self.elements {
            Elements::Bytes(data) => Tensor::from_bytes(self.dtype, shape, data),
            Elements::Strings(vec) => objects(shape, vec),
            Elements::Resources(vec) => objects(shape, vec),
            Elements::Variants(vec) => objects(shape, vec),
        }
    }

    pub(super) fn memory_used(&self) -> usize {
        let strings = |texts: &Vec<TString>| texts.iter().map(|text| text.as_bytes().len()).sum::<usize>();
        let objects = elements!(&self.elements, vec: T => vec.len() * size_of::<T>(), data => data.len());
        objects + if let Elements::Strings(texts) = &self.elements { strings(texts) } else { 0 }
    }
}

fn objects<T: Element>(shape: Shape, elements: &[T]) -> Result<Tensor> {
    Tensor::from_elements(shape, elements)
}

fn floats<const N: usize, T>(bytes: &[u8], read: fn([u8; N]) -> T) -> impl Iterator<Item = T> {
    bytes.as_chunks::<N>().0.iter().map(move |&bytes| read(bytes))
}

/// Which rows a tensor is made of.
struct Rows<'a> {
    ctx: &'a RawContext<'a>,
    picks: &'a [i64],
    /// Whether there is a default for each row.
    has_all: bool,
}

impl Rows<'_> {
    /// Writes the rows of `own` that are picked, and others from `default`; all have `width` elements.
    fn copy<T: Clone + Send + Sync>(&self, output: &mut [T], own: &[T], default: &[T], width: usize) {
        self.ctx.parallel_chunks(output, width, 4, |first, piece| {
            let first = first / width;
            for (index, target) in piece.chunks_exact_mut(width).enumerate() {
                let absent = if self.has_all { first + index } else { 0 };
                let pick = self.picks[first + index];
                let (from, row) = if pick == ABSENT { (default, absent) } else { (own, pick as usize) };
                match target {
                    // Without a copy of a length that nobody knows.
                    [target] => target.clone_from(&from[row]),
                    _ => target.clone_from_slice(&from[row * width..][..width]),
                }
            }
        });
    }
}

/// The error for a row that no memory is left for.
pub(super) fn out_of_memory(rows: usize) -> Error {
    Error::resource_exhausted(format!("out of memory for a table of {rows} entries"))
}

//! Tensors as NumPy's `.npy` files.

mod header;

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::error::{Error, Result};
use kernlink_framework::shape::Shape;
use kernlink_framework::tensor::{FileBytes, Tensor, may_request};
use npyz::{DType, Endianness, Field, TypeChar, TypeStr, WriteOptions, WriterBuilder};

use self::header::Header;

/// Reads a tensor. NumPy's bool, integers, floats and complex numbers have dtypes of their own, byte strings (`S`) and
/// text (`U`, as UTF-8) become `string`.
///
/// # Errors
/// NOT_FOUND or PERMISSION_DENIED if the file cannot be read; INVALID_ARGUMENT if it is a pipe, a device or no `.npy` file,
/// is truncated, or holds another type; RESOURCE_EXHAUSTED if there is not enough memory.
pub fn read(path: impl AsRef<Path>) -> Result<Tensor> {
    open(path.as_ref(), None)
}

/// [`read`], where raw bytes (`V`) are elements of `dtype`: so NumPy writes what it has no type for (`bfloat16`, 8-bit and
/// 4-bit floats, integers of less than a byte), without saying which. An array of any other type is read as [`read`] does,
/// whatever `dtype` says.
///
/// # Errors
/// See [`read`]; INVALID_ARGUMENT if elements of `dtype` have another width than the bytes.
pub fn read_as(path: impl AsRef<Path>, dtype: DataType) -> Result<Tensor> {
    open(path.as_ref(), Some(dtype))
}

fn open(path: &Path, raw: Option<DataType>) -> Result<Tensor> {
    array(&FileBytes::open(path)?[..], raw).map_err(|error| error.context(path.display()))
}

/// Reads a tensor from anything that holds a `.npy` file; see [`read`].
///
/// # Errors
/// See [`read`].
pub fn from_reader(reader: impl Read) -> Result<Tensor> {
    array(reader, None)
}

/// Reads a tensor. `raw` is what raw bytes are.
fn array(mut reader: impl Read, raw: Option<DataType>) -> Result<Tensor> {
    let malformed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::OutOfMemory => Error::resource_exhausted("there is not enough memory for the array"),
        _ => Error::invalid_argument(format!("the array cannot be read: {error}")),
    };
    let header = Header::read(&mut reader)?;
    let unsuitable = |as_what: &dyn std::fmt::Display| {
        Error::invalid_argument(format!("arrays of type '{}' cannot become {as_what}", header.ty))
    };
    let quantized = quantized_of(&header)?;
    let ty = header.ty.clone();
    let shape = Shape::from_dims(&header.dims)?;
    let width = ty.num_bytes().ok_or_else(|| unsuitable(&"tensors"))?;
    let expected = shape.num_elements().checked_mul(width);
    let expected = expected.ok_or_else(|| Error::invalid_argument("the array has too many elements"))?;
    // Strings are made beside the bytes, and so is another order of elements.
    let beside = match ty.type_char() {
        TypeChar::ByteStr | TypeChar::UnicodeStr => {
            expected.saturating_add(shape.num_elements().saturating_mul(2 * size_of::<TString>()))
        }
        _ if header.is_fortran => expected,
        _ => 0,
    };
    let mut bytes = Vec::new();
    reader.take((expected as u64).saturating_add(1)).read_to_end(&mut bytes).map_err(malformed)?;
    if bytes.len() < expected {
        let message = format!("the array has {} bytes but its shape {shape} needs {expected}", bytes.len());
        return Err(Error::invalid_argument(message));
    }
    bytes.truncate(expected);
    if !may_request(beside) {
        return Err(Error::resource_exhausted("there is not enough memory for the array's elements"));
    }
    if ty.endianness() == Endianness::Big {
        let word = match ty.type_char() {
            TypeChar::Complex => width / 2,
            TypeChar::UnicodeStr => 4,
            _ => width,
        };
        bytes.chunks_mut(word.max(1)).for_each(<[u8]>::reverse);
    }
    if width == 0 {
        return match ty.type_char() {
            TypeChar::ByteStr | TypeChar::UnicodeStr => Tensor::zeros(DataType::String, shape),
            _ => Err(unsuitable(&"tensors")),
        };
    }
    if header.is_fortran {
        bytes = row_major(&bytes, &shape, width);
    }
    match ty.type_char() {
        TypeChar::ByteStr => strings(shape, &bytes, width, |text| trimmed(text).into()),
        TypeChar::UnicodeStr => strings(shape, &bytes, width, |text| {
            let points = text.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]));
            let text: String = points.map(|c| char::from_u32(c).unwrap_or('\u{fffd}')).collect();
            text.trim_end_matches('\0').into()
        }),
        _ => {
            let dtype = match (ty.type_char(), raw) {
                (TypeChar::RawData, Some(raw)) if is_raw(raw) && raw.size() == width => Some(raw),
                _ => quantized.or(dtype_of(ty)),
            };
            let dtype = dtype.ok_or_else(|| match raw {
                Some(raw) => unsuitable(&format_args!("{raw} tensors")),
                None => unsuitable(&"tensors"),
            })?;
            complete(dtype, &mut bytes);
            Tensor::from_bytes(dtype, shape, &bytes)
        }
    }
}

/// The quantized dtype that the elements have, if they are records of one field: so TensorFlow has NumPy hold these dtypes,
/// and gives the field the dtype's name.
fn quantized_of(header: &Header) -> Result<Option<DataType>> {
    let Some(field) = &header.field else { return Ok(None) };
    let fits = |dtype: &DataType| dtype.name() == field && dtype_of(header.ty.clone()) == quantized_as(*dtype);
    let quantized = QUANTIZED.into_iter().find(fits);
    quantized.map(Some).ok_or_else(|| Error::invalid_argument("structured arrays cannot become tensors"))
}

const QUANTIZED: [DataType; 5] =
    [DataType::Qint8, DataType::Quint8, DataType::Qint16, DataType::Quint16, DataType::Qint32];

/// The dtype of the integers in a quantized dtype.
fn quantized_as(dtype: DataType) -> Option<DataType> {
    Some(match dtype {
        DataType::Qint8 => DataType::Int8,
        DataType::Quint8 => DataType::Uint8,
        DataType::Qint16 => DataType::Int16,
        DataType::Quint16 => DataType::Uint16,
        DataType::Qint32 => DataType::Int32,
        _ => return None,
    })
}

/// Whether NumPy has no type for a dtype, so that its elements are written as raw bytes.
fn is_raw(dtype: DataType) -> bool {
    dtype.is_pod() && type_code(dtype).contains('V')
}

/// Makes elements of less than a byte out of their lowest bits, which is all that NumPy looks at.
fn complete(dtype: DataType, bytes: &mut [u8]) {
    let element = |byte: u8| match dtype {
        DataType::Int4 => ((byte << 4) as i8 >> 4) as u8,
        DataType::Int2 => ((byte << 6) as i8 >> 6) as u8,
        DataType::Uint4 | DataType::Float4E2m1fn => byte & 0xf,
        DataType::Uint2 => byte & 3,
        _ => byte,
    };
    if matches!(dtype, DataType::Int4 | DataType::Int2 | DataType::Uint4 | DataType::Uint2 | DataType::Float4E2m1fn) {
        bytes.iter_mut().for_each(|byte| *byte = element(*byte));
    }
}

fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &text[..end]
}

fn strings(shape: Shape, bytes: &[u8], width: usize, convert: impl Fn(&[u8]) -> TString) -> Result<Tensor> {
    let elements: Vec<TString> = bytes.chunks_exact(width).map(convert).collect();
    Tensor::from_elements(shape, &elements)
}

fn dtype_of(ty: TypeStr) -> Option<DataType> {
    Some(match (ty.type_char(), ty.num_bytes()?) {
        (TypeChar::Bool, 1) => DataType::Bool,
        (TypeChar::Int, 1) => DataType::Int8,
        (TypeChar::Int, 2) => DataType::Int16,
        (TypeChar::Int, 4) => DataType::Int32,
        (TypeChar::Int, 8) => DataType::Int64,
        (TypeChar::Uint, 1) => DataType::Uint8,
        (TypeChar::Uint, 2) => DataType::Uint16,
        (TypeChar::Uint, 4) => DataType::Uint32,
        (TypeChar::Uint, 8) => DataType::Uint64,
        (TypeChar::Float, 2) => DataType::Half,
        (TypeChar::Float, 4) => DataType::Float,
        (TypeChar::Float, 8) => DataType::Double,
        (TypeChar::Complex, 8) => DataType::Complex64,
        (TypeChar::Complex, 16) => DataType::Complex128,
        _ => return None,
    })
}

/// Elements of `width` bytes in column-major order, in row-major order.
fn row_major(bytes: &[u8], shape: &Shape, width: usize) -> Vec<u8> {
    let mut strides = vec![1usize; shape.rank()];
    for axis in 1..shape.rank() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut sorted = Vec::with_capacity(bytes.len());
    let mut index = vec![0usize; shape.rank()];
    for _ in 0..shape.num_elements() {
        let source: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        sorted.extend_from_slice(&bytes[source * width..(source + 1) * width]);
        for axis in (0..shape.rank()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    sorted
}

/// Writes a tensor as TensorFlow's own arrays are written: what NumPy has no type for (`bfloat16`, 8-bit and 4-bit floats,
/// integers of less than a byte) as raw bytes of its width (`V`, in NumPy `array.view(ml_dtypes.bfloat16)`), quantized dtypes
/// as records of one field, strings as byte strings (`S`), which lose trailing zero bytes.
///
/// # Errors
/// PERMISSION_DENIED or another code if the file cannot be written; UNIMPLEMENTED for resource and variant.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let path = path.as_ref();
    let array = Array::of(tensor)?;
    let save = || array.write_to(&mut BufWriter::new(File::create(path)?));
    save().map_err(|error| Error::from_io(format!("cannot write {}", path.display()), &error))
}

/// A tensor that can be written as a `.npy` file.
pub(crate) struct Array<'t> {
    tensor: &'t Tensor,
    ty: DType,
    /// Bytes an element.
    width: usize,
}

impl<'t> Array<'t> {
    /// # Errors
    /// UNIMPLEMENTED for resource and variant.
    pub(crate) fn of(tensor: &'t Tensor) -> Result<Array<'t>> {
        let (code, width) = match tensor.dtype() {
            DataType::String => {
                let width = tensor.as_slice::<TString>()?.iter().map(|text| text.len()).max().unwrap_or(0).max(1);
                (format!("|S{width}"), width)
            }
            DataType::Resource | DataType::Variant => {
                return Err(Error::unimplemented(format!("{} tensors cannot be written as .npy", tensor.dtype())));
            }
            dtype => (type_code(quantized_as(dtype).unwrap_or(dtype)), dtype.size()),
        };
        let ty: TypeStr = code.parse().map_err(|error| Error::internal(format!("type `{code}`: {error}")))?;
        let ty = match quantized_as(tensor.dtype()) {
            Some(_) => DType::Record(vec![Field { name: tensor.dtype().name().to_owned(), dtype: DType::Plain(ty) }]),
            None => DType::Plain(ty),
        };
        Ok(Array { tensor, ty, width })
    }

    /// Writes the file. The elements take no memory besides the tensor's.
    pub(crate) fn write_to(&self, to: &mut impl Write) -> std::io::Result<()> {
        let shape: Vec<u64> = self.tensor.shape().iter().map(|&dim| dim as u64).collect();
        let options = WriteOptions::new_header_only().dtype(self.ty.clone()).shape(&shape);
        options.writer(&mut *to).write_header_only()?;
        match self.tensor.as_slice::<TString>() {
            Ok(texts) => texts.iter().try_for_each(|text| {
                to.write_all(text)?;
                // All elements are as wide as the longest.
                let zeros = (self.width - text.len()) as u64;
                std::io::copy(&mut std::io::repeat(0).take(zeros), to).map(drop)
            })?,
            Err(_) => to.write_all(self.tensor.bytes().map_err(std::io::Error::other)?)?,
        }
        to.flush()
    }
}

fn type_code(dtype: DataType) -> String {
    let size = dtype.size();
    let order = match (size, cfg!(target_endian = "little")) {
        (1, _) => '|',
        (_, true) => '<',
        (_, false) => '>',
    };
    let kind = match dtype {
        DataType::Bool => 'b',
        DataType::Half | DataType::Float | DataType::Double => 'f',
        DataType::Complex64 | DataType::Complex128 => 'c',
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => 'i',
        DataType::Uint8 | DataType::Uint16 | DataType::Uint32 | DataType::Uint64 => 'u',
        _ => return format!("|V{size}"),
    };
    format!("{order}{kind}{size}")
}

#[cfg(test)]
mod tests {
    use kernlink_framework::dtype::{Int4, bf16};
    use kernlink_framework::error::Code;

    use super::*;

    /// A version 1 header, padded as NumPy does.
    fn file(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
        while (header.len() + 11) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn byte_order_and_column_major_are_undone() {
        let data: Vec<u8> = [1u16, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_be_bytes()).collect();
        let tensor = from_reader(file(">u2", true, "(2, 3)", &data).as_slice()).unwrap();
        assert_eq!(tensor.as_slice::<u16>().unwrap(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn text_becomes_strings() {
        let data: Vec<u8> = "aé\0b\0\0".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        let tensor = from_reader(file("<U3", false, "(2,)", &data).as_slice()).unwrap();
        assert_eq!(tensor.as_slice::<TString>().unwrap(), [TString::from("aé"), TString::from("b")]);
    }

    #[test]
    fn broken_files_are_errors() {
        for bytes in [
            file("<f4", false, "(3,)", &[0; 11]),
            file("<f4", false, "(4611686018427387904, 8)", &[]),
            file("<f4", false, "(99999999999999999999999,)", &[]),
            file("<f4", false, "(1,), 'shape': (4611686018427387904, 8)", &[0; 4]),
            file("<M8[s]", false, "(1,)", &[0; 8]),
            file("|O", false, "(1,)", b"\x80\x04N."),
            file("|V0", true, "(4611686018427387904,)", &[]),
            file("|S3", false, "(6148914691236517205,)", &[]),
            b"\x93NUMPY\x01\x00\xff\xff".to_vec(),
            Vec::new(),
        ] {
            assert_eq!(from_reader(bytes.as_slice()).unwrap_err().code(), Code::InvalidArgument);
        }
    }

    #[test]
    fn names_of_types_are_data_behind_the_header() {
        // np.save("s.npy", np.array([b"'<f1'", b"abc"]))
        let tensor = from_reader(file("|S5", false, "(2,)", b"'<f1'abc\0\0").as_slice()).unwrap();
        assert_eq!(tensor.as_slice::<TString>().unwrap(), [TString::from("'<f1'"), TString::from("abc")]);
    }

    #[test]
    fn raw_bytes_are_what_they_are_read_as() {
        // What NumPy writes of arrays with the types of ml_dtypes and of TensorFlow.
        let read = |descr: &str, data: &[u8], dtype| array(file(descr, false, "(3,)", data).as_slice(), Some(dtype));
        let values = |descr, data, dtype| read(descr, data, dtype).unwrap().values_text().to_string();
        assert_eq!(values("<V2", &[0, 0, 0x80, 0x3f, 0, 0x40], DataType::Bfloat16), "[0.0 1.0 2.0]");
        assert_eq!(values("<V1", &[0, 0x38, 0x40], DataType::Float8E4m3fn), "[0.0 1.0 2.0]");
        assert_eq!(values("<f1", &[0, 0x3c, 0x40], DataType::Float8E5m2), "[0.0 1.0 2.0]");
        assert_eq!(values("<V1", &[0x0f, 1, 0xf8], DataType::Int4), "[-1 1 -8]");
        assert_eq!(values("<V1", &[0x0f, 1, 0xff], DataType::Uint4), "[15 1 15]");
        assert_eq!(values("|V1", &[3, 1, 2], DataType::Int2), "[-1 1 -2]");
        for (descr, dtype) in [("<V1", DataType::Float), ("<V1", DataType::Int8), ("<V3", DataType::Bfloat16)] {
            let error = read(descr, &[0; 9][..3 * usize::from(descr.as_bytes()[2] - b'0')], dtype).unwrap_err();
            assert!(error.message().contains("cannot become"), "{error}");
        }
        assert!(from_reader(file("<V2", false, "(1,)", &[0, 0]).as_slice()).is_err());
        // Another dtype is left to whoever checks the tensor.
        assert_eq!(read("<i4", &[0; 12], DataType::Float).unwrap().dtype(), DataType::Int32);
        let record = |field: &str| {
            let head = String::from_utf8(file("X", false, "(2,)", &[])).map_err(|error| error.into_bytes());
            let bytes = head.map_or_else(|bytes| bytes, String::into_bytes);
            let at = bytes.windows(3).position(|window| window == b"'X'").unwrap();
            let mut bytes = [&bytes[..at], field.as_bytes(), &bytes[at + 3..]].concat();
            let length = (bytes.len() - 10) as u16;
            bytes[8..10].copy_from_slice(&length.to_le_bytes());
            from_reader([&bytes[..], &[0xff, 2]].concat().as_slice())
        };
        let quantized = record("[('qint8', '|i1')]").unwrap();
        assert_eq!((quantized.dtype(), quantized.bytes().unwrap()), (DataType::Qint8, &[0xff, 2][..]));
        for field in ["[('qint8', '|u1')]", "[('a', '|i1')]", "[('qint8', '|i1'), ('b', '|i1')]"] {
            assert!(record(field).unwrap_err().message().contains("structured"), "{field}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let path = std::env::temp_dir().join(format!("kernlink-npy-{}.npy", std::process::id()));
        for tensor in [
            Tensor::from_elements([2, 0, 3], &[] as &[f64]).unwrap(),
            Tensor::scalar(7i64),
            Tensor::vector(&[true, false, true]).unwrap(),
            Tensor::vector(&[TString::from("a"), TString::from("long")]).unwrap(),
            Tensor::vector(&[bf16::from_f32(1.5), bf16::from_f32(-2.0)]).unwrap(),
            Tensor::vector(&[Int4(-8), Int4(7)]).unwrap(),
            Tensor::from_bytes(DataType::Float8E5m2, [2], &[0x3c, 0x40]).unwrap(),
            Tensor::from_bytes(DataType::Quint16, [2], &[1, 2, 3, 4]).unwrap(),
        ] {
            write(&path, &tensor).unwrap();
            let read = read_as(&path, tensor.dtype()).unwrap();
            assert_eq!(read.dtype(), tensor.dtype());
            assert_eq!(crate::golden::compare(&read, &tensor, None), Ok(()));
        }
        std::fs::remove_file(path).unwrap();
    }
}

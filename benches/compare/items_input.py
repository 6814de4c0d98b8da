"""What stands before a model, as items of the comparison: codecs, parsing, audio, transforms, and pipelines of tf.data."""

from operands import item, sizes, tensor, value


def encoded(form, shape, dtype="uint8", **more):
    """An image in a file's bytes: `shape` in pixels, drawn smooth, as photographs are, with some noise."""
    return {"encoded": form, "shape": list(shape), "dtype": "string", "pixels": dtype, **more}


def text(kind, count):
    """So many strings of one kind, which tensorflow_side.py knows."""
    return {"text": kind, "count": count, "dtype": "string"}


def codecs():
    photo, small = (512, 768, 3), (64, 64, 3)
    for method in ("INTEGER_FAST", "INTEGER_ACCURATE"):
        yield item("DecodeJpeg", sizes(photo), {"contents": encoded("jpeg", photo)}, "uint8", method, dct_method=method)
    yield item("DecodeJpeg", sizes(small), {"contents": encoded("jpeg", small)}, "uint8")
    yield item("DecodeJpeg", sizes(photo), {"contents": encoded("jpeg", photo, progressive=True)}, "uint8", "progressive")
    yield item("DecodeJpeg", sizes(photo), {"contents": encoded("jpeg", photo)}, "uint8", "half", ratio=2)
    yield item("DecodeAndCropJpeg", sizes(photo), {"contents": encoded("jpeg", photo), "crop_window":
               value([100, 200, 224, 224])}, "uint8")
    for shape in (photo, small, (512, 768, 1)):
        yield item("DecodePng", sizes(shape), {"contents": encoded("png", shape)}, "uint8")
    yield item("DecodePng", sizes(photo), {"contents": encoded("png", photo, "uint16")}, "uint16", dtype={"dtype": "uint16"})
    yield item("DecodeBmp", sizes(photo), {"contents": encoded("bmp", photo)}, "uint8")
    yield item("DecodeGif", "8x128x128", {"contents": encoded("gif", (128, 128, 3), frames=8)}, "uint8")
    yield item("DecodeWebP", sizes(photo), {"contents": encoded("webp", photo)}, "uint8")
    yield item("DecodeImage", sizes(photo), {"contents": encoded("jpeg", photo)}, "uint8")
    yield item("ExtractJpegShape", sizes(photo), {"contents": encoded("jpeg", photo)}, "int32")
    yield item("EncodeJpeg", sizes(photo), {"image": {"smooth": list(photo), "dtype": "uint8"}}, "uint8")
    yield item("EncodePng", sizes(photo), {"image": {"smooth": list(photo), "dtype": "uint8"}}, "uint8")


def parsing():
    dense = {"dense_keys": value(["label", "numbers"], "string"), "sparse_keys": value(["words"], "string"),
             "dense_defaults": [value([], "int64"), value([], "float32")]}
    yield item("ParseExampleV2", "1000", {"serialized": text("example", 1000), "names": value([], "string"), **dense,
               "ragged_keys": value(["ids"], "string")}, "string", num_sparse=1, sparse_types=[{"dtype": "string"}],
               ragged_value_types=[{"dtype": "int64"}], ragged_split_types=[{"dtype": "int64"}], dense_shapes=[[1], [64]])
    yield item("ParseExampleV2", "100 of 10,000 floats", {"serialized": text("long example", 100), "names": value([], "string"),
               "sparse_keys": value([], "string"), "dense_keys": value(["numbers"], "string"), "ragged_keys":
               value([], "string"), "dense_defaults": [value([], "float32")]}, "string", num_sparse=0, sparse_types=[],
               ragged_value_types=[], ragged_split_types=[], dense_shapes=[[10_000]])
    yield item("DecodeCSV", "10,000", {"records": text("csv", 10_000), "record_defaults":
               [value([0.0], "float32"), value([0], "int64"), value([""], "string")]}, "string")
    yield item("DecodeJSONExample", "1000", {"json_examples": text("json example", 1000)}, "string")
    yield item("DecodeRaw", "100 of 40,000 bytes", {"bytes": text("floats", 100)}, "string", out_type={"dtype": "float32"})
    yield item("DecodeCompressed", "gzip, 100", {"bytes": text("gzip", 100)}, "string", compression_type="GZIP")
    yield item("DecodeCompressed", "zlib, 100", {"bytes": text("zlib", 100)}, "string", compression_type="ZLIB")
    yield item("SerializeTensor", "1000x1000", {"tensor": tensor([1000, 1000])})
    yield item("ParseTensor", "1000x1000", {"serialized": text("tensor", 1)}, out_type={"dtype": "float32"})
    yield item("DecodeProtoV2", "1000", {"bytes": text("long example", 1000)}, "string",
               message_type="tensorflow.Example", field_names=["features"], output_types=[{"dtype": "string"}])
    yield item("DecodeProtoV2", "10,000", {"bytes": text("shape", 10_000)}, "string", "two fields",
               message_type="tensorflow.TensorShapeProto", field_names=["unknown_rank", "dim"],
               output_types=[{"dtype": "bool"}, {"dtype": "string"}])


def audio():
    yield item("DecodeWav", "160,000", {"contents": text("wav", 1)}, "string")
    yield item("EncodeWav", "160,000x2", {"audio": tensor([160_000, 2]), "sample_rate": value(16_000)})
    yield item("Mfcc", "1x600x257", {"spectrogram": tensor([1, 600, 257], "float32", 0, 1), "sample_rate": value(16_000)})
    yield item("AudioSpectrogram", "160,000x2", {"input": tensor([160_000, 2])}, window_size=400, stride=160)


def transforms():
    for dtype in ("complex64", "complex128"):
        for shape in ([64, 1024], [1 << 20], [64, 1000], [64, 1009], [10_000, 16]):
            for op in ("FFT", "IFFT"):
                yield item(op, sizes(shape), {"input": tensor(shape, dtype)}, dtype)
        yield item("FFT2D", "8x256x256", {"input": tensor([8, 256, 256], dtype)}, dtype)
        yield item("IFFT3D", "2x64x64x64", {"input": tensor([2, 64, 64, 64], dtype)}, dtype)
    real = {"complex64": "float32", "complex128": "float64"}
    for dtype, part in real.items():
        for shape in ([64, 1024], [600, 512], [64, 1000]):
            length = value([shape[-1]])
            yield item("RFFT", sizes(shape), {"input": tensor(shape, part), "fft_length": length}, part,
                       Tcomplex={"dtype": dtype})
            yield item("IRFFT", sizes(shape), {"input": tensor([shape[0], shape[1] // 2 + 1], dtype), "fft_length": length},
                       part, Treal={"dtype": part})
        yield item("RFFT2D", "8x256x256", {"input": tensor([8, 256, 256], part), "fft_length": value([256, 256])}, part,
                   Tcomplex={"dtype": dtype})
        yield item("IRFFT3D", "2x64x64x33", {"input": tensor([2, 64, 64, 33], dtype), "fft_length": value([64, 64, 64])}, part,
                   Treal={"dtype": part})


def pipelines():
    for name in ("range", "map", "parallel map", "batch", "padded batch", "shuffle", "filter", "flat map", "interleave", "zip",
                 "window", "scan", "prefetch", "cache", "tensor slices", "records", "records, parsed in batches", "lines"):
        yield {"name": f"tf.data: {name}", "kind": "pipeline", "pipeline": name, "fetch": ["y"], "repeat": 10}


FAMILIES = (codecs, parsing, audio, transforms, pipelines)

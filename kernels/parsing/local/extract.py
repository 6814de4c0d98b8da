"""Writes local.desc.zlib: a FileDescriptorSet, compressed, of the messages that `descriptor_source = 'local://'` knows.

They are those of TensorFlow that graphs, models, Examples and events are made of, and the well-known ones of protocol
buffers. TensorFlow knows all that its library happens to link.

    python kernels/parsing/local/extract.py
"""
import importlib
import pathlib
import zlib

import tensorflow
from google.protobuf import descriptor_pb2

HERE = pathlib.Path(__file__).parent
FOLDERS = ["core/example", "core/framework", "core/protobuf", "core/util"]
# What belongs to clusters, devices and services.
LEFT_OUT = ["bfc_memory_map", "core_platform_payloads", "data_service", "error_codes", "fingerprint", "master", "remote_tensor_handle",
            "service_config", "snapshot", "status", "tpu", "worker", "replay_log", "conv_autotuning", "autotune_results", "example_parser_configuration", "test_log", "quantization"]
WELL_KNOWN = ["any", "descriptor", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers", "api", "type", "source_context"]


def modules():
    root = pathlib.Path(tensorflow.__file__).parent
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*_pb2.py")):
            if not any(path.stem.startswith(name) for name in LEFT_OUT):
                yield f"tensorflow.{folder.replace('/', '.')}.{path.stem}"
    yield from (f"google.protobuf.{name}_pb2" for name in WELL_KNOWN)


def main():
    files = {}

    def add(file):
        for dependency in file.dependencies:
            add(dependency)
        if file.name not in files:
            proto = descriptor_pb2.FileDescriptorProto.FromString(file.serialized_pb)
            if not file.name.startswith("google/"):
                proto.ClearField("options")
            proto.ClearField("service")
            files[file.name] = proto

    for module in modules():
        add(importlib.import_module(module).DESCRIPTOR)
    # What a file depends on stands before it, as dicts keep their order.
    data = descriptor_pb2.FileDescriptorSet(file=files.values()).SerializeToString(deterministic=True)
    packed = zlib.compress(data, 9)
    (HERE / "local.desc.zlib").write_bytes(packed)
    print(f"{len(files)} files, {len(data)} bytes, {len(packed)} compressed")


main()

"""Writes ops.pb: TensorFlow's own OpDefs of every op that ../../src declares, without documentation; and the names of its
other ops, ../../src/lacking.txt, but for those of its own tests; and of those with a kernel on the CPU,
../../../tests/oracle/data/cpu_ops.txt.

Needs TensorFlow (tests/golden/requirements.txt says which version). Run it after declaring an op:

    python ops/tests/data/extract.py
"""
import inspect
import pathlib
import re
import textwrap

from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import kernels, test_ops

HERE = pathlib.Path(__file__).parent


def declared():
    """The names of all structs below a `#[register_op(...)]`, and of the variants of enums below one."""
    for path in sorted((HERE / "../../src").rglob("*.rs")):
        source = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^#\[register_op[\s\S]*?^pub (?:struct (\w+);|enum \w+ {([\s\S]*?)^})", source, re.MULTILINE):
            op, family = match.groups()
            named = re.search(r'^    name = "(.*)",$', match[0], re.MULTILINE)
            op = named[1] if named else op
            if op:
                yield op
            # A variant's own name stands before it; its identifier is no op of TensorFlow's then, and drops out.
            for variant, own in re.findall(r'^    (\w+),$|^    #\[op\(.*?\bname = "(.*?)"', family or "", re.MULTILINE):
                yield variant or own


def of_tests():
    """The names of the ops of TensorFlow's own tests, which its wheel has too: plain words that mean other ops to others."""
    wrapped = re.findall(r'_apply_op_helper\(\s*"([^"]+)"', inspect.getsource(test_ops))
    assert wrapped
    # It has no wrapper.
    return {*wrapped, "ConstructionFails"}


def write(path, names):
    text = textwrap.fill(" ".join(names), 120, break_long_words=False, break_on_hyphens=False)
    (HERE / path).write_text(text + "\n", encoding="utf-8")


def main():
    buffer = pywrap_tf_session.TF_GetAllOpList()
    known = {op.name: op for op in op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(buffer)).op}
    ops = op_def_pb2.OpList()
    # What Kernlink has on its own is not known there.
    for name in sorted(set(declared()) & set(known)):
        op = ops.op.add()
        op.CopyFrom(known[name])
        op.ClearField("summary")
        op.ClearField("description")
        for part in [*op.input_arg, *op.output_arg, *op.attr]:
            part.ClearField("description")
        # Full types are an experiment that graphs do not depend on.
        for arg in [*op.input_arg, *op.output_arg]:
            arg.ClearField("experimental_full_type")
    (HERE / "ops.pb").write_bytes(ops.SerializeToString(deterministic=True))
    lacking = sorted(set(known) - set(declared()) - of_tests())
    write("../../src/lacking.txt", lacking)
    # Kernels with a label are asked for by it: oneDNN's, which its pass over the graph puts in, and those of tests.
    of_cpu = {kernel.op for kernel in kernels.get_all_registered_kernels().kernel if kernel.device_type == "CPU" and not kernel.label}
    write("../../../tests/oracle/data/cpu_ops.txt", sorted(of_cpu & set(known) - of_tests()))
    print(f"{len(ops.op)} ops, {len(lacking)} lacking")


main()

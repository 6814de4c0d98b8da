"""The stubs: they are what `generate_stubs.py` writes, and mypy and pyright take what they should and refuse what they should."""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import subprocess
import sys
import typing

import pytest

import kernlink

TESTS = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(kernlink.__file__).parent
TYPED, REFUSED = TESTS / "typed.py", TESTS / "refused.py"


def test_the_stubs_are_what_the_generator_writes(tmp_path: pathlib.Path) -> None:
    # In a process of its own: this one may have loaded libraries of ops.
    run = "import runpy, sys; sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-c", run, str(TESTS.parent / "generate_stubs.py"), str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)}, check=True)
    written = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert written.keys() == {"raw_ops.pyi", "ops.pyi", "_outputs.pyi"}
    for name, text in written.items():
        assert text == (PACKAGE / name).read_text(encoding="utf-8"), f"{name}: run generate_stubs.py"


@pytest.fixture
def sources(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with nothing but the package: mypy reads no sources in the folder of what is installed."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / PACKAGE.name).symlink_to(PACKAGE)
    return folder


def refused_lines() -> set[int]:
    lines = REFUSED.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if "# refused:" in line}


def test_mypy(tmp_path: pathlib.Path, sources: pathlib.Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")

    def mypy(*arguments: str) -> str:
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), *arguments]
        return subprocess.run(command, cwd=sources, capture_output=True, text=True).stdout

    assert mypy(PACKAGE.name, str(TYPED)).startswith("Success")
    errors = [line.split(":") for line in mypy(str(REFUSED)).splitlines() if ": error:" in line]
    assert {pathlib.Path(error[0]).name for error in errors} == {"refused.py"}
    assert {int(error[1]) for error in errors} == refused_lines()


def test_stubs_are_true(tmp_path: pathlib.Path, sources: pathlib.Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    allowed = tmp_path / "allowed"
    # Names for `import *`, which are found only when they are asked for; mypy does not see those of the dtypes.
    allowed.write_text(r"kernlink(\.\w+)?\.__all__" + "\n")
    command = [sys.executable, "-m", "mypy.stubtest", "kernlink", "--concise", "--allowlist", str(allowed)]
    paths = {"MYPYPATH": str(sources), "PYTHONPATH": str(PACKAGE.parent)}
    result = subprocess.run(command, cwd=tmp_path, env=os.environ | paths, capture_output=True, text=True)
    assert (result.stdout, result.returncode) == ("", 0)


def test_pyright(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyright", reason="pyright is not installed")
    for file in (TYPED, REFUSED):
        (tmp_path / file.name).write_text(file.read_text())
    # NumPy's own stubs are not what is tested.
    options = {"extraPaths": [str(PACKAGE.parent)], "typeCheckingMode": "strict", "reportUnknownMemberType": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(options))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    found = [
        (pathlib.Path(error["file"]).name, error["range"]["start"]["line"] + 1, error["message"])
        for error in json.loads(output)["generalDiagnostics"]
        if error["severity"] == "error"
    ]
    assert [error for error in found if error[0] == TYPED.name] == []
    assert {line for name, line, _ in found if name == REFUSED.name} == refused_lines()


def test_what_checkers_accept_runs() -> None:
    values = runpy.run_path(str(TYPED))
    assert values["product"].tolist() == [[3.0, 7.0], [3.0, 7.0]]
    assert values["count"].tolist() == [2, 1]


@pytest.mark.parametrize("name", ["MatMul", "TopKV2", "Unpack", "Conv2D", "NoOp", "ConcatV2"])
def test_annotations_are_those_of_the_stubs(name: str) -> None:
    function = getattr(kernlink.raw_ops, name)
    assert typing.get_type_hints(function).keys() == function.__annotations__.keys()
    assert [*function.__annotations__][-2:] == ["name", "return"]

"""`python/test.sh`, which runs these tests: it never passes for want of what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "test.sh"
pytestmark = pytest.mark.skipif(not SCRIPT.is_file() or os.name != "posix", reason="the script is in the repository, for POSIX")


def run(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "CARGO_TARGET_DIR": str(tmp_path / "target"), **environment}
    return subprocess.run(["bash", SCRIPT], env=variables, capture_output=True, text=True, timeout=120, check=False)


def python_that(tmp_path: Path, body: str) -> str:
    """A program that takes Python's place."""
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return str(program)


def test_it_fails_without_python(tmp_path: Path) -> None:
    done = run(tmp_path, PYTHON=str(tmp_path / "none"), KERNLINK_PYTHON_TESTS="")
    assert done.returncode == 1 and "no Python 3.10 or newer" in done.stderr and "KERNLINK_PYTHON_TESTS=skip" in done.stderr


def test_it_fails_where_pytest_cannot_be_installed(tmp_path: Path) -> None:
    # It has Python's version, no NumPy, and no `venv`.
    python = python_that(tmp_path, f'case "$*" in *numpy*|*venv*) exit 1;; *) exec {sys.executable} "$@";; esac')
    done = run(tmp_path, PYTHON=python, KERNLINK_PYTHON_TESTS="")
    assert done.returncode == 1 and "pytest and NumPy are missing, and cannot be installed" in done.stderr


def test_it_is_skipped_where_that_is_said(tmp_path: Path) -> None:
    done = run(tmp_path, PYTHON=str(tmp_path / "none"), KERNLINK_PYTHON_TESTS="skip")
    assert done.returncode == 0 and "is not tested" in done.stderr

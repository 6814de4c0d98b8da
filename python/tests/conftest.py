"""How TensorFlow is used where it is installed, whichever test imports it first."""

import os
from pathlib import Path

import pytest

# The golden cases are of TensorFlow without oneDNN, on the CPU.
for name, value in {"TF_ENABLE_ONEDNN_OPTS": "0", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}.items():
    os.environ.setdefault(name, value)


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    """A graph that counts to what is fed."""
    from children import LOOP

    path = tmp_path / "loop.pbtxt"
    path.write_text(LOOP)
    return path

"""How TensorFlow is used where it is installed, whichever test imports it first."""

import os

# The golden cases are of TensorFlow without oneDNN, on the CPU.
for name, value in {"TF_ENABLE_ONEDNN_OPTS": "0", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}.items():
    os.environ.setdefault(name, value)

#!/usr/bin/env python3
"""Writes the digits that the example trains on: those which ../digits/train.py trains on, the others being its test images.

Usage: data.py
Needs: scikit-learn and numpy of ../digits/requirements.txt, in a virtual environment. Nothing is downloaded: the 1,797 images
come with scikit-learn.

Writes images.npy, uint8 [1437,8,8,1], 0 for white to 16 for black, and labels.npy, uint8 [1437].
"""
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).resolve().parent

digits = load_digits()
images = digits.images.astype("uint8")[..., np.newaxis]
labels = digits.target.astype("uint8")
# The split of ../digits/train.py.
train_x, test_x, train_y, test_y = train_test_split(images, labels, test_size=360, stratify=labels, random_state=2024)
assert np.array_equal(test_x / np.float32(16), np.load(HERE / "../digits/images.npy")), "another split than ../digits"
assert np.array_equal(test_y, np.load(HERE / "../digits/labels.npy"))
np.save(HERE / "images.npy", np.ascontiguousarray(train_x))
np.save(HERE / "labels.npy", train_y)
print(f"{len(train_x)} images to train on, {len(test_x)} kept aside")

#!/usr/bin/env python3
"""Writes what tf.keras computes of optimisers, schedules and initialisers, for the tests beside this file.

Usage: generate.py [-o DIR]
Needs: ../golden/requirements.txt, in a virtual environment of its own.

The file is a GraphDef of constants. A case of optimisers NAME has its variables' first values, NAME/initial/K, and of each step
the gradients, NAME/gradient/STEP/K, or rows and their indices, NAME/rows/STEP/K and NAME/indices/STEP/K, and the values after
the step, NAME/expected/STEP/K. Schedules have NAME/steps and NAME/rates, initialisers NAME/values. What NAME stands for is in
cases.rs.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

import golden  # noqa: F401  (sets what TensorFlow reads from the environment)
import keras
import numpy as np
import tensorflow as tf

STEPS = 6
SHAPES = [(4, 3), (5,), ()]
raw = tf.raw_ops
optimizers = keras.optimizers
schedules = optimizers.schedules

# By the names that cases.rs has.
DENSE = {
    "sgd": lambda: optimizers.SGD(0.05),
    "sgd_momentum": lambda: optimizers.SGD(0.05, momentum=0.9),
    "sgd_nesterov": lambda: optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    "sgd_momentum_schedule": lambda: optimizers.SGD(schedules.ExponentialDecay(0.1, 2, 0.5), momentum=0.9),
    "adam": lambda: optimizers.Adam(0.01),
    "adam_amsgrad": lambda: optimizers.Adam(0.01, beta_1=0.8, beta_2=0.9, amsgrad=True),
    "adam_schedule": lambda: optimizers.Adam(schedules.CosineDecay(0.01, 4, warmup_target=0.1, warmup_steps=2)),
    "adam_w": lambda: optimizers.AdamW(0.01, weight_decay=0.004),
    "sgd_decay": lambda: optimizers.SGD(0.05, weight_decay=0.1),
    "rms_prop": lambda: optimizers.RMSprop(0.01),
    "rms_prop_momentum": lambda: optimizers.RMSprop(0.01, momentum=0.5),
    "rms_prop_centered": lambda: optimizers.RMSprop(0.01, rho=0.8, centered=True),
    "adagrad": lambda: optimizers.Adagrad(0.1),
    "ftrl": lambda: optimizers.Ftrl(0.1),
    "ftrl_all": lambda: optimizers.Ftrl(
        0.1, learning_rate_power=-0.6, initial_accumulator_value=0.2, l1_regularization_strength=0.01,
        l2_regularization_strength=0.02, l2_shrinkage_regularization_strength=0.03, beta=0.05),
    "clip_value": lambda: optimizers.SGD(0.05, clipvalue=0.5),
    "clip_norm": lambda: optimizers.SGD(0.05, clipnorm=0.7),
    "clip_global_norm": lambda: optimizers.SGD(0.05, global_clipnorm=0.7),
}

SCHEDULES = {
    "piecewise": schedules.PiecewiseConstantDecay([2, 5, 9], [0.1, 0.05, 0.01, 0.005]),
    "exponential": schedules.ExponentialDecay(0.1, 4, 0.9),
    "exponential_staircase": schedules.ExponentialDecay(0.1, 4, 0.9, staircase=True),
    "inverse_time": schedules.InverseTimeDecay(0.1, 4, 0.5),
    "inverse_time_staircase": schedules.InverseTimeDecay(0.1, 4, 0.5, staircase=True),
    "polynomial": schedules.PolynomialDecay(0.1, 7, 0.01),
    "polynomial_power_cycle": schedules.PolynomialDecay(0.1, 4, 0.01, power=2.0, cycle=True),
    "cosine": schedules.CosineDecay(0.1, 7),
    "cosine_alpha": schedules.CosineDecay(0.1, 7, alpha=0.2),
    "cosine_warmup": schedules.CosineDecay(0.02, 7, alpha=0.1, warmup_target=0.2, warmup_steps=4),
}

initializers = keras.initializers
INITIALIZERS = {
    "random_normal": (initializers.RandomNormal(0.5, 0.1, seed=3), (4, 5)),
    "truncated_normal": (initializers.TruncatedNormal(-0.5, 0.1, seed=4), (4, 5)),
    "random_uniform": (initializers.RandomUniform(-0.25, 0.75, seed=5), (4, 5)),
    "glorot_uniform": (initializers.GlorotUniform(seed=6), (3, 2, 4, 2)),
    "glorot_normal": (initializers.GlorotNormal(seed=7), (6, 4)),
    "he_uniform": (initializers.HeUniform(seed=8), (6, 4)),
    "he_normal": (initializers.HeNormal(seed=9), (3, 2, 4, 2)),
    "lecun_uniform": (initializers.LecunUniform(seed=10), (7,)),
    "lecun_normal": (initializers.LecunNormal(seed=11), (6, 4)),
    "fan_out": (initializers.VarianceScaling(3.0, "fan_out", "untruncated_normal", seed=12), (6, 4)),
}


def sparse_rules():
    """What TensorFlow's ops for rows do; each takes a variable, its slots, rows and indices."""
    scalar = lambda value, like: tf.constant(value, like.dtype)  # noqa: E731

    def sgd(var, slots, rows, indices):
        var.scatter_sub(tf.IndexedSlices(rows * scalar(0.05, var), indices))

    def momentum(nesterov):
        def step(var, slots, rows, indices):
            raw.ResourceSparseApplyKerasMomentum(
                var=var.handle, accum=slots[0].handle, lr=scalar(0.05, var), grad=rows, indices=indices,
                momentum=scalar(0.9, var), use_nesterov=nesterov)
        return step

    def rms_prop(var, slots, rows, indices):
        raw.ResourceSparseApplyRMSProp(
            var=var.handle, ms=slots[0].handle, mom=slots[1].handle, lr=scalar(0.01, var), rho=scalar(0.9, var),
            momentum=scalar(0.5, var), epsilon=scalar(1e-7, var), grad=rows, indices=indices)

    def centered(var, slots, rows, indices):
        raw.ResourceSparseApplyCenteredRMSProp(
            var=var.handle, mg=slots[2].handle, ms=slots[0].handle, mom=slots[1].handle, lr=scalar(0.01, var),
            rho=scalar(0.8, var), momentum=scalar(0.0, var), epsilon=scalar(1e-7, var), grad=rows, indices=indices)

    def adagrad(var, slots, rows, indices):
        raw.ResourceSparseApplyAdagrad(
            var=var.handle, accum=slots[0].handle, lr=scalar(0.1, var), grad=rows, indices=indices)

    def ftrl(var, slots, rows, indices):
        raw.ResourceSparseApplyFtrlV2(
            var=var.handle, accum=slots[0].handle, linear=slots[1].handle, grad=rows, indices=indices,
            lr=scalar(0.1, var), l1=scalar(0.01, var), l2=scalar(0.02, var), l2_shrinkage=scalar(0.03, var),
            lr_power=scalar(-0.5, var))

    return {
        "rows_sgd": (sgd, []), "rows_momentum": (momentum(False), [0.0]), "rows_nesterov": (momentum(True), [0.0]),
        "rows_rms_prop": (rms_prop, [0.0, 0.0]), "rows_rms_prop_centered": (centered, [0.0, 0.0, 0.0]),
        "rows_adagrad": (adagrad, [0.1 + 1e-7]), "rows_ftrl": (ftrl, [0.1, 0.0]),
    }


class File:
    def __init__(self):
        self.random, self.values = np.random.default_rng(11), {}

    def draw(self, shape, dtype):
        return np.asarray(self.random.uniform(-1.5, 1.5, shape)).astype(dtype)

    def dense(self, name, make, dtype):
        optimizer, name = make(), f"{name}_{dtype}"
        firsts = [self.draw(shape, dtype) for shape in SHAPES]
        variables = [keras.Variable(first, dtype=dtype) for first in firsts]
        self.values.update({f"{name}/initial/{k}": first for k, first in enumerate(firsts)})
        for step in range(STEPS):
            gradients = [self.draw(shape, dtype) for shape in SHAPES]
            # One that no clipping meets.
            if step == 2:
                gradients = [gradient * np.asarray(0.01, dtype) for gradient in gradients]
            optimizer.apply([tf.constant(gradient) for gradient in gradients], variables)
            for k, (gradient, variable) in enumerate(zip(gradients, variables)):
                self.values[f"{name}/gradient/{step}/{k}"] = gradient
                self.values[f"{name}/expected/{step}/{k}"] = variable.numpy()

    def rows(self, name, rule, slots, dtype):
        """Rows, of which one is there twice."""
        name, indices = f"{name}_{dtype}", [[0, 2, 0], [3, 3, 1], [2, 0, 3]]
        first = self.draw(SHAPES[0], dtype)
        variable = tf.Variable(first)
        slots = [tf.Variable(np.full(SHAPES[0], slot, dtype)) for slot in slots]
        self.values[f"{name}/initial/0"] = first
        for step, places in enumerate(indices):
            rows = self.draw((3,) + SHAPES[0][1:], dtype)
            own, inverse = np.unique(places, return_inverse=True)
            summed = np.zeros((len(own),) + rows.shape[1:], dtype)
            np.add.at(summed, inverse, rows)
            rule(variable, slots, tf.constant(summed), tf.constant(own.astype(np.int64)))
            self.values[f"{name}/rows/{step}/0"] = rows
            self.values[f"{name}/indices/{step}/0"] = np.array(places, np.int64)
            self.values[f"{name}/expected/{step}/0"] = variable.numpy()

    def write(self, path):
        with tf.Graph().as_default() as graph:
            for name, value in self.values.items():
                tf.constant(value, name=name)
            data = graph.as_graph_def().SerializeToString(deterministic=True)
        with open(path, "wb") as file:
            file.write(data)
        print(f"{path}: {len(self.values)} tensors, {len(data)} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "data"))
    out = parser.parse_args().out
    file = File()
    for name, make in DENSE.items():
        for dtype in ("float32", "float64"):
            file.dense(name, make, dtype)
    for name, (rule, slots) in sparse_rules().items():
        for dtype in ("float32", "float64"):
            file.rows(name, rule, slots, dtype)
    steps = np.arange(16, dtype=np.int64)
    for name, schedule in SCHEDULES.items():
        file.values[f"{name}/steps"] = steps
        file.values[f"{name}/rates"] = np.array([float(schedule(step)) for step in steps], np.float32)
    for name, (initializer, shape) in INITIALIZERS.items():
        file.values[f"{name}/values"] = np.asarray(initializer(shape, dtype="float32"))
    file.write(os.path.join(out, "train.pb"))


if __name__ == "__main__":
    main()

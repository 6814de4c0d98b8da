//! Linear algebra: decompositions, inverses, determinants, equations.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod banded;
mod batch;
mod decompositions;
mod eigenvalues;
mod function;
mod functions;
mod householder;
mod lu;
mod matrix;
mod real_schur;
mod rotation;
mod scalar;
mod schur;
mod self_adjoint;
mod solves;
mod svd;
mod triangular;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");

//! The part of a product's shader that multiplies: by cooperative matrices, which the threads of a subgroup hold and multiply
//! together. Factors are of 16 bits, sums of 32.

use std::fmt::Write as _;

use kernlink::device::Device as _;

use super::config::Tiles;
use super::text::Staging;
use crate::device::GpuDevice;

/// What a device's cooperative matrices are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Matrices {
    /// The rows, columns and inner size of each: 8 or 16.
    pub(crate) size: u32,
    /// The threads of every subgroup.
    pub(crate) subgroup: u32,
}

/// What shaders are made for, by those who know no device.
pub(super) const KNOWN: [Matrices; 2] = [Matrices { size: 16, subgroup: 32 }, Matrices { size: 8, subgroup: 8 }];

impl Matrices {
    /// Those of an adapter that has such matrices, and subgroups of one size: of which shares a tile has so many. Metal does
    /// not say the size, and takes matrices out of arrays of single elements alone.
    pub(crate) fn of(adapter: &wgpu::Adapter) -> Option<Matrices> {
        let info = adapter.get_info();
        if info.backend != wgpu::Backend::Vulkan {
            return None;
        }
        let subgroup = info.subgroup_max_size;
        let is_one = info.subgroup_min_size == subgroup && subgroup.is_power_of_two() && subgroup <= 64;
        let known = adapter.cooperative_matrix_properties();
        let fits = |size: u32| {
            known.iter().any(|of| {
                [of.m_size, of.n_size, of.k_size] == [size; 3]
                    && of.ab_type == wgpu::CooperativeScalarType::F16
                    && of.cr_type == wgpu::CooperativeScalarType::F32
            })
        };
        let size = [16, 8].into_iter().find(|&size| is_one && fits(size))?;
        Some(Matrices { size, subgroup })
    }

    /// Those of a device that is open.
    pub(crate) fn on(gpu: &GpuDevice) -> Option<Matrices> {
        let has = |name: &str| gpu.capabilities().contains(&name);
        let all = ["cooperative-matrix", "subgroups", "f16"].into_iter().all(has);
        gpu.adapter().matrices.filter(|_| all)
    }

    /// The memory through which sums go: a matrix for each subgroup.
    pub(super) fn declare_sums(&self, tiles: &Tiles) -> String {
        format!("var<workgroup> sums: array<f32, {}>;\n", self.size * self.size * tiles.shares())
    }

    /// What stands before the loop: where the subgroup's share of the tile begins, and its sums, which are 0.
    pub(super) fn begin(&self, tiles: &Tiles) -> String {
        let Matrices { size, subgroup, .. } = *self;
        let across = tiles.columns / tiles.thread_columns;
        let mut text = format!(
            "    let own_row = subgroup.number / {across}u * {}u;\n    let own_column = subgroup.number % {across}u * {}u;\n    \
             let own = subgroup.number * {square}u;\n    \
             for (var i = subgroup.member; i < {square}u; i += {subgroup}u) {{\n        sums[own + i] = 0.0;\n    }}\n    \
             workgroupBarrier();\n    let zeros = &sums[own];\n    let stride_sums = {size}u;\n",
            tiles.thread_rows,
            tiles.thread_columns,
            square = size * size,
        );
        self.for_each(tiles, |i, j| {
            let _ = writeln!(text, "    var c{i}_{j} = coopLoadT<coop_mat{size}x{size}<f32, C>>(zeros, stride_sums);");
        });
        text
    }

    /// What stands in the loop, between barriers: the products of all matrices in the workgroup's memory, where factor `a`
    /// lies by columns and factor `b` by rows. There strides and places count vectors of four.
    pub(super) fn multiply(&self, tiles: &Tiles, a: &Staging, b: &Staging) -> String {
        let Matrices { size, .. } = *self;
        let strides = [a, b].map(Staging::stride);
        let mut text = format!("        let stride_a = {}u;\n        let stride_b = {}u;\n", strides[0], strides[1]);
        for k in (0..tiles.inner).step_by(size as usize) {
            for (name, load, role, own, share, stride) in [
                ("a", "coopLoad", "A", "own_row", tiles.thread_rows, strides[0]),
                ("b", "coopLoadT", "B", "own_column", tiles.thread_columns, strides[1]),
            ] {
                for i in 0..share / size {
                    let _ = write!(
                        text,
                        "        let {name}at{k}_{i} = {}u + ({own} + {}u) / 4u;\n        \
                         let {name}p{k}_{i} = &tile_{name}[{name}at{k}_{i}];\n        \
                         let m{name}{k}_{i} = {load}<coop_mat{size}x{size}<f16, {role}>>({name}p{k}_{i}, stride_{name});\n",
                        k * stride,
                        i * size
                    );
                }
            }
            self.for_each(tiles, |i, j| {
                let _ = writeln!(text, "        c{i}_{j} = coopMultiplyAdd(ma{k}_{i}, mb{k}_{j}, c{i}_{j});");
            });
        }
        text
    }

    /// What stands behind the loop: matrix by matrix goes through the workgroup's memory to where it belongs.
    pub(super) fn end(&self, tiles: &Tiles) -> String {
        let Matrices { size, subgroup, .. } = *self;
        let fours = size / 4;
        let mut text = String::new();
        self.for_each(tiles, |i, j| {
            let _ = write!(
                text,
                "    let p{i}_{j} = &sums[own];\n    let m{i}_{j} = c{i}_{j};\n    \
                 coopStoreT(m{i}_{j}, p{i}_{j}, stride_sums);\n    workgroupBarrier();\n    \
                 for (var q = subgroup.member; q < {}u; q += {subgroup}u) {{\n        \
                 let row = a_first + own_row + {}u + q / {fours}u;\n        let at = own + q * 4u;\n        \
                 if (row < params.extent_a) {{\n            \
                 put(base_out + row * params.stride_out, b_first + own_column + {}u + q % {fours}u * 4u, \
                 vec4<f32>(sums[at], sums[at + 1u], sums[at + 2u], sums[at + 3u]));\n        }}\n    }}\n    \
                 workgroupBarrier();\n",
                size * fours,
                i * size,
                j * size
            );
        });
        text
    }

    /// Runs `each` with the row and the column of each matrix of a subgroup's share.
    fn for_each(&self, tiles: &Tiles, mut each: impl FnMut(u32, u32)) {
        for i in 0..tiles.thread_rows / self.size {
            for j in 0..tiles.thread_columns / self.size {
                each(i, j);
            }
        }
    }
}

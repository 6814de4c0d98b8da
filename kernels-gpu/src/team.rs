//! What the threads of a workgroup make together of what each of them has: with subgroups, whose threads read each other's
//! registers, where the device has them, or else by halves in the workgroup's memory. The order is the same each time.

use std::fmt::Write as _;

use kernlink::device::Device as _;

use crate::device::GpuDevice;
use crate::shader::{ProgramBuilder, Scalar};

/// How threads come together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Team {
    /// Half of them take what the other half has, and so on: each time all wait for each other.
    Halves,
    /// Subgroups do so without waiting, and then each thread merges what the subgroups have found.
    Subgroups,
}

impl Team {
    pub(crate) const ALL: [Team; 2] = [Team::Halves, Team::Subgroups];

    /// The way on a device, for values made of such scalars.
    pub(crate) fn on(gpu: &GpuDevice, scalar: Scalar) -> Team {
        // No workgroup is smaller than a subgroup may be: where most threads of it are missing it is of no use. Devices
        // need not know 64 bits in subgroups.
        const SMALLEST: u32 = 64;
        let fits = gpu.capabilities().contains(&"subgroups") && gpu.adapter().most_in_subgroup <= SMALLEST;
        if fits && scalar != Scalar::I64 { Team::Subgroups } else { Team::Halves }
    }

    /// The ways that there are for values made of such scalars.
    pub(crate) fn of(scalar: Scalar) -> &'static [Team] {
        if scalar == Scalar::I64 { &Team::ALL[..1] } else { &Team::ALL }
    }

    /// A shader whose [`Entry`](crate::shader::Entry) is `Rows` and that calls [`Team::functions`].
    pub(crate) fn declare(self, program: ProgramBuilder) -> ProgramBuilder {
        if self == Team::Subgroups { program.subgroups() } else { program }
    }

    /// For each name with the body of a function of `a` and `b`: `fn name(own: ty, lane: u32) -> ty`, which all threads of
    /// the workgroup call, and which gives each of them what the body makes of all. What it makes of two does not depend
    /// on their order. A type with members is a struct of these; one without is a scalar or a vector.
    pub(crate) fn functions(self, ty: &str, members: &[&str], functions: &[(&str, &str)]) -> String {
        let mut text = format!("var<workgroup> lanes: array<{ty}, WORKGROUP>;\n");
        let other = match members {
            [] => "subgroupShuffleXor(all, distance)".to_owned(),
            members => {
                let members = members.iter().map(|member| format!("subgroupShuffleXor(all.{member}, distance)"));
                format!("{ty}({})", members.collect::<Vec<_>>().join(", "))
            }
        };
        let template = match self {
            Team::Halves => include_str!("team_halves.wgsl"),
            Team::Subgroups => include_str!("team_subgroups.wgsl"),
        };
        for (name, body) in functions {
            let _ = write!(text, "fn {name}_of_two(a: {ty}, b: {ty}) -> {ty} {{\n    {body}\n}}\n");
            text += &template.replace("NAME", name).replace("TYPE", ty).replace("OTHER", &other);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use kernlink::dtype::DataType;
    use kernlink::step::block_on;
    use kernlink::tensor::Tensor;

    use super::*;
    use crate::device::Groups;
    use crate::shader::{Entry, Program, Shader};
    use crate::testing::device;

    /// The greatest number of each row of a workgroup's size, where it stands first, and the sum, which each thread tells.
    fn program(team: Team, threads: u32) -> Program {
        let functions = team.functions(
            "Found",
            &["most", "place", "sum"],
            &[(
                "all_of",
                "var c = a;\n    if (b.most > a.most || (b.most == a.most && b.place < a.place)) {\n        c = b;\n    }\n    \
                 c.sum = a.sum + b.sum;\n    return c;",
            )],
        );
        let body = format!(
            "struct Found {{\n    most: f32,\n    place: u32,\n    sum: vec2<f32>,\n}}\n{functions}\
             fn row(r: u32, lane: u32) {{\n    let own = x[r * WORKGROUP + lane];\n    \
             var all = all_of(Found(own, lane, vec2<f32>(own, 1.0)), lane);\n    \
             all = all_of(Found(all.most, all.place, all.sum), lane);\n    let i = 4u * (r * WORKGROUP + lane);\n    \
             y[i] = all.most;\n    y[i + 1u] = f32(all.place);\n    y[i + 2u] = all.sum.x;\n    y[i + 3u] = all.sum.y;\n}}\n"
        );
        let program = Program::trusted("team").read("x", Scalar::F32).write("y", Scalar::F32).workgroup(threads);
        team.declare(program).build(Entry::Rows, &body)
    }

    #[test]
    fn all_threads_find_the_same() {
        let gpu = device();
        let ways = if gpu.capabilities().contains(&"subgroups") { &Team::ALL[..] } else { &Team::ALL[..1] };
        for &team in ways {
            for threads in [64, 128, 256u32] {
                const ROWS: usize = 5;
                let count = ROWS * threads as usize;
                let x: Vec<f32> = (0..count).map(|i| ((i * 7919 + 31) % 61) as f32).collect();
                let given = gpu.to_device(&Tensor::vector(&x).unwrap()).unwrap();
                let found = gpu.allocate(DataType::Float, [count, 4]).unwrap();
                let shader = Shader::new(program(team, threads));
                gpu.dispatch(&shader, &[&given, &found], &[], Groups::Rows(ROWS)).unwrap();
                let found = block_on(gpu.to_host(&found)).unwrap();
                let found = found.as_slice::<f32>().unwrap();
                for (row, found) in x.chunks(threads as usize).zip(found.chunks(4 * threads as usize)) {
                    let most = row.iter().copied().fold(0.0, f32::max);
                    let place = row.iter().position(|&x| x == most).unwrap();
                    let sum: f32 = row.iter().sum();
                    let times = threads as f32;
                    for found in found.chunks(4) {
                        assert_eq!(found, [most, place as f32, sum * times, times * times], "{team:?} of {threads}");
                    }
                }
            }
        }
    }
}

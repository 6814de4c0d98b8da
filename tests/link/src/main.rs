//! The program that is linked in every way.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(kernlink_link::kernlink_check() as u8)
}

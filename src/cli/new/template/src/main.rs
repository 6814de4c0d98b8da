//! The `kernlink` command, with the ops of this crate: `cargo run -- --help`.

use my_ops as _; // links them

fn main() -> std::process::ExitCode {
    kernlink::cli::main()
}

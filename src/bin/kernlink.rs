//! The `kernlink` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kernlink::cli::main()
}

//! Present because Cargo asks a package with `links` for a build script.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}

//! Writes a Rust file for each file of `framework/proto`, and the descriptors of all, into `framework/src/proto`.
//!
//! Run in `framework/proto/generate`: `cargo run`. Needs no `protoc`.

use std::path::Path;

use prost::Message;

const FILES: [&str; 4] = ["graph", "saved_model", "object_graph", "checkpoint"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = here.join("../../src/proto");
    let sources = FILES.map(|file| format!("{file}.proto"));
    let descriptors = protox::compile(&sources, [&here.join("..")])?;
    std::fs::write(target.join("tensorflow.desc"), descriptors.encode_to_vec())?;
    for (name, source) in FILES.iter().zip(&sources) {
        let mut config = prost_build::Config::new();
        config
            .bytes(["."])
            .btree_map(["."])
            // The one well-known type is written by hand: it needs no crate.
            .extern_path(".google.protobuf.Any", "crate::proto::Any")
            .out_dir(&target);
        // prost writes a file for each package, and all messages are of one package: those of the other files are
        // named as foreign, so that each file of messages becomes one of Rust.
        for other in descriptors.file.iter().filter(|file| file.package() == "tensorflow" && file.name() != source) {
            let messages = other.message_type.iter().map(|message| message.name());
            for message in messages.chain(other.enum_type.iter().map(|of| of.name())) {
                config.extern_path(format!(".tensorflow.{message}"), format!("crate::proto::{message}"));
            }
        }
        config.compile_fds(descriptors.clone())?;
        std::fs::rename(target.join("tensorflow.rs"), target.join("tensorflow").join(format!("{name}.rs")))?;
    }
    Ok(())
}

//! Every shader of the crate is valid and becomes SPIR-V, MSL and HLSL: no device is needed.

use naga::back::{hlsl, msl, spv};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use rayon::prelude::*;

#[test]
fn every_shader_is_translated_for_every_backend() {
    let mut programs = kernlink_kernels_gpu::programs();
    assert!(!programs.is_empty());
    // Ops of one function share their texts.
    let mut seen = std::collections::HashSet::new();
    programs.retain(|program| seen.insert(program.text().to_owned()));
    programs.par_iter().for_each(|program| {
        let (label, text) = (program.label(), program.text());
        let module = naga::front::wgsl::parse_str(text)
            .unwrap_or_else(|error| panic!("{label}: {}\n{text}", error.emit_to_string(text)));
        let check = |capabilities: Capabilities| {
            Validator::new(ValidationFlags::all(), capabilities)
                .validate(&module)
                .map_err(|error| error.emit_to_string(text))
        };
        // What only some backends know is translated for those.
        check(Capabilities::all()).unwrap_or_else(|error| panic!("{label}: {error}\n{text}"));
        let mut translated = 0;
        if let Ok(info) = check(spv::supported_capabilities()) {
            let options = spv::Options { lang_version: (1, 3), ..Default::default() };
            spv::write_vec(&module, &info, &options, None).unwrap_or_else(|error| panic!("{label}: SPIR-V: {error}"));
            translated += 1;
        }
        if let Ok(info) = check(msl::supported_capabilities()) {
            let options = msl::Options { lang_version: (2, 4), ..Default::default() };
            let pipeline = msl::PipelineOptions::default();
            msl::write_string(&module, &info, &options, &pipeline)
                .unwrap_or_else(|error| panic!("{label}: MSL: {error}"));
            translated += 1;
        }
        if let Ok(info) = check(hlsl::supported_capabilities()) {
            let options = hlsl::Options {
                shader_model: hlsl::ShaderModel::V6_2,
                immediates_target: Some(hlsl::BindTarget::default()),
                ..Default::default()
            };
            let (mut out, pipeline) = (String::new(), hlsl::PipelineOptions::default());
            let written = hlsl::Writer::new(&mut out, &options, &pipeline).write(&module, &info, None);
            written.unwrap_or_else(|error| panic!("{label}: HLSL: {error}"));
            translated += 1;
        }
        assert!(translated >= 2, "{label} is for one backend alone");
    });
}

//! Every shader of the crate is valid and becomes SPIR-V, MSL and HLSL, and passes the validator of SPIR-V where that is
//! installed, so that no driver is asked to compile what the standard forbids: no device is needed. The tests that
//! registrations write ask for it.

use std::collections::HashSet;
use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};

use naga::Module;
use naga::back::{hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use crate::device::lock;
use crate::shader::Program;

/// Translates a program, unless one of the same text was: ops of one function share theirs.
///
/// # Panics
/// If it is not valid, or is for one backend alone.
#[track_caller]
pub(crate) fn translate(program: &Program) {
    static SEEN: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    if !lock(&SEEN).insert(program.text().to_owned()) {
        return;
    }
    let (label, text) = (program.label(), program.text());
    let module = parse(program);
    // What only some backends know is translated for those.
    validate(program, &module, Capabilities::all()).unwrap_or_else(|error| panic!("{label}: {error}\n{text}"));
    let words = spirv(program, &module);
    let mut translated = usize::from(words.is_some());
    if let Ok(info) = validate(program, &module, msl::supported_capabilities()) {
        let options = msl::Options { lang_version: (2, 4), ..Default::default() };
        let pipeline = msl::PipelineOptions::default();
        msl::write_string(&module, &info, &options, &pipeline).unwrap_or_else(|error| panic!("{label}: MSL: {error}"));
        translated += 1;
    }
    if let Ok(info) = validate(program, &module, hlsl::supported_capabilities()) {
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
    if let (Some(tool), Some(words)) = (&*TOOL, words) {
        let matrices = Capabilities::COOPERATIVE_MATRIX;
        let has_matrices = validate(program, &module, Capabilities::all() - matrices).is_err();
        if (tool.knows_matrices() || !has_matrices)
            && let Some(said) = tool.objections(&words)
        {
            panic!("{label}: {said}\n{text}");
        }
    }
}

/// The validator of SPIR-V, where it is installed (on Debian: spirv-tools); elsewhere naga's own has to do.
static TOOL: LazyLock<Option<Tool>> = LazyLock::new(Tool::find);

/// A shader as naga sees it.
#[track_caller]
fn parse(program: &Program) -> Module {
    let (label, text) = (program.label(), program.text());
    naga::front::wgsl::parse_str(text).unwrap_or_else(|error| panic!("{label}: {}\n{text}", error.emit_to_string(text)))
}

/// Validates it for devices that can do so much.
fn validate(program: &Program, module: &Module, capabilities: Capabilities) -> Result<ModuleInfo, String> {
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(module)
        .map_err(|error| error.emit_to_string(program.text()))
}

/// The shader in SPIR-V, if that can say all of it.
#[track_caller]
fn spirv(program: &Program, module: &Module) -> Option<Vec<u32>> {
    let info = validate(program, module, spv::supported_capabilities()).ok()?;
    let options = spv::Options { lang_version: (1, 3), ..Default::default() };
    let written = spv::write_vec(module, &info, &options, None);
    Some(written.unwrap_or_else(|error| panic!("{}: SPIR-V: {error}", program.label())))
}

/// The validator of SPIR-V that is installed, by its version.
struct Tool {
    command: String,
    year: u32,
}

impl Tool {
    /// What `SPIRV_VAL` names, which must be there then, or else `spirv-val`, if it is there.
    fn find() -> Option<Tool> {
        let named = std::env::var("SPIRV_VAL").ok();
        let command = named.clone().unwrap_or_else(|| "spirv-val".to_owned());
        let version = match Command::new(&command).arg("--version").output() {
            Ok(version) => String::from_utf8_lossy(&version.stdout).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => return None,
            Err(error) => panic!("{command}: {error}"),
        };
        // `SPIRV-Tools v2023.1 ...`
        let year = version.split_once(" v").and_then(|(_, rest)| rest.get(..4)?.parse().ok());
        Some(Tool { command, year: year.unwrap_or_else(|| panic!("{version} names no version")) })
    }

    /// Whether it knows cooperative matrices.
    fn knows_matrices(&self) -> bool {
        self.year >= 2025
    }

    /// What it has against a shader.
    fn objections(&self, words: &[u32]) -> Option<String> {
        // From 2025 on, Vulkan's rules refuse the strides that naga gives arrays outside of buffers, which drivers take.
        let rules = if self.year >= 2025 { "spv1.6" } else { "vulkan1.3" };
        let mut child = Command::new(&self.command)
            .args(["--target-env", rules, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", self.command));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        child.stdin.take().expect("it is piped").write_all(&bytes).expect("it reads all before it answers");
        let answer = child.wait_with_output().expect("it ends");
        let said = [answer.stdout, answer.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        (!answer.status.success()).then_some(said)
    }
}

//! `kernlink run`

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use kernlink::error::{Error, Result};
use kernlink::runtime::{RunMetadata, RunOptions};
use kernlink::tensor::Tensor;

use crate::job::{Missing, What};
use crate::trace;

#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    what: What,
    /// Writes each output to DIR/NAME.npy
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Writes when each node ran, and on which thread, in the Chrome trace format, which Perfetto opens
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Ends the run with DEADLINE_EXCEEDED after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..f64::INFINITY).contains(&seconds) => {
            Duration::try_from_secs_f64(seconds).map_err(|_| "it is longer than times can be; leave it out for no end")
        }
        _ => Err("it must be a number of seconds, 0 or more"),
    }
}

pub(crate) fn run(args: &Run) -> Result<()> {
    if let Some(file) = &args.trace {
        trace::check(file)?;
    }
    let started = Instant::now();
    let model = args.what.load()?;
    let job = args.what.prepare(&model, Missing::Refuse)?;
    if args.save.is_some() {
        check_file_names(&job.outputs)?;
    }
    let loaded = started.elapsed();
    let mut options = RunOptions::new().trace(args.trace.is_some());
    options.timeout = args.timeout;
    let mut metadata = RunMetadata::default();
    let started = Instant::now();
    let answers = job.run(&options, &mut metadata);
    let ran = started.elapsed();
    // What was done before it failed tells why, as where the time went until it was up.
    if let Some(file) = &args.trace {
        trace::write(file, &metadata.step_stats)?;
    }
    let answers = answers?;

    let mut text = job.unnamed().unwrap_or_default();
    for (name, tensor) in job.outputs.iter().zip(&answers) {
        let _ = writeln!(text, "{name}: {} {}\n  {}", tensor.dtype(), tensor.shape(), tensor.values_text());
    }
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let _ = writeln!(text, "loaded in {:.2} ms, ran in {:.2} ms", millis(loaded), millis(ran));
    if let Some(file) = &args.trace {
        let nodes = metadata.step_stats.iter().filter(|stats| !stats.is_device_work).count();
        let _ = writeln!(text, "what {nodes} nodes took is in {}", file.display());
    }
    if let Some(folder) = &args.save {
        save(folder, &job.outputs, &answers)?;
    }
    crate::print(&text)
}

/// The name of the file that `--save` writes for an output.
pub(crate) fn file_name(output: &str) -> String {
    format!("{}.npy", output.replace(['/', ':', '\\'], "_"))
}

/// Refuses outputs of which one file would overwrite the other.
fn check_file_names(outputs: &[String]) -> Result<()> {
    let mut files: HashMap<String, &str> = HashMap::new();
    for output in outputs {
        // Some file systems take upper and lower case for one.
        if let Some(first) = files.insert(file_name(output).to_lowercase(), output)
            && first != output
        {
            let file = file_name(output);
            return Err(Error::already_exists(format!(
                "--save: `{first}` and `{output}` would both be written to {file}; name only one of them with --output"
            )));
        }
    }
    Ok(())
}

fn save(folder: &std::path::Path, names: &[String], tensors: &[Tensor]) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::from_io(format!("cannot make {}", folder.display()), &error))?;
    for (name, tensor) in names.iter().zip(tensors) {
        kernlink::npy::write(folder.join(file_name(name)), tensor)?;
    }
    Ok(())
}

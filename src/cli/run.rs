//! `kernlink run`

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::error::{Code, Error, Result, escaped};
use crate::formats;
use crate::runtime::{RunMetadata, RunOptions};
use crate::step::{NodeStats, StepStats};
use crate::tensor::Tensor;
use clap::Args;

use crate::cli::job::{ENVIRONMENT, How, What};
use crate::cli::model::Model;
use crate::cli::output;
use crate::cli::progress::{Progress, Waiting};
use crate::tools::chrome_trace;
use crate::tools::words::count;

#[derive(Args)]
#[command(after_help = ENVIRONMENT)]
pub(crate) struct Run {
    #[command(flatten)]
    what: What,
    /// How many times to run, one after the other with the same inputs and variables: so many steps of training. The last
    /// run's outputs are told
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..),
          allow_negative_numbers = true)]
    steps: u64,
    /// Prepares the functions that the run can come to call when the model is loaded, so that the first run takes no longer
    /// than others
    #[arg(long)]
    warm_up: bool,
    /// Writes each output to DIR/NAME.npy
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Saves the variables of a SavedModel or MetaGraph when all has run, with its own saver: a prefix for --checkpoint
    #[arg(long, value_name = "PREFIX")]
    save_checkpoint: Option<PathBuf>,
    /// Writes when each node of the last run ran, and on which thread, in the Chrome trace format, which Perfetto opens
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Ends with DEADLINE_EXCEEDED what takes longer than so many seconds, with loading
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

/// How long what is asked to end may take for it.
const GRACE: Duration = Duration::from_secs(1);

/// Ends the program after the time, unless what this returns is dropped before: nothing else ends what does not look at the
/// clock, such as an import, or a kernel that waits for whoever reads a pipe. The trace has what has ended by then.
fn watch(timeout: Duration, trace: Option<(PathBuf, Arc<StepStats>)>) -> mpsc::Sender<()> {
    let (running, end) = mpsc::channel();
    std::thread::spawn(move || {
        if end.recv_timeout(timeout.saturating_add(GRACE)) == Err(mpsc::RecvTimeoutError::Timeout) {
            let message = "the time is up, and what runs does not end by itself";
            let error = Error::new(Code::DeadlineExceeded, message);
            // Standard error may be what the run waits for.
            let (told, is_told) = mpsc::channel();
            std::thread::spawn(move || {
                output::end_lines();
                output::tell(&format!("error: {error}"));
                let _ = told.send(());
            });
            let _ = is_told.recv_timeout(GRACE);
            // The disk may be what the run waits for.
            let (written, is_written) = mpsc::channel();
            std::thread::spawn(move || {
                if let Some((file, stats)) = trace
                    && let Err(error) = write_trace(&file, &stats.take())
                {
                    output::tell(&format!("error: {error}"));
                }
                let _ = written.send(());
            });
            let _ = is_written.recv_timeout(GRACE);
            std::process::exit(2);
        }
    });
    running
}

pub(crate) fn run(args: &Run) -> Result<()> {
    if let Some(file) = &args.trace {
        output::check("--trace", file)?;
    }
    if let Some(folder) = &args.save {
        check_folder(folder)?;
    }
    let started = Instant::now();
    let stats = args.trace.as_ref().map(|_| Arc::<StepStats>::default());
    let watch = args.timeout.map(|timeout| watch(timeout, args.trace.clone().zip(stats.clone())));
    let model = args.what.load()?;
    let checkpoint = args.save_checkpoint.as_deref().map(|prefix| Ok((prefix, saving(&model, prefix)?))).transpose()?;
    let job = args.what.prepare(&model, How { fill: false, functions: args.warm_up })?;
    if let Some(folder) = &args.save {
        check_file_names(folder, &job.outputs, "name only one of them with --output")?;
    }
    let loaded = started.elapsed();
    let mut metadata = RunMetadata::default();
    let began = Instant::now();
    let mut answers = Ok(Vec::new());
    let mut progress = Progress::new("step", args.steps);
    let waiting = (args.steps == 1).then(|| Waiting::new("running"));
    for step in 1..=args.steps {
        progress.begin_next();
        let mut options = RunOptions::new();
        if let Some(stats) = &stats {
            options = options.trace_to(stats.clone());
        }
        options.timeout = args.timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
        // A run of few nodes does not look at the clock.
        if options.timeout == Some(Duration::ZERO) {
            let message = match step {
                1 => "the time was up before the model was ready to run".to_owned(),
                _ => format!("the time was up after {} of {}", step - 1, count(args.steps, "step")),
            };
            answers = Err(Error::new(Code::DeadlineExceeded, message));
            break;
        }
        // What the step before gave would keep variables from being changed in place.
        drop(answers);
        answers = job.run(&options, &mut metadata);
        if answers.is_err() {
            break;
        }
    }
    let ran = began.elapsed();
    drop((progress, waiting, watch));
    // The trace of a failed run shows why, such as where the time went before a deadline.
    if let Some(file) = &args.trace {
        write_trace(file, &metadata.step_stats)?;
    }
    let answers = answers?;
    if let Some((prefix, meta)) = checkpoint {
        meta.save(prefix).map_err(|error| error.context("--save-checkpoint"))?;
    }

    let mut text = job.unnamed();
    for (name, tensor) in job.outputs.iter().zip(&answers) {
        let name = escaped(name);
        let _ = writeln!(text, "{name}: {} {}\n  {}", tensor.dtype(), tensor.shape(), tensor.values_text());
    }
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let times = if args.steps == 1 { String::new() } else { format!("{} times ", args.steps) };
    let _ = writeln!(text, "loaded in {:.2} ms, ran {times}in {:.2} ms", millis(loaded), millis(ran));
    if let Some(prefix) = &args.save_checkpoint {
        let _ = writeln!(text, "the variables are in {}", prefix.display());
    }
    if let Some(file) = &args.trace {
        let nodes = metadata.step_stats.iter().filter(|stats| !stats.is_device_work).count();
        let _ = writeln!(text, "what {} took is in {}", count(nodes, "node"), file.display());
    }
    if let Some(folder) = &args.save {
        save(folder, &job.outputs, &answers)?;
    }
    output::print(&text)
}

fn write_trace(file: &Path, stats: &[NodeStats]) -> Result<()> {
    output::write(file, chrome_trace(stats).as_bytes()).map_err(|error| error.context("--trace"))
}

/// The name of the file that `--save` writes for an output.
pub(crate) fn file_name(output: &str) -> String {
    format!("{}.npy", output.replace(['/', ':', '\\'], "_"))
}

/// Refuses outputs of which one file would overwrite the other, for which `advice` is given, or cannot be written.
pub(crate) fn check_file_names(to: &Path, outputs: &[String], advice: &str) -> Result<()> {
    let mut files: HashMap<String, &str> = HashMap::new();
    for output in outputs {
        if to.is_dir() {
            output::check("--save", &to.join(file_name(output)))?;
        }
        // Some file systems take upper and lower case for one.
        if let Some(first) = files.insert(file_name(output).to_lowercase(), output)
            && first != output
        {
            let file = file_name(output);
            return Err(Error::already_exists(format!(
                "--save: `{first}` and `{output}` would both be written to {file}; {advice}"
            )));
        }
    }
    Ok(())
}

/// The model whose variables are to be saved. Errors of saving that can be foreseen are reported before the run.
fn saving<'m>(model: &'m Model, prefix: &Path) -> Result<&'m formats::MetaGraph> {
    let refuse = |why: &str| Err(Error::invalid_argument(format!("--save-checkpoint {}: {why}", prefix.display())));
    match model.meta() {
        Some(_) if output::ends_as_folder(prefix) || prefix.is_dir() => {
            refuse("it is a folder: expected what is to stand before `.index`")
        }
        Some(meta) if meta.can_save() => {
            let folder = prefix.parent().filter(|folder| !folder.as_os_str().is_empty());
            folder.map_or(Ok(()), std::fs::create_dir_all).map_err(|error| {
                Error::from_io(format!("--save-checkpoint: cannot make the folder of {}", prefix.display()), &error)
            })?;
            Ok(meta)
        }
        Some(_) => refuse("the graph has no saver"),
        None => refuse("a plain graph cannot save variables: only SavedModels and MetaGraphs (.meta) can"),
    }
}

/// Fails before the run if a path for a folder is a file.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        let message = format!("--save: {} is no folder", folder.display());
        return Err(Error::new(Code::FailedPrecondition, message));
    }
    Ok(())
}

fn save(folder: &Path, names: &[String], tensors: &[Tensor]) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::from_io(format!("cannot make {}", folder.display()), &error))?;
    for (name, tensor) in names.iter().zip(tensors) {
        output::write_array(&folder.join(file_name(name)), tensor)?;
    }
    Ok(())
}

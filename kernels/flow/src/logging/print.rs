//! Assert, Print, PrintV2, Timestamp.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use kernlink::dtype::TString;
use kernlink::error::{Error, Result};
use kernlink::kernel::{Attrs, InputList, KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{bail, ensure};
use kernlink_kernels_common::summarize::{Style, summarize};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// `head` and the values of several tensors, each in brackets.
fn values(head: &str, tensors: InputList<'_>, limit: i64, separator: &str) -> Result<Vec<u8>> {
    let mut text = scratch::copied(head.as_bytes())?;
    for (index, tensor) in tensors.iter().enumerate() {
        scratch::append(&mut text, if index > 0 { separator.as_bytes() } else { b"" })?;
        scratch::push(&mut text, b'[')?;
        scratch::append(&mut text, &summarize(tensor, limit, Style::First)?)?;
        scratch::push(&mut text, b']')?;
    }
    Ok(text)
}

/// `String::from_utf8_lossy`, whose memory may be refused.
fn lossy(bytes: Vec<u8>) -> Result<String> {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.make_room(chunk.valid().len() + char::REPLACEMENT_CHARACTER.len_utf8())?;
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok(text)
}

#[register_kernel(device = Default, host_memory = ["condition", "data"], cheap)]
fn assert(attrs: &Attrs<ops::Assert>, ctx: &mut KernelContext<'_, ops::Assert>) -> Result<()> {
    let condition = ctx.input(ops::Assert::CONDITION)?;
    ensure!(condition.rank() == 0, InvalidArgument, "In[0] should be a scalar: {}", condition.shape());
    if condition.to_scalar()? {
        return Ok(());
    }
    let message = values("assertion failed: ", ctx.input_list(ops::Assert::DATA), attrs.summarize, " ")?;
    Err(Error::invalid_argument(lossy(message)?))
}

struct PrintKernel {
    message: String,
    /// How many times it may still print; always if negative.
    left: AtomicI64,
    summarize: i64,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::Print> for PrintKernel {
    fn new(ctx: &KernelConstruction<'_, ops::Print>) -> Result<Self> {
        let attrs = ctx.attrs();
        Ok(Self { message: attrs.message.clone(), left: AtomicI64::new(attrs.first_n), summarize: attrs.summarize })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Print>) -> Result<()> {
        let spend = |left: i64| if left > 0 { Some(left - 1) } else { None };
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend);
        if left.is_ok_and(|left| left > 0) || left.is_err_and(|left| left < 0) {
            let mut line = values(&self.message, ctx.input_list(ops::Print::DATA), self.summarize, "")?;
            scratch::push(&mut line, b'\n')?;
            // Nobody can be told that nobody listens.
            let _ = std::io::stderr().write_all(&line);
        }
        let input = ctx.take_input(ops::Print::INPUT)?;
        ctx.set_output(ops::Print::OUTPUT, input)
    }
}

/// Where PrintV2 prints.
enum Stream {
    Stdout,
    Stderr,
    /// A log, on the standard error: the level stands before each line.
    Log(&'static str),
    File(String),
}

struct PrintV2Kernel {
    stream: Stream,
    end: String,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::PrintV2> for PrintV2Kernel {
    fn new(ctx: &KernelConstruction<'_, ops::PrintV2>) -> Result<Self> {
        let attrs = ctx.attrs();
        let stream = match attrs.output_stream.as_str() {
            "stdout" => Stream::Stdout,
            "stderr" => Stream::Stderr,
            "log(info)" => Stream::Log("INFO"),
            "log(warning)" => Stream::Log("WARNING"),
            "log(error)" => Stream::Log("ERROR"),
            other => match other.strip_prefix("file://") {
                Some(path) if !path.is_empty() => Stream::File(path.to_owned()),
                _ => bail!(
                    InvalidArgument,
                    "Unknown output stream: {other}, Valid streams are: stdout stderr log(info) log(warning) log(error)"
                ),
            },
        };
        Ok(Self { stream, end: attrs.end.clone() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::PrintV2>) -> Result<()> {
        let input = ctx.input(ops::PrintV2::INPUT)?;
        ensure!(input.rank() == 0, InvalidArgument, "Input is expected to be scalar, but got {}", input.shape());
        let text = input.to_scalar::<TString>()?;
        let message = scratch::joined(&[&text, self.end.as_bytes()])?;
        // Nobody can be told that nobody listens.
        match &self.stream {
            Stream::Stdout => {
                let mut stdout = std::io::stdout().lock();
                let _ = stdout.write_all(&message).and_then(|()| stdout.flush());
            }
            Stream::Stderr => {
                let _ = std::io::stderr().write_all(&message);
            }
            Stream::Log(level) => {
                let line = scratch::joined(&[level.as_bytes(), b" ", &text, b"\n"])?;
                let _ = std::io::stderr().write_all(&line);
            }
            Stream::File(path) => {
                let file = OpenOptions::new().create(true).append(true).open(path);
                file.and_then(|mut file| file.write_all(&message)).map_err(|error| Error::from_io(path, &error))?;
            }
        }
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap)]
fn timestamp(ctx: &mut KernelContext<'_, ops::Timestamp>) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    ctx.set_output(ops::Timestamp::TS, Tensor::scalar(now.as_micros() as f64 / 1e6))
}

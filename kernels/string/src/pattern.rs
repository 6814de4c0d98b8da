//! RegexReplace, RegexFullMatch and their static forms.

use std::sync::{Arc, Mutex, PoisonError};

use kernlink::dtype::TString;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::bytes::bytes_of;
use super::map::map;
use super::re2::{Re2, Rewrite};

/// Nanoseconds that a byte takes, or so.
const PER_BYTE: usize = 2;

fn scalar(tensor: &Tensor, name: &str) -> Result<TString> {
    ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be scalar, but received {}", tensor.shape());
    tensor.to_scalar()
}

/// The last pattern that came, compiled: it seldom changes.
#[derive(Default)]
struct Latest(Mutex<Option<(TString, Arc<Re2>)>>);

impl Latest {
    fn get(&self, pattern: &TString, compile: fn(&[u8]) -> Result<Re2>) -> Result<Arc<Re2>> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some((known, compiled)) if known == pattern => Ok(compiled.clone()),
            _ => {
                let compiled = Arc::new(compile(pattern)?);
                *latest = Some((pattern.clone(), compiled.clone()));
                Ok(compiled)
            }
        }
    }
}

struct ReplaceKernel {
    all: bool,
    latest: Latest,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::RegexReplace> for ReplaceKernel {
    fn new(ctx: &KernelConstruction<'_, ops::RegexReplace>) -> Result<Self> {
        Ok(Self { all: ctx.attrs().replace_global, latest: Latest::default() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::RegexReplace>) -> Result<()> {
        let pattern = scalar(ctx.input(ops::RegexReplace::PATTERN)?, "Pattern")?;
        let re2 = self.latest.get(&pattern, Re2::new)?;
        let rewrite = Rewrite::new(&scalar(ctx.input(ops::RegexReplace::REWRITE)?, "Rewrite")?)?;
        map(ctx, PER_BYTE, |text| re2.replace(text, &rewrite, self.all))
    }
}

struct StaticReplaceKernel {
    re2: Re2,
    rewrite: Rewrite,
    all: bool,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::StaticRegexReplace> for StaticReplaceKernel {
    fn new(ctx: &KernelConstruction<'_, ops::StaticRegexReplace>) -> Result<Self> {
        let attrs = ctx.attrs();
        Ok(Self {
            re2: Re2::new(&bytes_of(ctx, "pattern")?)?,
            rewrite: Rewrite::new(&bytes_of(ctx, "rewrite")?)?,
            all: attrs.replace_global,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::StaticRegexReplace>) -> Result<()> {
        map(ctx, PER_BYTE, |text| self.re2.replace(text, &self.rewrite, self.all))
    }
}

#[register_kernel(device = Cpu, state = |_| Ok(Latest::default()))]
fn regex_full_match(latest: &Latest, ctx: &mut KernelContext<'_, ops::RegexFullMatch>) -> Result<()> {
    let pattern = scalar(ctx.input(ops::RegexFullMatch::PATTERN)?, "Pattern")?;
    let re2 = latest.get(&pattern, Re2::whole)?;
    map(ctx, PER_BYTE, |text| Ok(re2.matches(text)))
}

#[register_kernel(device = Cpu, state = |ctx| Re2::whole(&bytes_of(ctx, "pattern")?))]
fn static_regex_full_match(re2: &Re2, ctx: &mut KernelContext<'_, ops::StaticRegexFullMatch>) -> Result<()> {
    map(ctx, PER_BYTE, |text| Ok(re2.matches(text)))
}

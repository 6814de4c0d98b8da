//! Histograms with TensorFlow's buckets, which grow by a tenth from 1e-12 to 1e20 on both sides of 0.

use std::sync::LazyLock;

use kernlink::error::Result;

use crate::wire::Message;

/// The upper bounds of the buckets.
static LIMITS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut positive: Vec<f64> =
        std::iter::successors(Some(1.0e-12), |limit| Some(limit * 1.1)).take_while(|&limit| limit < 1.0e20).collect();
    positive.push(f64::MAX);
    let negative = positive.iter().rev().map(|limit| -limit);
    negative.chain([0.0]).chain(positive.iter().copied()).collect()
});

/// How many values fall into each bucket.
pub struct Histogram {
    buckets: Vec<f64>,
    min: f64,
    max: f64,
    count: f64,
    sum: f64,
    sum_squares: f64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

impl Histogram {
    /// Of no values.
    pub fn new() -> Histogram {
        let buckets = vec![0.0; LIMITS.len()];
        Histogram { buckets, min: f64::MAX, max: -f64::MAX, count: 0.0, sum: 0.0, sum_squares: 0.0 }
    }

    /// Adds a finite value.
    pub fn add(&mut self, value: f64) {
        // The largest double is above the last limit.
        let bucket = LIMITS.partition_point(|&limit| limit <= value).min(LIMITS.len() - 1);
        self.buckets[bucket] += 1.0;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.count += 1.0;
        self.sum += value;
        self.sum_squares += value * value;
    }

    /// A `HistogramProto`; runs of empty buckets become one.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let (mut limits, mut counts) = (Vec::new(), Vec::new());
        let mut bucket = 0;
        while bucket < self.buckets.len() {
            let mut end = bucket;
            if self.buckets[end] <= 0.0 {
                while end + 1 < self.buckets.len() && self.buckets[end + 1] <= 0.0 {
                    end += 1;
                }
            }
            limits.push(LIMITS[end]);
            counts.push(self.buckets[end]);
            bucket = end + 1;
        }
        let mut message = Message::default();
        message.double(1, self.min)?;
        message.double(2, self.max)?;
        message.double(3, self.count)?;
        message.double(4, self.sum)?;
        message.double(5, self.sum_squares)?;
        message.doubles(6, &limits)?;
        message.doubles(7, &counts)?;
        Ok(message.finish())
    }
}

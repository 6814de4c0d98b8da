//! A chart in the terminal.

const ROWS: usize = 8;
const COLUMNS: usize = 72;

/// Numbers above 0 from left to right, on a logarithmic scale: each column is the mean of some.
pub(crate) fn show(title: &str, numbers: &[f32]) {
    if numbers.is_empty() {
        return;
    }
    let per_column = numbers.len().div_ceil(COLUMNS);
    let columns = numbers.chunks(per_column).map(|some| (some.iter().sum::<f32>() / some.len() as f32).max(1e-6));
    let columns: Vec<f32> = columns.collect();
    let (low, high) = columns.iter().fold((f32::MAX, f32::MIN), |(low, high), &mean| (low.min(mean), high.max(mean)));
    let height = |mean: f32| (mean / low).ln() / (high / low).ln().max(1e-6) * (8 * ROWS - 1) as f32 + 1.0;
    println!("\n{title}");
    for row in (0..ROWS).rev() {
        let label = low * (high / low).powf(row as f32 / (ROWS - 1) as f32);
        let blocks = columns.iter().map(|&mean| match height(mean) - (8 * row) as f32 {
            eighths if eighths < 0.5 => ' ',
            eighths => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][(eighths as usize).clamp(1, 8) - 1],
        });
        println!("{label:>8.4} │{}", blocks.collect::<String>());
    }
    println!("         └{}\n", "─".repeat(columns.len()));
}

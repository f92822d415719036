//! The table that a run prints last, with what is to be reached.

use crate::report::Row;

/// What is to be reached.
enum Reach {
    AtMost(f64),
    AtLeast(f64),
}

/// The figures to reach on an H200; those of `dims` on two cores of anything.
const TARGETS: [(&str, &str, &str, Reach); 67] = [
    ("crops", "50", "device_us", Reach::AtMost(5.0)),
    ("crops", "150", "device_us", Reach::AtMost(7.0)),
    ("crops", "50", "host_over_empty_us", Reach::AtMost(0.5)),
    ("crops", "150", "host_over_empty_us", Reach::AtMost(1.2)),
    ("crops", "10000", "device_us", Reach::AtMost(340.0)),
    ("chain", "20", "device_us", Reach::AtMost(138.0)),
    ("jit", "cold", "ms", Reach::AtMost(80.0)),
    ("jit", "disk", "ms", Reach::AtMost(3.0)),
    ("cpu", "chain20", "ratio", Reach::AtLeast(5.0)),
    ("cpu", "crops150", "ratio", Reach::AtLeast(3.0)),
    ("fuse", "crops_f16/150", "device_us", Reach::AtMost(5.5)),
    ("fuse", "crops/150", "changed_host_over_empty_us", Reach::AtMost(0.8)),
    ("fuse", "crops/150", "prebuilt_host_over_empty_us", Reach::AtMost(0.3)),
    ("fuse", "frames4k_area/32", "device_us", Reach::AtMost(215.0)),
    ("fuse", "nv12_1080p", "device_us", Reach::AtMost(4.0)),
    ("fuse", "compile", "ms", Reach::AtMost(60.0)),
    ("fuse", "horizontal/600", "device_us", Reach::AtMost(8.0)),
    ("special", "digamma/2^24", "device_us", Reach::AtMost(45.0)),
    ("special", "lgamma/2^24", "device_us", Reach::AtMost(60.0)),
    ("special", "i0/2^24", "device_us", Reach::AtMost(45.0)),
    ("special", "i1/2^24", "device_us", Reach::AtMost(45.0)),
    ("special", "ndtri/2^24", "device_us", Reach::AtMost(45.0)),
    ("special", "erfcx/2^24", "device_us", Reach::AtMost(45.0)),
    ("special", "bessel_j0/2^24", "device_us", Reach::AtMost(60.0)),
    ("special", "zeta/2^24", "device_us", Reach::AtMost(200.0)),
    ("special", "gcd/2^24", "device_us", Reach::AtMost(500.0)),
    ("special", "gcd/2^16", "device_us", Reach::AtMost(20.0)),
    ("eager", "axpy", "eager_over_empty_us", Reach::AtMost(0.4)),
    ("eager", "axpy", "call_into_over_empty_us", Reach::AtMost(0.15)),
    ("reduce", "gauss5/4k", "device_us", Reach::AtMost(20.0)),
    ("conv2d", "128x64x64x64-3x3", "forward_device_us", Reach::AtMost(38.0)),
    ("conv2d", "128x64x64x64-3x3", "grad_input_device_us", Reach::AtMost(38.0)),
    ("conv2d", "128x112x112x64-3x3", "forward_device_us", Reach::AtMost(112.0)),
    ("conv2d", "128x112x112x64-3x3", "grad_input_device_us", Reach::AtMost(112.0)),
    ("conv2d", "128x56x56x128-3x3-bias", "forward_device_us", Reach::AtMost(57.0)),
    ("conv2d", "128x56x56x128-3x3-bias", "grad_input_device_us", Reach::AtMost(57.0)),
    ("conv2d", "64x16x16x1024-3x3", "forward_device_us", Reach::AtMost(20.0)),
    ("conv2d", "64x16x16x1024-3x3", "grad_input_device_us", Reach::AtMost(20.0)),
    ("conv2d", "256x14x14x672-5x5", "forward_device_us", Reach::AtMost(48.0)),
    ("conv2d", "256x14x14x672-5x5", "grad_input_device_us", Reach::AtMost(48.0)),
    ("conv2d", "256x7x7x1152-5x5", "forward_device_us", Reach::AtMost(26.0)),
    ("conv2d", "256x7x7x1152-5x5", "grad_input_device_us", Reach::AtMost(26.0)),
    ("conv2d", "128x56x56x96-7x7", "forward_device_us", Reach::AtMost(85.0)),
    ("conv2d", "128x56x56x96-7x7", "grad_input_device_us", Reach::AtMost(85.0)),
    ("conv2d", "128x56x56x144-depthwise-3x3", "forward_device_us", Reach::AtMost(62.0)),
    ("conv2d", "128x56x56x144-depthwise-3x3", "grad_input_device_us", Reach::AtMost(62.0)),
    ("conv2d", "128x56x56x96-depthwise-7x7", "forward_device_us", Reach::AtMost(85.0)),
    ("conv2d", "128x56x56x96-depthwise-7x7", "grad_input_device_us", Reach::AtMost(85.0)),
    ("conv2d", "320x56x56x80-5x5", "forward_device_us", Reach::AtMost(105.0)),
    ("conv2d", "320x56x56x80-5x5", "grad_input_device_us", Reach::AtMost(105.0)),
    ("hybrid", "bits/16384", "pops", Reach::AtLeast(10.5)),
    ("hybrid", "bits/32768", "pops", Reach::AtLeast(11.5)),
    ("hybrid", "bits/131072", "share", Reach::AtLeast(0.6)),
    ("hybrid", "matmul/f64/32768", "ratio", Reach::AtMost(1.06)),
    ("hybrid", "matmul/f64/49152", "ratio", Reach::AtMost(1.06)),
    ("hybrid", "matmul/f32/65536", "ratio", Reach::AtMost(1.06)),
    ("hybrid", "matmul-npy/f64/32768", "share", Reach::AtLeast(0.85)),
    ("hybrid", "dispatch/known", "decide_ns", Reach::AtMost(1000.0)),
    ("hybrid", "dispatch/sweep", "worst_loss", Reach::AtMost(1.1)),
    ("hybrid", "dispatch/sweep", "worst_loss_learned", Reach::AtMost(1.1)),
    ("hybrid", "stream/6ops", "share", Reach::AtLeast(0.9)),
    ("hybrid", "stream/solve/f64/49152", "ratio", Reach::AtMost(1.3)),
    ("hybrid", "cpu/matmul/f64/4096", "over_faer", Reach::AtLeast(0.98)),
    ("hybrid", "cpu/bits/8192", "avx2_share", Reach::AtLeast(0.8)),
    ("hybrid", "cpu/bits/8192", "avx512_share", Reach::AtLeast(0.8)),
    ("dims", "header", "cpu_ms", Reach::AtMost(10.0)),
    ("dims", "check", "s", Reach::AtMost(4.0)),
];

/// The rows, aligned.
pub fn table(rows: &[Row]) -> String {
    let heads = ["case", "metric", "value", "unit", "limit", "reach", "", "peer", "", "ratio"];
    let mut lines = vec![heads.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let widths: Vec<usize> =
        (0..heads.len()).map(|i| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        for (i, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Figures to the right, words to the left.
            let space = " ".repeat(width - cell.chars().count());
            text += &if matches!(i, 2 | 4 | 5 | 8 | 9) { space + cell } else { cell.clone() + &space };
            text += "  ";
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn cells(row: &Row) -> [String; 10] {
    let fits = |(suite, case, metric, _): &&(&str, &str, &str, Reach)| {
        (row.suite.as_str(), row.case.as_str(), row.metric.as_str()) == (suite, case, metric)
    };
    let (reach, verdict) = match TARGETS.iter().find(fits).map(|target| &target.3) {
        Some(Reach::AtMost(most)) => (format!("<= {}", figure(*most)), row.value <= *most),
        Some(Reach::AtLeast(least)) => (format!(">= {}", figure(*least)), row.value >= *least),
        None => (String::new(), true),
    };
    let verdict = match (reach.is_empty(), verdict) {
        (true, _) => "",
        (false, true) => "met",
        (false, false) => "missed",
    };
    [
        format!("{}/{}", row.suite, row.case),
        row.metric.clone(),
        figure(row.value),
        row.unit.clone(),
        row.limit.map(figure).unwrap_or_default(),
        reach,
        verdict.to_owned(),
        row.peer.clone().unwrap_or_default(),
        row.peer_value.map(figure).unwrap_or_default(),
        row.ratio.map(figure).unwrap_or_default(),
    ]
}

/// Three or four significant digits.
fn figure(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

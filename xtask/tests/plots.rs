//! The figures of docs/fusion.md and docs/conv.md, from made-up results.

use xtask::plots::{CONV, Chart, FIGURES, FUSION, Results, Series, is_current};

fn row(case: &str, value: f64, peer: &str) -> String {
    format!(
        r#"{{"suite":"fuse","case":"{case}","metric":"device_us","value":{value},"unit":"us",{peer}"limit":1.5,"commit":"abc","date":"2026-01-02","device":"GPU","driver":null}}"#
    )
}

fn results() -> Results {
    let peer = |name: &str, value: f64| format!(r#""peer":"{name}","peer_value":{value},"#);
    let none = r#""peer":null,"peer_value":null,"#;
    let rows = [
        row("vertical/50", 4.0, &peer("a kernel per operation", 1236.5)),
        row("vertical/50", 4.0, &peer("FKL", 5.0)),
        row("vertical/1", 2.0, &peer("a kernel per operation", 8.0)),
        row("additions/1", 100.0, none),
        row("additions/21", 105.0, none),
        row("additions/61", 200.0, none),
        row("launch", 1.3, none),
        row("type/u8-f32", 2.5, none),
        row("frames4k/32", 80.0, &peer("PyTorch eager", 2000.0)),
        row("50", 3.5, &peer("FKL", 4.7)).replace(r#""suite":"fuse""#, r#""suite":"crops""#),
        r#"{"suite":"chain","case":"20"}"#.to_owned(),
    ];
    Results::parse(&format!("[{}]", rows.join(","))).unwrap()
}

fn document() -> String {
    let parts = FIGURES.iter().map(|figure| format!("<!-- plots: {} -->old<!-- end -->\n", figure.name));
    let others =
        ["machine", "pipelines", "types", "compile"].map(|name| format!("<!-- plots: {name} --><!-- end -->\n"));
    format!("before\n{}{}after\n", others.concat(), parts.collect::<String>())
}

#[test]
fn tables_are_written_between_marks() {
    let text = FUSION.filled(&document(), &results()).unwrap();
    assert!(text.starts_with("before\n") && text.ends_with("after\n") && !text.contains("old"));
    assert!(
        text.contains("Measured on GPU, 2026-01-02, commit abc. An empty kernel in the same run: 1.30 us"),
        "{text}"
    );
    let expected = "\
![Multiplications and additions over 4096 x 2160, u8 to f32](images/fusion-vertical.svg)

| pairs | tilewright, us | each byte once, us | a kernel per operation, us | FKL, us |
|---:|---:|---:|---:|---:|
| 1 | 2.00 | 1.50 | 8.00 (4.00x) | - |
| 50 | 4.00 | 1.50 | 1,236 (309x) | 5.00 (1.25x) |
";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("| u8-f32 | 2.50 | 1.50 |\n"), "{text}");
    let pipeline = "| 32 frames of 4K to 224 x 224, bilinear | 80.0 | 1.50 | PyTorch eager 2,000 (25.0x) |\n";
    assert!(text.contains(pipeline) && text.contains("by area | not yet measured | | |\n"), "{text}");
    assert!(text.contains("| 50 | 3.50 | 1.50 | 4.70 (1.34x) |\n"), "{text}");
    assert!(text.contains("Not yet measured: `fuse/compile`.\n"), "{text}");
    assert!(text.contains("Up to 21 additions cost no more"), "{text}");
    // Writing it again changes nothing.
    assert_eq!(FUSION.filled(&text, &results()).unwrap(), text);
}

#[test]
fn what_is_not_measured_is_named() {
    let text = FUSION.filled(&document(), &Results::default()).unwrap();
    for figure in &FIGURES {
        assert!(figure.chart(&Results::default()).is_none());
    }
    for kind in ["vertical", "horizontal", "both", "additions", "per_kernel", "size", "crops", "type", "compile"] {
        assert!(text.contains(&format!("Not yet measured: `fuse/{kind}`")), "{text}");
    }
    assert!(text.contains("The suite `fuse` is not yet measured.") && !text.contains("images/"));
}

#[test]
fn broken_documents_are_refused() {
    let refused = |text: &str| FUSION.filled(text, &results()).unwrap_err().to_string();
    assert!(refused("<!-- plots: vertical -->").contains("does not end"));
    assert!(refused("<!-- plots: diagonal --><!-- end -->").contains("no figure `diagonal`"));
    assert!(refused("nothing").contains("has no place"));
}

#[test]
fn pictures_are_svg_with_every_line() {
    let chart = FIGURES[0].chart(&results()).unwrap();
    let names: Vec<_> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["tilewright", "a kernel per operation", "FKL", "each byte moved once"]);
    assert_eq!(chart.series[1].points, [(1.0, 8.0), (50.0, 1236.5)]);
    let svg = chart.svg().unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(names.iter().all(|name| svg.contains(name)), "{svg}");
    assert_eq!(svg.matches("<circle").count(), 7);
    // One point, and none, are pictures too.
    for points in [vec![(3.0, 4.0)], Vec::new()] {
        let series = vec![Series { name: "one".into(), points }];
        let chart = Chart { title: "t".into(), across: "x".into(), up: "y".into(), series, lines: true };
        assert!(chart.svg().unwrap().contains("</svg>"));
        assert!(Chart { lines: false, ..chart }.svg().unwrap().contains("</svg>"));
    }
}

/// Figures of convolutions: what is not among them was not measured.
fn convolutions() -> Results {
    let row = |case: &str, metric: &str, value: f64, peer: &str, limit: &str| {
        format!(
            r#"{{"suite":"conv2d","case":"{case}","metric":"{metric}","value":{value},"unit":"us",{peer}"limit":{limit},"commit":"abc","date":"2026-01-02","device":"GPU","driver":null}}"#
        )
    };
    let none = r#""peer":null,"peer_value":null,"#;
    let cudnn = |us: f64| format!(r#""peer":"PyTorch, cuDNN","peer_value":{us},"#);
    let rows = [
        row("128x64x64x64-3x3", "forward_device_us", 40.0, &cudnn(160.0), "32"),
        row("128x64x64x64-3x3", "forward_device_us_rotating", 38.5, &cudnn(155.0), "32"),
        row("128x64x64x64-3x3", "forward_left_device_us", 39.0, none, "null"),
        row("32x64x64x64-3x3", "forward_device_us", 16.0, none, "8"),
        row("256x14x14x672-5x5", "forward_device_us", 50.0, &cudnn(450.0), "30"),
        row("320x14x14x320-5x5-bias", "forward_device_us", 20.0, &cudnn(20.0), "10"),
    ];
    Results::parse(&format!("[{}]", rows.join(","))).unwrap()
}

#[test]
fn convolutions_have_a_table_and_two_pictures() {
    let marks = CONV.names.iter().map(|name| format!("<!-- plots: {name} --><!-- end -->\n")).collect::<String>();
    let text = CONV.filled(&marks, &convolutions()).unwrap();
    assert!(text.contains("Measured on GPU, 2026-01-02, commit abc.\n"), "{text}");
    let line = "| 128x64x64x64-3x3 | 32.0 | 38.5 (40.0) | 160 (4.00x) | - | - | - | - |\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("(images/conv-batch.svg)") && text.contains("(images/conv-layers.svg)"), "{text}");
    // 9 times and as fast, of two layers.
    assert!(text.contains("in the geometric mean: forward 3.00 (2 layers).\n"), "{text}");

    let pictures = CONV.pictures(&convolutions());
    let charts: Vec<&Chart> = pictures.iter().filter_map(|(_, chart)| chart.as_ref()).collect();
    assert_eq!(charts[0].series[0].points, [(32.0, 16.0), (128.0, 40.0)]);
    assert_eq!(charts[0].series[1].points, [(128.0, 39.0)]);
    assert_eq!(charts[1].series[0].points, [(30.0, 50.0), (10.0, 20.0)]);
    assert!(!charts[1].lines && charts.iter().all(|chart| chart.svg().unwrap().contains("</svg>")));

    let nothing = CONV.filled(&marks, &Results::default()).unwrap();
    assert!(nothing.contains("Not yet measured") && !nothing.contains("images/"), "{nothing}");
    assert!(CONV.pictures(&Results::default()).iter().all(|(_, chart)| chart.is_none()));
}

#[test]
fn the_document_holds_what_the_results_say() {
    assert!(is_current(xtask::workspace::root()).unwrap(), "run `cargo xtask plots`");
}

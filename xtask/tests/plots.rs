//! The figures of docs/fusion.md, from made-up results.

use xtask::plots::{Chart, FIGURES, Results, Series, filled, is_current};

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
    let text = filled(&document(), &results()).unwrap();
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
    assert_eq!(filled(&text, &results()).unwrap(), text);
}

#[test]
fn what_is_not_measured_is_named() {
    let text = filled(&document(), &Results::default()).unwrap();
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
    let refused = |text: &str| filled(text, &results()).unwrap_err().to_string();
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
        let chart = Chart { title: "t".into(), across: "x".into(), up: "y".into(), series };
        assert!(chart.svg().unwrap().contains("</svg>"));
    }
}

#[test]
fn the_document_holds_what_the_results_say() {
    assert!(is_current(xtask::workspace::root()).unwrap(), "run `cargo xtask plots`");
}

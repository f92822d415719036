//! The example `crops` as a program: what it makes, and what it says to what is wrong. A line, and an exit code.

use crate::crops;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Runs the program on the CPU; what it printed, or its exit code and message.
fn run(folder: &TempDir, args: &[&str]) -> Result<String, (u8, String)> {
    let out = folder.path().join("out").display().to_string();
    let all = ["crops", "--device", "cpu", "--out", &out].into_iter().chain(args.iter().copied());
    let mut printed = Vec::new();
    match crops::run(all, &mut printed) {
        Ok(()) => Ok(String::from_utf8(printed).unwrap()),
        Err(failure) => Err((failure.exit_code(), failure.to_string())),
    }
}

/// The message of a run that must fail for its input, with the parts that it must have.
fn refused(args: &[&str], parts: &[&str]) {
    let (code, message) = run(&folder(), args).expect_err("accepted");
    assert_eq!(code, 2, "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path.display().to_string()
}

fn with_boxes(content: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = folder();
    refused(&["--boxes", &file(&folder, "boxes.csv", content)], parts);
}

#[test]
fn no_arguments() {
    let folder = folder();
    let printed = run(&folder, &[]).unwrap();
    for part in ["150 boxes of a 960x640 picture", "planned for the CPU", "never allocated", "share of limit"] {
        assert!(printed.contains(part), "`{part}` is not in:\n{printed}");
    }
    let batch: ndarray::Array4<f32> = ndarray_npy::read_npy(folder.path().join("out/crops.npy")).unwrap();
    assert_eq!(batch.shape(), [150, 3, 128, 64]);
    assert!(batch.iter().all(|v| v.is_finite()));
    let sheet = image::open(folder.path().join("out/crops.png")).unwrap();
    assert!(sheet.width() > 1000 && sheet.height() > 700);
}

#[test]
fn a_picture_survives_the_round_trip() {
    // One box of 64x128 at its own size: the sheet shows the picture's very bytes, so colours keep their names.
    let folder = folder();
    let colour = |x: u32, y: u32| image::Rgb([(x * 3) as u8, (y * 2) as u8, (x * y) as u8]);
    let picture = folder.path().join("picture.png");
    image::RgbImage::from_fn(70, 140, colour).save(&picture).unwrap();
    let boxes = file(&folder, "boxes.csv", "x,y,width,height\r\n\r\n 5 , 9 , 64 , 128 \r\n");
    let constants = ["--mul", "0.5,2,1/255", "--sub", "-1,0.25,3", "--div", "2,-0.5,0.1"];
    let picture = picture.display().to_string();
    let args = [&["--image", &picture, "--boxes", &boxes, "--show-source"], &constants[..]].concat();
    let printed = run(&folder, &args).unwrap();
    assert!(printed.contains("__global__"), "{printed}");
    let sheet = image::open(folder.path().join("out/crops.png")).unwrap().into_rgb8();
    for (x, y) in (0..64).flat_map(|x| (0..128).map(move |y| (x, y))) {
        assert_eq!(sheet.get_pixel(x + 2, y + 2), &colour(x + 5, y + 9), "at {x}, {y}");
    }
    let batch: ndarray::Array4<f32> = ndarray_npy::read_npy(folder.path().join("out/crops.npy")).unwrap();
    let red = (f32::from(colour(5, 9).0[0]) * 0.5 + 1.0) / 2.0;
    assert!((batch[[0, 2, 0, 0]] - red).abs() < 1e-5, "channel 2 is red");
}

#[test]
fn no_boxes() {
    let folder = folder();
    let boxes = file(&folder, "boxes.csv", "x,y,width,height\n");
    let printed = run(&folder, &["--boxes", &boxes, "--show-source"]).unwrap();
    assert!(printed.contains("nothing was launched"), "{printed}");
    let batch: ndarray::Array4<f32> = ndarray_npy::read_npy(folder.path().join("out/crops.npy")).unwrap();
    assert_eq!(batch.shape(), [0, 3, 128, 64]);
    assert!(!folder.path().join("out/crops.png").exists());
}

#[test]
fn a_picture_of_one_pixel() {
    let folder = folder();
    let picture = folder.path().join("pixel.png");
    image::RgbImage::from_pixel(1, 1, image::Rgb([9, 8, 7])).save(&picture).unwrap();
    let printed = run(&folder, &["--image", &picture.display().to_string()]).unwrap();
    assert!(printed.contains("1 box of a 1x1 picture"), "{printed}");
}

#[test]
fn boxes_lie_at_distinct_places() {
    for (width, height) in [(960, 640), (61, 121), (70, 130), (3840, 2160), (10, 10), (60, 200)] {
        let mut boxes = crops::boxes::scattered(width, height);
        let n = boxes.len();
        assert!(n <= 150 && n > 0);
        assert!(boxes.iter().all(|b| (b.x + b.width) as usize <= width && (b.y + b.height) as usize <= height));
        boxes.sort_by_key(|b| (b.x, b.y));
        boxes.dedup();
        assert_eq!(boxes.len(), n, "{width}x{height}");
    }
    assert_eq!(crops::boxes::scattered(960, 640).len(), 150);
}

#[test]
fn missing_and_broken_pictures() {
    refused(&["--image", "no such file.png"], &["no such file.png", "cannot read"]);
    let folder = folder();
    refused(&["--image", &file(&folder, "text.png", "hello")], &["text.png", "neither PNG nor JPEG"]);
    refused(&["--image", &file(&folder, "empty.png", "")], &["empty.png"]);
    let whole = include_bytes!("../assets/scene.jpg");
    refused(&["--image", &file(&folder, "header.jpg", &whole[..200])], &["header.jpg"]);
    refused(&["--image", &folder.path().display().to_string()], &["cannot read"]);
}

#[test]
fn boxes_outside_and_empty() {
    let header = "x,y,width,height\n0,0,60,120\n";
    with_boxes(format!("{header}930,0,60,120\n"), &["box 1", "60x120 at (930, 0)", "960x640"]);
    with_boxes(format!("{header}-1,5,60,120\n"), &["box 1", "60x120 at (-1, 5)", "960x640"]);
    with_boxes(format!("{header}2147483647,0,2147483647,1\n"), &["box 1", "960x640"]);
    with_boxes(format!("{header}5,5,0,120\n"), &["box 1", "empty"]);
}

#[test]
fn wrong_lines_are_named_by_number() {
    with_boxes("", &["line 1", "x,y,width,height"]);
    with_boxes("10,20,60,120\n", &["line 1", "x,y,width,height", "10,20,60,120"]);
    with_boxes("x,y,width,height\n1,2,3,4\n1,2,3\n", &["boxes.csv, line 3", "got 3"]);
    with_boxes("x,y,width,height\n1,2,3,4,5\n", &["line 2", "got 5"]);
    with_boxes("x,y,width,height\n\n\n1,2,wide,4\n", &["line 4", "width", "`wide`"]);
    with_boxes("x,y,width,height\r\n1,2,3,4\r\n1,2,3,4\r\n1,2,3,4.5\r\n", &["line 4", "height", "`4.5`"]);
    with_boxes("x,y,width,height\n1,2,3,99999999999\n", &["line 2", "99999999999"]);
    with_boxes(b"x,y,width,height\n1,2,3,\xff\n", &["line 2", "height"]);
    refused(&["--boxes", "no such boxes.csv"], &["no such boxes.csv", "cannot read"]);
}

#[test]
fn wrong_constants() {
    refused(&["--div", "0,1,1"], &["--div", "must not be 0"]);
    refused(&["--div", "1,-0.0,1"], &["must not be 0"]);
    refused(&["--div", "1e-60,1,1"], &["must not be 0"]);
    refused(&["--mul", "NaN,1,1"], &["--mul", "finite"]);
    refused(&["--sub", "1,inf,1"], &["--sub", "finite"]);
    refused(&["--sub", "1,1e39,1"], &["finite"]);
    refused(&["--mul", "1/0,1,1"], &["finite"]);
    refused(&["--mul", "1,2"], &["three numbers", "got 2"]);
    refused(&["--mul", "1,2,three"], &["`three`"]);
    refused(&["--mul", ""], &["--mul"]);
}

#[test]
fn wrong_arguments() {
    refused(&["--centres", "left"], &["left", "--centres"]);
    refused(&["--devise", "gpu"], &["--devise"]);
    refused(&["--image"], &["--image"]);
    let help = run(&folder(), &["--help"]).unwrap();
    for part in ["1/255,1/255,1/255", "0.485,0.456,0.406", "0.229,0.224,0.225", "150 boxes of 60x120", "target/crops"] {
        assert!(help.contains(part), "`{part}` is not in:\n{help}");
    }
}

#[test]
fn a_place_that_cannot_be_written() {
    let folder = folder();
    let taken = file(&folder, "taken", "a file");
    let out = Path::new(&taken).join("below").display().to_string();
    let mut printed = Vec::new();
    let failure = crops::run(["crops", "--device", "cpu", "--out", &out], &mut printed).unwrap_err();
    assert_eq!(failure.exit_code(), 1);
    assert!(failure.to_string().contains("taken"), "{failure}");
}

#[test]
fn a_gpu_that_is_not_there() {
    if tilewright::Device::gpu(0).is_ok() {
        return crate::skip("bad_input::a_gpu_that_is_not_there", "there is a GPU");
    }
    let out = folder().path().display().to_string();
    let failure = crops::run(["crops", "--device", "gpu", "--out", &out], &mut Vec::new()).unwrap_err();
    assert_eq!(failure.exit_code(), 1);
    assert_eq!(failure.to_string().lines().count(), 1, "{failure}");
}

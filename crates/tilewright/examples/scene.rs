//! Paints a landscape from nothing but the coordinates of its pixels: some thousand operations, one kernel, no picture in
//! between. Colours are values along the dimension `C`, heights of mountains along `X`; what lacks a dimension does not vary
//! along it. This painted the picture that the example `crops` ships.
//!
//! ```text
//! cargo run --release --example scene            # writes target/scene/scene.jpg
//! ```

use image::codecs::jpeg::JpegEncoder;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;
use tilewright::prelude::*;

dims! {
    /// Rows.
    Y,
    /// Columns.
    X,
    /// Colour channels: red, green, blue.
    C,
}

/// A number per pixel, a number per colour, a colour per pixel.
type Field = In<f32, (Y, X)>;
type Colour = In<f32, (C,)>;
type Painting = In<f32, (Y, X, C)>;

const WIDTH: usize = 960;
const HEIGHT: usize = 640;

/// `a` where `weight` is 0, `b` where it is 1; each over any dimensions.
macro_rules! mix {
    ($a:expr, $b:expr, $weight:expr) => {{
        let a = $a;
        ($b - a) * $weight + a
    }};
}
fn main() -> Result<(), Box<dyn Error>> {
    let scene = fuse(|column: In<f32, (X,)>, row: In<f32, (Y,)>, light: Colour| {
        // Heights from 0 to 1, widths in the same unit.
        let (across, down) = (column * (1.0 / HEIGHT as f32), row * (1.0 / HEIGHT as f32));
        let (u, v) = (down * 0.0 + across, across * 0.0 + down);
        let mut painting = sky(u, v, light);
        painting = balloons(painting, u, v);
        for ridge in 0..5 {
            painting = mountains(painting, across, u, v, light, ridge);
        }
        painting = flowers(painting, u, v);
        (painting * 255.0).to::<u8>().store::<(C, Y, X)>()
    });

    let ramp = |n: usize| (0..n).map(|i| i as f32 + 0.5).collect::<Vec<f32>>();
    let column = Tensor::<f32, (X,)>::from_vec([WIDTH], ramp(WIDTH))?;
    let row = Tensor::<f32, (Y,)>::from_vec([HEIGHT], ramp(HEIGHT))?;
    let light = Tensor::<f32, (C,)>::from_vec([3], vec![1.0, 0.83, 0.62])?;

    // No operand is on a GPU, so `on` says where; a GPU whose compiler is missing leaves it to the CPU.
    let start = Instant::now();
    let mut device = Device::auto();
    let painted = scene.on(&device).call(&column, &row, &light).or_else(|_| {
        device = Device::Cpu;
        scene.call(&column, &row, &light)
    })?;
    let planes = painted.to_vec()?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let pixels: Vec<u8> = (0..3 * WIDTH * HEIGHT).map(|i| planes[i % 3 * WIDTH * HEIGHT + i / 3]).collect();

    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, 88).encode(
        &pixels,
        WIDTH as u32,
        HEIGHT as u32,
        image::ExtendedColorType::Rgb8,
    )?;
    let folder = Path::new("target/scene");
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("scene.jpg"), &jpeg)?;
    let file = folder.join("scene.jpg");
    writeln!(std::io::stdout(), "{WIDTH}x{HEIGHT} on {device} in {ms:.0} ms -> {}", file.display())?;
    Ok(())
}

fn sky(u: Field, v: Field, light: Colour) -> Painting {
    let from_sun = distance(u - 1.12, v - 0.2);
    let blue = mix!(colour([0.16, 0.36, 0.72]), colour([0.86, 0.80, 0.74]), (v * 1.7).clamp(0.0, 1.0));
    let glow = blue + light * ((from_sun * -5.0).exp() * 0.55);
    let clouds = ((clouded(u * 2.2, v * 7.0, 5, 1) - 0.5) * 4.0).clamp(0.0, 1.0) * 0.75;
    let clouded = mix!(glow, light * 0.3 + 0.68, clouds);
    mix!(clouded, light * 0.1 + 0.9, ((0.062 - from_sun) * 300.0).clamp(0.0, 1.0)).min(1.0)
}

/// Balloons with stripes, one in some cells of a lattice.
fn balloons(behind: Painting, u: Field, v: Field) -> Painting {
    const CELLS: f32 = 5.5;
    let (i, j) = ((u * CELLS).floor(), (v * CELLS).floor());
    let x = (fraction(u * CELLS) - 0.5) - (chance(i, j, 11) - 0.5) * 0.4;
    let y = (fraction(v * CELLS) - 0.5) - (chance(i, j, 12) - 0.5) * 0.4;
    let radius = chance(i, j, 13) * 0.12 + 0.14;
    let from_centre = distance(x, y);
    let stripe = fraction((x / (radius * radius - y * y).max(0.0001).sqrt()) * 2.5 + 0.25).lt(0.5);
    let tint = chance(i, j, 14);
    let shade = (x - y) / radius * 0.25 + 0.85;
    let skin = stripe.select(hue(tint), hue(tint + 0.45) * 0.5 + 0.5) * shade;
    let basket = (x.abs() - 0.025).max((y - radius - 0.07).abs() - 0.022);
    let cord = (x.abs() - radius * 0.25).abs().lt(0.006) & y.gt(radius * 0.8) & y.lt(radius + 0.05);
    let here = chance(i, j, 15).gt(0.42) & j.lt(2.5) & j.gt(-0.5);
    let hung = (here & (basket.lt(0.0) | cord)).select(colour([0.35, 0.2, 0.1]), behind);
    (here & from_centre.lt(radius)).select(skin, hung).clamp(0.0, 1.0)
}

/// A chain of mountains; `ridge` 0 is the farthest.
fn mountains(behind: Painting, across: In<f32, (X,)>, u: Field, v: Field, light: Colour, ridge: u32) -> Painting {
    let near = ridge as f32 / 4.0;
    let rough = clouded(across * (2.0 + 1.5 * near), across * 0.0 + 3.0, 7, 20 + ridge);
    let top = (rough - 0.5) * (near * 0.1 - 0.42) + (0.42 + 0.36 * near);
    let detail = clouded(u * (30.0 + 40.0 * near), v * (30.0 + 40.0 * near), 4, 40 + ridge);
    let slope = (v - top) * (3.0 - near);
    let rock = mix!(colour([0.34, 0.38, 0.52]), colour([0.08, 0.27, 0.09]), near);
    let face = rock * (detail * 0.9 + 0.45) + light * (detail * (0.25 * (1.0 - near)));
    let snow = ((0.07 - (v - top)) * 25.0 + (detail - 0.5) * 4.0).clamp(0.0, 1.0) * (1.0 - near).powi(3);
    let lit = mix!(face, colour([0.93, 0.95, 1.0]), snow);
    let hazy = mix!(lit, colour([0.74, 0.74, 0.78]), ((0.5 - slope) * (0.75 - 0.7 * near)).clamp(0.0, 0.7));
    v.gt(top).select(hazy, behind)
}

/// Flowers in a meadow, smaller towards the back.
fn flowers(behind: Painting, u: Field, v: Field) -> Painting {
    let mut painting = behind;
    for (layer, cells) in [60.0, 46.0, 34.0, 26.0].into_iter().enumerate() {
        let seed = 60 + 10 * layer as u32;
        let (i, j) = ((u * cells).floor(), (v * cells).floor());
        let x = (fraction(u * cells) - 0.5) - (chance(i, j, seed) - 0.5) * 0.4;
        let y = (fraction(v * cells) - 0.5) - (chance(i, j, seed + 1) - 0.5) * 0.4;
        let from_centre = distance(x, y);
        // Four petals without an angle: the product of x and y bends the rim, which stays inside the cell.
        let rim = ((x * y * 3.0).abs() + chance(i, j, seed + 2) * 0.1 + 0.12).min(0.29);
        let petals = hue(chance(i, j, seed + 3)) * (from_centre * 1.2 + 0.6);
        let eye = colour([1.0, 0.85, 0.2]);
        let flower = from_centre.lt(0.07).select(eye, petals);
        let line = 0.80 + 0.045 * layer as f32;
        let here = chance(i, j, seed + 4).gt(0.45) & v.gt(line) & from_centre.lt(rim);
        painting = here.select(flower, painting);
    }
    painting.clamp(0.0, 1.0)
}

/// A literal colour.
fn colour([r, g, b]: [f32; 3]) -> Colour {
    let c = coordinate::<C>();
    c.eq(0).select(constant(r), c.eq(1).select(constant(g), b))
}

/// The pure colour at `turn` of the colour wheel.
fn hue(turn: Field) -> Painting {
    let along = fraction(turn + colour([0.0, 2.0 / 3.0, 1.0 / 3.0]));
    ((along * 6.0 - 3.0).abs() - 1.0).clamp(0.0, 1.0)
}

fn distance(x: Field, y: Field) -> Field {
    (x * x + y * y).sqrt()
}

fn fraction<S: World>(x: Expr<f32, S>) -> Expr<f32, S> {
    x - x.floor()
}

/// A number from 0 to 1 that looks like chance, for each point of a lattice.
fn chance<S: World>(i: Expr<f32, S>, j: Expr<f32, S>, seed: u32) -> Expr<f32, S> {
    let n =
        (i + 512.0).to::<u32>() * 0x9E37_79B1 + (j + 512.0).to::<u32>() * 0x85EB_CA77 + seed.wrapping_mul(0xC2B2_AE3D);
    let n = n * (n * 0x27D4_EB2F + 0x1656_67B1);
    let n = n * (n * 0x2545_F491 + 0x4F6C_DD1D);
    n.to::<f32>() * (1.0 / 4_294_967_296.0)
}

/// Chance made smooth between the points of the lattice.
fn smooth_chance<S: World>(x: Expr<f32, S>, y: Expr<f32, S>, seed: u32) -> Expr<f32, S> {
    let (i, j) = (x.floor(), y.floor());
    let ease = |t: Expr<f32, S>| t * t * (3.0 - t * 2.0);
    let (s, t) = (ease(x - i), ease(y - j));
    let near = mix!(chance(i, j, seed), chance(i + 1.0, j, seed), s);
    let far = mix!(chance(i, j + 1.0, seed), chance(i + 1.0, j + 1.0, seed), s);
    mix!(near, far, t)
}

/// Smooth chance at `octaves` scales, each half as large and half as strong as the one before; from 0 to 1.
fn clouded<S: World>(x: Expr<f32, S>, y: Expr<f32, S>, octaves: u32, seed: u32) -> Expr<f32, S> {
    let mut sum = smooth_chance(x, y, seed) * 0.5;
    for octave in 1..octaves {
        let scale = 2f32.powi(octave as i32);
        sum = sum + smooth_chance(x * scale, y * scale, seed + 1000 * octave) * (0.5 / scale);
    }
    sum
}

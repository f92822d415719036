//! Code ported line by line: the same job in OpenCV's and in NPP's names, each one kernel, and what the two libraries do differently.
//!
//! ```text
//! cargo run --example 04_port
//! ```

use std::io::Write;
use tilewright::{prelude::*, record};

dims! { N }

/// Crops of a picture, normalised, in planes, as a program wrote it with OpenCV for CUDA: a call a line, and a loop over crops.
mod by_opencv {
    use tilewright::opencv::*;
    use tilewright::prelude::*;

    pub(super) fn prepare(src: Mat<u8>, boxes: In<Rect, (super::N,)>) -> Expr<f32, <(super::N, C, Y, X) as Dims>::Set> {
        let part = src.crop::<Y, X, _>(boxes); //                 src(box)
        let a = resize(part, Size(64, 128), INTER_LINEAR); //     cv::cuda::resize(part, a, Size(64, 128));
        let b = cvt_color(a, COLOR_BGR2RGB); //                   cv::cuda::cvtColor(a, b, COLOR_BGR2RGB);
        let c = convert_to::<f32, _, _>(b, 1.0 / 255.0, 0.0); //  b.convertTo(c, CV_32F, 1 / 255.0);
        let d = subtract(c, [0.485, 0.456, 0.406]); //            cv::cuda::subtract(c, mean, d);
        divide(d, [0.229, 0.224, 0.225]) //                       cv::cuda::divide(d, deviation, e);
    }
}

/// The same as a program wrote it with NPP.
mod by_npp {
    use tilewright::npp::*;
    use tilewright::prelude::*;

    pub(super) fn prepare(
        src: Image<u8>,
        boxes: In<Rect, (super::N,)>,
    ) -> Expr<f32, <(super::N, C, Y, X) as Dims>::Set> {
        let size = NppiSize { width: 64, height: 128 };
        let part = roi_batch(src, boxes); //                      src + box.y * step + box.x * 3
        let a = resize(part, size, NPPI_INTER_LINEAR); //         nppiResize_8u_C3R_Ctx(part, .., a, .., NPPI_INTER_LINEAR, context);
        let b = swap_channels(a, [2, 1, 0]); //                   nppiSwapChannels_8u_C3R_Ctx(a, .., b, .., order, context);
        let c = convert::<f32, _, _>(b); //                       nppiConvert_8u32f_C3R_Ctx(b, .., c, .., context);
        let d = mul_c(c, 1.0 / 255.0); //                         nppiMulC_32f_C3R_Ctx(c, .., scale, d, .., context);
        let e = sub_c(d, [0.485, 0.456, 0.406]); //               nppiSubC_32f_C3R_Ctx(d, .., mean, e, .., context);
        div_c(e, [0.229, 0.224, 0.225]) //                        nppiDivC_32f_C3R_Ctx(e, .., deviation, f, .., context);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    use tilewright::opencv::{C, X, Y};
    let mut out = std::io::stdout().lock();
    let pixels = (0..480 * 640 * 3).map(|i| (i % 1920 / 9 + i / 19200 * 5 + i % 3 * 40) as u8).collect();
    let picture = Tensor::<u8, (Y, X, C)>::from_vec([480, 640, 3], pixels)?;
    let corners = (0..20).map(|i| Rect::new(25 * i, 15 * i, 60 + 2 * i, 120 - i)).collect();
    let boxes = Tensor::<Rect, (N,)>::from_vec([20], corners)?;

    let opencv =
        fuse(|src: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>| by_opencv::prepare(src, boxes).store::<(N, C, Y, X)>());
    let npp = fuse(|src: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>| by_npp::prepare(src, boxes).store::<(N, C, Y, X)>());
    for (name, lines, job) in [("OpenCV", 5, &opencv), ("NPP", 6, &npp)] {
        let launches = record(|| drop(job.call(&picture, &boxes))).len();
        let saved = job.explain(&picture, &boxes)?.bytes_not_written();
        writeln!(
            out,
            "{name}: {lines} lines for 20 crops in {launches} launch; {saved} bytes between the lines are never stored."
        )?;
    }

    // Both libraries resize bilinearly, and place pixels differently.
    let (a, b) = (opencv.call(&picture, &boxes)?.to_vec()?, npp.call(&picture, &boxes)?.to_vec()?);
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    writeln!(out, "The results are up to {apart:.3} apart: NPP's resize takes other places than OpenCV's.")?;
    Ok(())
}

//! What only a GPU shows.

use crate::pipeline::{Batch, Job, pipeline};
use crate::reference::{Recipe, boxes, picture};
use crate::{gpu, gpu_alone};
use std::sync::Arc;
use tilewright::prelude::*;
use tilewright::{Error, driver, expr};

#[test]
fn a_box_in_device_memory_that_reaches_outside() {
    let Some((device, _lock)) = gpu_alone("gpu::a_box_in_device_memory_that_reaches_outside") else { return };
    let recipe = Recipe::new((8, 8), Centres::Half);
    let (image, pipeline) = (picture(40, 50, 2), pipeline(&recipe));
    let mut list = boxes(20, 40, 50, 9);
    let there = |list: &[Rect]| {
        let job = Job::new(&image, list, &recipe).on(&device);
        Job { boxes: job.boxes.to(&device).unwrap(), ..job }
    };
    let good = there(&list).call(&pipeline).unwrap().to_vec().unwrap();

    list[13] = Rect::new(49, 0, 2, 5);
    let _batch = there(&list).call(&pipeline).unwrap();
    match device.synchronize() {
        Err(Error::Expr(expr::Error::Guard { index: 13 })) => {}
        other => panic!("expected box 13 to be found, got {other:?}"),
    }
    device.synchronize().unwrap();

    list[13] = boxes(20, 40, 50, 9)[13];
    let again = there(&list).call(&pipeline).unwrap();
    device.synchronize().unwrap();
    assert!(again.to_vec().unwrap() == good);
}

/// Under one configuration: models may choose another for many boxes than for few.
#[test]
fn any_number_of_boxes_is_one_kernel() {
    let Some((device, _lock)) = gpu("gpu::any_number_of_boxes_is_one_kernel") else { return };
    let recipe = Recipe::new((4, 4), Centres::Half);
    let image = picture(97, 131, 2);
    let pipeline = pipeline(&recipe);
    let plan = Job::new(&image, &boxes(150, 97, 131, 4), &recipe).plan(&pipeline).unwrap();
    let pipeline = pipeline.configured(plan.pointwise().unwrap().unwrap().division().untold);
    let mut built: Option<Arc<tilewright::Built>> = None;
    for count in [150, 100_000, 1, 0, 151] {
        let job = Job::new(&image, &boxes(count, 97, 131, 4), &recipe).on(&device);
        let batch = job.call(&pipeline).unwrap();
        device.synchronize().unwrap();
        assert_eq!(batch.len(), count * 48);
        let last = pipeline.last_built().unwrap();
        let first = built.get_or_insert_with(|| last.clone());
        assert!(Arc::ptr_eq(first, &last), "{count} boxes compiled a kernel of their own");
    }
}

#[test]
fn too_little_device_memory_is_an_error_with_the_numbers() {
    let Some((device, _lock)) = gpu("gpu::too_little_device_memory_is_an_error_with_the_numbers") else { return };
    match Batch::zeros([1 << 20, 3, 4096, 4096], &device) {
        Err(Error::Driver(error @ driver::Error::OutOfMemory { .. })) => {
            let text = error.to_string();
            assert!(text.contains(&(3u64 << 46).to_string()), "{text}");
        }
        other => panic!("expected out of memory, got {other:?}"),
    }
    let fine = Batch::zeros([1, 3, 4, 4], &device).unwrap();
    assert_eq!(fine.to_vec().unwrap(), [0.0; 48]);
}

#[test]
fn operands_of_different_machines() {
    let Some((device, _lock)) = gpu("gpu::operands_of_different_machines") else { return };
    let recipe = Recipe::new((4, 4), Centres::Half);
    let job = Job::new(&picture(40, 50, 2), &boxes(5, 40, 50, 9), &recipe);
    // The small operands stay on the host, where they are; the picture moves.
    let pipeline = pipeline(&recipe);
    let here = job.call(&pipeline).unwrap().to_vec().unwrap();
    let there = job.on(&device).call(&pipeline).unwrap();
    assert_eq!(there.device().to_string(), device.to_string());
    assert!(there.to_vec().unwrap() == here);
}

use tilewright_dims::{dims, Dims};
use tilewright_expr::bind::*;
use tilewright_expr::plan::Plan;
use tilewright_expr::emit::emit;
use tilewright_expr::*;
dims! { N, Y, X, C }
fn main() {
    let t = trace(|pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: In<f32, (C,)>, sub: In<f32, (C,)>, div: In<f32, (C,)>| {
        let pixel = pic.crop::<Y, X, _>(boxes).resize::<Y, X>(128, 64).reverse::<C>();
        ((pixel * mul - sub) / div).store::<(N, C, Y, X)>()
    });
    let ids = <(Y, X, C)>::IDS;
    let a = dense(ids, &[2160, 3840, 3]);
    let b = dense(<(N,)>::IDS, &[150]);
    let c = dense(<(C,)>::IDS, &[3]);
    let boxes: Vec<Rect> = (0..150).map(|i| Rect::new(i, i, 60, 120)).collect();
    let o = dense(<(N, C, Y, X)>::IDS, &[150, 3, 128, 64]);
    let dev = |axes| View { axes, place: Place::Device, alignment: 256, boxes: None };
    let host = |axes| View { axes, place: Place::Host, alignment: 16, boxes: None };
    let views = [dev(&a), View { boxes: Some(&boxes), ..host(&b) }, host(&c), host(&c), host(&c)];
    let plan = Plan::new(&t.graph, &views, &[dev(&o)]).unwrap();
    let k = emit(&t.graph, &plan);
    println!("{}", k.source);
    eprintln!("{:?} {:?} {:?}", plan.grid(), plan.block, k.params);
    let t = trace(|x: In<f32, (Y, X)>, m: In<f32, ()>| {
        let mut v = x; for _ in 0..10 { v = v * 1.5 + m; } v.store::<(Y, X)>()
    });
    let a = dense(<(Y, X)>::IDS, &[1001, 37]);
    let views = [dev(&a), host(&[])];
    let plan = Plan::new(&t.graph, &views, &[dev(&a)]).unwrap();
    println!("{}", emit(&t.graph, &plan).source);
}

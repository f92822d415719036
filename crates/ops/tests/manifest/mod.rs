//! Manifests: plans that come back from their text, mistakes with their places, recording.

mod recorded;
mod wrong;

use tilewright_dims::{Dims, dims};
use tilewright_expr::colour::{Depth, Standard, YuvSpec, nv12};
use tilewright_expr::extend::scalar_fn;
use tilewright_expr::{Border, In, Rect, concatenate};
use tilewright_ops::pointwise::Pointwise;
use tilewright_ops::{Item, Manifest, Plan, Sharing, Tensor, fuse};

dims! { N, Y, X, C, H, W, U, Bin }

/// Half of each value's square root.
#[scalar_fn]
fn half_root(x: f32) -> f32 {
    x.sqrt() * 0.5
}

#[scalar_fn]
fn softened(x: f32, by: f32) -> f32 {
    half_root(x.abs()) * by.exp()
}

fn zeros<T: Item + Default, L: Dims, const R: usize>(extents: [usize; R]) -> Tensor<T, L> {
    Tensor::from_vec(extents, vec![T::default(); extents.iter().product()]).unwrap()
}

/// Plans of every kind of call.
fn plans() -> Vec<Plan> {
    let picture = zeros::<u8, (Y, X, C), _>([120, 200, 3]);
    let boxes = [Rect::new(3, 4, 50, 60), Rect::new(0, 1, 50, 60)];
    let boxes = Tensor::<Rect, (N,)>::from_vec([2], boxes.to_vec()).unwrap();
    let plane = zeros::<f32, (Y, X), _>([300, 301]);
    let small = zeros::<f32, (X,), _>([64]);
    let count = zeros::<u8, (N, Y, X), _>([2, 9, 11]);
    let chroma = zeros::<u8, (H, W, U), _>([60, 100, 2]);
    let luma = zeros::<u8, (Y, X), _>([120, 200]);
    let crops = fuse(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
        let pixel = p.crop::<Y, X, _>(b).resize::<Y, X>(32, 24).reverse::<C>();
        (pixel * (1.0 / 255.0) - 0.5).store::<(N, C, Y, X)>()
    });
    let blurred = fuse(|x: In<f32, (Y, X)>| {
        x.gaussian_blur::<Y, X>((5, 5), (1.2, 0.8), Border::Constant(f32::NAN)).store::<(Y, X)>()
    });
    let joined =
        fuse(|x: In<f32, (Y, X)>, by: In<f32, (X,)>| concatenate::<N, _>((x * by, x.exp(), -x)).store::<(N, Y, X)>());
    let histogram = fuse(|x: In<u8, (N, Y, X)>| x.histogram::<(Y, X), Bin>(256).store::<(N, Bin)>());
    let scanned = fuse(|x: In<f32, (Y, X)>| (x.cumsum::<X>().store::<(Y, X)>(), x.mean::<X>().store::<(Y,)>()));
    let held = fuse(|x: In<f32, (Y, X)>| x.store_where::<(X, Y), _>(x.gt(0.25), f32::INFINITY));
    let own = fuse(|x: In<f32, (Y, X)>| softened::of(x, 0.25).store::<(Y, X)>());
    let columns = fuse(|x: In<f32, (Y, X)>| x.sum::<Y>().store::<(X,)>());
    let special = fuse(|x: In<f32, (X,)>| tilewright_special::digamma::of(x).store::<(X,)>());
    let stepped = fuse(|x: In<f32, (Y, X)>| x.iterate(9, |x| x * 0.5 + 0.25).store::<(X, Y)>());
    let frame = fuse(|luma: In<u8, (Y, X)>, both: In<u8, (H, W, U)>| {
        nv12::<(Y, X), (H, W, U)>(luma, both)
            .rgb::<C>(YuvSpec::full(Standard::Bt601, Depth::Bits8))
            .store::<(C, Y, X)>()
    });
    vec![
        crops.plan(&picture, &boxes).unwrap(),
        blurred.plan(&plane).unwrap(),
        joined.plan(&plane, &zeros::<f32, (X,), _>([301])).unwrap(),
        histogram.plan(&count).unwrap(),
        scanned.plan(&plane).unwrap(),
        held.plan(&plane).unwrap(),
        own.plan(&plane).unwrap(),
        own.configured(Pointwise { lanes: 1, words: 2, threads: 128 }).plan(&plane).unwrap(),
        own.plan(&plane.reverse::<X>().step_by::<Y>(2).unwrap()).unwrap(),
        columns.plan(&plane).unwrap(),
        columns.configured(Sharing { threads: 16, rows: 8 }).plan(&plane).unwrap(),
        special.plan(&small).unwrap(),
        stepped.plan(&plane).unwrap(),
        frame.plan(&luma, &chroma).unwrap(),
    ]
}

/// Everything comes back: the plans, what they run, what explanations say of them, the text.
#[test]
fn plans_come_back() {
    let mut all = Manifest::default();
    for plan in plans() {
        let text = plan.manifest().to_string();
        let read = Manifest::parse(&text, "kernels.toml").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let [again] = read.plans() else { panic!("one plan: {text}") };
        assert!(*again == plan, "{text}");
        assert_eq!(again.sources().unwrap(), plan.sources().unwrap(), "{text}");
        assert_eq!(read.sources().unwrap(), plan.sources().unwrap());
        assert_eq!(again.cuda_source().unwrap(), plan.cuda_source().unwrap());
        // In which order an explanation names an operand's dimensions is not in the text.
        let letters = |plan: &Plan| {
            let mut letters: Vec<char> = plan.explain().unwrap().to_string().chars().collect();
            letters.sort_unstable();
            letters
        };
        assert!(letters(again) == letters(&plan), "{}\n{}", again.explain().unwrap(), plan.explain().unwrap());
        assert_eq!(read.to_string(), text);
        // With line ends of another system.
        let other = Manifest::parse(&text.replace('\n', "\r\n"), "kernels.toml").unwrap();
        assert!(*other.plans() == [plan.clone()], "{text}");
        all.add(plan.clone());
        all.merge(read);
    }
    assert!(*all.plans() == plans());
    // The same expression with the plan's own configuration, and with one by hand.
    for pair in [[6, 7], [9, 10]] {
        let [own, configured] = pair.map(|number: usize| all.plans()[number].sources().unwrap());
        assert_ne!(own, configured);
    }
    let text = all.to_string();
    assert_eq!(text.matches("name = 'half_root'").count(), 1, "a function stands once: {text}");
    let read = Manifest::parse(&text, "kernels.toml").unwrap();
    assert!(read.plans() == all.plans() && read.to_string() == text);
    assert_eq!(read.sources().unwrap(), all.sources().unwrap());
    // Each table may stand twice.
    let tables = &text[text.find("\n[[").unwrap()..];
    assert!(Manifest::parse(&format!("{text}{tables}"), "kernels.toml").unwrap().plans() == all.plans());
}

/// A user's kernel: the file has what it was compiled from, whatever characters there are in it.
#[test]
fn kernels_of_users() {
    let text = "// It's \"one\" \\ '''kernel''' \u{1}\textern \"C\"\n".replace('\t', "\n");
    let text = format!("{text} __global__ void fill(float* x) {{ x[threadIdx.x] = 1; }}\n");
    let table =
        |text: &str| format!("schema = 1\n[[kernel]]\noptions = ['-DA=1']\ntarget = 'arch_specific'\ntext = {text}\n");
    let escaped = format!("{text:?}").replace("\\'", "'").replace("\\u{1}", "\\u0001");
    let read = Manifest::parse(&table(&escaped), "kernels.toml").unwrap();
    let again = Manifest::parse(&read.to_string(), "kernels.toml").unwrap();
    let [source] = &again.sources().unwrap()[..] else { panic!("one source") };
    assert_eq!((&source.text, &source.name[..]), (&text, "fill.cu"));
    assert_eq!(source.options, ["-DA=1"]);
    assert_eq!(source.target, tilewright_driver::TargetKind::ArchSpecific);
    assert_eq!(read.sources().unwrap(), again.sources().unwrap());
    let none = Manifest::parse(&table("'void f();'"), "kernels.toml").unwrap();
    assert!(none.sources().is_err(), "no kernel");
}

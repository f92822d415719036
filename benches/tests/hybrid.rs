//! The check of large products.

use tilewright_benches::suites::hybrid::freivalds::check;

fn product(size: usize) -> [Vec<f32>; 3] {
    let of = |seed: usize| -> Vec<f32> {
        (0..size * size).map(|at| (at * at * 7 + at * seed) as f32 % 23.0 / 11.5 - 1.0).collect()
    };
    let (a, b) = (of(3), of(5));
    let sum = |at: usize| (0..size).map(|k| a[at / size * size + k] * b[k * size + at % size]).sum();
    let c = (0..size * size).map(sum).collect();
    [a, b, c]
}

#[test]
fn a_product_is_one_and_with_one_wrong_element_it_is_none() {
    for size in [1, 7, 64] {
        let [a, b, mut c] = product(size);
        check([&a, &b, &c], size).unwrap();
        for (at, wrong) in [(size * size / 2, 3.0), (size * size - 1, f32::NAN)] {
            let right = std::mem::replace(&mut c[at], wrong);
            let error = check([&a, &b, &c], size).unwrap_err().to_string();
            assert!(error.contains(&format!("1 of {size} rows are wrong, the first is {}", at / size)), "{error}");
            c[at] = right;
        }
    }
}

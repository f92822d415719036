//! A tiled matrix product, `C[i, j]` = sum over k of `A[i, k] B[k, j]`, whose kernel has no index arithmetic: blocks, threads
//! and registers are layouts, places are sums of coordinates, and each tensor takes what it has of them. Sizes that no tile
//! divides are masks, and a padded tile, which spares the GPU's banks a conflict, is another declaration and no other code.
#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use tilewright_dims::{TooShort, dims, tensor};

dims! { I, J, K }
tensor!(A: f32, [I: 50, K: 75]);
tensor!(B: f32, [K: 75, J: 70]);
tensor!(C: f32, [I: 50, J: 70]);

// Six blocks, each for a tile of C; the tiles that it stages; its 64 threads, each with a sum in every eighth row and column.
tensor!(Blocks: u8, [I/32: 2, J/32: 3]);
tensor!(ATile: f32, [I: 32 => 33, K: 32]);
tensor!(BTile: f32, [K: 32, J: 32]);
tensor!(Threads: u8, [I: 8, J: 8]);
tensor!(Sums: f32, [I/8: 4, J/8: 4]);
tensor!(CTile: f32, [I: 32, J: 32]);

/// The product, tile by tile, as the kernel does it; the registers of all threads together are a tile of C.
pub(crate) fn product(a: &[f32], b: &[f32]) -> Result<Vec<f32>, TooShort> {
    let (a, b) = (A::view(a)?, B::view(b)?);
    let mut product = vec![f32::NAN; C::STORAGE];
    let (mut a_memory, mut b_memory) = ([0.0; ATile::STORAGE], [0.0; BTile::STORAGE]);
    let (mut c, mut a_tile, mut b_tile) =
        (C::view_mut(&mut product)?, ATile::view_mut(&mut a_memory)?, BTile::view_mut(&mut b_memory)?);
    for corner in Blocks::coords() {
        let mut registers = [0.0; CTile::STORAGE];
        let mut sums = CTile::view_mut(&mut registers)?;
        for step in K(0).until(A::extent()).step_by(32) {
            ATile::coords().for_each(|at| *a_tile.at(at) = a.at(corner + step + at).value_or(0.0));
            BTile::coords().for_each(|at| *b_tile.at(at) = b.at(corner + step + at).value_or(0.0));
            for own in Threads::coords() {
                for k in K(0).until(ATile::extent()) {
                    Sums::coords()
                        .map(|at| own + at)
                        .for_each(|at| *sums.at(at) += *a_tile.at(at + k) * *b_tile.at(at + k));
                }
            }
        }
        for at in CTile::coords().filter(|at| C::contains(corner + *at)) {
            *c.at(corner + at) = *sums.at(at);
        }
    }
    Ok(product)
}

fn main() -> Result<(), TooShort> {
    println!("block  corner           elements of C in its tile of 32 x 32");
    for (number, corner) in Blocks::coords().enumerate() {
        let inside = CTile::coords().filter(|at| C::contains(corner + *at)).count();
        println!("{number:5}  {:16} {inside}", format!("I({}) + J({})", corner.get::<I>().0, corner.get::<J>().0));
    }

    tensor!(Unpadded: f32, [I: 32, K: 32]);
    let rows = || I(0).until(Threads::extent()).map(|i| i + K(5));
    let banks: Vec<i32> = rows().map(|at| ATile::offset(at) % 32).collect();
    println!("\nbanks of shared memory that the threads of one column meet at K(5)");
    println!("[I: 32, K: 32]        {:?}", rows().map(|at| Unpadded::offset(at) % 32).collect::<Vec<_>>());
    println!("[I: 32 => 33, K: 32]  {banks:?}");
    assert_eq!(banks, [5, 6, 7, 8, 9, 10, 11, 12]);

    let a: Vec<f32> = (0..A::STORAGE).map(|n| (n * 7 % 11) as f32 - 5.0).collect();
    let b: Vec<f32> = (0..B::STORAGE).map(|n| (n * 5 % 13) as f32 - 6.0).collect();
    let c = product(&a, &b)?;
    let plain = |i: usize, j: usize| (0..75).map(|k| a[75 * i + k] * b[70 * k + j]).sum::<f32>();
    assert!((0..C::STORAGE).all(|n| c[n] == plain(n / 70, n % 70)));
    println!("\nthe last row of C, from J(60) on: {:?}", &c[c.len() - 10..]);
    Ok(())
}

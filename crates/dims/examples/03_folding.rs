//! Folding and carry: `K8(1)` is a block of eight along `K`, and adds to `K` exactly, so that `K(7) + K(6)` is `K8(1) + K(5)`. On
//! a layout of such blocks the offset comes from the sum of the coordinates: a sum of offsets would forget the carry.
#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use tilewright_dims::{TooShort, dims, folds, tensor};

dims! { I, K }
folds! { K8 = K / 8 }
// Blocks of eight columns, each with its two rows.
tensor!(A: i32, [K/8: 3, I: 2, K%8]);
tensor!(Sums: i32, [I: 2, K/8: 2]);

/// Sums over windows of eight that begin three columns into each block, and so end in the next.
pub(crate) fn window_sums(a: &[i32]) -> Result<Vec<i32>, TooShort> {
    let a = A::view(a)?;
    let mut memory = vec![0; Sums::STORAGE];
    let mut sums = Sums::view_mut(&mut memory)?;
    for i in I(0).until(A::extent()) {
        for block in K8(0).until(K8(2)) {
            *sums.at(i + block) = K(3).until(K(11)).map(|k| *a.at(i + block + k)).sum();
        }
    }
    Ok(memory)
}

fn main() -> Result<(), TooShort> {
    assert_eq!(K(7) + K(6), K8(1) + K(5));
    assert_eq!((K(13).fold::<8>(), K(13) % 8), (K8(1), K(5)));
    // Down, also below zero: the halo on the left belongs to the block on the left.
    assert_eq!((K(-1).fold::<8>(), K(-1) % 8), (K8(-1), K(7)));

    println!("offsets in [K/8: 3, I: 2, K%8]");
    for i in I(0).until(A::extent()) {
        print!("{i:?} ");
        for block in K8(0).until(K8(3)) {
            print!(" |");
            K(0).until(K(8)).for_each(|k| print!("{:3}", A::offset(i + block + k)));
        }
        println!(" |");
    }

    let (forgotten, carried) = (A::offset(K(7)) + A::offset(K(6)), A::offset(K(7) + K(6)));
    println!(
        "\nK(7) and then K(6): offsets add up to {forgotten}, which is I(1) + K(5); the sum K(13) is at {carried}"
    );
    assert_eq!((forgotten, A::offset(I(1) + K(5)), carried), (13, 13, 21));

    let numbers: Vec<i32> = (0..48).collect();
    let a = A::view(&numbers)?;
    assert_eq!(*a.at(K(7)).at(K(6)), *a.at(K8(1) + K(5)));
    let sums = window_sums(&numbers)?;
    println!("sums over K(3)..K(11) of the blocks 0 and 1: {sums:?}");
    assert_eq!(sums[0], (3..8).chain(16..19).sum::<i32>());
    Ok(())
}

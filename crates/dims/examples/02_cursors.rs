//! Cursors: a place in a tensor that collects coordinates, in any order and as often as one likes, and finds its element only
//! when it is read. So a neighbour is `here.at(X(1))`, a walk is `here.step(X(1))`, and both cross from block to block of a
//! folded layout by themselves.
#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use tilewright_dims::{TooShort, dims, tensor};

dims! { Y, X }
// Blocks of four columns, each with its two rows.
tensor!(Picture: i32, [X/4: 3, Y: 2, X%4]);
tensor!(Sums: i32, [Y: 2, X: 12]);

/// Each pixel with its neighbours on the left and on the right, as far as there are any.
pub(crate) fn three_point_sums(picture: &[i32]) -> Result<Vec<i32>, TooShort> {
    let picture = Picture::view(picture)?;
    let mut memory = vec![0; Sums::STORAGE];
    let mut sums = Sums::view_mut(&mut memory)?;
    for y in Y(0).until(Picture::extent()) {
        let mut here = picture.at(y + X(0));
        while here.in_range() {
            *sums.at(here.coords()) = X(-1).until(X(2)).map(|by| here.at(by).value_or(0)).sum();
            here.step(X(1));
        }
    }
    Ok(memory)
}

fn main() -> Result<(), TooShort> {
    let numbers: Vec<i32> = (0..24).collect();
    let picture = Picture::view(&numbers)?;

    // However a place is said, it is the same.
    let place = picture.at(Y(1) + X(9));
    assert_eq!(place.offset(), picture.at(X(3)).at(Y(1)).at(X(6)).offset());
    assert_eq!(place.offset(), picture.at(X(10)).rebase().at(Y(1)).at(X(-1)).offset());
    assert_eq!((place.coords(), *place), (X(9) + Y(1), 21));
    // Outside there is nothing to read, and the cursor knows.
    assert_eq!((place.at(X(3)).get(), place.at(X(3)).value_or(-1)), (None, -1));

    println!("a walk along X, by steps of one: offsets in [X/4: 3, Y: 2, X%4]");
    for y in Y(0).until(Picture::extent()) {
        print!("{y:?} ");
        let mut here = picture.at(y + X(0));
        while here.in_range() {
            print!("{}{:3}", if here.coords().get::<X>() % 4 == X(0) { " |" } else { "" }, here.offset());
            here.step(X(1));
        }
        println!(" |");
    }

    let sums = three_point_sums(&numbers)?;
    println!("\nsums of three neighbours, Y(0): {:?}\n                          Y(1): {:?}", &sums[..12], &sums[12..]);
    assert_eq!(sums[3], 2 + 3 + 8, "the right neighbour of X(3) is in the next block");
    Ok(())
}

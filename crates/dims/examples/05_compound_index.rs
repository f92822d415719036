//! Compound index: a thread has a number, a tile has coordinates, and a layout takes the one apart into the other. `coords_of`
//! does it once, `partition` deals a whole tile out, and `via index(..)` has the tensor do it, so that a lane is a coordinate
//! like any other.
#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use tilewright_dims::{TooShort, dims, tensor};

dims! { I, K, LANE }
tensor!(Tile: i32, [I: 8, K: 8]);
// Four lanes share a row, and each has two neighbours of it: how a warp holds a result of the tensor cores.
tensor!(Pairs: i32, [I: 8, K/2: 4]);
tensor!(Fragment: i32, [I: 8, K: 8] via index(LANE -> [I: 8, K/2: 4]));

/// Which of 32 lanes has each element: where every 32nd is a lane's, and where neighbouring pairs are.
pub(crate) fn lanes() -> Result<[Vec<i32>; 2], TooShort> {
    let (mut dealt, mut paired) = (vec![-1; Tile::STORAGE], vec![-1; Fragment::STORAGE]);
    let (mut tile, mut fragment) = (Tile::view_mut(&mut dealt)?, Fragment::view_mut(&mut paired)?);
    for lane in LANE(0).until(LANE(32)) {
        for at in Tile::partition(lane.0, 32) {
            *tile.at(at) = lane.0;
        }
        for k in K(0).until(K(2)) {
            *fragment.at(lane + k) = lane.0;
        }
    }
    Ok([dealt, paired])
}

fn main() -> Result<(), TooShort> {
    // Counted along the last axis first, as the digits of a number are.
    assert_eq!(Tile::coords_of(13), I(1) + K(5));
    assert_eq!(Pairs::coords_of(13), I(3) + K(2));
    // The tensor takes the lane apart in the same way, and what else is said comes on top.
    assert_eq!(Fragment::offset(LANE(13) + K(1)), Tile::offset(I(3) + K(2) + K(1)));
    assert_eq!(Fragment::offset(LANE(13) + LANE(1)), Fragment::offset(LANE(14)));

    let [dealt, paired] = lanes()?;
    println!("lanes   Tile::partition(lane, 32)        via index(LANE -> [I: 8, K/2: 4])");
    for (i, (dealt, paired)) in dealt.chunks(8).zip(paired.chunks(8)).enumerate() {
        print!("I({i}) ");
        dealt.iter().for_each(|lane| print!("{lane:4}"));
        print!(" ");
        paired.iter().for_each(|lane| print!("{lane:4}"));
        println!();
    }
    assert!(dealt.iter().enumerate().all(|(number, lane)| *lane == number as i32 % 32));
    assert!(paired.iter().enumerate().all(|(number, lane)| *lane == number as i32 / 2));
    Ok(())
}

//! Type safety and commutativity: a coordinate names its dimension, so that `Y(2) + X(3)` and `X(3) + Y(2)` are one place, in
//! whatever order the axes lie in memory. A picture is turned without a word about how, and what names the wrong dimension does
//! not compile.
#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use tilewright_dims::{TooShort, dims, tensor};

dims! { Y, X }
tensor!(Rows: i32, [Y: 3, X: 5]);
tensor!(Columns: i32, [X: 5, Y: 3]);

/// The same picture, its columns contiguous.
pub(crate) fn turned(rows: &[i32]) -> Result<Vec<i32>, TooShort> {
    let rows = Rows::view(rows)?;
    let mut memory = vec![0; Columns::STORAGE];
    let mut columns = Columns::view_mut(&mut memory)?;
    for y in Y(0).until(Rows::extent()) {
        for x in X(0).until(Rows::extent()) {
            *columns.at(x + y) = *rows.at(y + x);
        }
    }
    Ok(memory)
}

fn main() -> Result<(), TooShort> {
    // One type, one value, one place; which extent is meant is said by the type that is asked for.
    let at = [Y(2) + X(3), X(3) + Y(2)];
    assert_eq!(at[0], at[1]);
    assert_eq!((Rows::offset(at[0]), Columns::offset(at[1])), (13, 11));
    assert_eq!((Rows::extent(), Columns::extent()), (Y(3), Y(3)));
    // None of these compiles: `Y(2) == X(2)`, `Y(2) + 3`, `Y(2) * X(3)`, `Rows::offset(2)`.

    println!("offsets   Rows [Y: 3, X: 5]   Columns [X: 5, Y: 3]");
    for y in Y(0).until(Rows::extent()) {
        print!("{y:?} ");
        X(0).until(Rows::extent()).for_each(|x| print!("{:4}", Rows::offset(y + x)));
        print!("   ");
        X(0).until(Rows::extent()).for_each(|x| print!("{:4}", Columns::offset(y + x)));
        println!();
    }

    let memory = turned(&(0..15).collect::<Vec<_>>())?;
    println!("\n0..15 turned: {memory:?}");
    assert_eq!(memory, [0, 5, 10, 1, 6, 11, 2, 7, 12, 3, 8, 13, 4, 9, 14]);
    Ok(())
}

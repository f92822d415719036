//! Projection: a tensor takes from a coordinate the dimensions that it has, and ignores the others. So one and the same `at`
//! reads a gain for each `N`, a bias for each `C`, and adds up over `X` into what has no `X`: that is all that broadcasting and
//! reduction are.
#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use tilewright_dims::{TooShort, dims, tensor};

dims! { N, C, X }
tensor!(Samples: i32, [N: 2, C: 3, X: 4]);
tensor!(Gain: i32, [N: 2]);
tensor!(Bias: i32, [C: 3]);
tensor!(Totals: i32, [N: 2, C: 3]);

/// The sums over X of each sample times its gain plus its bias.
pub(crate) fn totals(samples: &[i32], gain: &[i32], bias: &[i32]) -> Result<Vec<i32>, TooShort> {
    let (samples, gain, bias) = (Samples::view(samples)?, Gain::view(gain)?, Bias::view(bias)?);
    let mut memory = vec![0; Totals::STORAGE];
    let mut totals = Totals::view_mut(&mut memory)?;
    for at in Samples::coords() {
        *totals.at(at) += *samples.at(at) * *gain.at(at) + *bias.at(at);
    }
    Ok(memory)
}

fn main() -> Result<(), TooShort> {
    let at = X(3) + N(1) + C(2);
    assert_eq!((Samples::offset(at), Gain::offset(at), Bias::offset(at), Totals::offset(at)), (23, 1, 2, 5));
    // A coordinate that is missing reads as zero; a range is checked along the dimensions that a tensor has.
    assert_eq!(Samples::offset(C(2)), Samples::offset(N(0) + C(2) + X(0)));
    assert!(Gain::contains(N(1) + X(99)) && !Samples::contains(N(1) + X(99)));
    // `Gain::offset(C(2) + X(3))` does not compile: it has none of the dimensions of a gain.

    let (samples, gain, bias): (Vec<i32>, _, _) = ((0..24).collect(), [1, 10], [0, 100, 200]);
    println!("offset in   Samples    Gain  Bias  Totals");
    for at in Totals::coords() {
        let row: Vec<i32> = X(0).until(Samples::extent()).map(|x| Samples::offset(at + x)).collect();
        print!("N({}) + C({})  ", at.get::<N>().0, at.get::<C>().0);
        row.iter().for_each(|offset| print!("{offset:3}"));
        println!("{:4}{:6}{:6}", Gain::offset(at), Bias::offset(at), Totals::offset(at));
    }
    println!("\nsums over X of sample * gain + bias: {:?}", totals(&samples, &gain, &bias)?);
    assert_eq!(totals(&samples, &gain, &bias)?, [6, 422, 838, 540, 1100, 1660]);
    Ok(())
}

//! Eight is no multiple of three: which coordinate would a third of a block be?

tilewright_dims::dims! { I }
tilewright_dims::folds! { I3 = I / 3, I8 = I / 8 }

const THIRDS: I3 = I8(1).fold::<3>();

fn main() {
    let _ = THIRDS;
}

#![doc = include_str!("../README.md")]

mod body;
mod control;
mod expand;
mod literals;
mod methods;
mod paths;
mod signature;
mod types;
mod values;

use proc_macro::TokenStream;

/// An ordinary Rust function that also becomes device code. Programs name it by `tilewright::prelude`.
#[proc_macro_attribute]
pub fn scalar_fn(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into(), &quote::quote!(::tilewright::extend)).into()
}

/// The same for those who depend on `tilewright-expr` alone, which names it `scalar_fn`.
#[proc_macro_attribute]
pub fn scalar_fn_of_expr(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into(), &quote::quote!(::tilewright_expr::extend)).into()
}

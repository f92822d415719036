// Its examples need the crates above, whose tests run them.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]

mod body;
mod calls;
mod control;
mod expand;
mod lets;
mod literals;
mod methods;
mod paths;
mod signature;
mod types;
mod values;

use proc_macro::TokenStream;

/// An ordinary Rust function that also becomes device code: called as any other, and in expressions by `name::of(..)`.
///
/// What a body consists of, and what it means, stands at the head of this crate.
#[proc_macro_attribute]
pub fn scalar_fn(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into(), &quote::quote!(::tilewright::extend)).into()
}

/// The same for those who depend on `tilewright-expr` alone, which names it `scalar_fn`.
#[proc_macro_attribute]
pub fn scalar_fn_of_expr(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into(), &quote::quote!(::tilewright_expr::extend)).into()
}

/// The Rust form alone, for those who depend on `tilewright-scalar` alone: kernels written in Rust. The same body gives the same
/// bits; there is no text, and the function is no part of expressions.
#[proc_macro_attribute]
pub fn scalar_fn_of_scalar(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand_rust(attribute.into(), item.into(), &quote::quote!(::tilewright_scalar)).into()
}

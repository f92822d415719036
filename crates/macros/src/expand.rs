//! What the attribute makes of a function.

use crate::body::Translator;
use crate::signature::Shape;
use crate::values::Context;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Block, Error, Expr, Ident, Result, Signature, Token, Visibility};

/// A function with its body, or without.
struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: Option<Block>,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Function> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        let body = if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            None
        } else {
            Some(input.parse()?)
        };
        Ok(Function { attributes, visibility, signature, body })
    }
}

/// The text by hand, if the attribute has one.
fn by_hand(input: ParseStream<'_>) -> Result<Option<Expr>> {
    if input.is_empty() {
        return Ok(None);
    }
    let name: Ident = input.parse()?;
    if name != "cuda" {
        return Err(Error::new_spanned(name, "`scalar_fn` takes nothing, or a text: `#[scalar_fn(cuda = \"..\")]`"));
    }
    input.parse::<Token![=]>()?;
    Ok(Some(input.parse()?))
}

/// Both forms of a function.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream, root: &TokenStream) -> TokenStream {
    with_mistakes(attribute, &item, |cuda, function| match cuda {
        Some(cuda) => of_text(cuda, function, root),
        None => Ok(Forms::of_body(function, root)?.both(function, root)),
    })
}

/// The Rust form of a function alone.
pub(crate) fn expand_rust(attribute: TokenStream, item: TokenStream, root: &TokenStream) -> TokenStream {
    with_mistakes(attribute, &item, |cuda, function| match cuda {
        Some(cuda) => {
            Err(Error::new_spanned(cuda, "a text is for NVRTC; a kernel in Rust needs the body: `#[scalar_fn]`"))
        }
        None => Ok(Forms::of_body(function, root)?.rust(function)),
    })
}

fn with_mistakes(
    attribute: TokenStream,
    item: &TokenStream,
    expand: impl FnOnce(Option<&Expr>, &Function) -> Result<TokenStream>,
) -> TokenStream {
    let parsed = by_hand.parse2(attribute).and_then(|cuda| Ok((cuda, syn::parse2::<Function>(item.clone())?)));
    let expanded = parsed.and_then(|(cuda, function)| expand(cuda.as_ref(), &function));
    // After a mistake its signature stays, so that its callers are not mistakes too.
    expanded.unwrap_or_else(|error| {
        let error = error.to_compile_error();
        match syn::parse2::<Function>(item.clone()) {
            Ok(Function { visibility, signature, .. }) => {
                quote!(#error #[allow(warnings)] #visibility #signature { loop {} })
            }
            Err(_) => error,
        }
    })
}

/// A function of whose Rust body both forms are made.
struct Forms {
    shape: Shape,
    host: TokenStream,
    text: TokenStream,
}

impl Forms {
    fn of_body(function: &Function, root: &TokenStream) -> Result<Forms> {
        let Some(body) = &function.body else {
            let advice = "write the body, or its text for the device: `#[scalar_fn(cuda = \"..\")]`";
            return Err(Error::new_spanned(&function.signature, advice));
        };
        let shape = Shape::new(&function.signature, false)?;
        let context = Context {
            root: root.clone(),
            generic: shape.generic.clone(),
            float: shape.float(),
            name: function.signature.ident.clone(),
        };
        let mut translator = Translator::new(&context, &shape);
        let (host, text) = translator.function(body)?;
        let (items, callees) = (&translator.items, &translator.callees);
        let constants =
            translator.constants.iter().map(|(name, at)| quote!((#name, #at as &'static dyn #root::Constant)));
        let name = function.signature.ident.to_string();
        let text = quote! {
            #(#[allow(dead_code, reason = "the body's constants stand here again, and its text may name fewer")] #items)*
            &#root::Text {
                name: #name,
                source: #root::Source::Written(#text),
                callees: &[#(#callees),*],
                constants: &[#(#constants),*],
            }
        };
        Ok(Forms { shape, host, text })
    }

    fn rust(&self, function: &Function) -> TokenStream {
        let (Function { attributes, visibility, signature, .. }, host) = (function, &self.host);
        let attributes = attributes.iter().filter(|a| !a.path().is_ident("inline"));
        quote! {
            #(#attributes)*
            #[allow(unused_parens, unused_braces, clippy::all, reason = "`scalar_fn` wrote the body anew")]
            #[inline(always)]
            #visibility #signature #host
        }
    }

    fn both(&self, function: &Function, root: &TokenStream) -> TokenStream {
        let (rust, twin) = (self.rust(function), twin(function, &self.shape, &self.text, true, root));
        quote!(#rust #twin)
    }
}

/// A function with a text by hand.
fn of_text(cuda: &Expr, function: &Function, root: &TokenStream) -> Result<TokenStream> {
    let shape = Shape::new(&function.signature, true)?;
    let name = function.signature.ident.to_string();
    let text = quote!(&#root::Text { name: #name, source: #root::Source::Cuda(#cuda), callees: &[], constants: &[] });
    let Function { attributes, visibility, signature, body } = function;
    let host = body.as_ref().map(|body| {
        quote! {
            #(#attributes)*
            #[inline(always)]
            #visibility #signature #body
        }
    });
    let twin = twin(function, &shape, &text, host.is_some(), root);
    Ok(quote!(#host #twin))
}

/// The type of the function's name, which expressions and other functions know it by.
fn twin(function: &Function, shape: &Shape, text: &TokenStream, on_host: bool, root: &TokenStream) -> TokenStream {
    let (name, visibility) = (&function.signature.ident, &function.visibility);
    let documentation: Vec<&Attribute> = function.attributes.iter().filter(|a| a.path().is_ident("doc")).collect();
    let arguments: Vec<&Ident> = shape.arguments.iter().map(|a| &a.name).collect();
    let types: Vec<_> = shape.arguments.iter().map(|a| &a.ty).collect();
    let operands: Vec<Ident> = (0..arguments.len()).map(|i| format_ident!("Operand{i}")).collect();
    let output = &shape.output;
    let (declared, used, structure) = match &shape.generic {
        Some(t) => (
            quote!(<#t: #root::Float + #root::Lane>),
            quote!(<#t>),
            quote!(<#t = f64> { types: ::core::marker::PhantomData<#t> }),
        ),
        None => (quote!(), quote!(), quote!({})),
    };
    let host = if on_host { quote!(#name(#(#arguments),*)) } else { quote!(::core::default::Default::default()) };
    let unused = if on_host { quote!() } else { quote!(#[allow(unused_variables)]) };
    quote! {
        #(#documentation)*
        #[allow(non_camel_case_types, dead_code)]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #name #structure

        impl #declared #root::ScalarFunction for #name #used {
            type Args = (#(#types,)*);
            type Output = #output;
            const TEXT: &'static #root::Text = { #text };
            const ON_HOST: bool = #on_host;
            #unused
            #[inline(always)]
            fn host((#(#arguments,)*): (#(#types,)*)) -> #output {
                #host
            }
        }

        #[allow(non_camel_case_types, dead_code)]
        impl #declared #name #used {
            /// The function of expressions and literals, at every point.
            #visibility fn of<#(#operands),*>(
                #(#arguments: #operands),*
            ) -> <#output as #root::Results>::Exprs<<(#(#operands,)*) as #root::Operands<(#(#types,)*)>>::Set>
            where
                (#(#operands,)*): #root::Operands<(#(#types,)*)>,
            {
                #root::call::<Self, _>((#(#arguments,)*))
            }
        }
    }
}

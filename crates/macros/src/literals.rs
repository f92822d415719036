//! Literals: both texts get one with its type.

use crate::types::{BOOL, I32, Kind};
use crate::values::{Context, Value};
use proc_macro2::{Literal, Span};
use quote::{quote, quote_spanned};
use syn::{Error, Expr, ExprLit, ExprUnary, Lit, LitFloat, LitInt, Result, UnOp};

/// Whether what is written takes whatever type is wanted: literals without a suffix, and what is made of these alone.
pub(crate) fn is_flexible(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(lit), .. }) => lit.suffix().is_empty(),
        Expr::Lit(ExprLit { lit: Lit::Float(lit), .. }) => lit.suffix().is_empty(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => is_flexible(expr),
        Expr::Paren(inner) => is_flexible(&inner.expr),
        Expr::Group(inner) => is_flexible(&inner.expr),
        Expr::Binary(both) => is_flexible(&both.left) && is_flexible(&both.right),
        _ => false,
    }
}

/// A literal, of the type `want` where it says none itself.
pub(crate) fn literal(lit: &Lit, negative: bool, want: Kind, context: &Context) -> Result<Value> {
    match lit {
        Lit::Bool(b) => Ok(Value::new(quote!(#b), b.value.to_string(), BOOL)),
        Lit::Int(int) if matches!(int.suffix(), "f32" | "f64") => {
            let kind = Kind::Named(if int.suffix() == "f32" { "f32" } else { "f64" });
            real(int.base10_digits(), int.span(), negative, kind, context)
        }
        Lit::Int(int) => integer(int, negative, want),
        Lit::Float(number) => {
            let kind = match (number.suffix(), want.is_float(), context.float) {
                ("f32", ..) => Kind::Named("f32"),
                ("f64", ..) => Kind::Named("f64"),
                (_, true, _) => want,
                (_, _, Some(float)) => float,
                _ => return Err(untyped(number)),
            };
            real(number.base10_digits(), number.span(), negative, kind, context)
        }
        other => {
            Err(Error::new_spanned(other, "a scalar function computes with numbers and `bool`: there is no text in it"))
        }
    }
}

fn untyped(number: &LitFloat) -> Error {
    let advice = format!("the signature does not say which float this is: write `{number}_f32` or `{number}_f64`");
    Error::new_spanned(number, advice)
}

fn integer(int: &LitInt, negative: bool, want: Kind) -> Result<Value> {
    let sign = if negative { "-" } else { "" };
    let kind = match int.suffix() {
        "" if want.is_float() => {
            return Err(Error::new_spanned(int, format!("this is an integer: write `{int}.0`")));
        }
        "" if want.is_integer() => want,
        "" => I32,
        suffix => {
            crate::types::kind(&syn::parse_str(suffix).map_err(|_| Error::new_spanned(int, "unknown type"))?, None)
                .map_err(|e| Error::new_spanned(int, e))?
        }
    };
    let digits: u64 = int.base10_parse().map_err(|_| Error::new_spanned(int, "integers have at most 64 bits here"))?;
    let Kind::Named(name) = kind else { return Err(Error::new_spanned(int, "say which integer this is")) };
    let mut host: Literal = syn::parse_str(&format!("{digits}_{name}"))?;
    host.set_span(int.span());
    let host = if negative { quote!((-#host)) } else { quote!(#host) };
    let cuda = match name {
        "i32" if negative && digits == 1 << 31 => "(-2147483647 - 1)".into(),
        "i64" if negative && digits == 1 << 63 => "(-9223372036854775807ll - 1)".into(),
        "i32" => format!("{sign}{digits}"),
        "u32" => format!("{digits}u"),
        "i64" => format!("{sign}{digits}ll"),
        "u64" => format!("{digits}ull"),
        _ => format!("({}){sign}{digits}", kind.cuda()),
    };
    Ok(Value::new(host, if negative { bracketed(cuda) } else { cuda }, kind))
}

fn bracketed(text: String) -> String {
    if text.starts_with('-') { format!("({text})") } else { text }
}

fn real(digits: &str, span: Span, negative: bool, kind: Kind, context: &Context) -> Result<Value> {
    let wide: f64 = digits.parse().map_err(|_| Error::new(span, "this is no number"))?;
    let narrow: f32 = digits.parse().map_err(|_| Error::new(span, "this is no number"))?;
    let finite = if kind == Kind::Named("f32") { narrow.is_finite() } else { wide.is_finite() };
    if !finite {
        return Err(Error::new(span, "this is too large for its type: write `T::INFINITY`"));
    }
    let (token, text) = match kind {
        Kind::Named("f32") => (Literal::f32_suffixed(narrow), format!("{narrow:?}f")),
        _ => (Literal::f64_suffixed(wide), format!("{wide:?}")),
    };
    let mut token = token;
    token.set_span(span);
    let signed = if negative { quote!(-#token) } else { quote!(#token) };
    let host = match kind {
        Kind::Generic => {
            let (root, generic) = (&context.root, &context.generic);
            quote_spanned!(span=> <#generic as #root::Float>::of(#signed))
        }
        _ if negative => quote!((#signed)),
        _ => signed,
    };
    let cuda = match (kind, negative) {
        (Kind::Generic, false) => format!("(T){text}"),
        (Kind::Generic, true) => format!("(T)-{text}"),
        (_, false) => text,
        (_, true) => format!("(-{text})"),
    };
    Ok(Value::new(host, cuda, kind))
}

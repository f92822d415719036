//! Names: variables, constants, tables, other functions, methods.

use crate::body::Translator;
use crate::types::{BOOL, Kind, U32, kind};
use crate::values::Value;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprIndex, Ident, Path, Result, Type};

/// Constants of a float type that are a number.
const NUMBERS: [(&str, f64); 16] = {
    use std::f64::consts::*;
    [
        ("PI", PI),
        ("TAU", TAU),
        ("FRAC_PI_2", FRAC_PI_2),
        ("FRAC_PI_3", FRAC_PI_3),
        ("FRAC_PI_4", FRAC_PI_4),
        ("FRAC_PI_6", FRAC_PI_6),
        ("FRAC_1_PI", FRAC_1_PI),
        ("FRAC_2_PI", FRAC_2_PI),
        ("FRAC_2_SQRT_PI", FRAC_2_SQRT_PI),
        ("SQRT_2", SQRT_2),
        ("FRAC_1_SQRT_2", FRAC_1_SQRT_2),
        ("E", E),
        ("LN_2", LN_2),
        ("LN_10", LN_10),
        ("LOG2_E", LOG2_E),
        ("LOG10_E", LOG10_E),
    ]
};

/// Those that say where a float type ends.
const LIMITS: [(&str, &str, &str); 7] = [
    ("EPSILON", "", "epsilon"),
    ("MAX", "", "max"),
    ("MIN", "-", "max"),
    ("MIN_POSITIVE", "", "min_positive"),
    ("INFINITY", "", "infinity"),
    ("NEG_INFINITY", "-", "infinity"),
    ("NAN", "", "nan"),
];

impl Translator<'_> {
    /// The type that the first of two segments is, if it is one.
    pub(crate) fn of_type(&self, path: &Path) -> Option<(Kind, Ident)> {
        let mut segments = path.segments.iter();
        let (first, second) = (segments.next()?, segments.next()?);
        if segments.next().is_some() {
            return None;
        }
        let ident = &first.ident;
        let ty: Type = syn::parse_quote!(#ident);
        Some((kind(&ty, self.context.generic.as_ref()).ok()?, second.ident.clone()))
    }

    pub(crate) fn path(&mut self, path: &Path) -> Result<Value> {
        if let Some((kind, name)) = self.of_type(path) {
            return self.constant_of_type(kind, &name);
        }
        if let Some(ident) = path.get_ident() {
            if let Some(variable) = self.variable(ident) {
                return Ok(Value::new(quote!(#ident), variable.cuda.clone(), variable.kind));
            }
            if !ident.to_string().starts_with(char::is_uppercase) {
                let advice =
                    format!("`{ident}` is no variable of this function: pass it as an argument, or make it a `const`");
                return Err(Error::new_spanned(ident, advice));
            }
        }
        let (cuda, kind) = self.constant(path)?;
        Ok(Value::new(quote!(#path), cuda, kind))
    }

    fn constant_of_type(&self, kind: Kind, name: &Ident) -> Result<Value> {
        let (text, root) = (name.to_string(), &self.context.root);
        let ty = self.type_tokens(kind);
        let cuda = kind.cuda();
        if kind.is_float() {
            let host = quote_spanned!(name.span()=> <#ty as #root::Float>::#name);
            if text == "IS_F32" {
                return Ok(Value::new(host, format!("(sizeof({cuda}) == 4)"), BOOL));
            }
            if let Some((_, value)) = NUMBERS.iter().find(|n| n.0 == text) {
                return Ok(Value::new(host, format!("({cuda}){value:?}"), kind));
            }
            if let Some((_, sign, limit)) = LIMITS.iter().find(|l| l.0 == text) {
                let value = format!("tw::Limits<{cuda}>::{limit}()");
                let cuda = if sign.is_empty() { value } else { format!("({sign}{value})") };
                return Ok(Value::new(host, cuda, kind));
            }
            let advice = "floats have `PI`, `E`, `LN_2`, `SQRT_2` and their kin, `EPSILON`, `MAX`, `MIN`, `MIN_POSITIVE`, `INFINITY`, \
                          `NEG_INFINITY`, `NAN` and `IS_F32` here";
            return Err(Error::new_spanned(name, advice));
        }
        let host = quote!(#ty::#name);
        let (low, high) = (format!("({cuda})tw::Int<{cuda}>::low"), format!("({cuda})tw::Int<{cuda}>::high"));
        match text.as_str() {
            "MIN" => Ok(Value::new(host, low, kind)),
            "MAX" => Ok(Value::new(host, high, kind)),
            "BITS" => Ok(Value::new(host, format!("(unsigned)(8 * sizeof({cuda}))"), U32)),
            _ => Err(Error::new_spanned(name, "integers have `MIN`, `MAX` and `BITS` here")),
        }
    }

    pub(crate) fn type_tokens(&self, kind: Kind) -> TokenStream {
        match (kind, &self.context.generic) {
            (Kind::Generic, Some(generic)) => quote!(#generic),
            (Kind::Named(name), _) => {
                let name = Ident::new(name, proc_macro2::Span::call_site());
                quote!(#name)
            }
            _ => quote!(_),
        }
    }

    /// The constant at `path`: its name in C++, and its type or that of its elements.
    fn constant(&mut self, path: &Path) -> Result<(String, Kind)> {
        let known = path.get_ident().and_then(|ident| self.consts.iter().find(|c| c.0 == *ident)).map(|c| c.1);
        let float =
            path.segments.iter().rev().nth(1).zip(path.segments.iter().rev().nth(2)).and_then(|(consts, float)| {
                let named = if float.ident == "f32" { "f32" } else { "f64" };
                (consts.ident == "consts").then_some(Kind::Named(named))
            });
        let last = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if !last.starts_with(char::is_uppercase) {
            return Err(Error::new_spanned(
                path,
                "there are constants and functions at paths: call it, or name a `const`",
            ));
        }
        Ok((self.named_constant(&last, quote!(&#path)), known.or(float).unwrap_or(Kind::Unknown)))
    }

    /// The name in C++ of a constant that Rust has at the reference `at`.
    pub(crate) fn named_constant(&mut self, name: &str, at: TokenStream) -> String {
        let text = at.to_string();
        if let Some(known) = self.constants.iter().find(|c| c.1.to_string() == text) {
            return known.0.clone();
        }
        let cuda = self.fresh(name);
        self.constants.push((cuda.clone(), at));
        cuda
    }

    /// A table, as a reference in Rust and by its name in C++, and the type of its elements.
    pub(crate) fn table(&mut self, expr: &Expr) -> Result<(TokenStream, String, Kind)> {
        match expr {
            Expr::Path(path) if path.path.get_ident().is_none_or(|ident| self.variable(ident).is_none()) => {
                let (cuda, kind) = self.constant(&path.path)?;
                let path = &path.path;
                Ok((quote!(&#path), cuda, kind))
            }
            other => Err(Error::new_spanned(
                other,
                "a table is a constant: `const TABLE: [f32; 4] = [..];` in the body, and `TABLE[i]`",
            )),
        }
    }

    pub(crate) fn element(&mut self, index: &ExprIndex) -> Result<Value> {
        let (table, cuda, kind) = self.table(&index.expr)?;
        let at = self.index(&index.index)?;
        let (root, host) = (&self.context.root, &at.host);
        let host = quote_spanned!(index.index.span()=> #root::scalar::at(#table, #host));
        Ok(Value::new(host, format!("tw::at({cuda}, {})", at.alone()), kind))
    }
}

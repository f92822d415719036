//! Names: variables, constants, tables, other functions, methods.

use crate::body::Translator;
use crate::methods::{Takes, elementary, find, instead};
use crate::types::{BOOL, Kind, U32, kind};
use crate::values::Value;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprCall, ExprIndex, ExprMethodCall, GenericArgument, Ident, Path, PathArguments, Result, Token, Type};

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
    fn of_type(&self, path: &Path) -> Option<(Kind, Ident)> {
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
                let advice = format!("`{ident}` is no variable of this function: pass it as an argument, or make it a `const`");
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

    fn type_tokens(&self, kind: Kind) -> TokenStream {
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
        let float = path.segments.iter().rev().nth(1).zip(path.segments.iter().rev().nth(2)).and_then(|(consts, float)| {
            let named = if float.ident == "f32" { "f32" } else { "f64" };
            (consts.ident == "consts").then_some(Kind::Named(named))
        });
        let last = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if !last.starts_with(char::is_uppercase) {
            return Err(Error::new_spanned(path, "there are constants and functions at paths: call it, or name a `const`"));
        }
        Ok((self.named_constant(&last, quote!(&#path)), known.or(float).unwrap_or(Kind::Unknown)))
    }

    /// The name in C++ of a constant that Rust has at the reference `at`.
    fn named_constant(&mut self, name: &str, at: TokenStream) -> String {
        let text = at.to_string();
        if let Some(known) = self.constants.iter().find(|c| c.1.to_string() == text) {
            return known.0.clone();
        }
        let cuda = self.fresh(name);
        self.constants.push((cuda.clone(), at));
        cuda
    }

    /// A table, as a reference in Rust and by its name in C++, and the type of its elements.
    fn table(&mut self, expr: &Expr) -> Result<(TokenStream, String, Kind)> {
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

    pub(crate) fn call(&mut self, call: &ExprCall) -> Result<Value> {
        let Expr::Path(function) = &*call.func else {
            return Err(Error::new_spanned(&call.func, "a function is called by its path"));
        };
        let path = &function.path;
        if let Some((kind, name)) = self.of_type(path) {
            return self.function_of_type(kind, &name, call);
        }
        if path.is_ident(&self.context.name) {
            return Err(Error::new_spanned(path, "a scalar function does not call itself: write a loop"));
        }
        let mut hosts = Vec::new();
        let mut cudas = Vec::new();
        for argument in &call.args {
            let value = self.value(argument, Kind::Unknown)?;
            cudas.push(value.alone().to_string());
            hosts.push(value.host);
        }
        let mut bare = path.clone();
        let mut chosen = String::new();
        if let Some(last) = bare.segments.last_mut() {
            chosen = self.chosen(&last.arguments)?;
            last.arguments = PathArguments::None;
        }
        let root = &self.context.root;
        let callee = self.callee(quote_spanned!(path.span()=> <#bare as #root::ScalarFunction>::TEXT));
        Ok(Value::new(quote!(#path(#(#hosts),*)), format!("{callee}{chosen}({})", cudas.join(", ")), Kind::Unknown))
    }

    /// The type in `f::<f64>`, for C++.
    fn chosen(&self, arguments: &PathArguments) -> Result<String> {
        let PathArguments::AngleBracketed(list) = arguments else { return Ok(String::new()) };
        let kinds = list.args.iter().map(|argument| match argument {
            GenericArgument::Type(Type::Infer(_)) => Ok(Kind::Unknown),
            GenericArgument::Type(ty) => kind(ty, self.context.generic.as_ref()),
            other => Err(Error::new_spanned(other, "name the float type: `::<f64>`")),
        });
        let kinds = kinds.collect::<Result<Vec<_>>>()?;
        match &kinds[..] {
            [Kind::Unknown] => Ok(String::new()),
            [one] => Ok(format!("<{}>", one.cuda())),
            _ => Err(Error::new_spanned(list, "name the one float type: `::<f64>`")),
        }
    }

    /// What stands for a callee in the text.
    fn callee(&mut self, text: TokenStream) -> String {
        let shown = text.to_string();
        let at = self.callees.iter().position(|c| c.to_string() == shown).unwrap_or_else(|| {
            self.callees.push(text);
            self.callees.len() - 1
        });
        format!("${at}")
    }

    /// `f32::from_bits(x)`, `f64::from(x)`, and methods in that form.
    fn function_of_type(&mut self, kind: Kind, name: &Ident, call: &ExprCall) -> Result<Value> {
        let mut arguments = call.args.iter();
        let Some(first) = arguments.next() else {
            return Err(Error::new_spanned(call, "give it its argument"));
        };
        let (root, ty, cuda) = (self.context.root.clone(), self.type_tokens(kind), kind.cuda());
        if name == "from_bits" && kind.is_float() {
            if kind == Kind::Generic {
                return Err(Error::new_spanned(name, "which bits `T` has is not known here: write `f32` or `f64` functions"));
            }
            let bits = if kind == Kind::Named("f32") { U32 } else { Kind::Named("u64") };
            let value = self.value(first, bits)?;
            let host = &value.host;
            let host = quote_spanned!(name.span()=> <#ty as #root::scalar::Bits<_>>::from_bits(#host));
            return Ok(Value::new(host, format!("tw::bits<{cuda}>({})", value.alone()), kind));
        }
        if name == "from" || name == "of" {
            let value = self.value(first, Kind::Unknown)?;
            let host = &value.host;
            let host = match (kind.is_float(), name == "of") {
                (true, true) => quote_spanned!(name.span()=> <#ty as #root::Float>::of(#host)),
                _ => quote_spanned!(name.span()=> <#ty as ::core::convert::From<_>>::from(#host)),
            };
            return Ok(Value::new(host, format!("tw::as<{cuda}>({})", value.alone()), kind));
        }
        let receiver = self.value(first, kind)?;
        self.method_of(receiver, name, &arguments.cloned().collect())
    }

    pub(crate) fn method(&mut self, call: &ExprMethodCall, want: Kind) -> Result<Value> {
        let receiver = self.value(&call.receiver, want)?;
        self.method_of(receiver, &call.method, &call.args)
    }

    fn method_of(&mut self, receiver: Value, name: &Ident, arguments: &Punctuated<Expr, Token![,]>) -> Result<Value> {
        let text = name.to_string();
        if text == "polynomial" {
            return self.polynomial(&receiver, name, arguments);
        }
        if let Some(count) = elementary(&text) {
            let values = self.arguments(name, arguments, count, receiver.kind)?;
            return Ok(self.elementary(receiver, name, &values));
        }
        let Some(method) = find(&text) else {
            return Err(Error::new_spanned(name, format!("there is no `{text}` in scalar functions; {}", instead(&text))));
        };
        let only_floats = method.host.0 == "Float" || method.host.0 == "Bits";
        let mistaken = match receiver.kind {
            Kind::Generic if method.host.0 == "Bits" => Some("which bits `T` has is not known here: write `f32` or `f64` functions"),
            kind if kind.is_float() && method.host.0 == "Integer" => Some("this is a method of integers: cast first, `x as i32`"),
            kind if kind.is_integer() && only_floats => Some("this is a method of floats: cast first, `x as f32`"),
            BOOL => Some("`bool` has no methods: write `!`, `&`, `|`, `^`, or an `if`"),
            _ => None,
        };
        if let Some(advice) = mistaken {
            return Err(Error::new_spanned(name, advice));
        }
        let values = match method.takes {
            Takes::Same(count) => self.arguments(name, arguments, count, receiver.kind)?,
            Takes::Count => match arguments.first() {
                Some(count) if arguments.len() == 1 => vec![self.count(count)?],
                _ => return Err(Error::new_spanned(name, format!("`{text}` takes one argument"))),
            },
        };
        let (root, own, hosts) = (&self.context.root, &receiver.host, values.iter().map(|v| &v.host));
        let function = Ident::new(method.host.1, name.span());
        let host = match method.host.0 {
            "" => quote_spanned!(name.span()=> #root::scalar::#function(#own #(, #hosts)*)),
            of => {
                let of = Ident::new(of, name.span());
                quote_spanned!(name.span()=> #root::scalar::#of::#function(#own #(, #hosts)*))
            }
        };
        let gives = method.gives.kind(receiver.kind);
        let cuda = match text.as_str() {
            "to_bits" if gives == Kind::Unknown => {
                return Err(Error::new_spanned(name, "say which float this is: bind it with `let y: f32 = ..` first"));
            }
            "to_bits" => format!("tw::bits<{}>", gives.cuda()),
            _ => method.cuda.into(),
        };
        let mut all = vec![receiver.alone().to_string()];
        all.extend(values.iter().map(|v| v.alone().to_string()));
        Ok(Value::new(host, format!("{cuda}({})", all.join(", ")), gives))
    }

    fn arguments(
        &mut self,
        name: &Ident,
        arguments: &Punctuated<Expr, Token![,]>,
        count: usize,
        kind: Kind,
    ) -> Result<Vec<Value>> {
        if arguments.len() != count {
            let advice = format!("`{name}` takes {count} argument{} here", if count == 1 { "" } else { "s" });
            return Err(Error::new_spanned(name, advice));
        }
        arguments.iter().map(|a| self.value(a, kind)).collect()
    }

    fn elementary(&mut self, receiver: Value, name: &Ident, values: &[Value]) -> Value {
        let root = self.context.root.clone();
        let text = |number: usize| quote!(#root::elementary::texts::#name[#number]);
        let callee = match receiver.kind {
            Kind::Named("f32") => self.callee(text(0)),
            Kind::Named("f64") => self.callee(text(1)),
            _ => {
                // Two functions of one name: the compiler takes the one for the type.
                self.callee(text(1));
                self.callee(text(0))
            }
        };
        let (own, hosts) = (&receiver.host, values.iter().map(|v| &v.host));
        let host = quote_spanned!(name.span()=> #root::Float::#name(#own #(, #hosts)*));
        let mut all = vec![receiver.alone().to_string()];
        all.extend(values.iter().map(|v| v.alone().to_string()));
        Value::new(host, format!("{callee}({})", all.join(", ")), receiver.kind)
    }

    /// `x.polynomial(&TABLE)`, or of the literals in brackets.
    fn polynomial(&mut self, x: &Value, name: &Ident, arguments: &Punctuated<Expr, Token![,]>) -> Result<Value> {
        let advice = "write the terms, the lowest power first: `x.polynomial(&TABLE)` or `x.polynomial(&[1.0, 0.5])`";
        let terms = match arguments.first() {
            Some(Expr::Reference(terms)) if arguments.len() == 1 && terms.mutability.is_none() => &*terms.expr,
            Some(other) => return Err(Error::new_spanned(other, advice)),
            None => return Err(Error::new_spanned(name, advice)),
        };
        let (table, cuda) = match terms {
            Expr::Array(array) if !array.elems.is_empty() => {
                let kind = if x.kind == Kind::Named("f32") { x.kind } else { Kind::Named("f64") };
                let values = array.elems.iter().map(|e| Ok(self.value(e, kind)?.host)).collect::<Result<Vec<_>>>()?;
                let at = quote!(&[#(#values),*]);
                let cuda = self.named_constant("TERMS", at.clone());
                (at, cuda)
            }
            Expr::Array(_) => return Err(Error::new_spanned(terms, advice)),
            other => {
                let (table, cuda, _) = self.table(other)?;
                (table, cuda)
            }
        };
        let (root, own) = (&self.context.root, &x.host);
        let host = quote_spanned!(name.span()=> #root::Float::polynomial(#own, #table));
        Ok(Value::new(host, format!("tw::polynomial({}, {cuda})", x.alone()), x.kind))
    }
}

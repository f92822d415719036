//! `let` in both texts.

use crate::body::{Goal, Translator, Variable};
use crate::types::{Kind, kind};
use crate::values::is_plain;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, Ident, Local, Pat, Result, Type};

impl Translator<'_> {
    pub(crate) fn local(&mut self, local: &Local) -> Result<TokenStream> {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        if let Some(diverge) = local.init.as_ref().and_then(|init| init.diverge.as_ref()) {
            return Err(Error::new_spanned(&diverge.1, "there is no `let else` here: write an `if`"));
        }
        let init = local.init.as_ref().map(|init| &*init.expr);
        let written = &local.pat;
        match pattern {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                let kind = ty.map(|ty| kind(ty, self.context.generic.as_ref())).transpose()?;
                let Some(init) = init else {
                    let advice = "say its type: `let x: f32;`";
                    let kind = kind.ok_or_else(|| Error::new_spanned(&name.ident, advice))?;
                    let cuda = self.declare(&name.ident, kind);
                    self.line(&format!("{} {cuda};", kind.cuda()));
                    return Ok(quote!(let #written;));
                };
                let host = self.variable_of(name, kind.unwrap_or(Kind::Unknown), init)?;
                Ok(quote!(let #written = #host;))
            }
            Pat::Tuple(names) => {
                let Some(init) = init else {
                    return Err(Error::new_spanned(names, "give it values: `let (a, b) = ..;`"));
                };
                let kinds = match ty {
                    None => vec![Kind::Unknown; names.elems.len()],
                    Some(Type::Tuple(types)) if types.elems.len() == names.elems.len() => types
                        .elems
                        .iter()
                        .map(|ty| kind(ty, self.context.generic.as_ref()))
                        .collect::<Result<Vec<_>>>()?,
                    Some(other) => return Err(Error::new_spanned(other, "write a tuple of types")),
                };
                let host = self.tuple_of(&names.elems.iter().collect::<Vec<_>>(), kinds, init)?;
                Ok(quote!(let #written = #host;))
            }
            Pat::Wild(_) => Err(Error::new_spanned(pattern, "this does nothing: leave it out")),
            other => Err(Error::new_spanned(other, "a `let` names a variable, or a tuple of them")),
        }
    }

    fn variable_of(&mut self, name: &syn::PatIdent, kind: Kind, init: &Expr) -> Result<TokenStream> {
        let constant = if name.mutability.is_some() { "" } else { "const " };
        if is_plain(init) {
            let value = self.value(init, kind)?;
            let kind = kind.or(value.kind);
            let cuda = self.declare(&name.ident, kind);
            self.line(&format!("{constant}{} {cuda} = {};", kind.cuda(), value.alone()));
            return Ok(value.host);
        }
        let kind = match kind {
            Kind::Unknown => self.types(init)?.first().copied().unwrap_or(Kind::Unknown),
            known => known,
        };
        if kind == Kind::Unknown {
            return Err(Error::new_spanned(&name.ident, format!("say its type: `let {}: f32 = ..`", name.ident)));
        }
        let cuda = self.fresh(&name.ident.to_string());
        self.line(&format!("{} {cuda};", kind.cuda()));
        // Nothing inside sees it, but literals that it gets are of its type.
        let hidden = Ident::new("_", proc_macro2::Span::call_site());
        self.variables.push(Variable { name: hidden, cuda: cuda.clone(), kind });
        let host = self.statement(init, &Goal::Variables(vec![cuda.clone()]))?;
        self.variables.push(Variable { name: name.ident.clone(), cuda, kind });
        Ok(host)
    }

    fn tuple_of(&mut self, names: &[&Pat], kinds: Vec<Kind>, init: &Expr) -> Result<TokenStream> {
        let named = names.iter().map(|name| match name {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Ok(Some(name.ident.clone())),
            Pat::Wild(_) => Ok(None),
            other => Err(Error::new_spanned(other, "a tuple is taken apart into variables: `let (a, b) = ..;`")),
        });
        let named = named.collect::<Result<Vec<_>>>()?;
        let text = |name: &Option<Ident>| name.as_ref().map_or("unused".to_string(), Ident::to_string);
        let cudas: Vec<String> = named.iter().map(|name| self.fresh(&text(name))).collect();
        let (host, kinds) = if is_plain(init) {
            let value = self.value(init, Kind::Unknown)?;
            self.line(&format!("auto [{}] = {};", cudas.join(", "), value.alone()));
            (value.host, kinds)
        } else {
            let found = self.types(init)?;
            let kinds: Vec<Kind> =
                kinds.iter().enumerate().map(|(i, k)| k.or(found.get(i).copied().unwrap_or(Kind::Unknown))).collect();
            for ((cuda, kind), name) in cudas.iter().zip(&kinds).zip(names) {
                if *kind == Kind::Unknown {
                    return Err(Error::new_spanned(name, "say the types: `let (a, b): (f32, f32) = ..`"));
                }
                self.line(&format!("{} {cuda};", kind.cuda()));
            }
            let hidden = Ident::new("_", proc_macro2::Span::call_site());
            for (cuda, kind) in cudas.iter().zip(&kinds) {
                self.variables.push(Variable { name: hidden.clone(), cuda: cuda.clone(), kind: *kind });
            }
            (self.statement(init, &Goal::Variables(cudas.clone()))?, kinds)
        };
        for ((name, cuda), kind) in named.into_iter().zip(cudas).zip(kinds) {
            if let Some(name) = name {
                self.variables.push(Variable { name, cuda, kind });
            }
        }
        Ok(host)
    }
}

//! Bodies: statements in both texts.

use crate::signature::Shape;
use crate::types::{Kind, kind};
use crate::values::{Context, Value, is_plain, refused};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashMap;
use std::fmt::Write as _;
use syn::{BinOp, Block, Error, Expr, ExprAssign, ExprBinary, Ident, Item, ItemConst, Result, Stmt, Type};

/// A variable that can be seen.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: Ident,
    pub(crate) cuda: String,
    pub(crate) kind: Kind,
}

/// Where the value of a block goes.
#[derive(Clone, PartialEq)]
pub(crate) enum Goal {
    /// It has none.
    Nothing,
    /// It is what the function gives.
    Result,
    /// To variables, of these names in C++.
    Variables(Vec<String>),
    /// Only its types are asked for.
    Types,
}

/// Translates a body.
#[derive(Clone)]
pub(crate) struct Translator<'a> {
    pub(crate) context: &'a Context,
    shape: &'a Shape,
    pub(crate) variables: Vec<Variable>,
    /// How often a name was given.
    given: HashMap<String, usize>,
    /// Constants of the body, with their type or that of their elements.
    pub(crate) consts: Vec<(Ident, Kind)>,
    pub(crate) items: Vec<ItemConst>,
    /// Constants that the text reads: the name in C++, and a reference in Rust.
    pub(crate) constants: Vec<(String, TokenStream)>,
    pub(crate) callees: Vec<TokenStream>,
    /// What [`Goal::Types`] found.
    types: Vec<Kind>,
    text: String,
    pub(crate) indent: usize,
}

impl<'a> Translator<'a> {
    pub(crate) fn new(context: &'a Context, shape: &'a Shape) -> Translator<'a> {
        Translator {
            context,
            shape,
            variables: Vec::new(),
            given: HashMap::new(),
            consts: Vec::new(),
            items: Vec::new(),
            constants: Vec::new(),
            callees: Vec::new(),
            types: Vec::new(),
            text: String::new(),
            indent: 1,
        }
    }

    /// The body on the host, and the function in C++.
    pub(crate) fn function(&mut self, block: &Block) -> Result<(TokenStream, String)> {
        let mut parameters = Vec::new();
        for argument in &self.shape.arguments {
            let cuda = self.declare(&argument.name, argument.kind);
            let constant = if argument.mutable { "" } else { "const " };
            parameters.push(format!("{constant}{} {cuda}", argument.kind.cuda()));
        }
        let host = self.block(block, &Goal::Result)?;
        let template = if self.shape.generic.is_some() { "template <class T> " } else { "" };
        let result = self.result();
        let text = format!("{template}$q {result} $f({}) {{\n$c{}}}\n", parameters.join(", "), self.text);
        Ok((host, text))
    }

    /// The type of the result in C++.
    fn result(&self) -> String {
        let kinds: Vec<&str> = self.shape.results.iter().map(|k| k.cuda()).collect();
        match kinds.len() {
            1 => kinds[0].to_string(),
            2 => format!("tw::Two<{}>", kinds.join(", ")),
            3 => format!("tw::Three<{}>", kinds.join(", ")),
            _ => format!("tw::Four<{}>", kinds.join(", ")),
        }
    }

    pub(crate) fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.indent);
    }

    /// Runs `f` one level further in.
    pub(crate) fn inside<R>(&mut self, f: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let (variables, consts) = (self.variables.len(), self.consts.len());
        self.indent += 1;
        let result = f(self);
        self.indent -= 1;
        self.variables.truncate(variables);
        self.consts.truncate(consts);
        result
    }

    pub(crate) fn variable(&self, name: &Ident) -> Option<&Variable> {
        self.variables.iter().rev().find(|v| v.name == *name)
    }

    /// A name in C++ that nothing else has: what C++ has does not end like that.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let count = self.given.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { format!("{name}_") } else { format!("{name}_{count}") }
    }

    pub(crate) fn declare(&mut self, name: &Ident, kind: Kind) -> String {
        let cuda = self.fresh(&name.to_string());
        self.variables.push(Variable { name: name.clone(), cuda: cuda.clone(), kind });
        cuda
    }

    /// The statements of a block, of which the last may be its value. No braces in C++.
    pub(crate) fn block(&mut self, block: &Block, goal: &Goal) -> Result<TokenStream> {
        let mut host = TokenStream::new();
        for (number, statement) in block.stmts.iter().enumerate() {
            let last = number + 1 == block.stmts.len();
            host.extend(match statement {
                Stmt::Local(local) => self.local(local)?,
                Stmt::Item(item) => self.item(item)?,
                Stmt::Macro(call) => {
                    return Err(Error::new_spanned(
                        &call.mac.path,
                        "there are no macros here: return NaN, or a flag beside the value",
                    ));
                }
                Stmt::Expr(expr, None) if last => self.statement(expr, goal)?,
                Stmt::Expr(expr, semicolon) => {
                    let host = self.statement(expr, &Goal::Nothing)?;
                    quote!(#host #semicolon)
                }
            });
        }
        Ok(quote!({ #host }))
    }

    /// An expression whose value goes to `goal`.
    pub(crate) fn statement(&mut self, expr: &Expr, goal: &Goal) -> Result<TokenStream> {
        if *goal != Goal::Nothing && is_plain(expr) {
            return self.one(expr, goal);
        }
        match expr {
            Expr::If(choice) => self.branches(choice, goal),
            Expr::Match(cases) => self.cases(cases, goal),
            Expr::Block(block) if block.label.is_none() => {
                self.line("{");
                let host = self.inside(|t| t.block(&block.block, goal))?;
                self.line("}");
                Ok(host)
            }
            Expr::Paren(inner) => self.statement(&inner.expr, goal),
            Expr::Group(inner) => self.statement(&inner.expr, goal),
            Expr::Tuple(tuple) if *goal != Goal::Nothing => self.several(tuple, goal),
            Expr::Return(returned) => self.returned(returned),
            Expr::While(_) | Expr::ForLoop(_) | Expr::Loop(_) | Expr::Break(_) | Expr::Continue(_) => self.looped(expr),
            Expr::Assign(assign) => self.assign(assign),
            Expr::Binary(binary) if !is_plain(expr) => self.update(binary),
            Expr::Block(block) => Err(Error::new_spanned(&block.label, "there are no labels here: use a variable")),
            other if is_plain(other) => {
                // Its value is not used: Rust says so, and it does nothing.
                refused_unused(other)
            }
            other => Err(refused(other)),
        }
    }

    /// A single value.
    fn one(&mut self, expr: &Expr, goal: &Goal) -> Result<TokenStream> {
        let want = match goal {
            Goal::Result if self.shape.results.len() == 1 => self.shape.results[0],
            Goal::Variables(names) if names.len() == 1 => {
                self.variables.iter().find(|v| v.cuda == names[0]).map_or(Kind::Unknown, |v| v.kind)
            }
            _ => Kind::Unknown,
        };
        let value = self.value(expr, want)?;
        match goal {
            Goal::Result => self.line(&format!("return {};", value.alone())),
            Goal::Variables(names) if names.len() == 1 => self.line(&format!("{} = {};", names[0], value.alone())),
            Goal::Variables(_) => {
                return Err(Error::new_spanned(expr, "name its results: `let (a, b) = ..;`, and the tuple of these"));
            }
            _ => self.found(&[value.kind]),
        }
        Ok(value.host)
    }

    /// A tuple.
    fn several(&mut self, tuple: &syn::ExprTuple, goal: &Goal) -> Result<TokenStream> {
        let wants = match goal {
            Goal::Result => self.shape.results.clone(),
            _ => Vec::new(),
        };
        let values =
            tuple.elems.iter().enumerate().map(|(i, e)| self.value(e, wants.get(i).copied().unwrap_or(Kind::Unknown)));
        let values = values.collect::<Result<Vec<_>>>()?;
        let texts: Vec<&str> = values.iter().map(Value::alone).collect();
        match goal {
            Goal::Result => self.line(&format!("return {{{}}};", texts.join(", "))),
            Goal::Variables(names) => {
                let lines: Vec<String> =
                    names.iter().zip(&texts).map(|(name, text)| format!("{name} = {text};")).collect();
                lines.iter().for_each(|line| self.line(line));
            }
            _ => self.found(&values.iter().map(|v| v.kind).collect::<Vec<_>>()),
        }
        let hosts = values.iter().map(|v| &v.host);
        Ok(quote!((#(#hosts),*)))
    }

    fn found(&mut self, kinds: &[Kind]) {
        self.types.resize(kinds.len().max(self.types.len()), Kind::Unknown);
        for (known, kind) in self.types.iter_mut().zip(kinds) {
            *known = known.or(*kind);
        }
    }

    /// The types of what `expr` gives, as far as they are known.
    pub(crate) fn types(&self, expr: &Expr) -> Result<Vec<Kind>> {
        let mut trial = self.clone();
        trial.types.clear();
        trial.statement(expr, &Goal::Types)?;
        Ok(trial.types)
    }

    fn returned(&mut self, returned: &syn::ExprReturn) -> Result<TokenStream> {
        let Some(expr) = &returned.expr else {
            return Err(Error::new_spanned(returned, "return the result: `return x;`"));
        };
        let host = self.statement(expr, &Goal::Result)?;
        Ok(quote!(return #host))
    }

    fn assign(&mut self, assign: &ExprAssign) -> Result<TokenStream> {
        let (name, cuda) = self.assigned(&assign.left)?;
        let host = self.statement(&assign.right, &Goal::Variables(vec![cuda]))?;
        Ok(quote!(#name = #host))
    }

    fn assigned(&self, left: &Expr) -> Result<(Ident, String)> {
        let ident = match left {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        match ident.and_then(|ident| Some((ident.clone(), self.variable(ident)?.cuda.clone()))) {
            Some(found) => Ok(found),
            None => Err(Error::new_spanned(left, "what is assigned to is a variable of this function")),
        }
    }

    /// `x += y`.
    fn update(&mut self, binary: &ExprBinary) -> Result<TokenStream> {
        let (name, cuda) = self.assigned(&binary.left)?;
        let left = self.value(&binary.left, Kind::Unknown)?;
        let shifts = matches!(binary.op, BinOp::ShlAssign(_) | BinOp::ShrAssign(_));
        let right = self.value(&binary.right, if shifts { Kind::Unknown } else { left.kind })?;
        let value = self.operation(&binary.op, left, right)?;
        self.line(&format!("{cuda} = {};", value.alone()));
        let host = &value.host;
        Ok(quote!(#name = #host))
    }

    fn item(&mut self, item: &Item) -> Result<TokenStream> {
        let Item::Const(constant) = item else {
            return Err(Error::new_spanned(item, "only `const` stands in a body: write this outside of the function"));
        };
        let element = match &*constant.ty {
            Type::Array(array) => &array.elem,
            _ => &constant.ty,
        };
        if self.items.iter().any(|known| known.ident == constant.ident) {
            return Err(Error::new_spanned(
                &constant.ident,
                "another constant of this body has this name: choose another",
            ));
        }
        self.consts.push((constant.ident.clone(), kind(element, None)?));
        self.items.push(constant.clone());
        Ok(quote!(#constant))
    }
}

fn refused_unused(expr: &Expr) -> Result<TokenStream> {
    Err(match expr {
        Expr::Closure(_) | Expr::Macro(_) | Expr::Reference(_) | Expr::Unsafe(_) | Expr::Try(_) => refused(expr),
        other => Error::new_spanned(other, "its value is not used: bind it with `let`, or leave it out"),
    })
}

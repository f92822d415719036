//! Expressions without statements inside: both texts, and what is known of the type.

use crate::body::Translator;
use crate::literals::{is_flexible, literal};
use crate::types::{BOOL, Kind, U32, kind};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Error, Expr, ExprBinary, ExprCast, ExprIf, ExprLit, Ident, Member, Result, Stmt, Type, UnOp};

/// What the whole body knows.
pub(crate) struct Context {
    /// The path of `extend`.
    pub(crate) root: TokenStream,
    pub(crate) generic: Option<Ident>,
    /// What unsuffixed floats are.
    pub(crate) float: Option<Kind>,
    /// The function's own name.
    pub(crate) name: Ident,
}

/// An expression in both texts.
pub(crate) struct Value {
    pub(crate) host: TokenStream,
    /// In C++, so that an operator may stand beside it.
    pub(crate) cuda: String,
    pub(crate) kind: Kind,
}

impl Value {
    pub(crate) fn new(host: TokenStream, cuda: String, kind: Kind) -> Value {
        Value { host, cuda, kind }
    }

    /// In C++, where nothing stands beside it.
    pub(crate) fn alone(&self) -> &str {
        alone(&self.cuda)
    }
}

/// Without the brackets around all of it.
fn alone(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    for c in inner.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth < 0 {
            return text;
        }
    }
    inner
}

impl Translator<'_> {
    /// The value of `expr`; a literal in it is of type `want`, if that is known.
    pub(crate) fn value(&mut self, expr: &Expr, want: Kind) -> Result<Value> {
        match expr {
            Expr::Lit(ExprLit { lit, .. }) => literal(lit, false, want, self.context),
            Expr::Paren(inner) => self.value(&inner.expr, want),
            Expr::Group(inner) => self.value(&inner.expr, want),
            Expr::Path(path) => self.path(&path.path),
            Expr::Unary(unary) => self.unary(unary, want),
            Expr::Binary(binary) => self.binary(binary, want),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call, want),
            Expr::Index(index) => self.element(index),
            Expr::Field(field) => {
                let base = self.value(&field.base, Kind::Unknown)?;
                let (host, Member::Unnamed(number)) = (&base.host, &field.member) else {
                    return Err(Error::new_spanned(
                        &field.member,
                        "there are no structs here: take their fields as arguments",
                    ));
                };
                let letter = ["a", "b", "c", "d"].get(number.index as usize).copied().unwrap_or("a");
                Ok(Value::new(quote!(#host.#number), format!("{}.{letter}", base.cuda), Kind::Unknown))
            }
            Expr::If(choice) => self.choice(choice, want),
            Expr::Block(block) if block.label.is_none() => match &block.block.stmts[..] {
                [Stmt::Expr(inner, None)] => self.value(inner, want),
                _ => Err(bind(expr, "a block")),
            },
            Expr::Match(_) => Err(bind(expr, "a `match`")),
            other => Err(refused(other)),
        }
    }

    /// Two values of one type.
    pub(crate) fn both(&mut self, left: &Expr, right: &Expr, want: Kind) -> Result<(Value, Value)> {
        if is_flexible(left) && !is_flexible(right) {
            let right = self.value(right, want)?;
            return Ok((self.value(left, right.kind.or(want))?, right));
        }
        let left = self.value(left, want)?;
        let right = self.value(right, left.kind.or(want))?;
        Ok((left, right))
    }

    fn unary(&mut self, unary: &syn::ExprUnary, want: Kind) -> Result<Value> {
        if let (UnOp::Neg(_), Expr::Lit(ExprLit { lit, .. })) = (&unary.op, &*unary.expr) {
            return literal(lit, true, want, self.context);
        }
        let a = self.value(&unary.expr, want)?;
        let (span, root, host, cuda) = (unary.op.span(), &self.context.root, &a.host, &a.cuda);
        let (host, cuda) = match unary.op {
            UnOp::Neg(_) if a.kind.is_float() => (quote_spanned!(span=> (-#host)), format!("(-{cuda})")),
            UnOp::Neg(_) => {
                (quote_spanned!(span=> #root::scalar::Arith::neg(#host)), format!("tw::neg({})", a.alone()))
            }
            UnOp::Not(_) if a.kind == BOOL => (quote_spanned!(span=> (!#host)), format!("(!{cuda})")),
            UnOp::Not(_) if a.kind.is_float() => {
                return Err(Error::new_spanned(unary.op, "floats have no bits to invert: write `x.to_bits()`"));
            }
            UnOp::Not(_) => {
                (quote_spanned!(span=> #root::scalar::Arith::not(#host)), format!("tw::invert({})", a.alone()))
            }
            _ => return Err(Error::new_spanned(unary.op, "there are no references here: write the value")),
        };
        Ok(Value::new(host, cuda, a.kind))
    }

    fn binary(&mut self, binary: &ExprBinary, want: Kind) -> Result<Value> {
        let op = &binary.op;
        match op {
            BinOp::And(_) | BinOp::Or(_) => {
                let (left, right) = (self.value(&binary.left, BOOL)?, self.value(&binary.right, BOOL)?);
                let (a, b) = (&left.host, &right.host);
                Ok(Value::new(quote!((#a #op #b)), format!("({} {} {})", left.cuda, text(op), right.cuda), BOOL))
            }
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                let (left, right) = self.both(&binary.left, &binary.right, Kind::Unknown)?;
                let (a, b) = (&left.host, &right.host);
                Ok(Value::new(quote!((#a #op #b)), format!("({} {} {})", left.cuda, text(op), right.cuda), BOOL))
            }
            BinOp::Shl(_) | BinOp::Shr(_) => {
                let left = self.value(&binary.left, want)?;
                let right = self.value(&binary.right, Kind::Unknown)?;
                self.operation(op, left, right)
            }
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::BitXor(_) => {
                let (left, right) = self.both(&binary.left, &binary.right, want)?;
                self.operation(op, left, right)
            }
            _ => Err(Error::new_spanned(op, "an assignment is a statement of its own: end it with `;`")),
        }
    }

    /// `left op right`, or what an assignment with that operator computes.
    pub(crate) fn operation(&mut self, op: &BinOp, left: Value, right: Value) -> Result<Value> {
        let kind = left.kind.or(right.kind);
        let (root, span, a, b) = (&self.context.root, op.span(), &left.host, &right.host);
        let (host_name, cuda_name, sign) = match op {
            BinOp::Add(_) | BinOp::AddAssign(_) => ("add", "add", "+"),
            BinOp::Sub(_) | BinOp::SubAssign(_) => ("sub", "sub", "-"),
            BinOp::Mul(_) | BinOp::MulAssign(_) => ("mul", "mul", "*"),
            BinOp::Div(_) | BinOp::DivAssign(_) => ("div", "div", "/"),
            BinOp::Rem(_) | BinOp::RemAssign(_) => ("rem", "rem", ""),
            BinOp::BitAnd(_) | BinOp::BitAndAssign(_) => ("and", "bit_and", "&"),
            BinOp::BitOr(_) | BinOp::BitOrAssign(_) => ("or", "bit_or", "|"),
            BinOp::BitXor(_) | BinOp::BitXorAssign(_) => ("xor", "bit_xor", "^"),
            BinOp::Shl(_) | BinOp::ShlAssign(_) => ("left", "left", "<<"),
            _ => ("right", "right", ">>"),
        };
        let bits = matches!(host_name, "and" | "or" | "xor" | "left" | "right");
        if bits && kind.is_float() {
            return Err(Error::new_spanned(
                op,
                "floats have no bits to combine: write `x.to_bits()`, and `f32::from_bits(..)`",
            ));
        }
        if !matches!(host_name, "and" | "or" | "xor") && kind == BOOL {
            return Err(Error::new_spanned(op, "there is no arithmetic on `bool`: write `&`, `|`, `^`, or an `if`"));
        }
        if kind.is_float() && host_name != "rem" {
            let sign_token: BinOp = syn::parse_str(sign)?;
            let mut sign_token = sign_token.to_token_stream();
            sign_token = sign_token
                .into_iter()
                .map(|mut t| {
                    t.set_span(span);
                    t
                })
                .collect();
            return Ok(Value::new(quote!((#a #sign_token #b)), format!("({} {sign} {})", left.cuda, right.cuda), kind));
        }
        let name = Ident::new(host_name, span);
        let cuda = format!("tw::{cuda_name}({}, {})", left.alone(), right.alone());
        if matches!(host_name, "left" | "right") {
            let host = quote_spanned!(span=> #root::scalar::Whole::#name(#a, #root::scalar::As::<u32>::cast(#b)));
            return Ok(Value::new(host, cuda, left.kind));
        }
        Ok(Value::new(quote_spanned!(span=> #root::scalar::Arith::#name(#a, #b)), cuda, kind))
    }

    fn cast(&mut self, cast: &ExprCast) -> Result<Value> {
        let value = self.value(&cast.expr, Kind::Unknown)?;
        let to = kind(&cast.ty, self.context.generic.as_ref())?;
        if to == BOOL {
            return Err(Error::new_spanned(&cast.ty, "nothing is cast to `bool`: compare, `x != 0`"));
        }
        let (root, host, ty) = (&self.context.root, &value.host, &cast.ty);
        let host = match (value.kind, to) {
            (_, Kind::Generic) => quote_spanned!(ty.span()=> <#ty as #root::Float>::of(#host)),
            (Kind::Named(_), _) => quote!((#host as #ty)),
            _ => quote_spanned!(ty.span()=> #root::scalar::As::<#ty>::cast(#host)),
        };
        Ok(Value::new(host, format!("tw::as<{}>({})", to.cuda(), value.alone()), to))
    }

    /// A condition; anything with statements inside has to stand before it.
    pub(crate) fn condition(&mut self, expr: &Expr) -> Result<Value> {
        if let Expr::Let(_) = expr {
            return Err(Error::new_spanned(expr, "there are no patterns here: compare, `if x == 0`"));
        }
        self.value(expr, BOOL)
    }

    fn choice(&mut self, choice: &ExprIf, want: Kind) -> Result<Value> {
        let Some((then, otherwise)) = plain_choice(choice) else {
            return Err(bind(&choice.if_token, "an `if` with statements inside"));
        };
        let condition = self.condition(&choice.cond)?;
        let (a, b) = self.both(then, otherwise, want)?;
        let (c, x, y) = (&condition.host, &a.host, &b.host);
        let host = quote!((if #c { #x } else { #y }));
        Ok(Value::new(host, format!("({} ? {} : {})", condition.cuda, a.cuda, b.cuda), a.kind.or(b.kind)))
    }

    /// An argument of a function that takes a count.
    pub(crate) fn count(&mut self, expr: &Expr) -> Result<Value> {
        let value = self.value(expr, Kind::Unknown)?;
        let (root, host) = (&self.context.root, &value.host);
        Ok(Value::new(quote_spanned!(expr.span()=> #root::scalar::As::<u32>::cast(#host)), value.cuda.clone(), U32))
    }

    /// An index without the `as usize` that Rust asks for.
    pub(crate) fn index(&mut self, expr: &Expr) -> Result<Value> {
        match expr {
            Expr::Cast(cast) if matches!(&*cast.ty, Type::Path(p) if p.path.is_ident("usize")) => {
                self.value(&cast.expr, Kind::Unknown)
            }
            Expr::Range(_) => Err(Error::new_spanned(expr, "there are no slices here: index one element")),
            other => self.value(other, Kind::Unknown),
        }
    }
}

/// The branches of an `if` that has one expression in each.
pub(crate) fn plain_choice(choice: &ExprIf) -> Option<(&Expr, &Expr)> {
    let [Stmt::Expr(then, None)] = &choice.then_branch.stmts[..] else { return None };
    let (_, otherwise) = choice.else_branch.as_ref()?;
    let plain = |expr: &Expr| match expr {
        Expr::If(inner) => plain_choice(inner).is_some(),
        Expr::Block(block) => matches!(&block.block.stmts[..], [Stmt::Expr(inner, None)] if is_plain(inner)),
        _ => false,
    };
    (is_plain(then) && plain(otherwise)).then_some((then, &**otherwise))
}

/// Whether an expression has no statements inside.
pub(crate) fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::If(choice) => plain_choice(choice).is_some(),
        Expr::Block(block) => matches!(&block.block.stmts[..], [Stmt::Expr(inner, None)] if is_plain(inner)),
        Expr::Group(inner) => is_plain(&inner.expr),
        Expr::Match(_) | Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Assign(_) | Expr::Tuple(_) => {
            false
        }
        Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => false,
        Expr::Binary(binary) => !text(&binary.op).ends_with('=') || is_comparison(&binary.op),
        _ => true,
    }
}

pub(crate) fn is_comparison(op: &BinOp) -> bool {
    matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_))
}

fn text(op: &BinOp) -> String {
    op.to_token_stream().to_string()
}

fn bind(token: &dyn ToTokens, what: &str) -> Error {
    let advice =
        format!("{what} stands in a `let`, in an assignment, after `return` or at the end: bind it with `let` first");
    Error::new_spanned(token, advice)
}

/// What to write instead of something that is not part of the subset.
pub(crate) fn refused(expr: &Expr) -> Error {
    let advice = match expr {
        Expr::Closure(_) => "there are no closures here: write a `#[scalar_fn]` and call it",
        Expr::Macro(_) => "there are no macros here: return NaN, or a flag beside the value",
        Expr::Reference(_) => "there are no references here: write the value",
        Expr::Array(_) | Expr::Repeat(_) => {
            "a table is a constant: `const TABLE: [f32; 4] = [..];` in the body, and `TABLE[i]`"
        }
        Expr::Tuple(_) => "a tuple is a result, or what a `let` takes apart: `let (a, b) = (..);`",
        Expr::Struct(_) => "there are no structs here: use variables of their own",
        Expr::Range(_) => "a range stands in `for i in a..b`",
        Expr::Try(_) => "there is no `?` here: return NaN, or a flag beside the value",
        Expr::Unsafe(_) => "there is nothing unsafe to do here: leave `unsafe` out",
        Expr::Assign(_) => "an assignment is a statement of its own: end it with `;`",
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => "this is a statement of its own: end it with `;`",
        Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => "a loop has no value here: assign to a `let mut` inside",
        Expr::Let(_) => "there are no patterns here: compare, `if x == 0`",
        Expr::Async(_) | Expr::Await(_) | Expr::Yield(_) => "a scalar function computes one value of others, at once",
        _ => "this is not part of scalar functions: write it with arithmetic, `if`, loops and calls",
    };
    Error::new_spanned(expr, advice)
}

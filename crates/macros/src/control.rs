//! Branches and loops.

use crate::body::{Goal, Translator};
use crate::types::{BOOL, Kind};
use crate::values::Value;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Arm, Error, Expr, ExprForLoop, ExprIf, ExprMatch, Lit, Pat, RangeLimits, Result};

impl Translator<'_> {
    pub(crate) fn branches(&mut self, choice: &ExprIf, goal: &Goal) -> Result<TokenStream> {
        let condition = self.condition(&choice.cond)?;
        self.line(&format!("if ({}) {{", condition.alone()));
        let then = self.inside(|t| t.block(&choice.then_branch, goal))?;
        let host = &condition.host;
        let Some((_, otherwise)) = &choice.else_branch else {
            if *goal != Goal::Nothing {
                return Err(Error::new_spanned(choice.if_token, "its value is used: write an `else` too"));
            }
            self.line("}");
            return Ok(quote!(if #host #then));
        };
        self.line("} else {");
        let otherwise = self.inside(|t| match &**otherwise {
            Expr::Block(block) => t.block(&block.block, goal),
            other => t.statement(other, goal).map(|host| quote!({ #host })),
        })?;
        self.line("}");
        Ok(quote!(if #host #then else #otherwise))
    }

    pub(crate) fn cases(&mut self, cases: &ExprMatch, goal: &Goal) -> Result<TokenStream> {
        let of = self.value(&cases.expr, Kind::Unknown)?;
        if of.kind.is_float() {
            return Err(Error::new_spanned(&cases.expr, "floats are compared, not matched: write `if x < 1.0 { .. } else { .. }`"));
        }
        let name = self.fresh("case");
        self.line("{");
        let host = self.inside(|t| {
            t.line(&format!("const auto {name} = {};", of.alone()));
            let mut arms = Vec::new();
            for (number, arm) in cases.arms.iter().enumerate() {
                arms.push(t.arm(arm, &name, (number == 0, number + 1 == cases.arms.len()), goal)?);
            }
            t.line("}");
            let host = &of.host;
            Ok(quote!(match #host { #(#arms)* }))
        })?;
        self.line("}");
        Ok(host)
    }

    fn arm(&mut self, arm: &Arm, name: &str, (first, last): (bool, bool), goal: &Goal) -> Result<TokenStream> {
        let mut condition = pattern(&arm.pat, name)?;
        let mut guard = TokenStream::new();
        if let Some((_, guarded)) = &arm.guard {
            let value = self.condition(guarded)?;
            condition = format!("({condition}) && {}", value.cuda);
            let host = value.host;
            guard = quote!(if #host);
        }
        // Rust demands that every value has its arm: the last one takes what is left.
        match (first, last) {
            (true, true) => self.line("{"),
            (false, true) => self.line("} else {"),
            (true, false) => self.line(&format!("if ({condition}) {{")),
            (false, false) => self.line(&format!("}} else if ({condition}) {{")),
        }
        let body = self.inside(|t| match &*arm.body {
            Expr::Block(block) if block.label.is_none() => t.block(&block.block, goal),
            other => t.statement(other, goal).map(|host| quote!({ #host })),
        })?;
        let pattern = &arm.pat;
        Ok(quote!(#pattern #guard => #body))
    }

    pub(crate) fn looped(&mut self, expr: &Expr) -> Result<TokenStream> {
        let labelled = |label: &dyn quote::ToTokens| Err(Error::new_spanned(label, "there are no labels here: use a variable"));
        match expr {
            Expr::Break(done) => {
                if let Some(label) = &done.label {
                    return labelled(label);
                }
                if let Some(value) = &done.expr {
                    return Err(Error::new_spanned(value, "a loop has no value here: assign to a `let mut` before `break`"));
                }
                self.line("break;");
                Ok(quote!(break))
            }
            Expr::Continue(next) => {
                if let Some(label) = &next.label {
                    return labelled(label);
                }
                self.line("continue;");
                Ok(quote!(continue))
            }
            Expr::While(repeated) => {
                if let Some(label) = &repeated.label {
                    return labelled(label);
                }
                let condition = self.condition(&repeated.cond)?;
                self.line(&format!("while ({}) {{", condition.alone()));
                let body = self.inside(|t| t.block(&repeated.body, &Goal::Nothing))?;
                self.line("}");
                let host = condition.host;
                Ok(quote!(while #host #body))
            }
            Expr::Loop(repeated) => {
                if let Some(label) = &repeated.label {
                    return labelled(label);
                }
                self.line("for (;;) {");
                let body = self.inside(|t| t.block(&repeated.body, &Goal::Nothing))?;
                self.line("}");
                Ok(quote!(loop #body))
            }
            Expr::ForLoop(counted) => match &counted.label {
                Some(label) => labelled(label),
                None => self.counted(counted),
            },
            other => Err(crate::values::refused(other)),
        }
    }

    /// `for i in a..b`.
    fn counted(&mut self, counted: &ExprForLoop) -> Result<TokenStream> {
        let (range, backwards) = match &*counted.expr {
            Expr::MethodCall(call) if call.method == "rev" && call.args.is_empty() => (&*call.receiver, true),
            other => (other, false),
        };
        let inner = match range {
            Expr::Paren(inner) => &*inner.expr,
            other => other,
        };
        let advice = "a loop counts: `for i in a..b`, `a..=b` or `(a..b).rev()`";
        let Expr::Range(range) = inner else { return Err(Error::new_spanned(&counted.expr, advice)) };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return Err(Error::new_spanned(range, advice));
        };
        let closed = matches!(range.limits, RangeLimits::Closed(_));
        if closed && backwards {
            return Err(Error::new_spanned(range, "backwards, a loop ends before: `(a..b + 1).rev()`"));
        }
        let (start, end) = self.both(start, end, Kind::Unknown)?;
        let kind = start.kind.or(end.kind);
        if kind.is_float() || kind == BOOL {
            return Err(Error::new_spanned(range, "a loop counts integers: write `while x < end`"));
        }
        self.loop_over(counted, (&start, &end), kind, (closed, backwards))
    }

    fn loop_over(
        &mut self,
        counted: &ExprForLoop,
        (start, end): (&Value, &Value),
        kind: Kind,
        (closed, backwards): (bool, bool),
    ) -> Result<TokenStream> {
        let last = self.fresh("end");
        let ty = match kind {
            Kind::Unknown => format!("decltype({})", start.cuda),
            known => known.cuda().into(),
        };
        self.line(&format!("const {ty} {last} = {};", end.alone()));
        let pattern = &counted.pat;
        let name = match &**pattern {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() && name.mutability.is_none() => Some(&name.ident),
            Pat::Wild(_) => None,
            other => return Err(Error::new_spanned(other, "name the count: `for i in a..b`")),
        };
        let text = name.map_or("step".to_string(), ToString::to_string);
        let body = self.inside(|t| {
            let i = match name {
                Some(name) => t.declare(name, kind),
                None => t.fresh(&text),
            };
            let first = start.alone();
            t.outer(&match (closed, backwards) {
                (false, false) => format!("for ({ty} {i} = {first}; {i} < {last}; ++{i}) {{"),
                (false, true) => format!("for ({ty} {i} = {last}; {i}-- > {first};) {{"),
                // The last one may be the largest there is.
                _ => format!("for ({ty} {i} = {first}, more_ = {i} <= {last}; more_; more_ = {i} != {last}, {i} += more_) {{"),
            });
            t.block(&counted.body, &Goal::Nothing)
        })?;
        self.line("}");
        let (a, b) = (&start.host, &end.host);
        let range = if closed { quote!(#a..=#b) } else { quote!(#a..#b) };
        let range = if backwards { quote!((#range).rev()) } else { range };
        Ok(quote!(for #pattern in #range #body))
    }

    /// A line one level further out.
    fn outer(&mut self, line: &str) {
        self.indent -= 1;
        self.line(line);
        self.indent += 1;
    }
}

/// The condition that a pattern is, of the value of this name in C++.
fn pattern(pattern: &Pat, name: &str) -> Result<String> {
    let advice = "a case is an integer, `true` or `false`, a range `3..=5`, several `1 | 2`, or `_`";
    let refuse = || Err(Error::new_spanned(pattern, advice));
    match pattern {
        Pat::Wild(_) => Ok("true".into()),
        Pat::Lit(lit) => match &lit.lit {
            Lit::Bool(b) => Ok(format!("{name} == {}", b.value)),
            Lit::Int(int) => Ok(format!("{name} == {}", case(int.base10_digits(), int)?)),
            _ => refuse(),
        },
        Pat::Or(several) => {
            let cases = several.cases.iter().map(|p| self::pattern(p, name)).collect::<Result<Vec<_>>>()?;
            Ok(cases.join(" || "))
        }
        Pat::Paren(inner) => self::pattern(&inner.pat, name),
        Pat::Range(range) => {
            let bound = |bound: &Option<Box<Expr>>| match bound.as_deref() {
                None => Ok(None),
                Some(Expr::Lit(syn::ExprLit { lit: Lit::Int(int), .. })) => case(int.base10_digits(), int).map(Some),
                Some(other) => Err(Error::new_spanned(other, advice)),
            };
            let below = if matches!(range.limits, RangeLimits::Closed(_)) { "<=" } else { "<" };
            let (low, high) = (bound(&range.start)?, bound(&range.end)?);
            let parts = [low.map(|low| format!("{name} >= {low}")), high.map(|high| format!("{name} {below} {high}"))];
            Ok(format!("({})", parts.into_iter().flatten().collect::<Vec<_>>().join(" && ")))
        }
        _ => refuse(),
    }
}

/// A whole number as C++ reads it beside any integer.
fn case(digits: &str, token: &dyn quote::ToTokens) -> Result<String> {
    let value: i128 = digits.parse().map_err(|_| Error::new_spanned(token, "this is no integer"))?;
    match value {
        v if v == i128::from(i64::MIN) => Ok("(-9223372036854775807ll - 1)".into()),
        v if v > i128::from(i64::MAX) => Ok(format!("{v}ull")),
        v if v > i128::from(i32::MAX) || v <= i128::from(i32::MIN) => Ok(format!("{v}ll")),
        v => Ok(v.to_string()),
    }
}

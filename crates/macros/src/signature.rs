//! The signature of a scalar function.

use crate::types::{Kind, kind, kind_by_hand};
use syn::{Error, FnArg, GenericParam, Ident, Pat, Result, ReturnType, Signature, Type, TypeParamBound};

/// The most arguments and results.
const MOST_ARGUMENTS: usize = 6;
const MOST_RESULTS: usize = 4;

pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) mutable: bool,
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
}

/// What a function takes and gives.
pub(crate) struct Shape {
    pub(crate) generic: Option<Ident>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) results: Vec<Kind>,
    pub(crate) output: Type,
}

impl Shape {
    pub(crate) fn new(signature: &Signature, by_hand: bool) -> Result<Shape> {
        plain(signature)?;
        let generic = generic(signature)?;
        if let (Some(generic), true) = (&generic, by_hand) {
            return Err(Error::new_spanned(generic, "a text by hand is for one type: write `f32` or `f64`"));
        }
        let kind = |ty: &Type| if by_hand { kind_by_hand(ty) } else { kind(ty, generic.as_ref()) };
        let arguments = signature.inputs.iter().map(|input| argument(input, &kind)).collect::<Result<Vec<_>>>()?;
        if arguments.is_empty() {
            return Err(Error::new_spanned(&signature.ident, "a scalar function takes an argument; write a constant as `const`"));
        }
        if let Some(one_too_many) = signature.inputs.iter().nth(MOST_ARGUMENTS) {
            let message = format!("a scalar function takes at most {MOST_ARGUMENTS} arguments; combine some before the call");
            return Err(Error::new_spanned(one_too_many, message));
        }
        let ReturnType::Type(_, output) = &signature.output else {
            return Err(Error::new_spanned(&signature.ident, "a scalar function gives a result: write `-> f32`"));
        };
        let results = match &**output {
            Type::Tuple(several) if (2..=MOST_RESULTS).contains(&several.elems.len()) => {
                several.elems.iter().map(&kind).collect::<Result<Vec<_>>>()?
            }
            Type::Tuple(other) => {
                let message = format!("a scalar function gives a scalar or a tuple of 2 to {MOST_RESULTS} scalars");
                return Err(Error::new_spanned(other, message));
            }
            one => vec![kind(one)?],
        };
        Ok(Shape { generic, arguments, results, output: (**output).clone() })
    }

    /// The type of unsuffixed floats: the one float type of the signature.
    pub(crate) fn float(&self) -> Option<Kind> {
        let all = || self.arguments.iter().map(|a| a.kind).chain(self.results.iter().copied()).filter(|k| k.is_float());
        let first = all().next()?;
        all().all(|k| k == first).then_some(first)
    }
}

fn plain(signature: &Signature) -> Result<()> {
    let refuse = |token: &dyn quote::ToTokens, advice: &str| Err(Error::new_spanned(token, advice));
    if let Some(token) = &signature.constness {
        return refuse(token, "a scalar function is no `const fn`: leave `const` out");
    }
    if let Some(token) = &signature.asyncness {
        return refuse(token, "a scalar function computes one value of others: leave `async` out");
    }
    if let Some(token) = &signature.unsafety {
        return refuse(token, "a scalar function has no memory to be careless with: leave `unsafe` out");
    }
    if let Some(token) = &signature.abi {
        return refuse(token, "a scalar function is called from Rust: leave `extern` out");
    }
    Ok(())
}

fn generic(signature: &Signature) -> Result<Option<Ident>> {
    let advice = "the one type parameter of a scalar function is a float: `<T: Float>`";
    let mut parameters = signature.generics.params.iter();
    let Some(first) = parameters.next() else { return Ok(None) };
    if let Some(second) = parameters.next() {
        return Err(Error::new_spanned(second, advice));
    }
    let GenericParam::Type(parameter) = first else { return Err(Error::new_spanned(first, advice)) };
    let is_float = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|s| s.ident == "Float"),
        _ => false,
    };
    let one = parameter.bounds.len() == 1 && parameter.bounds.iter().all(is_float);
    if !one || signature.generics.where_clause.is_some() {
        return Err(Error::new_spanned(parameter, advice));
    }
    Ok(Some(parameter.ident.clone()))
}

fn argument(input: &FnArg, kind: &dyn Fn(&Type) -> Result<Kind>) -> Result<Argument> {
    let typed = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            return Err(Error::new_spanned(receiver, "a scalar function is no method: name the argument and its type"));
        }
    };
    match &*typed.pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Ok(Argument {
            name: name.ident.clone(),
            mutable: name.mutability.is_some(),
            ty: (*typed.ty).clone(),
            kind: kind(&typed.ty)?,
        }),
        other => Err(Error::new_spanned(other, "name the argument: `x: f32`")),
    }
}

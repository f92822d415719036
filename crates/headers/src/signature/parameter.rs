//! One parameter: its type without what does not matter to a caller, and its name.

use super::token::{Kind, Token};
use super::{Fault, Parameter, ParameterKind, closing};
use crate::cuda_type::CudaType;

/// Longest chain of names for one type, and longest type, that are followed; a cycle ends there.
const MOST_STEPS: usize = 16;
const MOST_TOKENS: usize = 256;

/// Names for types: `using real = float;` and `typedef float real;`.
#[derive(Default)]
pub(super) struct Aliases<'a>(Vec<(&'a str, Vec<Token<'a>>)>);

impl<'a> Aliases<'a> {
    pub(super) fn read(tokens: &[Token<'a>]) -> Aliases<'a> {
        let mut aliases = Aliases::default();
        for (i, token) in tokens.iter().enumerate().filter(|(_, t)| t.is_word()) {
            let end = |from: usize| tokens[from..].iter().position(|t| t.is_sign(";")).map(|n| from + n);
            let is_template = i > 0 && tokens[i - 1].is_sign(">");
            match token.text {
                "using" if !is_template && tokens.get(i + 2).is_some_and(|t| t.is_sign("=")) => {
                    let Some(end) = end(i) else { continue };
                    aliases.add(tokens[i + 1].text, tokens.get(i + 3..end));
                }
                "typedef" => {
                    let Some(end) = end(i).filter(|end| *end > i + 2 && tokens[end - 1].is_word()) else { continue };
                    aliases.add(tokens[end - 1].text, tokens.get(i + 1..end - 1));
                }
                _ => {}
            }
        }
        aliases
    }

    fn add(&mut self, name: &'a str, tokens: Option<&[Token<'a>]>) {
        // A struct that is defined and named at once stays what it is called.
        let plain = |t: &&[Token<'a>]| !t.is_empty() && t.iter().all(|t| !t.is_sign("{"));
        if let Some(tokens) = tokens.filter(plain) {
            self.0.push((name, tokens.to_vec()));
        }
    }

    /// The type with names replaced by what they stand for.
    fn resolved(&self, mut tokens: Vec<Token<'a>>) -> Vec<Token<'a>> {
        for _ in 0..MOST_STEPS {
            let known = |(i, t): (usize, &Token<'a>)| {
                let qualified = i > 0 && tokens[i - 1].is_sign(":");
                let alias = self.0.iter().rev().find(|(name, _)| t.is_word() && !qualified && *name == t.text);
                alias.map(|(_, tokens)| (i, tokens))
            };
            let Some((i, replacement)) = tokens.iter().enumerate().find_map(known) else { break };
            if tokens.len() + replacement.len() > MOST_TOKENS {
                break;
            }
            tokens.splice(i..=i, replacement.iter().copied());
        }
        tokens
    }

    /// What stands between a kernel's parentheses.
    pub(super) fn parameters(&self, tokens: &[Token<'a>]) -> Result<Vec<Parameter>, Fault> {
        if tokens.is_empty() || matches!(tokens, [only] if only.text == "void") {
            return Ok(Vec::new());
        }
        split(tokens)?.into_iter().map(|(at, tokens)| self.parameter(at, tokens)).collect()
    }

    fn parameter(&self, at: usize, tokens: &[Token<'a>]) -> Result<Parameter, Fault> {
        let mut tokens = without_attributes(tokens)?;
        if let Some(default) = tokens.iter().position(|t| t.is_sign("=")) {
            tokens.truncate(default);
        }
        if tokens.is_empty() {
            return Err(Fault::new(at, "expected a parameter"));
        }
        let mut arrays = false;
        while tokens.last().is_some_and(|t| t.is_sign("]")) {
            let Some(open) = tokens.iter().rposition(|t| t.is_sign("[")) else { break };
            tokens.truncate(open);
            arrays = true;
        }
        let function =
            tokens.windows(2).find(|pair| pair[0].is_sign("(") && (pair[1].is_sign("*") || pair[1].is_sign("&")));
        let refused = [("&", "a reference"), (".", "`...`")].into_iter();
        let refused = refused.filter_map(|(sign, what)| Some((tokens.iter().find(|t| t.is_sign(sign))?.at, what)));
        let pointer = function.map(|pair| (pair[0].at, "a pointer to a function or to an array"));
        if let Some((at, what)) = pointer.into_iter().chain(refused).next() {
            return Err(Fault::new(at, format!("a kernel is not launched with {what}: take a pointer or a value")));
        }
        let name = take_name(&mut tokens);
        let mut tokens = self.resolved(tokens);
        tokens.retain(|t| !is_ignored(t.text));
        let star = tokens.iter().rposition(|t| t.is_sign("*"));
        let (pointee, pointer) = match (arrays, star) {
            (true, _) => (&tokens[..], true),
            (false, Some(star)) => (&tokens[..star], true),
            (false, None) => (&tokens[..], false),
        };
        let inner = pointee.iter().rposition(|t| t.is_sign("*")).map_or(0, |star| star + 1);
        let constant = pointee[inner..].iter().any(|t| t.text == "const");
        let text = text(pointee);
        if text.is_empty() {
            return Err(Fault::new(at, "expected a type"));
        }
        let of = CudaType::read(&text);
        let kind = match pointer {
            true => ParameterKind::Pointer { to: of, constant },
            false if of == CudaType::Void => return Err(Fault::new(at, "a parameter cannot be `void`")),
            false => ParameterKind::Value(of),
        };
        Ok(Parameter { name, kind })
    }
}

/// Parts with commas between them, each with its place; commas inside brackets do not count.
fn split<'t, 'a>(tokens: &'t [Token<'a>]) -> Result<Vec<(usize, &'t [Token<'a>])>, Fault> {
    let (mut parts, mut begin, mut angles, mut i) = (Vec::new(), 0, 0usize, 0);
    let place = |i: usize| tokens.get(i).or(tokens.last()).map_or(0, |t| t.at);
    while let Some(token) = tokens.get(i) {
        match (token.kind, token.text) {
            (Kind::Sign, "(" | "[" | "{") => i = closing(tokens, i)?,
            (Kind::Sign, "<") => angles += 1,
            (Kind::Sign, ">") => angles = angles.saturating_sub(1),
            (Kind::Sign, ",") if angles == 0 => {
                parts.push((place(begin), &tokens[begin..i]));
                begin = i + 1;
            }
            _ => {}
        }
        i += 1;
    }
    parts.push((place(begin), &tokens[begin..]));
    Ok(parts)
}

/// Words that change nothing for a caller.
fn is_ignored(word: &str) -> bool {
    let words = ["volatile", "struct", "class", "enum", "union", "typename", "register", "__grid_constant__"];
    words.contains(&word) || word.starts_with("__restrict")
}

/// Without `alignas(16)`, `__align__(16)`, `[[maybe_unused]]` and such.
fn without_attributes<'a>(tokens: &[Token<'a>]) -> Result<Vec<Token<'a>>, Fault> {
    let (mut kept, mut i) = (Vec::new(), 0);
    while let Some(token) = tokens.get(i) {
        let next_is = |sign| tokens.get(i + 1).is_some_and(|t| t.is_sign(sign));
        if token.is_word() && super::is_attribute(token.text) && next_is("(") {
            i = closing(tokens, i + 1)?;
        } else if token.is_sign("[") && next_is("[") {
            i = closing(tokens, i)?;
        } else if !is_ignored(token.text) {
            kept.push(*token);
        }
        i += 1;
    }
    Ok(kept)
}

/// Takes the parameter's name off its end; there may be none.
fn take_name(tokens: &mut Vec<Token<'_>>) -> String {
    const TYPES: [&str; 11] =
        ["const", "unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "void"];
    let Some((last, before)) = tokens.split_last() else { return String::new() };
    let names_type = !before.iter().any(|t| t.is_word() && t.text != "const");
    let qualified = before.last().is_some_and(|t| t.is_sign(":"));
    if !last.is_word() || TYPES.contains(&last.text) || names_type || qualified {
        return String::new();
    }
    let name = last.text.to_owned();
    tokens.pop();
    name
}

/// The type as one text, `const` left out; a space between words.
fn text(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    let mut after_word = false;
    for token in tokens.iter().filter(|t| t.text != "const") {
        let is_word = matches!(token.kind, Kind::Word | Kind::Number);
        if is_word && after_word {
            text.push(' ');
        }
        text.push_str(token.text);
        after_word = is_word;
    }
    text
}

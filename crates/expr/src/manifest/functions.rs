//! Functions that are given as text, in manifests: what a program's own are, so that a tool which does not have them emits the same.

use super::lex::{Line, Parsed, mistake, nearest};
use super::names::{is_word, kept, read_dtype, word_of};
use crate::dtype::DType;
use crate::extend::{Constant, Function, Source, Text, elementary};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Most arguments of a function, and most results.
const MOST: [usize; 2] = [6, 4];
/// Functions that call each other, one inside the other.
const DEEPEST: usize = 64;
/// Longest name of a function.
const LONGEST: usize = 200;

/// The texts of a function. One that kernels do not call themselves, but functions do, has no signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionText {
    /// What the manifest calls it: other functions may have its name.
    pub id: String,
    /// What kernels and explanations call it.
    pub name: String,
    /// `(f32, f32) (f32)`: the types of its arguments, and of its results.
    pub signature: Option<String>,
    /// `written` by `#[scalar_fn]`, `cuda` by hand, or `elementary`.
    pub form: String,
    /// Its text.
    pub text: String,
    /// The functions that it calls, by id; elementary ones by name and type: `exp f32`.
    pub callees: Vec<String>,
    /// The constants that it reads: the name, then the declaration.
    pub constants: Vec<String>,
}

/// Which piece of a function's text a mistake is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionPart {
    /// Its id.
    Id,
    /// Its name.
    Name,
    /// Its signature.
    Signature,
    /// Its form.
    Form,
    /// Its text.
    Text,
    /// A callee, by its number.
    Callee(usize),
    /// A constant, by its number.
    Constant(usize),
}

/// The ids of the functions of a manifest.
pub(super) fn id_of(function: Function) -> String {
    print_text(function.text(), Some(signature(function))).id
}

fn signature(function: Function) -> String {
    let list = |types: &[DType]| types.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ");
    format!("({}) ({})", list(function.arguments()), list(function.results()))
}

/// The texts of a function and of all that it calls, callees first.
pub fn print_function(function: Function) -> Vec<FunctionText> {
    fn visit(text: &'static Text, all: &mut Vec<FunctionText>) {
        if let Source::Elementary(_) = text.source {
            return;
        }
        text.callees.iter().for_each(|callee| visit(callee, all));
        let printed = print_text(text, None);
        if all.iter().all(|known| known.id != printed.id) {
            all.push(printed);
        }
    }
    let mut all = Vec::new();
    function.text().callees.iter().for_each(|callee| visit(callee, &mut all));
    all.push(print_text(function.text(), Some(signature(function))));
    all
}

fn callee(text: &'static Text) -> String {
    match &text.source {
        Source::Elementary(function) => format!("{} {}", text.name, function.dtype()),
        _ => print_text(text, None).id,
    }
}

fn print_text(text: &'static Text, signature: Option<String>) -> FunctionText {
    let (form, source) = match &text.source {
        Source::Written(source) => ("written", source.to_string()),
        Source::Cuda(source) => ("cuda", source.to_string()),
        Source::Elementary(_) => ("elementary", callee(text)),
    };
    let constants = text.constants.iter().map(|(name, c)| format!("{name} {}", c.declaration(name)));
    let mut printed = FunctionText {
        id: String::new(),
        name: text.name.into(),
        signature,
        form: form.into(),
        text: source,
        callees: text.callees.iter().map(|t| callee(t)).collect(),
        constants: constants.collect(),
    };
    printed.id = format!("{}_{:016x}", word_of(text.name), printed.hash());
    printed
}

impl FunctionText {
    /// FNV-1a over everything: the same in every process.
    fn hash(&self) -> u64 {
        let lists = self.callees.iter().chain(&self.constants).map(String::as_str);
        let parts = [&*self.name, &*self.form, &*self.text, self.signature.as_deref().unwrap_or("")];
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for part in parts.into_iter().chain(lists) {
            for byte in part.bytes().chain([0xff]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        hash
    }
}

/// A constant of which the declaration alone is known.
#[derive(Debug)]
struct Declared(&'static str);

impl Constant for Declared {
    fn declaration(&self, _: &str) -> String {
        self.0.into()
    }
}

/// The functions of a manifest, by id.
#[derive(Debug, Default)]
pub struct Functions {
    known: HashMap<String, Known>,
}

#[derive(Debug)]
struct Known {
    text: &'static Text,
    /// Which result of it is the first, where it can be called by kernels.
    function: Option<Function>,
    depth: usize,
}

impl Functions {
    /// Adds a function, behind those that it calls. One that is there already is kept once. What is not in order comes back with
    /// the part that it stands in.
    pub fn add(&mut self, given: &FunctionText) -> Result<(), (FunctionPart, super::Mistake)> {
        let within = |part: FunctionPart| move |m: super::Mistake| (part, m);
        let id = given.id.as_str();
        if !is_word(id) {
            let wrong = "the id of a function is a word of letters, digits and `_`";
            return mistake(0, wrong).map_err(within(FunctionPart::Id));
        }
        if given.name.is_empty() || given.name.len() > LONGEST || given.name.contains(char::is_control) {
            let wrong = format!("the name of a function has 1 to {LONGEST} characters, and no line ends");
            return mistake(0, wrong).map_err(within(FunctionPart::Name));
        }
        let signature =
            given.signature.as_deref().map(read_signature).transpose().map_err(within(FunctionPart::Signature))?;
        let (mut callees, mut depth) = (Vec::new(), 0);
        for (number, callee) in given.callees.iter().enumerate() {
            let (text, below) = self.callee(callee).map_err(within(FunctionPart::Callee(number)))?;
            callees.push(text);
            depth = depth.max(below + 1);
        }
        if depth > DEEPEST {
            let wrong = format!("functions that call each other are at most {DEEPEST} deep");
            return mistake(0, wrong).map_err(within(FunctionPart::Id));
        }
        let mut constants = Vec::new();
        for (number, constant) in given.constants.iter().enumerate() {
            let split = constant.split_once(' ').filter(|(name, _)| is_word(name));
            let Some((name, declaration)) = split else {
                let wrong = "a constant is its name and its declaration: `TABLE const float TABLE[2] = {1.0f, 2.0f};`";
                return mistake(0, wrong).map_err(within(FunctionPart::Constant(number)));
            };
            constants.push((kept(name), kept(declaration)));
        }
        let source = source(given, callees.len())?;
        let text = interned(&given.name, source, callees, constants);
        let function = signature.map(|(arguments, results)| Function::foreign(text, &arguments, &results));
        match self.known.get(id) {
            Some(known) if known.text != text || known.function != function => {
                let wrong = format!("function `{id}` stands here twice, with different texts");
                mistake(0, wrong).map_err(within(FunctionPart::Id))
            }
            Some(_) => Ok(()),
            None => {
                self.known.insert(id.into(), Known { text, function, depth });
                Ok(())
            }
        }
    }

    fn callee(&self, id: &str) -> Parsed<(&'static Text, usize)> {
        if let Some(text) = elementary_of(id) {
            return Ok((text, 0));
        }
        match self.known.get(id) {
            Some(known) => Ok((known.text, known.depth)),
            None => {
                let near = nearest(id, self.known.keys().map(String::as_str));
                mistake(
                    0,
                    format!(
                        "no function `{}` stands above; {near}, or an elementary one: `exp f32`",
                        super::lex::short(id)
                    ),
                )
            }
        }
    }

    /// Reads which function is called.
    pub(super) fn read(&self, line: &mut Line<'_>) -> Parsed<Function> {
        let id = line.word("a function")?;
        let callable = || self.known.iter().filter(|(_, known)| known.function.is_some()).map(|(id, _)| id.as_str());
        let Some(function) = self.known.get(id).and_then(|known| known.function) else {
            return line
                .refuse(format!("the manifest has no function `{id}` that kernels call; {}", nearest(id, callable())));
        };
        let results = function.results().len();
        if results == 1 {
            return Ok(function);
        }
        let number = line.integer("the number of a result", (0, results as i64 - 1))?;
        Ok(function.giving(number as u8))
    }
}

/// What a function's text is.
fn source(given: &FunctionText, callees: usize) -> Result<Source, (FunctionPart, super::Mistake)> {
    let wrong = |part: FunctionPart, at: usize, message: &str| mistake(at, message).map_err(|m| (part, m));
    match given.form.as_str() {
        "written" => {
            check_written(&given.text, callees).map_err(|m| (FunctionPart::Text, m))?;
            Ok(Source::Written(kept(&given.text)))
        }
        "cuda" => match crate::extend::check_cuda(&given.text) {
            Ok(()) => Ok(Source::Cuda(kept(&given.text))),
            Err(error) => wrong(FunctionPart::Text, 0, &error.to_string()),
        },
        "elementary" => match elementary_of(&given.text) {
            Some(text) => Ok(text.source),
            None => wrong(FunctionPart::Text, 0, "an elementary function is a name and `f32` or `f64`: `exp f32`"),
        },
        _ => wrong(FunctionPart::Form, 0, "a function is `written`, `cuda` or `elementary`"),
    }
}

/// What `$` stands before.
fn check_written(text: &str, callees: usize) -> Parsed<()> {
    for (at, _) in text.match_indices('$') {
        let rest = &text[at + 1..];
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        let known = match digits {
            "" => rest.starts_with(['q', 'c', 'f']),
            digits => digits.parse::<usize>().is_ok_and(|number| number < callees),
        };
        if !known {
            let wrong =
                format!("`$` stands before `f`, `q`, `c`, or the number of a callee, of which there are {callees}");
            return mistake(at, wrong);
        }
    }
    Ok(())
}

/// The elementary function of a name and a type.
fn elementary_of(text: &str) -> Option<&'static Text> {
    let (name, dtype) = text.split_once(' ')?;
    let place = ["f32", "f64"].iter().position(|d| *d == dtype)?;
    elementary::ELEMENTARY.iter().map(|texts| texts[place]).find(|text| text.name == name)
}

fn read_signature(text: &str) -> Parsed<(Vec<DType>, Vec<DType>)> {
    let mut line = Line::new(text, 0);
    let mut types = |most: usize| {
        let types = line.list(read_dtype)?;
        if types.is_empty() || types.len() > most {
            return line.refuse(format!("a function has 1 to {} arguments and 1 to {} results", MOST[0], MOST[1]));
        }
        Ok(types)
    };
    let both = (types(MOST[0])?, types(MOST[1])?);
    line.end()?;
    Ok(both)
}

/// A text that lives as long as the program; each is kept once.
fn interned(
    name: &str,
    source: Source,
    callees: Vec<&'static Text>,
    constants: Vec<(&'static str, &'static str)>,
) -> &'static Text {
    static TEXTS: Mutex<Option<HashMap<String, &'static Text>>> = Mutex::new(None);
    let places: Vec<usize> = callees.iter().map(|text| std::ptr::from_ref(*text).addr()).collect();
    let key = format!("{:?}", (name, source, places, &constants));
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    if let Some(known) = texts.get(&key) {
        return known;
    }
    let constants = constants.into_iter().map(|(name, declaration)| {
        let constant: &'static dyn Constant = Box::leak(Box::new(Declared(declaration)));
        (name, constant)
    });
    let constants: Vec<(&'static str, &'static dyn Constant)> = constants.collect();
    let text = Text { name: kept(name), source, callees: callees.leak(), constants: constants.leak() };
    let text: &'static Text = Box::leak(Box::new(text));
    texts.insert(key, text);
    text
}

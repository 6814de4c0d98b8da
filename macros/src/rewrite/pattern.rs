//! Patterns: `BiasAdd { value: conv @ Conv2D { input, filter, data_format = "NHWC" }, bias }`.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Lit, Path, Token, braced, bracketed, token};

/// A node: the ops that it may be of, its inputs and attrs, and the output that is meant.
pub(super) struct NodePattern {
    pub(super) capture: Option<Ident>,
    pub(super) ops: Vec<Path>,
    pub(super) inputs: Vec<(Ident, Operand)>,
    pub(super) attrs: Vec<(Ident, Lit, Option<Ident>)>,
    /// Whether inputs that are not named may be anything.
    pub(super) is_open: bool,
    /// The output after the braces: `Split { .. }.output`.
    pub(super) output: Option<Ident>,
    /// The end of the braces.
    pub(super) end: Span,
}

/// What an input is.
pub(super) enum Operand {
    /// `_`
    Any,
    /// `x`
    Output(Ident),
    /// `const c`
    Constant(Ident),
    /// `xs @ ..`
    List(Ident),
    /// `[a, b]`
    Each(Vec<Operand>),
    /// `conv @ Conv2D { .. }`
    Node(Box<NodePattern>),
}

impl Parse for NodePattern {
    fn parse(input: ParseStream<'_>) -> syn::Result<NodePattern> {
        let capture = match input.peek(syn::Ident) && input.peek2(Token![@]) {
            true => {
                let name = input.parse()?;
                input.parse::<Token![@]>()?;
                Some(name)
            }
            false => None,
        };
        let mut ops = vec![input.call(Path::parse_mod_style)?];
        while input.parse::<Option<Token![|]>>()?.is_some() {
            ops.push(input.call(Path::parse_mod_style)?);
        }
        if !input.peek(token::Brace) {
            let message =
                "expected the inputs of the op in braces: `Conv2D { input, filter }`; `{ .. }` stands for any";
            let last = ops.last().map_or_else(Span::call_site, |op| op.span());
            return Err(syn::Error::new(last, message));
        }
        let content;
        let braces = braced!(content in input);
        let mut node = NodePattern {
            capture,
            ops,
            inputs: Vec::new(),
            attrs: Vec::new(),
            is_open: false,
            output: None,
            end: braces.span.close(),
        };
        while !content.is_empty() {
            if content.parse::<Option<Token![..]>>()?.is_some() {
                node.is_open = true;
                if !content.is_empty() {
                    return Err(content.error("`..` stands at the end"));
                }
                break;
            }
            node.field(&content)?;
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        if input.parse::<Option<Token![.]>>()?.is_some() {
            node.output = Some(input.call(Ident::parse_any)?);
        }
        Ok(node)
    }
}

impl NodePattern {
    /// `input`, `input: operand` or `attr = value`.
    fn field(&mut self, content: ParseStream<'_>) -> syn::Result<()> {
        if content.parse::<Option<Token![const]>>()?.is_some() {
            let name: Ident = content.parse()?;
            self.input(name.clone(), Operand::Constant(name))?;
            return Ok(());
        }
        let name = content.call(Ident::parse_any)?;
        if content.parse::<Option<Token![=]>>()?.is_some() {
            // A dtype is a word, as in `T = float`.
            let (value, word) = match content.peek(syn::Ident) && !content.peek(syn::LitBool) {
                true => {
                    let word: Ident = content.parse()?;
                    (Lit::new(proc_macro2::Literal::string(&word.to_string())), Some(word))
                }
                false => (content.parse::<Lit>()?, None),
            };
            if !matches!(value, Lit::Str(_) | Lit::Int(_) | Lit::Bool(_)) {
                let message = "expected a string, an integer, a bool or a dtype: ask for others in the function";
                return Err(syn::Error::new(value.span(), message));
            }
            self.attrs.push((name, value, word));
            return Ok(());
        }
        let operand = match content.parse::<Option<Token![:]>>()? {
            Some(_) => content.parse()?,
            None => Operand::Output(name.clone()),
        };
        self.input(name, operand)
    }

    fn input(&mut self, name: Ident, operand: Operand) -> syn::Result<()> {
        if self.inputs.iter().any(|(other, _)| *other == name) {
            return Err(syn::Error::new(name.span(), format!("input `{name}` is named twice")));
        }
        self.inputs.push((name, operand));
        Ok(())
    }
}

impl Parse for Operand {
    fn parse(input: ParseStream<'_>) -> syn::Result<Operand> {
        if input.parse::<Option<Token![_]>>()?.is_some() {
            return Ok(Operand::Any);
        }
        if input.parse::<Option<Token![const]>>()?.is_some() {
            return Ok(Operand::Constant(input.parse()?));
        }
        if input.peek(token::Bracket) {
            let content;
            bracketed!(content in input);
            let mut operands = Vec::new();
            while !content.is_empty() {
                operands.push(content.parse()?);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            return Ok(Operand::Each(operands));
        }
        if input.peek(syn::Ident) && input.peek2(Token![@]) && input.peek3(Token![..]) {
            let name = input.parse()?;
            input.parse::<Token![@]>()?;
            input.parse::<Token![..]>()?;
            return Ok(Operand::List(name));
        }
        let is_name = input.peek(syn::Ident)
            && !input.peek2(Token![@])
            && !input.peek2(Token![::])
            && !input.peek2(Token![|])
            && !input.peek2(token::Brace);
        if is_name {
            return Ok(Operand::Output(input.parse()?));
        }
        Ok(Operand::Node(Box::new(input.parse()?)))
    }
}

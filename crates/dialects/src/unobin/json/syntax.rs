//! Reading JSON text.
//!
//! The whole text is checked before anything is made of it, so a document that ends too early is never half of one.

use super::quote;
use super::strings::unquoted;

/// How deep values may stand in each other. Go allows 10,000; what nobody writes must not end us by our stack.
const DEEPEST: usize = 1000;

/// A piece of text that is known to be JSON.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    Null,
    Bool(bool),
    /// The digits as they stand there.
    Number(&'a str),
    /// What stands between the quotes, escapes and all.
    String(&'a [u8]),
    Array(Vec<Node<'a>>),
    /// The members in their order, those that come twice too.
    Object(Vec<(String, Node<'a>)>),
}

/// Reads a document.
pub(crate) fn parse(text: &[u8]) -> Result<Node<'_>, String> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let node = parser.value()?;
    parser.skip_space();
    match parser.peek() {
        None => Ok(node),
        Some(byte) => Err(invalid(byte, "after top-level value")),
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

fn invalid(byte: u8, context: &str) -> String {
    format!("invalid character {} {context}", quote::byte(byte))
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The next byte, which must be there.
    fn here(&self) -> Result<u8, String> {
        self.peek().ok_or_else(|| "unexpected end of JSON input".to_owned())
    }

    /// The next byte of a token that is not whole yet. Where the text ends, Go takes it for one with a space behind it.
    fn inside(&self) -> u8 {
        self.peek().unwrap_or(b' ')
    }

    /// The first byte of the next token, which must be there.
    fn token(&mut self) -> Result<u8, String> {
        self.skip_space();
        self.here()
    }

    fn value(&mut self) -> Result<Node<'a>, String> {
        match self.token()? {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'"' => Ok(Node::String(self.string()?)),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Node::Bool(true)),
            b'f' => self.word("false", Node::Bool(false)),
            b'n' => self.word("null", Node::Null),
            byte => Err(invalid(byte, "looking for beginning of value")),
        }
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Node<'a>, String>,
    ) -> Result<Node<'a>, String> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("exceeded max depth".to_owned());
        }
        let node = read(self)?;
        self.depth -= 1;
        Ok(node)
    }

    fn object(&mut self) -> Result<Node<'a>, String> {
        let mut members = Vec::new();
        if self.token()? == b'}' {
            self.at += 1;
            return Ok(Node::Object(members));
        }
        loop {
            match self.token()? {
                b'"' => {}
                byte => return Err(invalid(byte, "looking for beginning of object key string")),
            }
            let name = unquoted(self.string()?);
            match self.token()? {
                b':' => self.at += 1,
                byte => return Err(invalid(byte, "after object key")),
            }
            members.push((name, self.value()?));
            let byte = self.token()?;
            self.at += 1;
            match byte {
                b',' => {}
                b'}' => return Ok(Node::Object(members)),
                byte => return Err(invalid(byte, "after object key:value pair")),
            }
        }
    }

    fn array(&mut self) -> Result<Node<'a>, String> {
        let mut items = Vec::new();
        if self.token()? == b']' {
            self.at += 1;
            return Ok(Node::Array(items));
        }
        loop {
            items.push(self.value()?);
            let byte = self.token()?;
            self.at += 1;
            match byte {
                b',' => {}
                b']' => return Ok(Node::Array(items)),
                byte => return Err(invalid(byte, "after array element")),
            }
        }
    }

    /// Takes a string and gives what is between its quotes.
    fn string(&mut self) -> Result<&'a [u8], String> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.here()? {
                b'"' => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at - 1]);
                }
                b'\\' => self.escape()?,
                byte @ 0..=0x1f => return Err(invalid(byte, "in string literal")),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        self.at += 1;
        let byte = self.inside();
        self.at += 1;
        match byte {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    let digit = self.inside();
                    if !digit.is_ascii_hexdigit() {
                        return Err(invalid(digit, "in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
                Ok(())
            }
            byte => Err(invalid(byte, "in string escape code")),
        }
    }

    fn number(&mut self) -> Result<Node<'a>, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.inside() == b'0' {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        // Only ASCII was passed over.
        Ok(Node::Number(std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()))
    }

    /// Takes at least one digit.
    fn digits(&mut self, context: &str) -> Result<(), String> {
        let byte = self.inside();
        if !byte.is_ascii_digit() {
            return Err(invalid(byte, context));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn word(&mut self, word: &str, node: Node<'a>) -> Result<Node<'a>, String> {
        for expected in word.bytes() {
            let byte = self.inside();
            if byte != expected {
                let context = format!("in literal {word} (expecting {})", quote::byte(expected));
                return Err(invalid(byte, &context));
            }
            self.at += 1;
        }
        Ok(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_in_the_words_of_go() {
        for (text, expected) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("[1", "unexpected end of JSON input"),
            ("-", "invalid character ' ' in numeric literal"),
            ("1e", "invalid character ' ' in exponent of numeric literal"),
            ("\"\\", "invalid character ' ' in string escape code"),
            ("\"a", "unexpected end of JSON input"),
            ("tru", "invalid character ' ' in literal true (expecting 'e')"),
            ("trux", "invalid character 'x' in literal true (expecting 'e')"),
            ("nul!", "invalid character '!' in literal null (expecting 'l')"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1e]", "invalid character ']' in exponent of numeric literal"),
            ("{1", "invalid character '1' looking for beginning of object key string"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("1 2", "invalid character '2' after top-level value"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("\"\u{0}\"", "invalid character '\\x00' in string literal"),
            ("\u{a0}", "invalid character 'Â' looking for beginning of value"),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_too_deep_is_refused_and_not_run_into() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(deep(DEEPEST).as_bytes()).is_ok());
        assert_eq!(parse(deep(1_000_000).as_bytes()).unwrap_err(), "exceeded max depth");
    }
}

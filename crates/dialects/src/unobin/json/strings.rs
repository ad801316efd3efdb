//! What the text between two quotes says.

/// Half of a surrogate pair, or a byte that is no UTF-8.
const REPLACEMENT: char = '\u{fffd}';

/// The string that JSON text between quotes stands for. Whatever is no character becomes U+FFFD, a byte at a time, as
/// Go does it.
pub(crate) fn unquoted(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    for chunk in raw.utf8_chunks() {
        unescape(chunk.valid(), &mut text);
        text.extend(std::iter::repeat_n(REPLACEMENT, chunk.invalid().len()));
    }
    text
}

fn unescape(valid: &str, text: &mut String) {
    let mut rest = valid;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        let escape = &rest[backslash + 1..];
        let (character, length) = match escape.as_bytes().first() {
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'u') => unicode(escape),
            Some(&byte) => (byte.into(), 1),
            None => (REPLACEMENT, 0),
        };
        text.push(character);
        rest = escape.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
}

/// What `u` and its digits stand for, with a second escape when the two are a pair; and how long that is.
fn unicode(escape: &str) -> (char, usize) {
    let Some(first) = code_unit(escape.get(1..)) else { return (REPLACEMENT, 1) };
    if let Some(character) = char::from_u32(first) {
        return (character, 5);
    }
    let second = escape.get(5..).and_then(|rest| rest.strip_prefix("\\u"));
    let pair = code_unit(second).filter(|second| (0xdc00..0xe000).contains(second) && first < 0xdc00);
    match pair.and_then(|second| char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))) {
        Some(character) => (character, 11),
        None => (REPLACEMENT, 5),
    }
}

fn code_unit(digits: Option<&str>) -> Option<u32> {
    u32::from_str_radix(digits?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn what_is_no_character_is_replaced_a_byte_at_a_time() {
        assert_eq!(unquoted(b"\xe2\x80A"), "\u{fffd}\u{fffd}A");
        assert_eq!(unquoted(b"\xed\xa0\x80"), "\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(unquoted(br"\ud800\ud800\udc00"), "\u{fffd}\u{10000}");
        assert_eq!(unquoted(br"\udc00\ud800x"), "\u{fffd}\u{fffd}x");
        assert_eq!(unquoted(br"\ud83d\ude00\u00e9\/"), "\u{1f600}\u{e9}/");
    }
}

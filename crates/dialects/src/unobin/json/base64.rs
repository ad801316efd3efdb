//! Base64 as Go's standard encoding reads it: padded, line breaks skipped, errors by the place of the byte.

/// Text that is no base64.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("illegal base64 data at input byte {at}")]
pub struct CorruptBase64 {
    /// Where it stops being base64.
    pub at: usize,
}

/// Decodes a text.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, CorruptBase64> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut at = 0;
    while let Some(taken) = group(text, &mut at)? {
        let bits = taken.digits.iter().fold(0u32, |bits, digit| bits << 6 | u32::from(*digit));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=taken.bytes]);
        if taken.bytes < 3 && at < text.len() {
            return Err(CorruptBase64 { at });
        }
    }
    Ok(bytes)
}

/// Four digits, of which the last stand for nothing when there are fewer than three bytes.
struct Group {
    digits: [u8; 4],
    bytes: usize,
}

fn group(text: &[u8], at: &mut usize) -> Result<Option<Group>, CorruptBase64> {
    let mut digits = [0; 4];
    let mut filled = 0;
    while filled < digits.len() {
        let Some(&byte) = text.get(*at) else {
            return if filled == 0 { Ok(None) } else { Err(CorruptBase64 { at: *at - filled }) };
        };
        *at += 1;
        match (digit(byte), byte) {
            (Some(digit), _) => {
                digits[filled] = digit;
                filled += 1;
            }
            (None, b'\n' | b'\r') => {}
            (None, b'=') if filled >= 2 => {
                if filled == 2 {
                    second_padding(text, at)?;
                }
                skip_line_breaks(text, at);
                return Ok(Some(Group { digits, bytes: filled - 1 }));
            }
            (None, _) => return Err(CorruptBase64 { at: *at - 1 }),
        }
    }
    Ok(Some(Group { digits, bytes: 3 }))
}

fn second_padding(text: &[u8], at: &mut usize) -> Result<(), CorruptBase64> {
    skip_line_breaks(text, at);
    match text.get(*at) {
        None => Err(CorruptBase64 { at: text.len() }),
        Some(b'=') => {
            *at += 1;
            Ok(())
        }
        Some(_) => Err(CorruptBase64 { at: *at - 1 }),
    }
}

fn skip_line_breaks(text: &[u8], at: &mut usize) {
    while matches!(text.get(*at), Some(b'\n' | b'\r')) {
        *at += 1;
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::base64::{Engine, engine::general_purpose::STANDARD};

    #[test]
    fn what_others_encode_is_decoded() {
        for length in 0..40u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(37)).collect();
            assert_eq!(decode(STANDARD.encode(&bytes).as_bytes()).unwrap(), bytes);
        }
    }

    #[test]
    fn a_bad_text_is_told_by_its_place() {
        for (text, at) in [
            ("aGVsbG8", 4),
            ("_-8=", 0),
            ("a", 0),
            ("=", 0),
            ("a===", 1),
            ("aa=", 3),
            ("aa=a", 2),
            ("aGVsbG8=x", 8),
            ("aa==aa==", 4),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(CorruptBase64 { at }), "{text}");
        }
        assert_eq!(decode(b"aG\nVs\r\nbG8=\n").unwrap(), b"hello");
        assert_eq!(decode(b"aGVsbG9=").unwrap(), b"hello", "bits that stand for nothing may be anything");
    }
}

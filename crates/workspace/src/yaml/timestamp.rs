//! Timestamps among plain scalars. The stock CLI reads an unquoted date as a moment and shows it spelled out, so a
//! program that asks for the value receives that spelling from either tool.

/// The spelled-out form of a scalar that is a date or a moment.
pub(crate) fn parse(text: &str) -> Option<String> {
    let mut rest = Digits(text);
    let year = rest.exactly(4)?;
    rest.skip('-')?;
    let month = rest.one_or_two()?;
    rest.skip('-')?;
    let day = rest.one_or_two()?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if rest.0.is_empty() {
        return Some(format!("{date} 00:00:00 +0000 UTC"));
    }
    let zoned = match rest.0.as_bytes()[0] {
        b'T' | b't' => true,
        b' ' => false,
        _ => return None,
    };
    rest.0 = &rest.0[1..];
    let clock = clock(&mut rest)?;
    let zone = if zoned { zone(&mut rest)? } else { "+0000 UTC".to_owned() };
    rest.0.is_empty().then(|| format!("{date} {clock} {zone}"))
}

/// `15:04:05`, with a fraction when there is one.
fn clock(rest: &mut Digits<'_>) -> Option<String> {
    let hour = rest.one_or_two()?;
    rest.skip(':')?;
    let minute = rest.one_or_two()?;
    rest.skip(':')?;
    let second = rest.one_or_two()?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut fraction = String::new();
    if let Some(after) = rest.0.strip_prefix(['.', ','])
        && after.starts_with(|digit: char| digit.is_ascii_digit())
    {
        let length = after.bytes().take_while(u8::is_ascii_digit).count();
        fraction = after[..length.min(9)].trim_end_matches('0').to_owned();
        rest.0 = &after[length..];
    }
    if !fraction.is_empty() {
        fraction.insert(0, '.');
    }
    Some(format!("{hour:02}:{minute:02}:{second:02}{fraction}"))
}

/// `Z` or an offset, spelled as the offset and the name of the zone.
fn zone(rest: &mut Digits<'_>) -> Option<String> {
    let sign = rest.0.chars().next()?;
    rest.0 = &rest.0[1..];
    match sign {
        'Z' => Some("+0000 UTC".to_owned()),
        '+' | '-' => {
            let hours = rest.exactly(2)?;
            rest.skip(':')?;
            let minutes = rest.exactly(2)?;
            match (hours, minutes) {
                (0, 0) => Some("+0000 UTC".to_owned()),
                (..=24, ..=59) => Some(format!("{sign}{hours:02}{minutes:02} {sign}{hours:02}{minutes:02}")),
                _ => None,
            }
        }
        _ => None,
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What is left of a text that is being read number by number.
struct Digits<'a>(&'a str);

impl Digits<'_> {
    fn exactly(&mut self, count: usize) -> Option<u32> {
        let digits = self.0.get(..count)?;
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        self.0 = &self.0[count..];
        digits.parse().ok()
    }

    fn one_or_two(&mut self) -> Option<u32> {
        self.exactly(2).or_else(|| self.exactly(1))
    }

    fn skip(&mut self, character: char) -> Option<()> {
        self.0 = self.0.strip_prefix(character)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn moments_are_spelled_as_the_stock_cli_shows_them() {
        for (text, shown) in [
            ("2020-01-01", "2020-01-01 00:00:00 +0000 UTC"),
            ("2020-1-9", "2020-01-09 00:00:00 +0000 UTC"),
            ("2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.1 -0500 -0500"),
            ("2001-12-14 21:59:43.1", "2001-12-14 21:59:43.1 +0000 UTC"),
            ("2001-12-14T21:59:43Z", "2001-12-14 21:59:43 +0000 UTC"),
            ("2024-02-29", "2024-02-29 00:00:00 +0000 UTC"),
        ] {
            assert_eq!(parse(text).as_deref(), Some(shown), "{text}");
        }
        for text in [
            "2020-13-01",
            "2023-02-29",
            "2020-01-01x",
            "2020",
            "20200101",
            "2020-01-01T25:00:00Z",
            "2020-01-01 ",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

//! The order in which new members are written.

use std::cmp::Ordering;

/// Puts named things into that order. The comparison is not a total order for all names, which the sorts of the
/// standard library may not take; inserting one after the other takes any.
pub(crate) fn sort<T>(things: Vec<(&str, T)>) -> Vec<(&str, T)> {
    let mut sorted: Vec<(&str, T)> = Vec::with_capacity(things.len());
    for thing in things {
        let at = sorted.partition_point(|(name, _)| natural(name, thing.0) == Ordering::Less);
        sorted.insert(at, thing);
    }
    sorted
}

/// Compares two names as the stock CLI's YAML writer sorts them: letter by letter, runs of digits as numbers, and
/// anything that is not a letter before letters.
fn natural(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut after_digit = false;
    for index in 0..a.len().min(b.len()) {
        let (left, right) = (a[index], b[index]);
        if left == right {
            after_digit = is_digit(left);
            continue;
        }
        return match (left.is_alphabetic(), right.is_alphabetic()) {
            (true, true) => left.cmp(&right),
            (true, false) => {
                if after_digit {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (false, true) => {
                if after_digit {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (false, false) => digits(&a, &b, index).then(left.cmp(&right)),
        };
    }
    a.len().cmp(&b.len())
}

/// Compares the numbers that start at `index`; a zero there counts as a digit of the number before it, if there is one.
/// Numbers wrap around at 64 bits, as they do in the stock CLI.
fn digits(a: &[char], b: &[char], index: usize) -> Ordering {
    let continues = (a[index] == '0' || b[index] == '0')
        && a[..index].iter().rev().take_while(|digit| is_digit(**digit)).any(|digit| *digit != '0');
    let number = |text: &[char]| {
        let digits = text[index..].iter().take_while(|digit| is_digit(**digit));
        digits.fold((i64::from(continues), 0_usize), |(value, length), digit| {
            let digit = i64::from(digit.to_digit(10).unwrap_or_default());
            (value.wrapping_mul(10).wrapping_add(digit), length + 1)
        })
    };
    number(a).cmp(&number(b))
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::sort;

    #[test]
    fn names_sort_as_the_stock_cli_writes_them() {
        let names = [
            "proj:zA", "proj:z10", "proj:z9", "proj:a b", "proj:a", "proj:a.b", "proj:q=r", "aws:x",
            "proj:A", ":x",
        ];
        let sorted: Vec<&str> =
            sort(names.iter().map(|name| (*name, ())).collect()).into_iter().map(|(name, ())| name).collect();
        assert_eq!(
            sorted,
            [
                ":x", "aws:x", "proj:A", "proj:a", "proj:a b", "proj:a.b", "proj:q=r", "proj:z9", "proj:z10",
                "proj:zA"
            ]
        );
    }
}

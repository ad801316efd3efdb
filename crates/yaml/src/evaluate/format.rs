//! Values as texts, as the stock host writes them.

use super::value::Val;
use drystone_workspace::quote_json;
use std::fmt::Write as _;

/// A value inside of a text. `None` for what has no text.
pub(crate) fn text(value: &Val) -> Option<String> {
    let mut out = String::new();
    write_text(value, &mut out)?;
    Some(out)
}

fn write_text(value: &Val, out: &mut String) -> Option<()> {
    match value {
        Val::Null => out.push_str("<nil>"),
        Val::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Val::Number(number) => out.push_str(&short_number(*number)),
        Val::String(text) => out.push_str(text),
        Val::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                write_text(item, out)?;
            }
            out.push(']');
        }
        Val::Object(members) => {
            out.push_str("map[");
            for (at, (name, member)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                let _ = write!(out, "{name}:");
                write_text(member, out)?;
            }
            out.push(']');
        }
        Val::Asset(_) | Val::Archive(_) | Val::Resource(_) | Val::Output(_) => return None,
    }
    Some(())
}

/// The shortest digits of a number, with an exponent below 1e-4 and from 1e+06 on, as Go's `%v` writes it.
fn short_number(number: f64) -> String {
    number_with(number, -4, 6)
}

/// A number with an exponent below `10^low` and from `10^high` on.
fn number_with(number: f64, low: i32, high: i32) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let power: i32 = exponent.parse().unwrap_or(0);
    if number != 0.0 && (power < low || power >= high) {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", power.abs());
    }
    format!("{number}")
}

/// Why a value has no JSON text.
pub(crate) type NoJson = String;

/// The JSON text of a value.
pub(crate) fn json(value: &Val) -> Result<String, NoJson> {
    let mut out = String::new();
    write_json(value, &mut out)?;
    Ok(out)
}

fn write_json(value: &Val, out: &mut String) -> Result<(), NoJson> {
    match value {
        Val::Null => out.push_str("null"),
        Val::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Val::Number(number) if !number.is_finite() => {
            return Err(format!("JSON has no {}", short_number(*number)));
        }
        Val::Number(number) => out.push_str(&json_number(*number)),
        Val::String(text) => quote_json(text, out),
        Val::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(item, out)?;
            }
            out.push(']');
        }
        Val::Object(members) => {
            out.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                quote_json(name, out);
                out.push(':');
                write_json(member, out)?;
            }
            out.push('}');
        }
        Val::Asset(_) | Val::Archive(_) | Val::Resource(_) | Val::Output(_) => {
            return Err(format!("{} has no JSON text", value.describe()));
        }
    }
    Ok(())
}

fn json_number(number: f64) -> String {
    let text = number_with(number, -6, 21);
    // One digit of an exponent is enough.
    text.replace("e-0", "e-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn numbers_in_texts_are_written_as_the_stock_host_writes_them() {
        for (number, expected) in [
            (0.0, "0"),
            (8080.0, "8080"),
            (-1.5, "-1.5"),
            (123_456.0, "123456"),
            (1e6, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (1e21, "1e+21"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.25e-7, "1.25e-07"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(text(&Val::Number(number)).as_deref(), Some(expected));
        }
    }

    #[test]
    fn other_values_in_texts() {
        let list = Val::list(vec![Val::text("a"), Val::Number(1.0), Val::Null]);
        assert_eq!(text(&list).as_deref(), Some("[a 1 <nil>]"));
        let object = Val::object(BTreeMap::from([("b".into(), Val::Bool(true)), ("a".into(), list)]));
        assert_eq!(text(&object).as_deref(), Some("map[a:[a 1 <nil>] b:true]"));
        assert_eq!(text(&Val::Asset(drystone_model::Asset::default())), None);
    }

    #[test]
    fn json_texts_are_written_as_the_stock_host_writes_them() {
        let object = Val::object(BTreeMap::from([
            ("n".into(), Val::Number(1e21)),
            ("s".into(), Val::Number(1e-7)),
            ("m".into(), Val::Number(1_000_000.0)),
            ("t".into(), Val::text("<a & \"b\">\n\u{1}\u{2028}ü")),
            ("z".into(), Val::Null),
        ]));
        assert_eq!(
            json(&object).unwrap(),
            r#"{"m":1000000,"n":1e+21,"s":1e-7,"t":"\u003ca \u0026 \"b\"\u003e\n\u0001\u2028ü","z":null}"#
        );
        assert!(json(&Val::Number(f64::INFINITY)).is_err());
    }
}

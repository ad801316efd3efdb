//! Holding settings to a JSON schema, as far as policy packs can declare one.
//!
//! Messages are those that users of packs know. A word of a schema that is not known here is passed over.

use serde_json::{Map, Value};

/// What is wrong with a value.
pub(super) fn check(schema: &Value, value: &Value) -> Vec<String> {
    let mut check = Check { path: Vec::new(), problems: Vec::new() };
    check.value(schema, value);
    check.problems
}

struct Check {
    path: Vec<String>,
    problems: Vec<String>,
}

impl Check {
    fn wrong(&mut self, description: impl AsRef<str>) {
        let description = description.as_ref();
        self.problems.push(match self.path.as_slice() {
            [] => description.to_owned(),
            path => format!("{}: {description}", path.join(".")),
        });
    }

    fn value(&mut self, schema: &Value, value: &Value) {
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(false) => return self.wrong("False always fails validation"),
            _ => return,
        };
        if !self.has_type(schema, value) {
            return;
        }
        if let Some(Value::Array(allowed)) = schema.get("enum")
            && !allowed.iter().any(|one| same(one, value))
        {
            let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
            let field = self.path.last().cloned().unwrap_or_else(|| "(root)".to_owned());
            self.wrong(format!("{field} must be one of the following: {}", allowed.join(", ")));
        }
        if let Some(only) = schema.get("const")
            && !same(only, value)
        {
            let field = self.path.last().cloned().unwrap_or_else(|| "(root)".to_owned());
            self.wrong(format!("{field} does not match: {only}"));
        }
        match value {
            Value::String(text) => self.text(schema, text),
            Value::Number(number) => self.number(schema, number.as_f64().unwrap_or(f64::NAN)),
            Value::Array(elements) => self.list(schema, elements),
            Value::Object(members) => self.object(schema, members),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn has_type(&mut self, schema: &Map<String, Value>, value: &Value) -> bool {
        let expected: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        let given = type_of(value);
        let fits = |expected: &&str| **expected == *given || (**expected == *"number" && given == "integer");
        if expected.iter().any(fits) {
            return true;
        }
        self.wrong(format!("Invalid type. Expected: {}, given: {given}", expected.join(",")));
        false
    }

    fn text(&mut self, schema: &Map<String, Value>, text: &str) {
        let length = text.chars().count();
        if let Some(least) = count(schema, "minLength").filter(|&least| length < least) {
            self.wrong(format!("String length must be greater than or equal to {least}"));
        }
        if let Some(most) = count(schema, "maxLength").filter(|&most| length > most) {
            self.wrong(format!("String length must be less than or equal to {most}"));
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            match regex::Regex::new(pattern) {
                Ok(regex) if regex.is_match(text) => {}
                Ok(_) => self.wrong(format!("Does not match pattern '{pattern}'")),
                Err(_) => self.wrong(format!("the pattern '{pattern}' of the schema cannot be read")),
            }
        }
    }

    fn number(&mut self, schema: &Map<String, Value>, number: f64) {
        let limit = |word: &str| schema.get(word).and_then(Value::as_f64);
        let limits = [
            (limit("minimum").filter(|&least| number < least), "greater than or equal to"),
            (limit("exclusiveMinimum").filter(|&least| number <= least), "greater than"),
            (limit("maximum").filter(|&most| number > most), "less than or equal to"),
            (limit("exclusiveMaximum").filter(|&most| number >= most), "less than"),
        ];
        for (broken, words) in limits {
            if let Some(limit) = broken {
                self.wrong(format!("Must be {words} {limit}"));
            }
        }
        if let Some(factor) = limit("multipleOf").filter(|&factor| factor != 0.0 && number % factor != 0.0) {
            self.wrong(format!("Must be a multiple of {factor}"));
        }
    }

    fn list(&mut self, schema: &Map<String, Value>, elements: &[Value]) {
        if let Some(least) = count(schema, "minItems").filter(|&least| elements.len() < least) {
            self.wrong(format!("Array must have at least {least} items"));
        }
        if let Some(most) = count(schema, "maxItems").filter(|&most| elements.len() > most) {
            self.wrong(format!("Array must have at most {most} items"));
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            let twice = (0..elements.len()).find_map(|later| {
                let earlier = elements[..later].iter().position(|one| same(one, &elements[later]))?;
                Some((earlier, later))
            });
            if let Some((earlier, later)) = twice {
                self.wrong(format!("array items[{earlier},{later}] must be unique"));
            }
        }
        if let Some(contained) = schema.get("contains")
            && !elements.iter().any(|element| check(contained, element).is_empty())
        {
            self.wrong("At least one of the items must match");
        }
        for (index, element) in elements.iter().enumerate() {
            let of_element = match schema.get("items") {
                Some(Value::Array(each)) => each.get(index).or_else(|| schema.get("additionalItems")),
                all => all,
            };
            if let Some(of_element) = of_element {
                self.below(index.to_string(), of_element, element);
            }
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, members: &Map<String, Value>) {
        for key in names(schema.get("required")).filter(|key| !members.contains_key(*key)) {
            self.wrong(format!("{key} is required"));
        }
        if let Some(least) = count(schema, "minProperties").filter(|&least| members.len() < least) {
            self.wrong(format!("Must have at least {least} properties"));
        }
        if let Some(most) = count(schema, "maxProperties").filter(|&most| members.len() > most) {
            self.wrong(format!("Must have at most {most} properties"));
        }
        for (_, needed) in parts(schema, "dependencies").filter(|(key, _)| members.contains_key(*key)) {
            for missing in names(Some(needed)).filter(|name| !members.contains_key(*name)) {
                self.wrong(format!("Has a dependency on {missing}"));
            }
            if needed.is_object() {
                self.value(needed, &Value::Object(members.clone()));
            }
        }
        for (key, value) in members {
            self.member(schema, key, value);
        }
    }

    fn member(&mut self, schema: &Map<String, Value>, key: &str, value: &Value) {
        if let Some(of_names) = schema.get("propertyNames")
            && !check(of_names, &Value::from(key)).is_empty()
        {
            self.wrong(format!("Property name of \"{key}\" does not match"));
        }
        let declared = schema.get("properties").and_then(|properties| properties.get(key));
        let mut known = declared.is_some();
        if let Some(declared) = declared {
            self.below(key.to_owned(), declared, value);
        }
        for (pattern, of_pattern) in parts(schema, "patternProperties") {
            if regex::Regex::new(pattern).is_ok_and(|regex| regex.is_match(key)) {
                known = true;
                self.below(key.to_owned(), of_pattern, value);
            }
        }
        match schema.get("additionalProperties").filter(|_| !known) {
            Some(Value::Bool(false)) => self.wrong(format!("Additional property {key} is not allowed")),
            Some(of_others) => self.below(key.to_owned(), of_others, value),
            None => {}
        }
    }

    fn below(&mut self, segment: String, schema: &Value, value: &Value) {
        self.path.push(segment);
        self.value(schema, value);
        self.path.pop();
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether two values are the same: numbers by what they are worth, however they are written.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

fn count(schema: &Map<String, Value>, word: &str) -> Option<usize> {
    let limit = schema.get(word)?.as_f64().filter(|limit| *limit >= 0.0)?;
    // A limit beyond what can be counted is none.
    Some(limit as usize)
}

fn names(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn parts<'s>(schema: &'s Map<String, Value>, word: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    schema.get(word).and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::check;
    use serde_json::{Value, json};

    fn wrong(schema: &Value, value: &Value) -> Vec<String> {
        check(schema, value)
    }

    #[test]
    fn types_are_held_to_and_whole_numbers_are_numbers() {
        assert!(wrong(&json!({ "type": "number" }), &json!(3)).is_empty());
        assert!(wrong(&json!({ "type": "integer" }), &json!(3.0)).is_empty());
        assert!(wrong(&json!({ "type": ["string", "null"] }), &json!(null)).is_empty());
        let found = wrong(&json!({ "type": ["string", "null"] }), &json!(3));
        assert_eq!(found, ["Invalid type. Expected: string,null, given: integer"]);
        assert_eq!(
            wrong(&json!({ "type": "integer" }), &json!(3.5)),
            ["Invalid type. Expected: integer, given: number"]
        );
    }

    #[test]
    fn values_are_held_to_limits_with_the_path_to_them() {
        let schema = json!({ "type": "object", "properties": {
            "word": { "type": "string", "minLength": 2, "maxLength": 3, "pattern": "^a" },
            "one": { "enum": ["a", 1] },
            "only": { "const": "x" },
            "number": { "minimum": 1, "exclusiveMaximum": 3, "multipleOf": 2 },
            "list": { "type": "array", "items": { "type": "string" }, "minItems": 3, "uniqueItems": true,
                "contains": { "const": "z" } },
        } });
        let found = wrong(
            &schema,
            &json!({ "list": ["a", "a"], "number": 3, "one": 2, "only": "y", "word": "bbbb" }),
        );
        assert_eq!(
            found,
            [
                "list: Array must have at least 3 items",
                "list: array items[0,1] must be unique",
                "list: At least one of the items must match",
                "number: Must be less than 3",
                "number: Must be a multiple of 2",
                "one: one must be one of the following: \"a\", 1",
                "only: only does not match: \"x\"",
                "word: String length must be less than or equal to 3",
                "word: Does not match pattern '^a'",
            ]
        );
    }

    #[test]
    fn members_are_required_forbidden_and_named() {
        let schema = json!({
            "required": ["a"],
            "properties": { "b": { "properties": { "c": { "type": "boolean" } } } },
            "patternProperties": { "^x-": { "type": "string" } },
            "additionalProperties": false,
            "dependencies": { "b": ["d"] },
            "propertyNames": { "maxLength": 4 },
        });
        assert_eq!(
            wrong(&schema, &json!({ "b": { "c": 1 }, "stray": 3, "x-y": 2 })),
            [
                "a is required",
                "Has a dependency on d",
                "b.c: Invalid type. Expected: boolean, given: integer",
                "Property name of \"stray\" does not match",
                "Additional property stray is not allowed",
                "x-y: Invalid type. Expected: string, given: integer",
            ]
        );
    }

    #[test]
    fn words_that_are_not_known_are_passed_over() {
        assert!(wrong(&json!({ "format": "email", "$ref": "#/x" }), &json!("no email")).is_empty());
        assert_eq!(
            wrong(&json!({ "pattern": "(" }), &json!("x")),
            ["the pattern '(' of the schema cannot be read"]
        );
    }
}

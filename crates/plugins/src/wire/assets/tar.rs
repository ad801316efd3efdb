//! Writing tar files whose bytes depend on nothing but the names and contents of their members.
//!
//! Old header where the name fits, an extended record where it does not; mode 0600, no owner, time 0. Any other choice
//! would give the same archive another hash.

use std::io::{self, Read, Write};

const BLOCK: usize = 512;
const NAME: usize = 100;
const PREFIX: usize = 155;
/// The largest size that eleven octal digits can say.
const LARGEST: u64 = (1 << 33) - 1;

const REGULAR: u8 = b'0';
const EXTENDED: u8 = b'x';

/// Writes one member after another.
#[derive(Debug)]
pub(super) struct TarWriter<W> {
    out: W,
}

impl<W: Write> TarWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out }
    }

    /// Adds a file, which must have exactly `size` bytes.
    pub(super) fn add(&mut self, name: &str, size: u64, data: &mut dyn Read) -> io::Result<()> {
        let split = split_name(name);
        let fits = name.is_ascii() && (name.len() <= NAME || split.is_some());
        if fits && size <= LARGEST {
            let (prefix, rest) = split.unwrap_or(("", name));
            self.header(&Header { name: rest, prefix, mode: 0o600, size, kind: REGULAR, devices: true })?;
        } else {
            self.extended(name, fits, size)?;
            let shown = ascii(name);
            let size = if size <= LARGEST { size } else { 0 };
            self.header(&Header {
                name: &shown,
                prefix: "",
                mode: 0o600,
                size,
                kind: REGULAR,
                devices: true,
            })?;
        }
        let written = io::copy(data, &mut self.out)?;
        if written != size {
            return Err(io::Error::other(format!("'{name}' changed while it was read")));
        }
        self.pad(written)
    }

    /// The two empty blocks at the end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&[0; 2 * BLOCK])
    }

    fn extended(&mut self, name: &str, name_fits: bool, size: u64) -> io::Result<()> {
        let mut records = String::new();
        if !name_fits || name.len() > NAME {
            records.push_str(&record("path", name));
        }
        if size > LARGEST {
            records.push_str(&record("size", &size.to_string()));
        }
        let (directory, file) = name.rsplit_once('/').unwrap_or(("", name));
        let joined = if directory.is_empty() {
            format!("PaxHeaders.0/{file}")
        } else {
            format!("{directory}/PaxHeaders.0/{file}")
        };
        let mut shown = ascii(&joined);
        shown.truncate(NAME);
        let shown = shown.trim_end_matches('/');
        let size = records.len() as u64;
        self.header(&Header { name: shown, prefix: "", mode: 0, size, kind: EXTENDED, devices: false })?;
        self.out.write_all(records.as_bytes())?;
        self.pad(size)
    }

    fn header(&mut self, header: &Header<'_>) -> io::Result<()> {
        self.out.write_all(&header.block())
    }

    fn pad(&mut self, size: u64) -> io::Result<()> {
        #[expect(clippy::cast_possible_truncation, reason = "less than a block")]
        let over = (size % BLOCK as u64) as usize;
        if over == 0 { Ok(()) } else { self.out.write_all(&[0; BLOCK][over..]) }
    }
}

struct Header<'a> {
    name: &'a str,
    prefix: &'a str,
    mode: u64,
    size: u64,
    kind: u8,
    /// Whether the device numbers are written, as zeros.
    devices: bool,
}

impl Header<'_> {
    fn block(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        text(&mut block[0..NAME], self.name);
        octal(&mut block[100..108], self.mode);
        octal(&mut block[108..116], 0);
        octal(&mut block[116..124], 0);
        octal(&mut block[124..136], self.size);
        octal(&mut block[136..148], 0);
        block[148..156].fill(b' ');
        block[156] = self.kind;
        block[257..265].copy_from_slice(b"ustar\x0000");
        if self.devices {
            octal(&mut block[329..337], 0);
            octal(&mut block[337..345], 0);
        }
        text(&mut block[345..500], self.prefix);
        let sum = block.iter().map(|byte| u64::from(*byte)).sum();
        octal(&mut block[148..155], sum);
        block
    }
}

/// As much of the text as fits; a slash that would then end it is left out, because it would say directory.
fn text(field: &mut [u8], text: &str) {
    let bytes = text.as_bytes();
    let fitting = bytes.len().min(field.len());
    field[..fitting].copy_from_slice(&bytes[..fitting]);
    field[fitting..].fill(0);
    if bytes.len() > field.len() && field.last() == Some(&b'/') {
        let kept = text[..field.len() - 1].trim_end_matches('/').len();
        field[kept] = 0;
    }
}

/// Octal digits up to a closing zero byte.
fn octal(field: &mut [u8], number: u64) {
    let digits = format!("{number:0width$o}", width = field.len() - 1);
    text(field, &digits);
}

/// A name cut in two where the old header has room for both parts.
fn split_name(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME || !name.is_ascii() {
        return None;
    }
    let mut searched = name.len();
    if searched > PREFIX + 1 {
        searched = PREFIX + 1;
    } else if name.ends_with('/') {
        searched -= 1;
    }
    let at = name[..searched].rfind('/').filter(|at| *at > 0 && *at <= PREFIX)?;
    let rest = &name[at + 1..];
    (!rest.is_empty() && rest.len() <= NAME).then_some((&name[..at], rest))
}

/// A record, which begins with its own length.
fn record(key: &str, value: &str) -> String {
    let bare = key.len() + value.len() + 3;
    let mut size = bare + bare.to_string().len();
    if bare + size.to_string().len() != size {
        size = bare + size.to_string().len();
    }
    format!("{size} {key}={value}\n")
}

fn ascii(text: &str) -> String {
    text.chars().filter(|character| character.is_ascii() && *character != '\0').collect()
}

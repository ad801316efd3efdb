//! The plugins as those who start them see them. That they are here also has the tests of the workspace build them.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

fn tells_its_port(plugin: &str) {
    let mut started = Command::new(plugin)
        .arg("127.0.0.1:9")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(started.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let port: u16 = line.trim().parse().expect("a port");
    let connected = TcpStream::connect(("127.0.0.1", port));
    started.kill().expect("it ends");
    started.wait().expect("it ends");
    connected.expect("it listens");
}

#[test]
fn the_provider_tells_its_port() {
    tells_its_port(env!("CARGO_BIN_EXE_pulumi-resource-bench"));
}

#[test]
fn the_language_tells_its_port() {
    tells_its_port(env!("CARGO_BIN_EXE_pulumi-language-bench"));
}

#[test]
fn the_converter_tells_its_port() {
    tells_its_port(env!("CARGO_BIN_EXE_pulumi-converter-bench"));
}

//! What the secrets crate promises, a file a topic.

#![cfg(test)]

mod codec;
mod crypters;
mod fixtures;
mod keyring;
mod managers;
mod passphrases;
mod sealing;
mod services;
mod stored;
mod vectors;

//! The engine: what turns a stack into what its program says.

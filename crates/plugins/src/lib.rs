//! Provider and language plugins: wire formats, processes, launchers.

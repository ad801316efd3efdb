//! What a store needs to know of the machine it runs on.

use jiff::Timestamp;

/// The machine and process a store runs in: time, ids, and who is asking.
pub trait Host: Send + Sync + std::fmt::Debug {
    /// The time now.
    fn now(&self) -> Timestamp;
    /// A new random id in the form of a UUID.
    fn new_id(&self) -> String;
    /// The user's name.
    fn user(&self) -> String;
    /// The machine's name.
    fn hostname(&self) -> String;
    /// The process.
    fn pid(&self) -> u32;
    /// Whether a process of this machine is still running; `None` when that cannot be told.
    fn is_running(&self, pid: u32) -> Option<bool>;
    /// Whether work may go to threads of its own. A simulation says no, so that its order is its own.
    fn has_threads(&self) -> bool {
        true
    }
}

/// The machine that the program really runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn new_id(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }

    fn user(&self) -> String {
        ["USER", "LOGNAME", "USERNAME"]
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
            .or_else(|| whoami::username().ok())
            .unwrap_or_else(|| "unknown".to_owned())
    }

    fn hostname(&self) -> String {
        gethostname::gethostname().to_string_lossy().into_owned()
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn is_running(&self, pid: u32) -> Option<bool> {
        if !std::path::Path::new("/proc/self").exists() {
            return None;
        }
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return Some(false) };
        // One that ended and was not waited for is still listed. Its name, in parentheses, may hold anything.
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
        Some(!matches!(state, Some("Z" | "X")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_does_not_run_though_nobody_waited_for_it() {
        assert_ne!(SystemHost.is_running(std::process::id()), Some(false));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_ne!(SystemHost.is_running(child.id()), Some(false));
        child.kill().unwrap();
        let began = std::time::Instant::now();
        while SystemHost.is_running(child.id()) == Some(true) {
            assert!(began.elapsed().as_secs() < 10, "it is listed as running after it was killed");
        }
        child.wait().unwrap();
        assert_ne!(SystemHost.is_running(child.id()), Some(true));
    }
}

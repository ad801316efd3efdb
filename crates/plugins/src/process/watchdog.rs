//! Ends the groups that this process leaves behind when it is killed.
//!
//! A plugin does not notice that its engine is gone, and nothing runs in a process that gets SIGKILL. So one small
//! shell, started with the first group, holds the list of them. It reads from a pipe that only this process writes
//! to: the end of the pipe is the end of this process, however it came. Then the shell interrupts what is left, and
//! kills it after the same grace as an ordinary stop.

#[cfg(unix)]
mod shell {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    use std::process::{ChildStdin, Command, Stdio};
    use std::sync::{LazyLock, Mutex, PoisonError};

    const SCRIPT: &str = r#"
groups=' '
while read -r verb group; do
    case $verb in
    watch) groups="$groups$group " ;;
    forget) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
done
left() { for group in $groups; do kill -0 -"$group" 2>/dev/null && return 0; done; return 1; }
for group in $groups; do kill -INT -"$group" 2>/dev/null; done
tries=0
while left && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
for group in $groups; do kill -KILL -"$group" 2>/dev/null; done
"#;

    static PIPE: LazyLock<Mutex<Option<ChildStdin>>> = LazyLock::new(|| Mutex::new(start()));

    /// Where there is no shell there is no watchdog.
    fn start() -> Option<ChildStdin> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "drystone-watchdog"]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        command.spawn().ok()?.stdin.take()
    }

    pub(super) fn tell(verb: &str, group: u32) {
        let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = pipe.as_mut()
            && writer.write_all(format!("{verb} {group}\n").as_bytes()).is_err()
        {
            *pipe = None;
        }
    }
}

/// Has a group ended should this process be killed.
pub(super) fn watch(group: u32) {
    #[cfg(unix)]
    shell::tell("watch", group);
    #[cfg(not(unix))]
    let _ = group;
}

/// Says that a group has ended, so that its number may be another's.
pub(super) fn forget(group: u32) {
    #[cfg(unix)]
    shell::tell("forget", group);
    #[cfg(not(unix))]
    let _ = group;
}

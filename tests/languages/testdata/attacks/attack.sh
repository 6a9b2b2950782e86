tried() {
    name=$1
    shift
    if said=$("$@" 2>&1 >/dev/null); then said=done; else said="failed: $said"; fi
    printf '%s: %s\n' "$name" "$said" | tr '\n' ' ' >>"$RESULTS/results"
    echo >>"$RESULTS/results"
}
late() { env -i setsid /bin/sh -c "$LATE" late "$RESULTS" "$TOKEN" </dev/null >/dev/null 2>&1 & }

tried "own file" sh -c 'echo own >own'
tried "own move" sh -c 'mkdir sub && mv own sub/own'
tried "token" cat "$TOKEN"
tried "environment" cat "/proc/$PID/environ"
tried "root" cat "/proc/$PID/root$TOKEN"
tried "attach" sh -c ': <"/proc/$PID/mem"'
tried "read a run" cat "$VICTIM/secret"
tried "list a run" ls "$VICTIM"
tried "symbolic link" sh -c 'ln -s "$VICTIM/secret" link && cat link'
tried "hard link" sh -c 'ln "$VICTIM/secret" hard && cat hard'
tried "write a run" sh -c 'echo ! >>"$VICTIM/secret"'
tried "create in a run" sh -c ': >"$VICTIM/created"'
tried "move in" mv -n sub/own "$VICTIM/moved"
tried "move out" mv -n "$VICTIM/secret" taken
tried "data" sh -c ': >"$DATA"'
late

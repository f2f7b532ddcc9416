//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// goCommand returns a call of the go command that leaves no process behind. When its context ends, the tests get
// SIGQUIT, so that they print their goroutines. After grace, the whole process group is killed.
func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "go", args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		time.AfterFunc(grace, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		return syscall.Kill(-c.Process.Pid, syscall.SIGQUIT)
	}
	c.WaitDelay = 2 * grace
	return c
}

// grace is the time between SIGQUIT and SIGKILL. On a busy machine, a test takes seconds to print its goroutines.
const grace = 5 * time.Second

// lockFile locks a file until it is closed, or the process ends. If another process has the lock, it waits, or returns
// an error.
func lockFile(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	return syscall.Flock(int(f.Fd()), how)
}

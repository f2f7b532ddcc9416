//go:build !unix

package main

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// goCommand returns a call of the go command that is killed when its context ends.
func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "go", args...)
	c.WaitDelay = time.Second
	return c
}

// lockFile does nothing on this system.
func lockFile(*os.File, bool) error { return nil }

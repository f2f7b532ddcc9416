package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/straggler-go/straggler/examples/internal/report"
)

// writeFile writes a page or a picture to a file. It writes a temporary file in the same directory and renames it, so
// that an older page stays whole if the write fails. It writes directly to a device or a pipe, and follows a link.
func writeFile(name string, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return writeThrough(name, write)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".replay-*")
	if err != nil {
		return usage("%v", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeThrough writes to a file without a temporary file.
func writeThrough(name string, write func(io.Writer) error) error {
	// If name is a link to a missing file, this creates the missing file.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return usage("%v", err)
	}
	return errors.Join(write(f), f.Close())
}

// style returns bold text for the headline if w is a terminal with colours.
func style(w io.Writer) report.Style {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || color.NoColor {
		return report.Style{}
	}
	bold := color.New(color.Bold)
	return report.Style{Bold: func(text string) string { return bold.Sprint(text) }}
}

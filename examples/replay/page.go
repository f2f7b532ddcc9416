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

// writePage writes the page to a file. It makes it beside its place first, so that a page which is there already stays
// whole if this fails. What is no regular file, such as a device or a pipe, is written to; a link is followed.
func writePage(name string, r *report.Report) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return writeThrough(name, r)
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
	if err := errors.Join(r.HTML(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func writeThrough(name string, r *report.Report) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644) // a link to nowhere makes its target
	if err != nil {
		return usage("%v", err)
	}
	return errors.Join(r.HTML(f), f.Close())
}

// style makes the headline stand out on a terminal.
func style(w io.Writer) report.Style {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || color.NoColor {
		return report.Style{}
	}
	bold := color.New(color.Bold)
	return report.Style{Bold: func(text string) string { return bold.Sprint(text) }}
}

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/fatih/color"
	"golang.org/x/term"

	"straggler-examples/internal/report"
)

// writePage writes the page beside its place first, so that a page which is there already stays whole if this fails.
func writePage(name string, r *report.Report) (err error) {
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

// style makes the headline stand out on a terminal.
func style(w io.Writer) report.Style {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || color.NoColor {
		return report.Style{}
	}
	bold := color.New(color.Bold)
	return report.Style{Bold: func(text string) string { return bold.Sprint(text) }}
}

package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a progress bar. It is drawn only on a terminal.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(w io.Writer, steps int) progress {
	f, ok := w.(*os.File)
	if !ok {
		return progress{}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return progress{}
	}
	return progress{progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("replaying"),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())}
}

func (p progress) step() {
	if p.bar != nil {
		_ = p.bar.Add(1) // an error of the bar does not stop the replay
	}
}

func (p progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

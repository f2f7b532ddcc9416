package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a progress bar on a terminal. On other outputs it prints a line for each run.
type progress struct {
	out  io.Writer
	bar  *progressbar.ProgressBar
	what string
}

func newProgress(w io.Writer, runs int) *progress {
	p := &progress{out: w}
	f, ok := w.(*os.File)
	if !ok {
		return p
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return p
	}
	p.bar = progressbar.NewOptions(runs, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(20), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return p
}

// begin shows the run that starts now.
func (p *progress) begin(what string) {
	p.what = what
	if p.bar != nil {
		p.bar.Describe(what) // draws the bar at once
	}
}

// end removes the bar at the end of a run. Other output may use the terminal until the next begin.
func (p *progress) end(seconds float64) {
	if p.bar == nil {
		fmt.Fprintf(p.out, "%s: %.1f s\n", p.what, seconds)
		return
	}
	_ = p.bar.Add(1) // an error of the bar does not stop the run
	p.clear()
}

// clear removes the bar from the terminal.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

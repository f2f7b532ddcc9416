package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on a terminal, and a line for each run elsewhere.
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

// begin says what runs now.
func (p *progress) begin(what string) {
	p.what = what
	if p.bar != nil {
		p.bar.Describe(what) // drawn at once
	}
}

// end says that it has ended. The terminal is free for other output until the next begin.
func (p *progress) end(seconds float64) {
	if p.bar == nil {
		fmt.Fprintf(p.out, "%s: %.1f s\n", p.what, seconds)
		return
	}
	_ = p.bar.Add(1) // a bar that cannot be drawn is no reason to stop
	p.clear()
}

// clear takes the bar off the terminal.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

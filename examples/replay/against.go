package main

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/report"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// compareWith adds the comparison with the log of -against to the report.
func (o options) compareWith(r *report.Report, l *loaded) error {
	other := o
	other.logs = []string{o.against}
	there, err := other.load()
	if err != nil {
		return err
	}
	r.Compare(trace.Printable(filepath.Base(o.against)), slices.Concat(l.phases, l.unlike),
		slices.Concat(there.phases, there.unlike))
	return nil
}

// note stores the time of the first attempt of a log, and the names of its hosts.
func (l *loaded) note(log *trace.Log) {
	for i := 1; i < len(log.Hosts); i++ {
		l.names[log.Hosts[i].Name] = true
	}
	for i := range log.Phases {
		if a := log.Phases[i].Attempts; len(a) > 0 {
			if start, ok := a[0].Start.Get(); ok && (l.first == 0 || start < l.first) {
				l.first = start
			}
		}
	}
}

// began returns the time of the first attempt as text. It returns "" if the time is before the year 2000: the clock
// of the log then starts at an arbitrary time.
func (l *loaded) began() string {
	first := time.UnixMilli(l.first).UTC()
	if first.Year() < 2000 {
		return ""
	}
	return first.Format("2006-01-02 15:04 UTC")
}

package main

import (
	"io"

	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Journal writes the events of a phase, and the tracker's answers, to a file.
type Journal struct {
	record *journal.Recorder
	file   io.Writer
}

// Record sets config.OnEvent. Call it before tracker.New.
func Record(config *tracker.Config, file io.Writer) *Journal {
	j := &Journal{journal.NewRecorder(*config), file}
	config.OnEvent = j.record.OnEvent
	return j
}

// Flush writes the lines since the last call. Call it every minute or so, and when the phase ends.
func (j *Journal) Flush() error {
	_, err := j.file.Write(j.record.Bytes())
	j.record.Reset()
	return err
}

package trace_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// The recorder of a host writes a journal that has the host's attempts, with the tracker's numbers.
func TestRecordedByATracker(t *testing.T) {
	config := tracker.Config{Tasks: 3, Slots: 4, Machines: 4, Interval: time.Second, Policy: rules.Spark{}}
	record := journal.NewRecorder(config)
	config.OnEvent = record.OnEvent
	tracked, err := tracker.New(config)
	require.NoError(t, err)
	begin := time.Unix(1_700_000_000, 0)
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	for task := range 3 {
		tracked.Start(at(0), task, task)
	}
	tracked.Start(at(0), 17, 0) // there is no such task
	tracked.Finish(at(10), 0, 0)
	tracked.Fail(at(11), 1, 0)
	again := tracked.Start(at(12), 1, 3)
	copied := tracked.Start(at(30), 2, 0)
	tracked.Finish(at(35), 2, copied)
	tracked.Finish(at(36), 1, again)

	log, err := trace.Read(bytes.NewReader(record.Bytes()), "journal")
	require.NoError(t, err)
	require.Len(t, log.Phases, 1)
	type attempt struct {
		task, number  int32
		start, finish trace.Opt
		state         trace.State
		host          string
	}
	var got []attempt
	for _, a := range log.Phases[0].Attempts {
		got = append(got, attempt{a.Task, a.Number, a.Start, a.Finish, a.State, log.Hosts[a.Host].Name})
	}
	ms := func(seconds int64) trace.Opt { return trace.Known(1_700_000_000_000 + 1000*seconds) }
	assert.Equal(t, []attempt{
		{0, 0, ms(0), ms(10), trace.Succeeded, "machine 0"},
		{1, 0, ms(0), ms(11), trace.Failed, "machine 1"},
		{2, 0, ms(0), ms(35), trace.Killed, "machine 2"},
		{1, 1, ms(12), ms(36), trace.Succeeded, "machine 3"},
		{2, 1, ms(30), ms(35), trace.Succeeded, "machine 0"},
	}, got, "%s", record.Bytes())
	assert.Zero(t, log.Faults[trace.Broken], "%s in\n%s", log.Faults, record.Bytes())
}

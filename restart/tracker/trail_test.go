package tracker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A report in a wrong unit says nothing about how far an attempt has come.
func TestAReportInAWrongUnitLeavesTheTrail(t *testing.T) {
	tr, err := New(Config{Work: []float64{10, 10}, Slots: 2, Interval: time.Second})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	tr.Start(now, 0, 0)
	tr.Report(now.Add(2*time.Second), 0, 0, Report{Done: 2})
	trail := &tr.phase.book.attempts.all[0].track.trail
	assert.InDelta(t, .2, trail.Done(), 1e-6)
	tr.Report(now.Add(3*time.Second), 0, 0, Report{Done: 3000})
	assert.InDelta(t, .2, trail.Done(), 1e-6)
	tr.Report(now.Add(4*time.Second), 0, 0, Report{Done: 4})
	assert.InDelta(t, .4, trail.Done(), 1e-6)
}

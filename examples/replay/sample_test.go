package main

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/report"
)

// The figures of a sample differ from the figures of all phases by at most three times the error that the report
// prints.
func TestSampleSaysItsError(t *testing.T) {
	t.Parallel()
	get := func(phases string, args ...string) (r report.Report) {
		code, out, errors := call(append([]string{"-json", "-policy", "late", "-phases", phases}, args...)...)
		require.Zero(t, code, errors)
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		return r
	}
	whole := get("200")
	assert.Nil(t, whole.Sample)
	assert.Nil(t, get("10", "-sample", "10").Sample, "a sample of all phases is not a sample")
	r := get("200", "-sample", "60")
	require.NotNil(t, r.Sample)
	assert.Equal(t, report.Sample{Of: 200, Drawn: 60, Cost: r.Sample.Cost, Saving: r.Sample.Saving}, *r.Sample)
	assert.Equal(t, 60, r.Input.Phases)
	assert.Contains(t, r.Headline, "for 60 phases, drawn at random from 200. "+fmt.Sprintf(
		"Their standard errors are %.1f percentage points for the cost of stragglers, and %.1f for the saving:", 100*r.Sample.Cost, 100*r.Sample.Saving))
	for _, of := range []struct{ all, drawn, err float64 }{
		{whole.Stragglers.Cost, r.Stragglers.Cost, r.Sample.Cost},
		{whole.Policies[0].All.Mean, r.Policies[0].All.Mean, r.Sample.Saving},
	} {
		assert.Positive(t, of.err)
		assert.Less(t, of.err, 0.2)
		assert.LessOrEqual(t, math.Abs(of.all-of.drawn), 3*of.err)
	}
	for _, wrong := range [][]string{{"-sample", "-1"}, {"-sample", "3", "-list"}} {
		code, _, _ := call(wrong...)
		assert.Equal(t, 2, code)
	}
}

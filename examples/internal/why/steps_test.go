package why

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Stages of a step are compared within themselves. Steps in the order of their numbers, whole steps only.
func TestWaitComparesWithinStages(t *testing.T) {
	var text strings.Builder
	text.WriteString("n;rank;stage;dp;s;size\n")
	for step := 120; step > 0; step-- {
		for rank := range 8 {
			took := 1 + float64((step*5+rank*3)%7)/1000
			if rank >= 4 {
				took *= 1.5 // the last stage
			}
			fmt.Fprintf(&text, "%d;%d;%d;%d;%.4f;\n", step, rank, rank/4, rank%4, took)
		}
	}
	text.WriteString("121;0;0;0;9;\n")
	s, err := trace.ReadSteps(strings.NewReader(text.String()), "x",
		trace.Columns{Step: "n", Worker: "rank", Seconds: "s", Group: "stage", Position: "dp", Size: "size"})
	require.NoError(t, err)
	assert.Equal(t, "1", s.Labels[0])
	w := Wait(s)
	assert.Equal(t, 120, w.Steps)
	assert.Equal(t, 1, w.Incomplete)
	assert.Equal(t, 960, w.Tasks)
	require.Len(t, w.Findings, 1)
	f := w.Findings[0]
	assert.Equal(t, causes.SlowPlace, f.Reason)
	assert.Equal(t, "1", w.Stages[f.Stage])
	assert.Negative(t, f.Machine)
	assert.Equal(t, 120, f.Last)
	assert.InDelta(t, 1.0/6, f.Share, .01)
}

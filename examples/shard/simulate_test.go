package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// simulated returns the mean distance of each contestant from the bound of hindsight, in percent, over 30 suites, or
// 200 with STRAGGLER_LIVES, that had no part in the choice of a constant.
func simulated(t *testing.T, machines string) map[string]float64 {
	t.Helper()
	var out, complaint bytes.Buffer
	suites := "30"
	if long {
		suites = "200"
	}
	args := []string{"simulate", "-suites", suites, "-machines", machines, "testdata/compress.shard", "testdata/roaring.shard"}
	require.Zero(t, command(t.Context(), args, nil, &out, &complaint), complaint.String())
	means := map[string]float64{}
	for line := range strings.Lines(out.String()) {
		for _, c := range contestants {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), c.name+" "); ok && !strings.HasPrefix(rest, "told") {
				var mean float64
				_, err := fmt.Sscan(rest, &mean)
				require.NoError(t, err)
				means[c.name] = mean
			}
		}
	}
	require.Len(t, means, len(contestants))
	return means
}

// If one machine is half as fast, and another one starts 90 s late, the queue ends within 5 % of the bound of
// hindsight in the mean. Plans that do not know the machines take over half as long again. On four equal machines the
// queue is nearer to the bound than each plan as well.
func TestTheQueueIsNearHindsight(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("60 suites in virtual time, in one goroutine")
	}
	of := simulated(t, "m*2,m/0.5,m+90s")
	assert.Less(t, of["queue"], 5.)
	assert.Less(t, of["queue, told the speeds"], of["queue"])
	assert.Less(t, of["queue"], of["plan, told the machines"])
	for _, blind := range []string{"by number", "longest first, by file", "plan"} {
		assert.Greater(t, of[blind], 50., blind)
	}
	of = simulated(t, "m*4")
	assert.Less(t, of["queue"], 5.)
	assert.Less(t, of["queue"], of["plan"])
	assert.Equal(t, of["plan"], of["plan, told the machines"])
}

package why_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// Three phases have one task on each of four machines. The tasks take 10 s, and 25 s on the slow machine; in the last phase
// another machine is as slow, so that phase saves nothing.
func TestReplacedMachines(t *testing.T) {
	var b strings.Builder
	for phase := range 3 {
		for host := range 4 {
			end := 10000
			if host == 2 || host == 3 && phase == 2 {
				end = 25000
			}
			fmt.Fprintf(&b, `{"phase":"p%d","task":%d,"start":0,"finish":%d,"host":"n%d"}`+"\n", phase, host, end, host)
		}
	}
	log, err := trace.Read(strings.NewReader(b.String()), "log")
	require.NoError(t, err)
	phases, _ := workload.FromLog(log)
	saved, err := why.Replaced(phases, func(m string) bool { return m == "n2" })
	require.NoError(t, err)
	assert.InDelta(t, 30, saved, 1e-9)
	saved, err = why.Replaced(phases, func(m string) bool { return m == "n2" || m == "n3" })
	require.NoError(t, err)
	assert.InDelta(t, 45, saved, 1e-9)
	for _, slow := range []bool{false, true} {
		saved, err = why.Replaced(phases, func(string) bool { return slow })
		require.NoError(t, err)
		assert.Zero(t, saved, "without other machines nothing is compared")
	}
}

package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain runs a process of the fleet if the flag -member is given: the test starts its own binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-member" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Five processes find the bad machines sooner together than alone. A process that starts again without data soon
// knows what the others know. The test has no stricter bound, because a delay on a busy machine counts sixty times in
// simulated time.
func TestFleet(t *testing.T) {
	s := settings{
		Processes: 5, Machines: 40, Bad: 4, Rate: .12, Ask: 2 * time.Second, Span: 3 * time.Minute, Speed: 60,
		Seed: 1,
	}
	all, restarted, err := run(s)
	require.NoError(t, err)
	require.Len(t, all, 4)
	first := func(n named) time.Duration {
		if n.Half == 0 {
			return s.Span
		}
		return n.Half
	}
	var alone, together time.Duration
	for _, p := range all {
		alone, together = alone+first(p.Alone), together+first(p.Together)
		assert.GreaterOrEqual(t, p.Together.Bad, 2)
		assert.NotZero(t, p.Sent)
	}
	assert.Less(t, together, alone, "of all processes")
	assert.NotZero(t, restarted.Together.Half)
}

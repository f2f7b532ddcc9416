package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test's binary be the processes that it starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-member" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Together five processes name the bad machines sooner than alone, and one that begins with nothing knows what they know.
// Less is not demanded: a busy machine makes each of them late, by forty times as much.
func TestFleet(t *testing.T) {
	s := settings{
		Processes: 5, Machines: 40, Bad: 4, Rate: .12, Ask: 2 * time.Second, Span: 3 * time.Minute, Speed: 40,
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

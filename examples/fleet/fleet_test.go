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

// Together five processes name the bad machines before any of them does alone, and one that begins with nothing knows
// what they know.
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
	for _, p := range all {
		assert.Less(t, first(p.Together), first(p.Alone))
		assert.GreaterOrEqual(t, p.Together.Bad, 2)
		assert.NotZero(t, p.Sent)
	}
	assert.NotZero(t, restarted.Together.Half)
	assert.Less(t, restarted.Together.Half-restarted.Began, 30*time.Second)
}

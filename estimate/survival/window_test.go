package survival_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
)

// A host without phases and without progress: its jobs of the last hour stand in for the phase. It asks about a job of three
// minutes where the others take about one.
func ExampleWindow() {
	window, err := survival.NewWindow(time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0) // the time of the host's clock
	slow := window.Start(now)
	for range 9 {
		window.Start(now) // they are numbered 1 to 9
	}
	for id := 1; id <= 9; id++ {
		window.End(now.Add(time.Duration(54+id)*time.Second), id, true)
	}
	now = now.Add(180 * time.Second)

	curve, age := window.Curve(now), window.Age(now, slow)
	left := survival.Residual{Curve: curve, Age: age}
	task := restart.Task{
		Copies: []restart.Copy{{
			Machine: -1, Elapsed: 3 * time.Minute, Remaining: time.Duration(left.Mean() * 1e9), Left: left, Basis: "age",
		}},
		Fresh: estimate.Fresh{UnitTime: survival.Without{Curve: curve, Age: age}, Work: 1},
	}
	fmt.Println(restart.Decide(task, restart.Phase{Interval: 5 * time.Second, Slots: 4, FreeSlots: 3}))
	// Output:
	// duplicate idle-slot basis=age remaining=90s fresh=59s bar=74s value=0.35589 threshold=0.25 gain=31s
}

func TestWindow(t *testing.T) {
	_, err := survival.NewWindow(0)
	require.ErrorContains(t, err, "survival: a window of 0s, want")
	w, err := survival.NewWindow(time.Minute)
	require.NoError(t, err)
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	a, b, c := w.Start(at(0)), w.Start(at(0)), w.Start(at(0))
	w.End(at(10), a, true)
	w.End(at(20), b, false)
	w.Drop(at(20), c)
	w.End(at(20), c, true)
	w.End(at(20), -1, true)
	d := w.Start(at(20))
	assert.Equal(t, 3, w.Curve(at(30)).Len(), "one ended, one was killed, one runs")
	assert.Equal(t, 1, w.Curve(at(30)).Ends())
	assert.Equal(t, 20., w.Curve(at(30)).Longest())
	assert.Equal(t, 10., w.Age(at(30), d))
	assert.Equal(t, 2, w.Curve(at(71)).Len(), "the first is out of the window")
	assert.Equal(t, 1, w.Curve(at(1000)).Len(), "what runs stays")
	for i := range 20_000 {
		w.End(at(1000+i%2), w.Start(at(1000)), true)
	}
	assert.LessOrEqual(t, w.Curve(at(1001)).Len(), 4097)
}

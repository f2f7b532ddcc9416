package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/examples/kit"
)

// scenario is what goes wrong, and for whom it is run.
type scenario struct {
	name, title string
	tasks       int
	spare       int      // nodes beyond four
	twice       bool     // a pod takes twice as long
	args        []string // of the workload
	long        int      // the index from which on there is five times as much to do
	told        bool     // the Job says how much there is
	two         bool     // two controllers run at once
	policies    []string
	cap         time.Duration // after which a run is over
	// happens is what happens meanwhile; it returns once the context ends, or before.
	happens func(context.Context, *lab, *trial)
}

const never = 1 << 30

// usualUnits is how much there is to do for a pod: three seconds.
const usualUnits = 60

func (s *scenario) units() int {
	if s.twice {
		return 2 * usualUnits
	}
	return usualUnits
}

// These two go without the controller that is shown, or with a part of it.
const (
	builtIn  = "built-in"
	eviction = "eviction"
)

var everybody = []string{builtIn, "none", "naive", "late,min-age=2s", "mantri", "default", eviction}

// slowNode has one node be ten times slower.
func slowNode(ctx context.Context, l *lab, _ *trial) {
	l.nodes[3].Slow(10)
	<-ctx.Done()
	l.nodes[3].Slow(1)
}

var scenarios = []scenario{
	{
		name: kit.Slow, title: "One node of four is 10 times slower; 16 indexes", tasks: 16, long: never,
		policies: everybody, cap: 2 * time.Minute,
		happens: slowNode,
	},
	{
		name: "spare", title: "One node of five is 10 times slower; 16 indexes, so that four slots are idle", tasks: 16,
		long: never, spare: 1, twice: true, args: []string{"-every", "1s"}, cap: 2 * time.Minute,
		policies: []string{builtIn, "naive", "mantri", "default"}, happens: slowNode,
	},
	{
		name: kit.Hang, title: "One pod of 16 hangs half way", tasks: 16, long: never, args: []string{"-hang", "5"},
		policies: everybody, cap: time.Minute,
	},
	{
		name: kit.Untold, title: "48 indexes, of which five have five times the data, and nobody says so; no node is slow",
		tasks: 48, long: 43, args: []string{"-from", "43", "-share"}, cap: 2 * time.Minute,
		policies: []string{builtIn, "none", "naive", "late,min-age=2s", "mantri", "default"},
	},
	{
		name: "counts", title: "The same, and the pods say how much they have done of how much", tasks: 48, long: 43,
		args: []string{"-from", "43"}, cap: 2 * time.Minute, policies: []string{builtIn, "default"},
	},
	{
		name: kit.Skew, title: "The same, and the Job says how much each index has to do", tasks: 48, long: 43, told: true,
		args: []string{"-from", "43"}, policies: []string{builtIn, "naive", "default"}, cap: 2 * time.Minute,
	},
	{
		name: "kill", title: "The controller is killed at 20 random points, and one node is 10 times slower",
		tasks: 16, long: never, policies: []string{"default"}, cap: 2 * time.Minute,
		happens: func(ctx context.Context, l *lab, t *trial) {
			l.nodes[3].Slow(10)
			defer l.nodes[3].Slow(1)
			for range 20 {
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Duration(100+rand.N(600)) * time.Millisecond):
					t.killController()
				}
			}
			<-ctx.Done()
		},
	},
	{
		name: "two", title: "Two controllers run at once, and one node is 10 times slower", tasks: 16, long: never, two: true,
		policies: []string{"default"}, cap: 2 * time.Minute, happens: slowNode,
	},
	{
		name: kit.Server, title: "The API server is killed and started again, and one node is 10 times slower",
		tasks: 16, long: never, policies: []string{builtIn, "default"}, cap: 2 * time.Minute,
		happens: func(ctx context.Context, l *lab, t *trial) {
			l.nodes[3].Slow(10)
			defer l.nodes[3].Slow(1)
			time.Sleep(2 * time.Second)
			l.plane.KillServer()
			time.Sleep(500 * time.Millisecond)
			t.note(l.plane.StartServer(context.WithoutCancel(ctx)))
			<-ctx.Done()
		},
	},
	{
		name: kit.Death, title: "A node dies without a word in the middle of its pods", tasks: 16, long: never,
		policies: []string{builtIn, "none", "default"}, cap: 90 * time.Second,
		happens: func(ctx context.Context, l *lab, t *trial) {
			time.Sleep(1500 * time.Millisecond)
			l.nodes[3].Die()
			<-ctx.Done()
			t.note(l.replace(context.WithoutCancel(ctx), 3))
		},
	},
}

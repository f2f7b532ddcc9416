package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/examples/kit"
)

// scenario describes what goes wrong, and the policies under which it runs.
type scenario struct {
	name, title string
	tasks       int
	spare       int      // number of nodes beyond four
	twice       bool     // each pod has twice the work
	args        []string // arguments of the workload
	long        int      // this index and all later indexes have five times the work
	told        bool     // an annotation of the Job has the work of each index
	two         bool     // two controllers run at once
	policies    []string
	cap         time.Duration // time limit of a run
	// happens runs beside the Job and causes the trouble. It returns when the context ends, or earlier.
	happens func(context.Context, *lab, *trial)
}

const never = 1 << 30

// usualUnits is the usual work of a pod in units, three seconds in all.
const usualUnits = 60

func (s *scenario) units() int {
	if s.twice {
		return 2 * usualUnits
	}
	return usualUnits
}

// Two ways to run without the controller of this library, or with only a part of it.
const (
	builtIn  = "built-in"
	eviction = "eviction"
)

var everybody = []string{builtIn, "none", "naive", "late,min-age=2s", "mantri", "default", eviction}

// slowNode makes one node ten times slower.
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
		name: kit.Untold, title: "48 indexes; five have five times the data, and the policy does not know it; no node is slow",
		tasks: 48, long: 43, args: []string{"-from", "43", "-share"}, cap: 2 * time.Minute,
		policies: []string{builtIn, "none", "naive", "late,min-age=2s", "mantri", "default"},
	},
	{
		name: "counts", title: "48 indexes; five have five times the data, and the pods report done/total; no node is slow", tasks: 48, long: 43,
		args: []string{"-from", "43"}, cap: 2 * time.Minute, policies: []string{builtIn, "default"},
	},
	{
		name: kit.Skew, title: "48 indexes; five have five times the data, and the Job has the work of each index; no node is slow", tasks: 48, long: 43, told: true,
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
		name: kit.Death, title: "A node dies without a message in the middle of its pods", tasks: 16, long: never,
		policies: []string{builtIn, "none", "default"}, cap: 90 * time.Second,
		happens: func(ctx context.Context, l *lab, t *trial) {
			time.Sleep(1500 * time.Millisecond)
			l.nodes[3].Die()
			<-ctx.Done()
			t.note(l.replace(context.WithoutCancel(ctx), 3))
		},
	},
}

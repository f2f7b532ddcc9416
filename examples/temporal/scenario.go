package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
)

// The sizes of the demo: a map takes a second or two on a good host, however fast the machine is.
const (
	rate      = 320 << 10 // bytes a second that a slot of a good host reads
	slowdown  = 10        // how many times slower the slow host is
	skewed    = 5         // how many times more data a large chunk has
	largeOf   = 8         // of so many chunks one is large
	chunkSize = 448 << 10 // bytes
	smallSize = 320 << 10 // bytes of a chunk in a scenario with large ones
)

// scenario is what happens to a job.
type scenario struct {
	name, about string
	tasks       int
	reduces     int
	hosts       int
	slots       int  // of each host
	slow        bool // the last host is
	silent      bool // no task says how far it is
	sizes       []int
	disturb     func(*cluster.Cluster) (undo func() error, err error)
}

// scenarios are those that are run unless others are asked for, one that knows less, and those that lose something.
func scenarios(tasks, hosts int) []scenario {
	all := []scenario{
		{name: "slow-host", about: fmt.Sprintf("one host of %d is %d times slower", hosts, slowdown), slow: true},
		{name: "skew", about: fmt.Sprintf("one chunk of %d has %d times the data, all hosts are alike", largeOf, skewed),
			sizes: skewedSizes(tasks)},
		{name: "small", about: fmt.Sprintf("a small job, and one host of %d is %d times slower", hosts, slowdown), slow: true,
			tasks: 6, reduces: 4},
		{name: "silent", about: "as slow-host, but no task says how far it is", slow: true, silent: true},
		{name: "kill", about: "a host is killed while it runs its tasks", disturb: kill},
		{name: "pause", about: "a host falls silent while it runs its tasks, and never ends", disturb: pause},
		{name: "server", about: "the Temporal server is stopped and started again while tasks run", disturb: restartServer},
	}
	for i := range all {
		s := &all[i]
		s.hosts, s.slots = hosts, (tasks+hosts-1)/hosts // room for all maps
		if s.tasks == 0 {
			s.tasks, s.reduces = tasks, max(1, tasks/4)
		}
		if s.sizes == nil {
			s.sizes = slices.Repeat([]int{chunkSize}, s.tasks)
		}
	}
	return all
}

const defaultScenarios = "slow-host,skew,small"

// chooseScenarios picks scenarios by name, in the order given.
func chooseScenarios(list string, tasks, hosts int) ([]scenario, error) {
	return choose("scenario", list, scenarios(tasks, hosts), func(s scenario) string { return s.name })
}

// choose picks from all those that the list names, separated by commas, in its order.
func choose[T any](what, list string, all []T, nameOf func(T) string) (chosen []T, err error) {
	var known, taken []string
	for _, one := range all {
		known = append(known, nameOf(one))
	}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.Index(known, name)
		switch {
		case i < 0:
			return nil, fmt.Errorf("unknown %s %q; there are %s", what, name, strings.Join(known, ", "))
		case slices.Contains(taken, name):
			return nil, fmt.Errorf("%s %q is named twice", what, name)
		}
		chosen, taken = append(chosen, all[i]), append(taken, name)
	}
	return chosen, nil
}

func skewedSizes(tasks int) []int {
	sizes := slices.Repeat([]int{smallSize}, tasks)
	for i := min(largeOf/2, tasks-1); i < tasks; i += largeOf {
		sizes[i] *= skewed
	}
	return sizes
}

// victim is the host that is lost; none of the scenarios has a slow one besides.
func victim(c *cluster.Cluster) *cluster.Process { return c.Hosts[len(c.Hosts)-1] }

func kill(c *cluster.Cluster) (func() error, error) {
	return victim(c).Restart, victim(c).Kill()
}

func pause(c *cluster.Cluster) (func() error, error) {
	return victim(c).Resume, victim(c).Pause()
}

func restartServer(c *cluster.Cluster) (func() error, error) {
	if err := c.Server.Stop(); err != nil {
		return nil, err
	}
	time.Sleep(500 * time.Millisecond)
	return func() error { return nil }, c.Server.Start()
}

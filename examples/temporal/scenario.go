package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
)

// The sizes of the demonstration. A map takes one to two seconds on a good host, on a fast or a slow machine.
const (
	rate      = 320 << 10 // bytes per second that a slot of a good host reads
	slowdown  = 10        // the slow host is slower by this factor
	skewed    = 5         // x the data of a normal chunk, in a large chunk
	largeOf   = 8         // one chunk of this number is large
	chunkSize = 448 << 10 // bytes of a chunk
	smallSize = 320 << 10 // bytes of a normal chunk in a scenario with large chunks
)

// scenario describes the job and the trouble that happens to it.
type scenario struct {
	name, title string
	policies    []string
	tasks       int
	reduces     int
	machines    int
	slots       int  // of each host
	slow        bool // the last host is
	silent      bool // no task reports progress
	sizes       []int
	disturb     func(*cluster.Cluster) (undo func() error, err error)
}

func scenarios(tasks, machines int) []scenario {
	slow := fmt.Sprintf("one host of %d is %d times slower", machines, slowdown)
	all := []scenario{
		{name: kit.Clean, title: "nothing is wrong", policies: []string{"none", "naive", "default"}},
		{name: kit.Slow, title: slow, slow: true},
		{name: kit.Skew, title: fmt.Sprintf("one chunk of %d has %d times the data, no host is slow", largeOf, skewed),
			sizes: skewedSizes(tasks)},
		{name: "small", title: "a small job, and " + slow, slow: true, tasks: 6, reduces: 4},
		{name: "silent", title: slow + ", and no task reports progress", slow: true, silent: true, policies: policies[:5]},
		{name: kit.Death, title: "a host is killed while it runs its tasks", disturb: kill, policies: policies[3:5]},
		{name: "pause", title: "a host becomes silent while it runs its tasks, and never ends", disturb: pause,
			policies: policies[3:5]},
		{name: kit.Server, title: "the Temporal server is stopped and started again while tasks run", disturb: restartServer,
			policies: policies[3:5]},
	}
	for i := range all {
		s := &all[i]
		s.machines, s.slots = machines, (tasks+machines-1)/machines // room for all maps
		if s.policies == nil {
			s.policies = policies
		}
		if s.tasks == 0 {
			s.tasks, s.reduces = tasks, max(1, tasks/4)
		}
		if s.sizes == nil {
			s.sizes = slices.Repeat([]int{chunkSize}, s.tasks)
		}
	}
	return all
}

func skewedSizes(tasks int) []int {
	sizes := slices.Repeat([]int{smallSize}, tasks)
	for i := min(largeOf/2, tasks-1); i < tasks; i += largeOf {
		sizes[i] *= skewed
	}
	return sizes
}

// victim is the host that is lost. No scenario has both a lost host and a slow host.
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

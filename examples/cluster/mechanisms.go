package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/estimate/knn"
	"github.com/straggler-go/straggler/fairshare/preempt"
	"github.com/straggler-go/straggler/laxity"
	"github.com/straggler-go/straggler/laxity/outlier"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// mechanism is a part of the library that a simulation can use or leave out.
type mechanism struct {
	name string
	use  func(*cluster.Config) error
}

// mechanisms are set up in this order. Without fair and laxity, jobs get slots in the order of their arrival.
var mechanisms = []mechanism{
	{"fair", func(c *cluster.Config) error {
		c.Order.Policy.Discipline = 0
		for i := range c.Order.Pools {
			c.Order.Pools[i].Discipline = 0
		}
		c.Order.Preempt = &preempt.Config{Timeouts: preempt.Timeouts{Min: 15 * time.Second, Fair: time.Minute}}
		return nil
	}},
	{"laxity", func(c *cluster.Config) error {
		c.Order.Laxity, c.Overload = &laxity.Policy{}, &outlier.Config{}
		c.Forecast = &knn.Config{Keep: 500} // 500 observations are enough for two numbers for each task
		return nil
	}},
	{"restart=least-cost", stragglers(restart.LeastCost{})},
	{"restart=mantri", stragglers(restart.Mantri{})},
	{"restart=late", func(c *cluster.Config) error { c.Restart = rules.LATE{MinAge: 10 * time.Second}; return nil }},
	{"clone", func(c *cluster.Config) error { c.Clone, c.Straggler = &clone.Config{}, stragglerShare; return nil }},
	{"assign", func(c *cluster.Config) error { c.Assign = &cluster.Assignment{Every: 5 * time.Minute}; return nil }},
	{"delay", func(c *cluster.Config) (err error) {
		c.Delay, err = delay.New(delay.Config{Waits: []time.Duration{3 * time.Second, 3 * time.Second}})
		return err
	}},
	{"skew", func(c *cluster.Config) error {
		c.Skew, c.LearnMachines = &cluster.Skew{}, true
		if c.Restart == nil {
			c.Restart = restart.Never{} // a tracker must watch the tasks, or the speeds of the machines stay unknown
		}
		return nil
	}},
	{"place", func(c *cluster.Config) error { c.Place = true; return nil }},
	{"replicate", func(c *cluster.Config) error {
		c.Replicate = &cluster.Replication{Bandwidth: 100e6}
		return nil
	}},
}

// stragglers uses a policy with a record of the machines, and starts the largest tasks first, as Mantri does.
func stragglers(policy restart.Policy) func(c *cluster.Config) error {
	return func(c *cluster.Config) error {
		c.Restart, c.LearnMachines, c.LargestFirst = policy, true, true
		return nil
	}
}

// everything lists the mechanisms of "all": one rule against stragglers and one order of jobs are among them.
var everything = []string{"fair", "restart=mantri", "clone", "assign", "delay", "skew", "place", "replicate"}

func names() []string {
	var list []string
	for _, m := range mechanisms {
		list = append(list, m.name)
	}
	return list
}

// use sets up a configuration with the mechanisms of the list, and no others.
func use(c *cluster.Config, with string) error {
	c.Order.Policy.Discipline = fifo
	for i := range c.Order.Pools {
		c.Order.Pools[i].Discipline = fifo
	}
	asked := strings.Split(with, ",")
	switch with {
	case "none", "":
		return nil
	case "all":
		asked = everything
	}
	for _, name := range asked {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("-with has %q, want some of %s", name, strings.Join(names(), ", "))
		}
	}
	for _, m := range mechanisms {
		if slices.Contains(asked, m.name) {
			if err := m.use(c); err != nil {
				return err
			}
		}
	}
	return nil
}

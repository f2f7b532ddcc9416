package engine_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// run is the whole adapter of an engine.
func run(phase *engine.Phase, cluster *toy) {
	for !phase.Done() {
		for _, a := range phase.Poll(cluster.Now(), cluster.List()).Actions {
			switch a.Op {
			case engine.Submit:
				cluster.Submit(a.Task, a.ID, a.Machine)
			case engine.Cancel:
				cluster.Cancel(a.ID)
			case engine.Publish:
				cluster.Publish(a.Task, a.ID)
				phase.Published(a.ID)
			}
			cluster.Log(a)
		}
		cluster.Sleep(time.Second)
	}
}

// toy is an engine of three machines. Machine eve reads at a tenth of the speed of the others.
type toy struct {
	now     time.Time
	running []engine.Attempt
	results map[int]string
}

func (c *toy) Now() time.Time        { return c.now }
func (c *toy) Sleep(d time.Duration) { c.now = c.now.Add(d) }

func (c *toy) Log(a engine.Action) {
	if a.Op != engine.Publish {
		fmt.Printf("%ds %v\n", c.now.Unix(), a)
	}
}

func (c *toy) Submit(task int, id, machine string) {
	c.running = append(c.running, engine.Attempt{ID: id, Task: task, Machine: machine, State: engine.Running, Begun: c.now})
}

// Cancel takes a moment: the attempt is listed once more, as cancelled.
func (c *toy) Cancel(id string) {
	for i := range c.running {
		if c.running[i].ID == id {
			c.running[i].State = engine.Cancelled
		}
	}
}

func (c *toy) Publish(task int, id string) { c.results[task] = id }

func (c *toy) List() []engine.Attempt {
	for i := range c.running {
		a := &c.running[i]
		seconds := map[string]float64{"ann": 5, "bob": 5, "eve": 50}[a.Machine]
		if a.Progress.Score = c.now.Sub(a.Begun).Seconds() / seconds; a.Progress.Score >= 1 {
			a.State = engine.Succeeded
		}
	}
	list := slices.Clone(c.running)
	c.running = slices.DeleteFunc(c.running, func(a engine.Attempt) bool { return a.State != engine.Running })
	return list
}

// Six tasks run on three machines with two slots each. Machine eve reads at a tenth of the speed of the others,
// so its two tasks are copied to ann and bob.
func Example() {
	machines, err := engine.NewMachines(engine.MachinesConfig{
		Machines: []engine.Machine{{Name: "ann", Slots: 2}, {Name: "bob", Slots: 2}, {Name: "eve", Slots: 2}},
	})
	if err != nil {
		panic(err)
	}
	phase, err := engine.New(engine.Config{Tasks: 6, Interval: time.Second, Machines: machines})
	if err != nil {
		panic(err)
	}
	cluster := &toy{now: time.Unix(0, 0), results: map[int]string{}}
	run(phase, cluster)
	fmt.Println(phase.Ledger().Finished, "tasks finished:", cluster.results)
	// Output:
	// 0s submit 0.0 on ann
	// 0s submit 1.0 on bob
	// 0s submit 2.0 on eve
	// 0s submit 3.0 on ann
	// 0s submit 4.0 on bob
	// 0s submit 5.0 on eve
	// 5s submit 2.1 on ann not on eve: copy idle-slot basis=progress remaining=38.4915s fresh=14s slot-seconds=157.828 threshold=58.2525 gain=24.4915s avoid=2
	// 5s submit 5.1 on bob not on eve: copy idle-slot basis=progress remaining=38.4915s fresh=14s slot-seconds=157.828 threshold=58.2525 gain=24.4915s avoid=2
	// 6s cancel 5.0 on eve: kill copy-faster attempt=0 basis=progress remaining=4.124s fresh=12.5001s saved-slot-seconds=4.14257 threshold=2
	// 6s cancel 2.0 on eve: kill copy-faster attempt=0 basis=progress remaining=4.124s fresh=12.5009s saved-slot-seconds=4.13314 threshold=2 won=1 tried=1
	// 6 tasks finished: map[0:0.0 1:1.0 2:2.1 3:3.0 4:4.0 5:5.1]
}

package engine_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Six tasks on three hosts with two slots each, of which one reads at a tenth of the others' speed.
func Example() {
	hosts, err := engine.NewHosts(engine.HostsConfig{Hosts: []engine.Host{{Name: "ann", Slots: 2}, {Name: "bob", Slots: 2}, {Name: "eve", Slots: 2}}})
	if err != nil {
		panic(err)
	}
	phase, err := engine.New(engine.Config{Config: restart.Config{Tasks: 6, Interval: time.Second}, Hosts: hosts})
	if err != nil {
		panic(err)
	}
	var running []engine.Attempt // what an engine keeps
	start := time.Unix(0, 0)
	for now := start; !phase.Done(); now = now.Add(time.Second) {
		for i := range running {
			a := &running[i]
			seconds := 5.0
			if a.Host == "eve" {
				seconds = 50
			}
			if a.Progress.Score = now.Sub(a.Begun).Seconds() / seconds; a.Progress.Score >= 1 {
				a.State = engine.Succeeded
			}
		}
		list := slices.Clone(running)
		running = slices.DeleteFunc(running, func(a engine.Attempt) bool { return a.State == engine.Succeeded })
		for _, a := range phase.Observe(now, list) {
			fmt.Printf("%.0fs %v\n", now.Sub(start).Seconds(), a)
			switch a.Op {
			case engine.Submit:
				running = append(running, engine.Attempt{ID: a.ID, Task: a.Task, Host: a.Host, State: engine.Running, Begun: now})
			case engine.Cancel: // here, it ends at once
				running = slices.DeleteFunc(running, func(r engine.Attempt) bool { return r.ID == a.ID })
				// Its slot is free once it is seen to have ended; until then nothing else goes there.
			}
		}
	}
	fmt.Println(phase.Ledger().Finished, "tasks finished")
	// Output:
	// 0s submit 0.0 on ann
	// 0s submit 1.0 on bob
	// 0s submit 2.0 on eve
	// 0s submit 3.0 on ann
	// 0s submit 4.0 on bob
	// 0s submit 5.0 on eve
	// 1s cancel 2.0: restart fresh-sooner copy=0 remaining=49s fresh=14s bar=15s gain=35s avoid=2
	// 1s cancel 5.0: restart fresh-sooner copy=0 remaining=49s fresh=14s bar=15s gain=35s avoid=2
	// 5s submit 2.1 on ann not on eve: restart fresh-sooner copy=0 remaining=49s fresh=14s bar=15s gain=35s avoid=2
	// 5s submit 5.1 on bob not on eve: restart fresh-sooner copy=0 remaining=49s fresh=14s bar=15s gain=35s avoid=2
	// 6 tasks finished
}

package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// savedState is the state of a coordinator as JSON.
type savedState struct {
	Version  int
	Origin   string
	Serial   int
	Machines []byte
	Record   []byte
	Kinds    map[string][]byte
	Groups   []savedGroup
}

type savedGroup struct {
	Name, Kind, Batch string
	Jobs              []Job
	Errors            map[int]string
	Rests             map[int]rest
	Settled           []int
	Phase             []byte
}

const stateVersion = 2

// open makes this process the coordinator, and goes on from the saved state.
func (c *Coordinator) open(ctx context.Context, now time.Time) error {
	epoch, data, err := c.store.Open(ctx, c.owner, c.o.Takeover)
	if err != nil {
		return err
	}
	c.workers, c.ended, c.untold = map[string]workerState{}, map[string]bool{}, map[string]bool{}
	c.swept, c.saved, c.dirty = time.Time{}, now, false
	if c.state, err = c.restore(data); err != nil {
		c.o.Log.Warn("queue: the saved state can't be read, and all jobs without a result begin anew", "error", err)
		data = nil
	}
	c.reset = data == nil
	if c.reset {
		c.state = c.newState()
	}
	for kind := range c.kinds { // the last coordinator may have died before it stored its observations
		c.untold[kindPrefix+kind] = true
	}
	if err := c.recall(ctx, now, machinesKey, c.record); err != nil {
		return err
	}
	c.epoch, c.renewed = epoch, now
	return nil
}

func (c *Coordinator) newState() state {
	s := state{origin: rand.Text(), kinds: map[string]*tracker.Experience{}}
	s.makeMachines(&c.o)
	return s
}

// makeMachines makes the machines and their record, without any machine.
func (s *state) makeMachines(o *Options) {
	s.record, _ = machines.New(machines.Config{Origin: s.origin}) // the configurations are valid
	s.machines, _ = engine.NewMachines(engine.MachinesConfig{Record: s.record, Prefetch: o.Prefetch, Rest: o.Silence})
}

// marshal returns the state as bytes, without the groups that are over.
func (c *Coordinator) marshal(over []*group) []byte {
	s := savedState{Version: stateVersion, Origin: c.origin, Serial: c.serial, Kinds: map[string][]byte{}}
	s.Machines, _ = c.machines.MarshalBinary() // MarshalBinary never fails here
	s.Record, _ = c.record.MarshalBinary()
	for kind, x := range c.kinds {
		s.Kinds[kind], _ = x.MarshalBinary()
	}
	for _, g := range c.groups {
		if slices.Contains(over, g) {
			continue
		}
		phase, _ := g.phase.MarshalBinary()
		saved := savedGroup{
			Name: g.name, Kind: g.kind, Batch: g.batch, Jobs: g.jobs, Errors: g.errors, Rests: g.rests, Phase: phase,
		}
		for task := range g.jobs {
			if g.settled[task] {
				saved.Settled = append(saved.Settled, task)
			}
		}
		s.Groups = append(s.Groups, saved)
	}
	data, _ := json.Marshal(s) // the type has a form in JSON
	return data
}

// restore returns the state that was saved as data.
func (c *Coordinator) restore(data []byte) (s state, err error) {
	if data == nil {
		return s, nil
	}
	var saved savedState
	if err := json.Unmarshal(data, &saved); err != nil {
		return s, err
	}
	if saved.Version != stateVersion {
		return s, fmt.Errorf("its version is %d, want %d", saved.Version, stateVersion)
	}
	s = state{origin: saved.Origin, serial: saved.Serial, kinds: map[string]*tracker.Experience{}}
	s.makeMachines(&c.o)
	if err := s.record.UnmarshalBinary(saved.Record); err != nil {
		return s, err
	}
	if err := s.machines.UnmarshalBinary(saved.Machines); err != nil {
		return s, err
	}
	for kind, data := range saved.Kinds {
		x := newExperience(s.origin)
		if err := x.UnmarshalBinary(data); err != nil {
			return s, err
		}
		s.kinds[kind] = x
	}
	for _, sg := range saved.Groups {
		g := newGroup(sg.Kind, sg.Batch)
		g.name, g.jobs, g.taken = sg.Name, sg.Jobs, true
		for task, text := range sg.Errors {
			g.errors[task] = text
		}
		for task, r := range sg.Rests {
			g.rests[task] = r
		}
		for _, task := range sg.Settled {
			g.settled[task] = true
		}
		g.config = c.config(&s, g)
		if g.phase, err = engine.Restore(g.config, engine.Saved{Snapshot: sg.Phase}); err != nil {
			return s, err
		}
		c.restrict(g)
		s.groups = append(s.groups, g)
	}
	return s, nil
}

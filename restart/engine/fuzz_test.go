package engine_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// FuzzPoll passes arbitrary reports to two phases that share their machines, in any order and at any time. The phases
// must not panic, must not fill a machine beyond its slots, and must act on each attempt at most once. An attempt that
// is missing from the lists for the time Trace occupies no slot and counts as ended. If it returns, it is cancelled
// again. The journals must replay.
func FuzzPoll(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	f.Add([]byte("a cluster of two machines that never says the same twice, and says it late"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > 4000 {
			t.Skip("long inputs find nothing new")
		}
		machines, phases := rubbishPhases(t, data[0])
		placing := data[0]&1 == 0
		now := epoch
		for data = data[1:]; len(data) >= 16; data = data[16:] {
			now = now.Add(time.Duration(int8(data[0])) * 100 * time.Millisecond)
			if data[8] >= 192 {
				machines.SetDown(fmt.Sprint("h", data[8]%4), data[8]&32 != 0)
			}
			p := phases[data[8]%2]
			p.observe(t, now, []engine.Attempt{p.observed(now, data, placing), p.observed(now, data[8:], placing)})
			count := map[string]int{}
			for _, p := range phases {
				for id, machine := range p.held {
					if *p.since-p.shown[id] < trace {
						count[machine]++
					}
				}
			}
			require.True(t, !placing || count["h0"] <= 2 && count["h1"] <= 1, "%v", count)
		}
		for _, p := range phases {
			replayed, err := journal.Replay(p.Journal(), journal.Options{})
			require.NoError(t, err)
			assert.Equal(t, string(p.Journal()), string(replayed))
			p.Release()
		}
	})
}

// rubbish is a phase that gets arbitrary reports.
type rubbish struct {
	*engine.Phase
	held  map[string]string        // by ID: machine of an attempt that the phase submitted
	shown map[string]time.Duration // by ID: when the attempt was submitted or last listed, by the phase's time since
	acted map[string]bool
	now   *time.Time     // of the last call
	since *time.Duration // the phase's time: it stands still when the caller's clock is set back
}

// trace is the shortest time after which a phase of FuzzPoll treats a missing attempt as ended.
const trace = 20 * time.Second

func rubbishPhases(t *testing.T, mode byte) (*engine.Machines, [2]rubbish) {
	t.Helper()
	var known engine.MachinesConfig
	config := engine.Config{Work: []float64{1, 5, 2, 1}, Interval: time.Second, Journal: true}
	if mode&1 == 0 {
		known.Machines = []engine.Machine{{Name: "h0", Slots: 2}, {Name: "h1", Slots: 1}}
	} else {
		config.Slots, config.Preloaded = 3, mode&2 != 0
	}
	config.Clones = int(mode) / 4 % 3
	config.Policy = []restart.Policy{nil, rules.LATE{}, rules.MapReduce{}, rules.Dryad{MinFinished: 1}}[mode/8%4]
	machines, err := engine.NewMachines(known)
	require.NoError(t, err)
	config.Machines = machines
	var phases [2]rubbish
	for i := range phases {
		p, err := engine.New(config)
		require.NoError(t, err)
		p.SetEligible(i, false, mode&32 != 0)
		phases[i] = rubbish{p, map[string]string{}, map[string]time.Duration{}, map[string]bool{}, new(time.Time), new(time.Duration)}
	}
	return machines, phases
}

func (p rubbish) observe(t *testing.T, now time.Time, list []engine.Attempt) {
	t.Helper()
	if !p.now.IsZero() {
		*p.since += max(0, now.Sub(*p.now))
	}
	*p.now = now
	for _, seen := range list {
		if acceptable(seen) && *p.since-p.shown[seen.ID] < trace {
			p.shown[seen.ID] = *p.since
		}
		if seen.State >= engine.Succeeded && acceptable(seen) {
			delete(p.held, seen.ID)
		}
	}
	for _, seen := range list {
		if task, gone := p.Gone(seen.ID); gone {
			delete(p.acted, action(engine.Cancel, task, seen.ID))
		}
	}
	open := map[string]bool{}
	for _, r := range p.Outstanding() {
		open[action(r.Op, r.Task, r.ID)] = true
	}
	for _, a := range p.Poll(now, list).Actions {
		key := action(a.Op, a.Task, a.ID)
		assert.False(t, p.acted[key] && !open[key], "%s was requested twice", key)
		p.acted[key] = true
		if a.Op == engine.Submit {
			p.held[a.ID] = a.Machine
			if _, known := p.shown[a.ID]; !known {
				p.shown[a.ID] = *p.since
			}
		}
	}
}

// action names a request. In rubbish, two tasks may have an attempt of the same ID.
func action(op engine.Op, task int, id string) string {
	return fmt.Sprintf("%v %s of task %d", op, id, task)
}

// observed draws a report about an attempt. Where machines have slots, the attempt runs on the machine to which
// it was sent.
func (p rubbish) observed(now time.Time, b []byte, placing bool) engine.Attempt {
	a := observed(now, b)
	if placing {
		a.Machine = p.held[a.ID]
	} else if b[7]&16 != 0 {
		a.Machine = fmt.Sprint("h", b[6]/8%4)
	}
	return a
}

// acceptable reports whether Poll accepts a report.
func acceptable(a engine.Attempt) bool {
	var task int
	_, err := fmt.Sscanf(a.ID, "%d.", &task)
	return err == nil && task == a.Task && a.State <= engine.Cancelled
}

func observed(now time.Time, b []byte) engine.Attempt {
	n := binary.LittleEndian.Uint16(b[2:])
	a := engine.Attempt{
		ID: fmt.Sprintf("%d.%d", b[1]%5, b[1]/5%4), Task: int(b[1] % 5), State: engine.State(b[4] % 7),
		Progress: tracker.Report{Done: float64(int8(b[5])) / 8, Score: float64(b[6]%8) / 4},
	}
	if b[7]&1 != 0 {
		a.Begun = now.Add(-time.Duration(n) * time.Millisecond)
	}
	if b[7]&2 != 0 {
		a.AsOf = now.Add(time.Duration(int16(n)) * time.Millisecond)
	}
	if b[7]&4 != 0 {
		a.Ended = now.Add(-time.Duration(n) * time.Microsecond)
	}
	if b[7]&8 != 0 {
		a.Task--
	}
	return a
}

package cluster

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// checkFlows reports where flows and copies disagree: a flow belongs to a copy that reads, and a copy finds in its list
// all flows that it counts, and no others.
func checkFlows(s *sim) error {
	live := 0
	for f := range s.net.flows {
		if flow := &s.net.flows[f]; flow.live {
			live++
			if flow.copy == none {
				live-- // a background write
			} else if c := &s.copies[flow.copy]; !c.live || c.stage != reads && c.stage != writes {
				return fmt.Errorf("flow %d goes on for copy %d, which is live %v at stage %d", f, flow.copy, c.live, c.stage)
			}
		}
	}
	listed := 0
	for at := range s.copies {
		c := &s.copies[at]
		n := int32(0)
		for f := c.flow; f != none && n <= c.flows; f = s.net.flows[f].next {
			if flow := &s.net.flows[f]; !flow.live || flow.copy != int32(at) {
				return fmt.Errorf("copy %d lists flow %d, which is live %v and of copy %d", at, f, flow.live, flow.copy)
			}
			n++
		}
		if n != c.flows {
			return fmt.Errorf("copy %d lists %d flows and counts %d", at, n, c.flows)
		}
		if listed += int(n); n > 0 && (!c.live || c.stage != reads && c.stage != writes) {
			return fmt.Errorf("copy %d has %d flows, is live %v at stage %d", at, n, c.live, c.stage)
		}
	}
	if listed != live {
		return fmt.Errorf("%d flows are live, %d are listed", live, listed)
	}
	return nil
}

// meeting makes a random cluster of several racks in which much happens at whole seconds, so that events meet, and in
// which one or two of the ways of policies decide. It returns their names.
func meeting(seed uint64, ways map[string]func(*Config)) (Config, string) {
	rng := rand.New(rand.NewPCG(seed, 12))
	c := anyCluster(seed)
	c.Lag = []time.Duration{0, time.Millisecond, time.Second}[rng.IntN(3)]
	for len(c.Racks) < 2 {
		c.Racks = append(c.Racks, Rack{Up: 50, Down: 20})
	}
	for i := range c.Racks {
		c.Racks[i].Up, c.Racks[i].Down = math.Ceil(c.Racks[i].Up/5), math.Ceil(c.Racks[i].Down/5)
	}
	for i := range c.Machines {
		c.Machines[i].Rack = i % len(c.Racks)
		c.Machines[i].Speed = 1 / float64(1+rng.IntN(2))
	}
	for i := range c.Jobs {
		c.Jobs[i].At = c.Jobs[i].At.Round(time.Second)
		for k := range c.Jobs[i].Phases {
			p := &c.Jobs[i].Phases[k]
			if rng.IntN(2) == 0 {
				p.Fetch = 0 // links are all that holds its reads up
			}
			for t := range p.Tasks {
				p.Tasks[t].Seconds, p.Tasks[t].Bytes = math.Ceil(p.Tasks[t].Seconds), 10*math.Ceil(p.Tasks[t].Bytes/10)
			}
		}
	}
	if rng.IntN(3) == 0 {
		onPhysical(&c, rng)
	}
	if rng.IntN(4) == 0 {
		c.Order.Pools = []fairshare.Pool{{Min: int64(rng.IntN(3))}, {Weight: 2}, {}}
		c.Order.Preempt = &preempt.Config{Timeouts: preempt.Timeouts{Min: 2 * time.Second, Fair: 5 * time.Second}}
		c.Order.Policy.OnInfeasible = fairshare.Scale
		for i := range c.Jobs {
			c.Jobs[i].Pool = rng.IntN(len(c.Order.Pools))
		}
	}
	names, said := slices.Sorted(maps.Keys(ways)), ""
	for range 1 + rng.IntN(2) {
		name := names[rng.IntN(len(names))]
		ways[name](&c)
		said += name + "; "
	}
	c.ClonePreempts = rng.IntN(2) == 0
	return c, said
}

// onPhysical puts the machines on physical machines, and lets every second phase write.
func onPhysical(c *Config, rng *rand.Rand) {
	c.Physical = make([]Physical, 1+rng.IntN(3))
	for i := range c.Physical {
		c.Physical[i] = Physical{Disk: float64(20 + rng.IntN(100)), Card: float64(10 + rng.IntN(50))}
	}
	for i := range c.Machines {
		c.Machines[i].Physical, c.Machines[i].Background = rng.IntN(len(c.Physical)), rng.IntN(2)
		c.Machines[i].DiskRate = float64(10 + rng.IntN(50))
	}
	for i := range c.Jobs {
		for k := range c.Jobs[i].Phases {
			for t := range c.Jobs[i].Phases[k].Tasks {
				c.Jobs[i].Phases[k].Tasks[t].Writes = float64(k%2) * 50
			}
		}
	}
}

// some returns the number of cases of a long test: few, or all with STRAGGLER_LIVES.
func some(few, all uint64) uint64 {
	if os.Getenv("STRAGGLER_LIVES") != "" {
		return all
	}
	return few
}

// A killed attempt stops reading. The attempt that starts in its place reads everything itself.
func TestFlowsBelongToCopiesThatRead(t *testing.T) {
	t.Parallel()
	seeds := some(75, 4000)
	ways, flows, kills, failed := policies(t), 0, 0, 0
	for seed := range seeds {
		c, names := meeting(seed, ways)
		s, err := newSim(&c)
		require.NoError(t, err)
		for err == nil && s.left > 0 {
			switch {
			case !s.step() || s.now > 24*time.Hour: // the longest task of these worlds ends after 13 hours
				err = fmt.Errorf("%d jobs never end", s.left)
			case s.err != nil:
				err = s.err
			default:
				err = checkFlows(s)
			}
		}
		if err != nil {
			failed++
			t.Errorf("seed %d, %s at %v: %v", seed, names, s.now, err)
		}
		flows += len(s.net.flows)
		kills += s.result.Restarted + s.result.Pruned + s.result.Lost + s.result.Preempted + s.result.SentBack
	}
	t.Logf("%d of %d fail; flows at once in all: %d; copies that ended before their time: %d", failed, seeds, flows, kills)
	assert.Greater(t, flows, int(seeds))
	assert.Greater(t, kills, int(seeds))
}

// TestAFlowThatEndsLeavesTheOthersTheirPlaces has a reduce that reads from two racks at once, and one of the second job
// whose flow takes the place of the first of them to end.
func TestAFlowThatEndsLeavesTheOthersTheirPlaces(t *testing.T) {
	c := Config{
		Machines: []Machine{
			{Rack: 0, Slots: [kinds]int{1, 0}}, {Rack: 1, Slots: [kinds]int{2, 0}}, {Rack: 2, Slots: [kinds]int{0, 2}},
		},
		Racks: []Rack{{Up: 10, Down: 10}, {Up: 10, Down: 10}, {Up: 10, Down: 10}}, Remote: 1000, Lag: time.Millisecond,
		Jobs: []Job{
			{Phases: []Phase{
				{Tasks: sleep(1, 1, 1)}, {Kind: Reduce, After: []int{0}, Tasks: []Task{{Bytes: 600, Seconds: 5}}},
			}},
			{At: seconds(5), Phases: []Phase{
				{Tasks: sleep(1)}, {Kind: Reduce, After: []int{0}, Tasks: []Task{{Bytes: 100}}},
			}},
		},
	}
	s, err := newSim(&c)
	require.NoError(t, err)
	for s.left > 0 {
		require.True(t, s.step())
		require.NoError(t, checkFlows(s), "at %v", s.now)
	}
	s.finish()
	// Rack 2 takes 10 bytes a second: 700 in all, and the reduce computes for 5 s.
	assert.InDelta(t, 1+70+5, s.result.End.Seconds(), 0.01)
}

// What limits a reader is shared by the flows that it still has: three quarters of 100 bytes come from one rack, a
// quarter from the other, 10 a second in all.
func TestAFlowThatEndsLeavesItsSpeedToTheOthers(t *testing.T) {
	r := run(t, Config{
		Machines: []Machine{
			{Rack: 0, Slots: [kinds]int{3, 0}}, {Rack: 1, Slots: [kinds]int{1, 0}}, {Rack: 2, Slots: [kinds]int{0, 1}},
		},
		Racks: make([]Rack, 3), Remote: 10,
		Jobs: []Job{{Phases: []Phase{
			{Tasks: sleep(1, 1, 1, 1)}, {Kind: Reduce, After: []int{0}, Tasks: []Task{{Bytes: 100}}},
		}}},
	})
	assert.Equal(t, seconds(11), r.End)
}

// A reduce is killed whose end is on the queue, and a copy of another takes its place and reads at once.
func TestTheEndOfAKilledCopyIsNotThatOfTheNext(t *testing.T) {
	c := Config{
		Machines: []Machine{{Rack: 0, Slots: [kinds]int{1, 1}}, {Rack: 1, Slots: [kinds]int{1, 0}}},
		Racks:    []Rack{{Up: 10, Down: 10}, {Up: 10, Down: 10}}, Remote: 100,
		Jobs: []Job{
			{At: seconds(5), Phases: []Phase{
				{Tasks: sleep(1, 1)}, {Kind: Reduce, After: []int{0}, Tasks: []Task{{Bytes: 1000}}},
			}},
			{Phases: []Phase{{Tasks: sleep(1)}, {Kind: Reduce, After: []int{0}, Tasks: sleep(30)}}},
		},
	}
	s, err := newSim(&c)
	require.NoError(t, err)
	for s.left > 0 {
		require.True(t, s.step())
		if s.now == seconds(6) {
			for at := range s.copies {
				if c := &s.copies[at]; c.live && c.kind == Reduce {
					s.kill(int32(at), true)
					s.offer()
					s.settle()
				}
			}
		}
		require.NoError(t, checkFlows(s), "at %v", s.now)
	}
	assert.Equal(t, seconds(56), s.result.Jobs[0].End, "500 bytes of it come over a link of 10 a second")
}

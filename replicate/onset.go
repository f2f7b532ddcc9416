package replicate

import (
	"fmt"
	"time"
)

// OnsetConfig holds the choices of an [Onset]. Its zero value is usable.
type OnsetConfig struct {
	// Losses is how many losses of a machine within Window are the onset of a problem. 0 means 1, as the paper's default;
	// 2 makes fewer recomputations useless, 7 % against 24 % in the paper [Mantri §6.5]. Off: none ever.
	Losses int
	// Window is how far back losses count: how close together they must be, and how long the problem is taken to last. 0
	// means 15 minutes. The paper gives no figure; its losses come in quick succession.
	Window time.Duration
}

// Onset tells which machines are losing outputs now. Losses cluster: a machine that has lost one output is likely to lose
// others soon, so what else it holds is worth recomputing before anyone asks for it [Mantri §4.2, §5.3].
//
// Times come from the host; one before the latest counts as the latest. Machines are numbered from 0 by the host. Not
// safe for concurrent use; one per cluster.
type Onset struct {
	config OnsetConfig
	clock  clock
	times  []time.Duration // of the latest losses, a ring of Losses per machine
	next   []int           // the oldest of a machine's ring
}

// NewOnset returns an Onset for n machines, or an error that names the field that is out of range. It allocates
// 8*(1+Losses) bytes a machine, and nothing after that.
func NewOnset(n int, c OnsetConfig) (*Onset, error) {
	if c.Losses == 0 {
		c.Losses = 1
	}
	if c.Window == 0 {
		c.Window = 15 * time.Minute
	}
	switch {
	case n < 0:
		return nil, fmt.Errorf("replicate: the number of machines is %d, want 0 or more", n)
	case c.Losses < 0 && c.Losses != Off:
		return nil, fmt.Errorf("replicate: OnsetConfig.Losses is %d, want a positive number, 0 for the default, or Off", c.Losses)
	case c.Losses > maxOnsetLosses:
		return nil, fmt.Errorf("replicate: OnsetConfig.Losses is %d, want at most %d", c.Losses, maxOnsetLosses)
	case c.Window < 0:
		return nil, fmt.Errorf("replicate: OnsetConfig.Window is %v, want a positive duration, or 0 for the default", c.Window)
	}
	o := &Onset{config: c, next: make([]int, n)}
	if c.Losses != Off {
		o.times = make([]time.Duration, n*c.Losses)
		for i := range o.times {
			o.times[i] = never
		}
	}
	return o, nil
}

const (
	maxOnsetLosses = 1000
	never          = time.Duration(-1)
)

// Config returns the configuration with its defaults filled in.
func (o *Onset) Config() OnsetConfig { return o.config }

// Lost records that an output of the machine was found to be lost and returns [Onset.Active]. Call it once for each
// output. O(1), no allocation.
func (o *Onset) Lost(now time.Time, machine int) bool {
	if machine < 0 || machine >= len(o.next) || o.config.Losses == Off {
		return false
	}
	o.times[machine*o.config.Losses+o.next[machine]] = o.clock.since(now)
	o.next[machine] = (o.next[machine] + 1) % o.config.Losses
	return o.Active(now, machine)
}

// Active reports whether the machine's latest losses, as many as make an onset, were all within the last Window, its ends
// included. A machine that does not exist is never active. O(1), no allocation.
func (o *Onset) Active(now time.Time, machine int) bool {
	if machine < 0 || machine >= len(o.next) || o.config.Losses == Off {
		return false
	}
	oldest := o.times[machine*o.config.Losses+o.next[machine]]
	return oldest != never && o.clock.since(now)-oldest <= o.config.Window
}

package engine_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// rash answers at random: any action about any attempt.
type rash struct{ rng *rand.Rand }

func (r rash) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	return restart.Decision{Action: restart.Action(r.rng.IntN(4)), Attempt: r.rng.IntN(len(t.Attempts))}
}

// Describe asks for Mantri's facts, so that t_rem is a distribution here too.
func (rash) Describe() rules.Description {
	return rules.Description{Facts: rules.Fresh | rules.Left}
}

// liar passes the reports of a cluster to the phase, but invents the progress of each attempt.
type liar struct {
	*engine.Phase
	rng   *rand.Rand
	kinds map[string]int // by attempt
}

func (l liar) Poll(now time.Time, attempts []engine.Attempt) engine.Turn {
	for i := range attempts {
		a := &attempts[i]
		if _, ok := l.kinds[a.ID]; !ok {
			l.kinds[a.ID] = l.rng.IntN(6)
		}
		if a.State != engine.Running {
			continue
		}
		done := a.Progress.Done / whole.Seconds()
		switch l.kinds[a.ID] {
		case 1: // stalls
			done = min(done, 1./6)
		case 2: // rushes, and then stalls
			done = 0.99 * min(1, 20*done)
		case 3: // anything, back and forth
			done = l.rng.Float64()
		case 4: // is silent
			a.Progress, a.AsOf, done = tracker.Report{}, a.Begun, 0
		case 5: // looks the slower the longer it runs
			done = 1 / (2 + 100*done)
		}
		a.Progress.Done = done
		if l.kinds[a.ID] != 4 && l.rng.IntN(20) == 0 {
			a.Progress.Remaining = time.Duration(l.rng.ExpFloat64() * float64(time.Hour))
		}
	}
	return l.Phase.Poll(now, attempts)
}

// ordeal is a phase on a cluster that loses machines and attempts. All attempts take the same time.
type ordeal struct {
	*cluster
	config engine.Config
	ample  bool // there is always a free slot
}

const (
	whole     = 8 * time.Second // duration of every attempt, longer than any policy of the tests waits
	deadQueue = 5 * time.Second // how long a cluster lets an attempt wait for a dead machine
)

func newOrdeal(t *testing.T, rng *rand.Rand, policy restart.Policy) *ordeal {
	tasks := 1 + rng.IntN(8)
	o := &ordeal{ample: rng.IntN(2) == 0, cluster: &cluster{
		now: epoch, rng: rng, work: slices.Repeat([]float64{whole.Seconds()}, tasks),
		dispatch: time.Duration(rng.IntN(500)) * time.Millisecond, dying: time.Duration(rng.IntN(1000)) * time.Millisecond,
		stale: time.Duration(rng.IntN(200)) * time.Millisecond,
	}}
	faults := []float64{0, 0.05, 0.5}[rng.IntN(3)]
	o.fail = func(int) bool { return rng.Float64() < faults }
	for i := range 1 + rng.IntN(5) {
		machine := engine.Machine{Name: fmt.Sprint("h", i), Slots: 1 + rng.IntN(3)}
		if o.ample {
			machine.Slots = 100 * tasks
		}
		o.machines = append(o.machines, simMachine{Machine: machine, speed: 1})
	}
	o.config = engine.Config{
		Tasks: tasks, Interval: period, Policy: policy, Clones: max(1, rng.IntN(6)-2),
		Machines: o.known(t, engine.MachinesConfig{Rest: time.Second}), MaxFailures: rng.IntN(4), MaxLost: rng.IntN(6),
	}
	return o
}

// harm loses machines, which come back, and attempts. The first machine stays.
func (o *ordeal) harm() {
	for i := range o.machines {
		if i > 0 && o.rng.IntN(10) == 0 {
			o.machines[i].dead = !o.machines[i].dead
		}
	}
	for _, a := range o.attempts {
		if a.state == engine.Running && o.rng.IntN(200) == 0 {
			o.end(a, engine.Failed+engine.State(o.rng.IntN(2)))
		}
	}
}

// toll is the outcome of a task.
type toll struct {
	launched, ended, withdrawn int // attempts; ended: failed or lost; withdrawn: from a queue
	won                        bool
	took                       time.Duration // time until the result
}

func (o *ordeal) tolls(log []engine.Action) (all []toll, lost int) {
	all = make([]toll, len(o.work))
	for _, a := range o.attempts {
		s := &all[a.task]
		s.launched++
		switch took := a.over.Sub(epoch); {
		case a.state == engine.Succeeded:
			if !s.won || took < s.took {
				s.won, s.took = true, took
			}
		case a.state == engine.Lost:
			s.ended++
			lost++
		case a.state == engine.Failed:
			s.ended++
		}
	}
	for _, a := range log {
		if a.Op == engine.Cancel && a.Decision.Action == restart.Keep {
			all[a.Task].withdrawn++
		}
	}
	return all, lost
}

// Whatever is reported, lost and answered, every task ends or is given up. The number of attempts of a task is
// bounded:
//
//   - The limits bound its copies and restarts.
//   - Each failure but the last, and each loss but the last, adds at most one attempt.
//   - Each withdrawal of a task's only attempt from a queue adds one attempt, at most MaxLost times.
//
// Where slots are free, the oldest attempt runs until it ends by itself, is restarted, fails or is lost. So the
// time of a task is bounded by the same number of attempts.
func TestEveryTaskEndsOrIsGivenUp(t *testing.T) {
	t.Parallel()
	policies := policytest.Policies()
	policies["rash"] = nil // one for each seed
	seeds, withdrawn, most := cases(20, 250), 0, 0
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, 5))
			policy := policies[name]
			if policy == nil {
				policy = rash{rng}
			}
			o := newOrdeal(t, rng, policy)
			p, err := engine.New(o.config)
			require.NoError(t, err)
			_, log := drive(t, o.cluster, liar{p, rng, map[string]int{}}, period, o.harm)

			limits := rules.Describe(policy).Limits.Effective()
			attempt := o.dispatch + deadQueue + whole + 2*period + 4*simStep // until the phase has replaced the attempt
			limit := max(limits.Restarts, 0) + max(limits.Copies, 0) + o.config.Clones +
				cmp.Or(o.config.MaxFailures, 4) - 1 + cmp.Or(o.config.MaxLost, 10) - 1
			all, lost := o.tolls(log)
			for task, s := range all {
				again := min(s.withdrawn, lost, cmp.Or(o.config.MaxLost, 10))
				require.LessOrEqual(t, s.launched, limit+again, "%s, seed %d, task %d", name, seed, task)
				require.True(t, s.won || slices.Contains(p.GivenUp(), task), "%s, seed %d, task %d", name, seed, task)
				if o.ample {
					heads := 1 + max(limits.Restarts, 0) + s.ended + s.withdrawn
					require.LessOrEqual(t, s.took, time.Duration(heads)*attempt, "%s, seed %d, task %d", name, seed, task)
				}
				withdrawn += s.withdrawn
				most = max(most, s.launched)
			}
			require.LessOrEqual(t, p.Ledger().Restarts, len(all)*max(limits.Restarts, 0), "%s, seed %d", name, seed)
		}
	}
	t.Logf("at most %d launches of a task; %d attempts were withdrawn from queues", most, withdrawn)
	assert.Greater(t, most, 12)
	assert.Greater(t, withdrawn, 10)
}

// All machines go down and come back at every poll. A task is not submitted for ever: after MaxLost withdrawals
// it waits where it is.
func TestFlappingMachinesSubmitNoTaskForEver(t *testing.T) {
	policies := policytest.Policies()
	policies["rash"] = nil // one for each seed
	held := 0
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		for seed := range cases(12, 30) {
			rng := rand.New(rand.NewPCG(seed, 6))
			policy := policies[name]
			if policy == nil {
				policy = rash{rng}
			}
			o := newOrdeal(t, rng, policy)
			o.dispatch, o.places = 5*period, seed%3 == 0 // long enough to be withdrawn before it runs
			if o.places {
				o.config.Machines, o.config.Slots = &engine.Machines{}, 8
			}
			p, err := engine.New(o.config)
			require.NoError(t, err)
			_, log := drive(t, o.cluster, liar{p, rng, map[string]int{}}, period, func() {
				for _, machine := range o.machines {
					o.config.Machines.SetDown(machine.Name, rng.IntN(3) > 0)
				}
			})
			limits, maxLost := rules.Describe(policy).Limits.Effective(), cmp.Or(o.config.MaxLost, 10)
			limit := 1 + max(limits.Restarts, 0) + max(limits.Copies, 0) + o.config.Clones - 1 +
				cmp.Or(o.config.MaxFailures, 4) - 1 + maxLost
			all, lost := o.tolls(log)
			require.Zero(t, lost)
			for task, s := range all {
				require.LessOrEqual(t, s.launched, limit, "%s, seed %d, task %d", name, seed, task)
				if s.withdrawn >= maxLost {
					held++
				}
			}
		}
	}
	assert.Greater(t, held, int(cases(40, 100)))
}

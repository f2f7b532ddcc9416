package tracker_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// rash is a policy that answers at random: with any action about any attempt.
type rash struct{ rng *rand.Rand }

func (r rash) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	return restart.Decision{Action: restart.Action(r.rng.IntN(4)), Attempt: r.rng.IntN(len(t.Attempts))}
}

// Describe declares the facts that Mantri reads, so that rash gets the remaining time as a distribution, too.
func (rash) Describe() rules.Description {
	return rules.Description{Facts: rules.Fresh | rules.Left}
}

// adversary invents the reports of an attempt, in order to mislead the policy. The attempt seems to stall, to rush or
// to go back, or is silent, or reports a wrong remaining time.
type adversary struct {
	rng  *rand.Rand
	kind int
	said float64
	plan []byte // for kind 6: the report at each tenth of its time
}

func (a *adversary) report(share float64) (r tracker.Report, says bool) {
	switch a.kind {
	case 0: // honest
		a.said = share
	case 1: // stalls
		a.said = min(share, 1./6)
	case 2: // rushes, and then stalls
		a.said = 0.99 * min(1, 20*share)
	case 3: // random, back and forth
		a.said = a.rng.Float64()
	case 4:
		return r, false
	case 5: // looks slower the longer it runs
		a.said = 1 / (2 + 100*share)
	case 6: // the plan that the search found to do most harm
		gene := a.plan[min(int(10*share), len(a.plan)-1)]
		if gene == 0 {
			return r, false
		}
		r.Done = float64(gene&127) / 127
		if gene&128 != 0 {
			r.Remaining, r.Done = time.Duration(r.Done*float64(4*whole)), share
		}
		return r, true
	}
	r.Done = a.said
	if a.rng.IntN(20) == 0 {
		r.Remaining = time.Duration(a.rng.ExpFloat64() * float64(time.Hour))
	}
	return r, true
}

// siege is a phase in which every attempt takes a minute, and an adversary invents its reports. There are as many
// slots as attempts.
type siege struct {
	t          *testing.T
	rng        *rand.Rand
	tr         *tracker.Tracker
	attempts   [][]siegeAttempt // attempts by task
	launched   []int
	lost       []int // attempts that were lost with their machines
	relaunched []int // lost attempts that were the last of their task
	harms      bool  // machines are lost, and leave
	restarts   int   // restarts that a task may have
	reports    int
	plan       []byte          // reports of the attempts of task 0, if not nil
	ended      []time.Duration // when each task ended
}

type siegeAttempt struct {
	attempt, machine int
	start            time.Time
	lies             *adversary
}

const (
	siegeMachines = 5
	planTicks     = 10 // of an attempt's plan
	planned       = 12 // attempts of a task that have a plan of their own
)

func (s *siege) launch(now time.Time, task int) {
	machine := s.rng.IntN(siegeMachines)
	attempt := s.tr.Start(now, task, machine)
	if attempt < 0 {
		return
	}
	s.launched[task]++
	lies := &adversary{rng: s.rng, kind: s.rng.IntN(6)}
	if s.plan != nil {
		lies = &adversary{rng: s.rng, kind: 0}
		if task == 0 {
			lies.kind, lies.plan = 6, s.plan[attempt%planned*planTicks:][:planTicks]
		}
	}
	s.attempts[task] = append(s.attempts[task], siegeAttempt{attempt, machine, now, lies})
}

func (s *siege) drop(task, attempt int) {
	for i, c := range s.attempts[task] {
		if c.attempt == attempt {
			s.attempts[task] = append(s.attempts[task][:i], s.attempts[task][i+1:]...)
			return
		}
	}
}

// act carries out an answer of the tracker.
func (s *siege) act(now time.Time, task int, d tracker.Answer) {
	switch d.Action {
	case restart.Copy:
		s.launch(now, task)
	case restart.Restart:
		s.tr.Restart(now, task, d.Attempt)
		s.drop(task, d.Attempt)
		s.launch(now, task)
	case restart.Kill:
		s.tr.Kill(now, task, d.Attempt)
		s.drop(task, d.Attempt)
	}
}

// harm lets a machine be lost with all its attempts, and announces that another machine will leave, or that it stays
// after all.
func (s *siege) harm(now time.Time) {
	if machine := s.rng.IntN(20 * siegeMachines); machine < siegeMachines {
		waiting := slices.Clone(s.tr.LoseMachine(now, machine))
		for task := range s.attempts {
			before := len(s.attempts[task])
			s.attempts[task] = slices.DeleteFunc(s.attempts[task], func(c siegeAttempt) bool { return c.machine == machine })
			s.lost[task] += before - len(s.attempts[task])
		}
		for _, task := range waiting {
			s.relaunched[task]++
			s.launch(now, task)
		}
	}
	if machine := s.rng.IntN(4 * siegeMachines); machine < siegeMachines {
		at := now.Add(time.Duration(s.rng.Int64N(int64(2 * whole))))
		if s.rng.IntN(3) == 0 {
			at = time.Time{}
		}
		s.tr.Leave(now, machine, at)
	}
}

const whole = time.Minute // the time of every attempt, longer than any policy of the tests waits for

// run returns the time at which the last task ended. It checks that no task takes longer than the attempts that may
// have been its oldest attempt.
func (s *siege) run(tasks int) time.Duration {
	step := whole / 10
	for task := range tasks {
		s.launch(start, task)
	}
	left := tasks
	for age := step; left > 0; age += step {
		now := start.Add(age)
		if s.harms {
			s.harm(now)
		}
		for task := range tasks {
			if len(s.attempts[task]) > 0 {
				limit := time.Duration(s.restarts+1+s.lost[task]) * whole
				if age > limit {
					s.t.Fatalf("task %d has not ended after %v, want at most %v", task, age, limit)
				}
			}
			for i := 0; i < len(s.attempts[task]); i++ {
				c := s.attempts[task][i]
				ran := now.Sub(c.start)
				if ran >= whole {
					s.tr.Finish(now, task, c.attempt)
					s.attempts[task] = nil
					s.ended[task] = age
					left--
					break
				}
				r, says := c.lies.report(ran.Seconds() / whole.Seconds())
				var d tracker.Answer
				if says {
					d = s.tr.Report(now, task, c.attempt, r)
				} else {
					d = s.tr.Decide(now, task)
				}
				s.reports++
				s.act(now, task, d)
			}
		}
		if left == 0 {
			return age
		}
	}
	return 0
}

// Attempts report anything, and a policy answers anything. Still a task ends within MaxRestarts+1 times the time of
// an attempt, is restarted at most MaxRestarts times, and has a bounded number of attempts. In every second phase
// machines are lost, and leave. Each lost attempt adds at most the time of a single attempt. If it was the last
// attempt of its task, it also adds an attempt.
func TestEveryTaskEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	policies := policytest.Policies()
	policies["rash"] = rash{rng}
	want := int(cases(3_000, 10_000)) // reports
	for name, policy := range policies {
		limits := rules.Describe(policy).Limits.Effective()
		for reports, seed := 0, uint64(0); reports < want; seed++ {
			rng := rand.New(rand.NewPCG(seed, 3))
			tasks := 1 + rng.IntN(12)
			tr := newTracker(t, tracker.Config{
				Tasks: tasks, Slots: []int{1, tasks, 10 * tasks}[rng.IntN(3)], Machines: siegeMachines, Interval: whole / 10, Policy: policy,
			})
			s := &siege{
				t: t, rng: rng, tr: tr, attempts: make([][]siegeAttempt, tasks), launched: make([]int, tasks), harms: seed%2 == 1,
				lost: make([]int, tasks), relaunched: make([]int, tasks), restarts: limits.Restarts,
				ended: make([]time.Duration, tasks),
			}
			s.run(tasks)
			for task, n := range s.launched {
				bound := 1 + limits.Restarts + limits.Copies + s.relaunched[task]
				require.LessOrEqual(t, n, bound, "%s, seed %d, task %d", name, seed, task)
			}
			require.LessOrEqual(t, tr.Ledger().Restarts, tasks*limits.Restarts, "%s, seed %d", name, seed)
			reports += s.reports
		}
	}
}

// All machines will leave, so that a copy has no machine to run on. The tasks get no more copies than the limits
// allow.
func TestCopiesFromLeavingMachinesKeepToTheLimits(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 100, Machines: 1, Policy: restart.Never{}})
	tr.Start(start, 0, 0)
	tr.Leave(start, 0, start.Add(minute))
	copies := 0
	for i := range 50 {
		now := start.Add(seconds(float64(i + 1)))
		var a tracker.Answer
		for attempt := range copies + 1 {
			a = tr.Report(now, 0, attempt, tracker.Report{Remaining: time.Hour})
		}
		if a.Action == restart.Copy {
			tr.Start(now, 0, 0)
			copies++
		}
	}
	require.Equal(t, rules.Describe(restart.Never{}).Limits.Effective().Copies, copies)
}

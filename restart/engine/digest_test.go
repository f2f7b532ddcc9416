package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/internal/digesttest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The digest has the actions of 1,000 games of the crash matrix, and of 200 random worlds.
func TestDigest(t *testing.T) {
	var all []digesttest.Case
	for seed := range uint64(1000) {
		all = append(all, digesttest.Case{Name: fmt.Sprintf("crash/%03d", seed), Play: func(t *testing.T, answers, events *digesttest.Text) {
			s := &scheduler{t: t}
			s.config.OnEvent = digesttest.Observe(events, epoch)
			s.polled = func(actions []engine.Action) { writePoll(answers, s.q.now, s.phase, actions) }
			answers.Line("crashes", s.crash(seed))
			writePhase(answers, s.phase, len(s.q.took))
			writeMachines(answers, s.config.Machines, s.q.now)
		}})
	}
	for seed := range uint64(200) {
		all = append(all, digesttest.Case{Name: fmt.Sprintf("world/%03d", seed), Play: func(t *testing.T, answers, events *digesttest.Text) {
			playWorld(t, seed, answers, events)
		}})
	}
	digesttest.Run(t, "testdata/digest.txt", 23, all)
}

// writePoll writes what a poll gives.
func writePoll(x *digesttest.Text, now time.Time, p *engine.Phase, actions []engine.Action) {
	var rests []digesttest.Object
	for _, r := range p.Resting() {
		rests = append(rests, digesttest.Object{"task", r.Task, "failures", r.Failures, "for", r.For})
	}
	x.Line("at", now.Sub(epoch), "actions", actionObjects(actions), "rests", rests, "given-up", p.GivenUp(), "done", p.Done(),
		"open", actionObjects(p.Outstanding()))
}

func actionObjects(actions []engine.Action) (all []digesttest.Object) {
	for _, a := range actions {
		o := digesttest.Object{"op", a.Op.String(), "task", a.Task, "id", a.ID, "machine", a.Machine, "avoid", a.Avoid}
		if a.Decision != (restart.Decision{}) {
			o = append(o, "decision", digesttest.Decision(a.Decision))
		}
		all = append(all, o)
	}
	return all
}

// writePhase writes the outcome of a phase.
func writePhase(x *digesttest.Text, p *engine.Phase, tasks int) {
	winners := make([]string, tasks)
	for i := range winners {
		winners[i], _ = p.Winner(i)
	}
	since := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t.Sub(epoch)
	}
	for _, a := range p.Attempts() {
		x.Line("id", a.ID, "task", a.Task, "state", a.State.String(), "machine", a.Machine, "begun", since(a.Begun),
			"ended", since(a.Ended), "published", a.Published)
	}
	u := p.UnitTimes()
	x.Line("winners", winners, "ledger", digesttest.Ledger(p.Ledger()), "facts", digesttest.Phase(p.Facts()),
		"samples", u.Samples(), "overhead", u.Overhead(), "unit-times", digesttest.Distribution(u))
}

// writeMachines writes what is known about the machines.
func writeMachines(x *digesttest.Text, m *engine.Machines, now time.Time) {
	x.Line("resting", m.Resting(now), "slow", m.Slow(), "slots", m.Slots())
	for i, h := range m.List() {
		record := m.Knowledge().Machines()
		v := record.Judge(i)
		x.Line("machine", h.Name, "slots", h.Slots, "offset", m.ClockOffset(h.Name), "factor", record.Factor(i),
			"standing", v.Standing.String(), "class-factor", v.ClassFactor, "threshold", v.Threshold, "attempts", v.Attempts,
			"failed", v.Failed)
	}
}

// digestWorld is a set of machines that run phases, one after the other or two at once. The phases share what is known.
type digestWorld struct {
	t               *testing.T
	rng             *rand.Rand
	answers, events *digesttest.Text
	now             time.Time
	machines        *engine.Machines
	kind            string
	budget          *tracker.Budget
	speeds          []simMachine
	places          bool
	phases          []*digestPhase
}

// digestPhase is a phase on its own simulated cluster. All clusters of a world have the same machines.
type digestPhase struct {
	*digestWorld
	sim    *cluster
	phase  *engine.Phase
	config engine.Config
	// By ID: how many times longer the attempt takes by bad luck. A hung attempt has an infinite factor.
	luck   map[string]float64
	hidden map[string]time.Time // by machine: the lists leave out its attempts until this time
	skew   time.Duration        // the clock of the first machine is ahead by this time
	hangs  int                  // one in so many attempts hangs; 0: none
	silent bool
	pushes bool
	zombie bool // the engine may take an attempt for lost that still runs
	rude   bool // lists have reports that make no sense
	over   bool
	away   time.Time // the scheduler does not poll before this time
}

// playWorld draws a world, and plays up to three phases in it.
func playWorld(t *testing.T, seed uint64, answers, events *digesttest.Text) {
	rng := rand.New(rand.NewPCG(seed, 48))
	one := func(in int) bool { return rng.IntN(in) == 0 }
	w := &digestWorld{t: t, rng: rng, answers: answers, events: events, now: epoch, places: one(4)}
	config := engine.MachinesConfig{Rest: time.Duration(rng.IntN(3)) * 5 * time.Second}
	for i := range 1 + rng.IntN(6) {
		h := simMachine{Machine: engine.Machine{Name: fmt.Sprint("h", i), Slots: 1 + rng.IntN(4)}, speed: 0.9 + float64(0.2*rng.Float64())}
		if one(5) {
			h.speed = 0.1 + float64(0.3*rng.Float64())
		}
		w.speeds = append(w.speeds, h)
		if w.places {
			h.Slots = 0
		}
		config.Machines = append(config.Machines, h.Machine)
	}
	if !w.places && one(4) {
		config.Prefetch = 1 + rng.IntN(2)
	}
	var err error
	c := tracker.KnowledgeConfig{Keep: restart.Off}
	if one(3) {
		c.Machines.Origin = "here"
	}
	if one(2) {
		c.Keep, w.kind = 0, "a"
	}
	if one(4) {
		w.kind = "a"
	}
	config.Knowledge, err = tracker.NewKnowledge(c)
	require.NoError(t, err)
	w.machines, err = engine.NewMachines(config)
	require.NoError(t, err)
	if one(4) {
		w.budget, err = tracker.NewBudget(tracker.BudgetConfig{Share: 0.3, Rate: 0.3, Floor: 1 + rng.IntN(3)})
		require.NoError(t, err)
	}
	atOnce := one(4)
	for range 1 + rng.IntN(3) {
		w.phases = append(w.phases, w.phaseOf(seed))
		if !atOnce {
			w.run()
		}
	}
	w.run()
	writeMachines(answers, w.machines, w.now)
}

// phaseOf draws a phase.
func (w *digestWorld) phaseOf(seed uint64) *digestPhase {
	rng := w.rng
	one := func(in int) bool { return rng.IntN(in) == 0 }
	policies := []restart.Policy{
		restart.LeastCost{Price: 1.25, IdlePrice: 0.75}, restart.Mantri{}, rules.LATE{MinAge: time.Second}, rules.Dryad{MinFinished: 2},
		rules.Spark{}, rules.Flink{}, rules.MapReduce{}, rules.SDA{}, rules.ESE{}, eager{seed}, eager{seed + 1}, restart.Never{},
	}
	c := &cluster{
		now: w.now, places: w.places, machines: slices.Clone(w.speeds), dispatch: time.Duration(rng.IntN(1500)) * time.Millisecond,
		dying: time.Duration(rng.IntN(1500)) * time.Millisecond, stale: time.Duration(rng.IntN(500)) * time.Millisecond,
	}
	if one(2) {
		c.rng = rng
	}
	p := &digestPhase{digestWorld: w, sim: c, luck: map[string]float64{}, hidden: map[string]time.Time{},
		silent: one(3), pushes: one(5), zombie: one(6), rude: one(6)}
	if one(3) {
		p.hangs = 6 + rng.IntN(20)
	}
	if one(8) {
		p.skew = time.Duration(rng.IntN(120)-60) * time.Second
	}
	c.work = make([]float64, rng.IntN(36))
	for i := range c.work {
		if c.work[i] = 2 + rng.Float64(); one(12) {
			c.work[i] *= 4
		}
	}
	if one(3) {
		c.fail = func(task int) bool { return task%3 == 0 && rng.IntN(2) == 0 }
	}
	f := engine.Config{
		Interval: []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, time.Second}[rng.IntN(3)], Machines: w.machines,
		Kind: w.kind, Stream: one(6), OnEvent: digesttest.Observe(w.events, epoch),
		Preloaded: w.places && one(3),
	}
	switch {
	case one(3) && len(c.work) > 0:
		f.Tasks = len(c.work)
	default:
		f.Work = slices.Clone(c.work)
		if one(3) {
			for i := range f.Work {
				f.Work[i] *= 0.5 + rng.Float64() // the sizes are no more than a hint
			}
		}
	}
	if w.budget != nil {
		f.Budget = w.budget
	}
	if seed%5 >= 3 {
		f.Policy = policies[rng.IntN(len(policies))]
	}
	if w.places {
		for _, h := range w.speeds {
			f.Slots += h.Slots
		}
	}
	if one(6) {
		f.Clones = 2 + rng.IntN(2)
	}
	if one(4) {
		f.Lag = time.Second
	}
	if one(5) {
		f.Path = func(task, machine int) float64 { return 1 + float64((task+max(machine, 0))%3)/4 }
	}
	if one(5) {
		f.Limits = restart.Limits{Restarts: 1, Copies: 2, FreeTrials: 6, LossShare: []float64{0.2, restart.Off}[rng.IntN(2)]}
	}
	if one(5) {
		rude := one(3)
		f.Order = func(_ time.Time, waiting []int) {
			slices.Sort(waiting)
			slices.Reverse(waiting)
			if rude && len(waiting)%5 == 2 {
				waiting[0] = waiting[1] // this task is lost
			}
		}
	}
	if one(3) {
		f.BackOff = func(task, failures int) time.Duration { return time.Duration(failures*(1+task%3)) * time.Second }
	}
	if one(3) {
		f.MaxFailures, f.MaxLost = 1+rng.IntN(3), 1+rng.IntN(4)
	}
	if one(4) {
		f.Timeout = 20 * time.Second
	}
	if one(4) {
		f.Patience = 2
	}
	if one(4) {
		f.Trace = 3 * time.Second
	}
	if one(6) {
		f.Failures = make([]int, len(c.work)/2)
		for i := range f.Failures {
			f.Failures[i] = rng.IntN(2)
		}
	}
	if one(8) {
		f.Shadow = func(task int, d restart.Decision) { w.answers.Line("shadow", task, "decision", digesttest.Decision(d)) }
	}
	f.Journal = one(4)
	var err error
	p.phase, err = engine.New(f)
	require.NoError(w.t, err)
	p.config = f
	if f.Preloaded {
		for i := range c.work {
			c.submit(i, fmt.Sprint("a", i), "", nil)
		}
	}
	return p
}

// run lets time pass until all phases are over.
func (w *digestWorld) run() {
	begin := w.now
	for w.now.Sub(begin) < 4*time.Minute && slices.ContainsFunc(w.phases, func(p *digestPhase) bool { return !p.over }) {
		w.now = w.now.Add(simStep)
		for _, p := range w.phases {
			if !p.over {
				p.pass()
			}
		}
	}
	for _, p := range w.phases {
		if !p.over {
			p.end()
		}
	}
}

func (p *digestPhase) end() {
	p.over = true
	p.answers.Line("closes", actionObjects(p.phase.Close(p.sim.now).Actions))
	p.phase.Release()
	writePhase(p.answers, p.phase, len(p.sim.work))
}

// pass lets a moment pass, and polls if the interval is over.
func (p *digestPhase) pass() {
	was := make([]float64, len(p.sim.attempts))
	for i, a := range p.sim.attempts {
		was[i] = a.done
	}
	p.sim.step()
	for i, a := range p.sim.attempts {
		if f := p.luck[a.id]; f > 0 && a.state == engine.Running {
			a.done = was[i] + float64((a.done-was[i])/f)
		}
	}
	if p.sim.now.Sub(epoch)%p.config.Interval != 0 || p.sim.now.Before(p.away) {
		return
	}
	p.happens()
	list := p.list()
	var actions []engine.Action
	if p.pushes {
		actions = p.phase.Push(p.sim.now, list).Actions
	} else {
		actions = p.phase.Poll(p.sim.now, list).Actions
	}
	writePoll(p.answers, p.sim.now, p.phase, actions)
	for _, a := range slices.Clone(actions) {
		p.carryOut(a)
	}
	if p.phase.Done() && (p.rng.IntN(3) == 0 || !slices.ContainsFunc(p.sim.attempts, func(a *simAttempt) bool { return !a.told })) {
		p.end()
	}
}

func (p *digestPhase) carryOut(a engine.Action) {
	switch {
	case p.rng.IntN(25) == 0: // the request gets lost
	case a.Op == engine.Submit:
		if p.sim.submit(a.Task, a.ID, a.Machine, a.Avoid) {
			switch {
			case p.hangs > 0 && p.rng.IntN(p.hangs) == 0:
				p.luck[a.ID] = math.Inf(1)
			case p.rng.IntN(15) == 0:
				p.luck[a.ID] = 1.5 + float64(4*p.rng.Float64())
			}
		}
	case a.Op == engine.Cancel:
		p.sim.cancel(a.ID)
	case a.Op == engine.Publish:
		p.phase.Published(a.ID)
	}
}

// list returns what the engine shows.
func (p *digestPhase) list() []engine.Attempt {
	all := slices.DeleteFunc(p.sim.poll(), func(a engine.Attempt) bool {
		return a.State == engine.Running && p.sim.now.Before(p.hidden[a.Machine])
	})
	for i := range all {
		a := &all[i]
		if p.silent {
			a.Progress, a.AsOf = tracker.Report{}, time.Time{}
		}
		if p.config.Work == nil {
			a.Progress.Done /= p.sim.work[a.Task]
		}
		if p.skew != 0 && a.Machine == "h0" {
			for _, at := range []*time.Time{&a.Begun, &a.Ended, &a.AsOf} {
				if !at.IsZero() {
					*at = at.Add(p.skew)
				}
			}
		}
		if p.zombie && a.State == engine.Running && p.rng.IntN(60) == 0 {
			a.State = engine.Lost
		}
		if p.rude && p.rng.IntN(12) == 0 {
			a.Task = p.rng.IntN(len(p.sim.work)+2) - 1
			a.State = engine.State(p.rng.IntN(8))
			a.Progress.Done = -a.Progress.Done
		}
	}
	return all
}

// happens lets something happen to the machines or to the phase.
func (p *digestPhase) happens() {
	i := p.rng.IntN(len(p.sim.machines))
	h := &p.sim.machines[i]
	switch p.rng.IntN(90) {
	case 0:
		if i > 0 {
			h.dead = true
		}
	case 1:
		if i > 0 {
			h.dead = true
			p.machines.SetDown(h.Name, true)
		}
	case 2, 3, 4, 5:
		if h.dead {
			h.dead = false
			p.machines.SetDown(h.Name, false)
		}
	case 6:
		p.hidden[h.Name] = p.sim.now.Add(time.Duration(p.rng.IntN(8)) * time.Second)
	case 7:
		if i > 0 {
			p.machines.SetLeaving(h.Name, p.sim.now.Add(time.Duration(p.rng.IntN(10))*time.Second))
		}
	case 8:
		p.machines.SetLeaving(h.Name, time.Time{})
	case 9:
		if !p.places {
			p.machines.SetSlots(h.Name, p.rng.IntN(5))
		}
	case 10, 11:
		if !p.places {
			p.machines.SetSlots(h.Name, h.Slots)
		}
	case 12:
		p.phase.SetSlots(1 + p.rng.IntN(8))
	case 13, 14:
		if len(p.sim.work) > 0 {
			p.phase.SetEligible(p.rng.IntN(len(p.sim.work)), p.rng.IntN(2) == 0, p.rng.IntN(2) == 0)
		}
	case 15:
		for _, r := range p.phase.Resting() {
			p.phase.GiveUp(r.Task)
		}
	case 16, 17, 18:
		p.restore()
	case 19: // the engine runs an attempt of its own
		if len(p.sim.work) > 0 {
			p.sim.submit(p.rng.IntN(len(p.sim.work)), fmt.Sprint("own", len(p.sim.attempts)), h.Name, nil)
		}
	case 20: // the engine cancels an attempt by itself
		if len(p.sim.attempts) > 0 {
			p.sim.cancel(p.sim.attempts[p.rng.IntN(len(p.sim.attempts))].id)
		}
	case 21:
		p.away = p.sim.now.Add(time.Duration(p.rng.IntN(40)) * p.config.Interval / 2)
	case 22:
		name := fmt.Sprint("new", len(p.speeds))
		if p.machines.Add(engine.Machine{Name: name, Slots: map[bool]int{false: 2}[p.places]}) == nil {
			fresh := simMachine{Machine: engine.Machine{Name: name, Slots: 2}, speed: 1}
			p.speeds = append(p.speeds, fresh)
			for _, other := range p.phases {
				other.sim.machines = append(other.sim.machines, fresh)
			}
		}
	}
}

// restore replaces the phase by the phase of a snapshot. If no other phase runs, it also replaces what the phase shares.
func (p *digestPhase) restore() {
	data, err := p.phase.MarshalBinary()
	require.NoError(p.t, err)
	saved := engine.Saved{Snapshot: data, Journal: slices.Clone(p.phase.Journal())}
	keeps := p.machines.Knowledge().Config().Keep != restart.Off
	if len(p.phases) > 1 && (keeps || p.budget != nil) {
		return
	}
	if len(p.phases) == 1 {
		p.budget = digesttest.Restored(p.t, p.budget)
		state, err := p.machines.MarshalBinary()
		require.NoError(p.t, err)
		fresh := new(engine.Machines)
		require.NoError(p.t, fresh.UnmarshalBinary(state))
		p.machines = fresh
		p.config.Machines = fresh
		if p.budget != nil {
			p.config.Budget = p.budget
		}
	} else {
		p.phase.Release()
	}
	p.phase, err = engine.Restore(p.config, saved)
	require.NoError(p.t, err)
	p.answers.Line("restored", true)
}

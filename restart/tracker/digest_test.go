package tracker_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/digesttest"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The digest has the answers of a tracker to the journals of the repository, and in 200 random worlds.
func TestDigest(t *testing.T) {
	cases := journalCases(t)
	for seed := range uint64(200) {
		cases = append(cases, digesttest.Case{Name: fmt.Sprintf("world/%03d", seed), Play: func(t *testing.T, answers, _ *digesttest.Text) {
			playWorld(t, seed, answers)
		}})
	}
	digesttest.Run(t, "testdata/digest.txt", 11, cases)
}

// journalCases has a case for each journal with its own policy, and for each journal with each published policy.
func journalCases(t *testing.T) (cases []digesttest.Case) {
	for _, pattern := range []string{
		"../testdata/*.txt", "../testdata/default/*.txt", "../restarttest/testdata/*/*.txt", "../journal/testdata/*.journal",
		"../engine/testdata/queue/*.txt", "../../examples/guide/testdata/*.txt", "../../examples/guide/testdata/*/*.txt",
		"../../examples/internal/trace/testdata/journal.txt",
	} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			name := strings.TrimSuffix(strings.TrimLeft(filepath.ToSlash(file), "./"), filepath.Ext(file))
			name = strings.ReplaceAll(name, "testdata/", "")
			for _, policy := range []string{
				"its-own", "mantri", "never", "late", "hadoop", "mapreduce", "dryad", "spark", "flink", "least-cost", "sda", "ese",
			} {
				cases = append(cases, digesttest.Case{Name: "journal/" + name + "/" + policy,
					Play: func(t *testing.T, answers, facts *digesttest.Text) { playJournal(t, file, policy, answers, facts) }})
			}
		}
	}
	return cases
}

// playJournal replays a journal. With the journal's own policy, it replays the journal once more, and writes the facts
// that the policy gets.
func playJournal(t *testing.T, file, policy string, answers, facts *digesttest.Text) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	replay := func(o journal.Options) error {
		o.Configure = func(_ int, c *tracker.Config) {
			if rules.Text(c.Policy) == "" {
				c.Policy = restless{7}
			}
			if c.Path != nil {
				c.Path = digestPath
			}
			if c.Knowledge != nil {
				c.Knowledge = new(tracker.Knowledge)
			}
		}
		_, err := journal.Replay(data, o)
		return err
	}
	var o journal.Options
	if policy != "its-own" {
		o.Policy, err = rules.Parse(policy)
		require.NoError(t, err)
	}
	o.OnAnswer = func(line int, e tracker.Event, a tracker.Answer) {
		answers.Line("line", line, "event", e.Kind.String(), "answer", digesttest.Answer(a))
	}
	if err := replay(o); err != nil {
		answers.Line("error", err.Error())
		return
	}
	if policy == "its-own" {
		require.NoError(t, replay(journal.Options{
			OnDecision: func(line int, task restart.Task, p restart.Phase, d restart.Decision) {
				facts.Line("line", line, "task", digesttest.Task(task), "phase", digesttest.Phase(p), "decision", digesttest.Decision(d))
			},
		}))
	}
}

// digestPath is a way to data that depends on the task and on the machine.
func digestPath(task, machine int) float64 {
	if machine < 0 {
		return 1
	}
	return 1 + float64((task+machine)%3)/4
}

// restless is a host's own policy. It acts at random, and now and then it gives an impossible answer.
type restless struct{ seed uint64 }

func (r restless) Decide(t restart.Task, p restart.Phase) restart.Decision {
	h := r.seed
	for _, a := range t.Attempts {
		h = h*31 + uint64(a.Elapsed/time.Millisecond) + uint64(a.Machine+2)
	}
	d := restart.Decision{Reason: restart.BeyondPeers, Attempt: int(h/7%5) % (len(t.Attempts) + 1)}
	switch {
	case h%5 == 0 && p.FreeSlots > 0:
		d.Action, d.Attempt, d.Gain = restart.Copy, 0, time.Duration(h%1000)
	case h%11 == 0:
		d.Action = restart.Restart
	case h%13 == 0:
		d.Action = restart.Kill
	}
	return d
}

// observed is a policy that writes the facts that it gets.
type observed struct {
	restart.Policy
	text *digesttest.Text
}

func (o observed) Decide(t restart.Task, p restart.Phase) restart.Decision {
	d := o.Policy.Decide(t, p)
	o.text.Line("task", digesttest.Task(t), "phase", digesttest.Phase(p), "decides", digesttest.Decision(d))
	return d
}

func (o observed) Describe() rules.Description {
	d := rules.Describe(o.Policy)
	d.Facts |= rules.AllFacts &^ rules.Left
	return d
}

// digestWorld is a cluster that runs phases, one after the other or two at once. The phases share what they know.
type digestWorld struct {
	t    *testing.T
	rng  *rand.Rand
	text *digesttest.Text
	now  time.Time
	// By machine: how many times longer attempts take there.
	slow   []float64
	slots  int // of each machine
	hangs  int // one in so many attempts hangs; 0: none
	fails  int // one in so many attempts fails; 0: none
	rude   bool
	silent bool // attempts report nothing
	small  bool // progress has too small a unit
	scores bool // attempts report a score, and no work
	saves  bool // tasks have checkpoints
	queues bool // attempts wait before they run

	knowledge *tracker.Knowledge
	kind      string
	budget    *tracker.Budget
	hosts     []*digestHost
}

// digestHost runs one phase.
type digestHost struct {
	*digestWorld
	tracker  *tracker.Tracker
	config   tracker.Config
	tasks    int
	attempts []*digestAttempt
	dead     []*digestAttempt // killed or overtaken; some of these succeed all the same
	done     map[int]bool
	over     bool
}

type digestAttempt struct {
	task, number, machine int
	begins, ends          time.Time
	begun, fails          bool
}

func digestPolicy(rng *rand.Rand, seed uint64) restart.Policy {
	policies := []restart.Policy{
		nil, restart.LeastCost{}, restart.LeastCost{Price: 1.25, IdlePrice: 0.75}, restart.Mantri{},
		restart.Mantri{IdleGain: 0.1, CopyThreshold: 0.01, CopyPause: 0.5, RaisedBar: 1, MaxRestarts: 2}, restart.Never{},
		rules.LATE{MinAge: restart.Off, SpeculativeCap: 0.5, SlowTask: 0.6}, rules.LATE{SlowNode: 0.5, SpeculativeCap: 1, UseRemaining: true},
		rules.Hadoop{MinAge: 5 * time.Second, ScoreLag: 0.05}, rules.MapReduce{NearEnd: 0.3},
		rules.Dryad{MinFinished: 1, Percentile: 0.3}, rules.Spark{Quantile: 0.25, Multiplier: 1.1, MinRuntime: time.Second},
		rules.Flink{Ratio: 0.25, Multiplier: 1.1, LowerBound: time.Second}, rules.SDA{Multiplier: 1}, rules.ESE{Multiplier: 1},
		restless{seed},
	}
	if seed%5 < 3 {
		return nil
	}
	return policies[rng.IntN(len(policies))]
}

// playWorld draws a world, and plays up to three phases in it.
func playWorld(t *testing.T, seed uint64, text *digesttest.Text) {
	rng := rand.New(rand.NewPCG(seed, 47))
	one := func(in int) bool { return rng.IntN(in) == 0 }
	w := &digestWorld{
		t: t, rng: rng, text: text, now: start, slots: 1 + rng.IntN(3), rude: one(4), silent: one(3), small: one(8),
		scores: one(6), saves: one(4), queues: one(3), slow: make([]float64, 1+rng.IntN(8)),
	}
	for i := range w.slow {
		w.slow[i] = 0.9 + float64(0.2*rng.Float64())
		if one(5) {
			w.slow[i] = 2 + float64(6*rng.Float64())
		}
	}
	if one(2) {
		w.hangs = 5 + rng.IntN(20)
	}
	if one(3) {
		w.fails = 4 + rng.IntN(20)
	}
	c := tracker.KnowledgeConfig{Keep: restart.Off, Machines: noMachines}
	if one(2) {
		c.Machines = machines.Config{HalfLife: time.Duration(rng.IntN(3)) * time.Hour}
		if one(2) {
			c.Machines.Origin = "here"
		}
	}
	if one(2) {
		c.Keep, w.kind = 0, "a"
	}
	if one(4) {
		w.kind = "a"
	}
	if c.Machines != noMachines || w.kind != "" {
		w.knowledge = knowing(t, c)
	}
	if record := w.knowledge.Machines(); record != nil {
		for i := range w.slow {
			record.SetName(i, fmt.Sprint("m", i))
		}
	}
	var err error
	if one(3) {
		w.budget, err = tracker.NewBudget(tracker.BudgetConfig{Slots: rng.IntN(3) * 8, Share: 0.2, Rate: 0.3, Floor: rng.IntN(3)})
		require.NoError(t, err)
	}
	atOnce := one(4)
	for range 1 + rng.IntN(3) {
		w.hosts = append(w.hosts, w.host(digestPolicy(rng, seed)))
		if atOnce {
			continue
		}
		w.run()
	}
	w.run()
	w.sum()
}

// host begins a phase.
func (w *digestWorld) host(policy restart.Policy) *digestHost {
	rng := w.rng
	one := func(in int) bool { return rng.IntN(in) == 0 }
	h := &digestHost{digestWorld: w, tasks: 1 + rng.IntN(30), done: map[int]bool{}}
	if one(4) {
		h.tasks = 1 + rng.IntN(4)
	}
	c := tracker.Config{
		Slots: w.slots * len(w.slow), Stream: one(6), Interval: []time.Duration{time.Second, 2 * time.Second, 5 * time.Second}[rng.IntN(3)],
		Policy: policy, OnEvent: digesttest.Observe(w.text, start), Knowledge: w.knowledge, Kind: w.kind,
	}
	switch rng.IntN(3) {
	case 0:
		c.Tasks = h.tasks
	default:
		for range h.tasks {
			c.Work = append(c.Work, []float64{1, 1, 2, 4, 4 * rng.Float64(), 0, math.NaN()}[rng.IntN(7)])
		}
	}
	if !one(4) {
		c.Machines = len(w.slow)
	}
	if w.budget != nil {
		c.Budget = w.budget
	}
	if one(5) {
		c.Path = digestPath
	}
	if one(8) {
		c.Clones = 2 + rng.IntN(2)
	}
	if one(4) {
		c.Lag = 300 * time.Millisecond
	}
	if one(5) {
		c.Limits = restart.Limits{Restarts: 1, Copies: 2, FreeTrials: 6, LossShare: []float64{0.2, restart.Off}[rng.IntN(2)]}
	}
	if one(6) {
		c.Model.Window, c.Model.WrapUp = 7*time.Second, time.Second
	}
	if one(5) {
		c.UnitTimes.MinSamples, c.UnitTimes.KeepFirstWave, c.UnitTimes.FixedOverhead = 1+rng.IntN(4), one(2), one(2)
	}
	if one(8) {
		c.Interval = time.Second / 4
	}
	if one(3) && !rules.Describe(policy).Has(rules.Interval) {
		c.Interval = 0
	}
	if one(6) {
		c.Policy = observed{policy, w.text}
		if policy == nil {
			c.Policy = observed{restart.LeastCost{}, w.text}
		}
	}
	var err error
	h.tracker, err = tracker.New(c)
	require.NoError(w.t, err)
	h.config = c
	return h
}

// run lets time pass until all phases are over.
func (w *digestWorld) run() {
	for range 600 {
		if !slices.ContainsFunc(w.hosts, func(h *digestHost) bool { return !h.over }) {
			return
		}
		w.now = w.now.Add(time.Duration(400+w.rng.IntN(200)) * time.Millisecond)
		for _, h := range w.hosts {
			if !h.over {
				h.step()
			}
		}
	}
	for _, h := range w.hosts {
		h.close()
	}
}

func (h *digestHost) close() {
	if h.over {
		return
	}
	h.over = true
	h.tracker.Close(h.now)
	h.facts()
}

// facts writes the numbers of a phase.
func (h *digestHost) facts() {
	x, p := h.text, h.tracker
	x.Line("ledger", digesttest.Ledger(p.Ledger()), "phase", digesttest.Phase(p.Phase()))
	u := p.UnitTimes()
	x.Line("samples", u.Samples(), "overhead", u.Overhead(), "unit-times", digesttest.Distribution(u))
	for d, n := range p.Decisions() {
		x.Line("action", d.Action.String(), "reason", d.Reason.String(), "times", n)
	}
	x.Line("candidates", slices.Collect(p.Candidates()))
}

// knows reports whether the phases share run times and trials.
func (w *digestWorld) knows() bool {
	return w.knowledge != nil && w.knowledge.Config().Keep != restart.Off
}

// sum writes what the world has learnt.
func (w *digestWorld) sum() {
	record := w.knowledge.Machines()
	for i := range w.slow {
		if record == nil {
			break
		}
		v := record.Judge(i)
		total, of := record.Progress(i)
		elsewhere, known := record.Elsewhere(i)
		w.text.Line("machine", i, "factor", record.Factor(i), "standing", v.Standing.String(), "class-factor", v.ClassFactor,
			"threshold", v.Threshold, "attempts", v.Attempts, "failed", v.Failed, "total", total, "known", known,
			"elsewhere", elsewhere, "of", of.Len())
	}
	if record != nil {
		w.text.Line("avoid", record.AppendAvoid(nil))
	}
	if w.knows() {
		seconds, attempts := w.knowledge.Longest(w.kind, 1)
		w.text.Line("longest", seconds, "of", attempts)
	}
	if w.budget != nil {
		w.text.Line("budget", w.budget.Running(), "allows", w.budget.Allows())
	}
}

// step lets a phase go on: attempts begin, report and end, disasters happen, and free slots are filled.
func (h *digestHost) step() {
	for _, a := range slices.Clone(h.attempts) {
		if slices.Contains(h.attempts, a) {
			h.proceed(a)
		}
	}
	if h.rng.IntN(3) == 0 {
		h.tracker.Sweep(h.now, h.carryOut)
	}
	switch h.rng.IntN(40) {
	case 0:
		h.restore()
	case 1:
		h.facts()
	case 2, 3, 4, 5:
		h.happens()
	case 6, 7:
		if h.rude {
			h.nonsense()
		}
	}
	h.fill()
	if len(h.done) == h.tasks {
		h.close()
	}
}

// proceed lets an attempt go on.
func (h *digestHost) proceed(a *digestAttempt) {
	switch {
	case !a.begun && h.now.Before(a.begins):
		return
	case !a.begun:
		a.begun = true
		h.tracker.Begin(h.now, a.task, a.number, a.machine)
	case !h.now.Before(a.ends) && a.fails:
		h.drop(a)
		h.tracker.Fail(h.now, a.task, a.number)
		switch h.rng.IntN(8) {
		case 0:
			h.tracker.GiveUp(h.now, a.task)
			if !slices.ContainsFunc(h.attempts, func(b *digestAttempt) bool { return b.task == a.task }) {
				h.done[a.task] = true
			}
		case 1:
			h.tracker.GiveUp(h.now, a.task)
			h.tracker.Retry(h.now, a.task)
		}
	case !h.now.Before(a.ends):
		h.drop(a)
		h.done[a.task] = true
		for _, number := range slices.Clone(h.tracker.Finish(h.now, a.task, a.number)) {
			if b := h.find(a.task, number); b != nil {
				h.kill(b)
			}
		}
	case !h.silent && h.rng.IntN(2) == 0:
		h.report(a)
	}
}

func (h *digestHost) report(a *digestAttempt) {
	share := min(h.now.Sub(a.begins).Seconds()/a.ends.Sub(a.begins).Seconds(), 1)
	work := 1.0
	if c := h.tracker.Config(); c.Work != nil {
		work = c.Work[a.task]
	}
	r := tracker.Report{Done: share * work}
	switch {
	case h.small:
		r.Done /= 100
	case h.scores:
		r = tracker.Report{Score: share}
	case h.rng.IntN(15) == 0:
		r.Remaining = a.ends.Sub(h.now)
	}
	if h.saves && share > 0.3 {
		r.Saved = r.Done / 2
	}
	if h.rng.IntN(8) == 0 {
		h.tracker.Record(h.now, a.task, a.number, r)
		return
	}
	answer := h.tracker.Report(h.now, a.task, a.number, r)
	answer.Task = a.task
	h.carryOut(answer)
}

// carryOut ends the attempt that an answer ends.
func (h *digestHost) carryOut(answer tracker.Answer) {
	a := h.find(answer.Task, answer.Attempt)
	if a == nil || answer.Action != restart.Restart && answer.Action != restart.Kill {
		return
	}
	h.kill(a)
	if answer.Action == restart.Restart {
		h.tracker.Restart(h.now, a.task, a.number)
	} else {
		h.tracker.Kill(h.now, a.task, a.number)
	}
}

func (h *digestHost) find(task, number int) *digestAttempt {
	i := slices.IndexFunc(h.attempts, func(a *digestAttempt) bool { return a.task == task && a.number == number })
	if i < 0 {
		return nil
	}
	return h.attempts[i]
}

func (h *digestHost) drop(a *digestAttempt) {
	h.attempts = slices.DeleteFunc(h.attempts, func(b *digestAttempt) bool { return a == b })
}

func (h *digestHost) kill(a *digestAttempt) {
	h.drop(a)
	h.dead = append(h.dead, a)
}

// fill offers each free slot of a machine.
func (h *digestHost) fill() {
	for machine := range h.slow {
		for range 12 {
			n := 0
			for _, host := range h.hosts {
				for _, a := range host.attempts {
					if a.machine == machine {
						n++
					}
				}
			}
			if n >= h.slots {
				break
			}
			answer := h.tracker.Next(h.now, machine)
			if answer.Action == restart.Keep {
				break
			}
			if answer.Action == restart.Start || answer.Action == restart.Copy {
				h.launch(answer.Task, machine)
				continue
			}
			h.carryOut(answer)
		}
	}
}

func (h *digestHost) launch(task, machine int) {
	a := &digestAttempt{task: task, machine: machine, begins: h.now, begun: true}
	takes := (6 + float64(4*h.rng.Float64())) * h.slow[machine]
	if c := h.tracker.Config(); c.Work != nil {
		takes *= 0.2 + c.Work[task]
	}
	if task%9 == 4 {
		takes *= 4 // long on each machine
	}
	if h.hangs > 0 && h.rng.IntN(h.hangs) == 0 {
		takes = 1e4
	}
	if h.queues {
		a.begun, a.begins = false, h.now.Add(time.Duration(h.rng.IntN(2500))*time.Millisecond)
		a.number = h.tracker.Submit(h.now, task, machine)
	} else {
		a.number = h.tracker.Start(h.now, task, machine)
	}
	a.ends = a.begins.Add(time.Duration(takes * float64(time.Second)))
	if a.fails = h.fails > 0 && h.rng.IntN(h.fails) == 0; a.fails {
		a.ends = a.begins.Add(time.Duration(takes * h.rng.Float64() * float64(time.Second)))
	}
	if a.number >= 0 {
		h.attempts = append(h.attempts, a)
	}
}

// happens lets something happen to the phase.
func (h *digestHost) happens() {
	task, machine := h.rng.IntN(h.tasks), h.rng.IntN(len(h.slow))
	switch h.rng.IntN(10) {
	case 0: // the machine is lost, with all its attempts
		for _, a := range slices.Clone(h.attempts) {
			if a.machine == machine {
				h.kill(a)
			}
		}
		h.tracker.LoseMachine(h.now, machine)
	case 1:
		if h.done[task] {
			delete(h.done, task)
			h.tracker.LoseOutput(h.now, task)
		}
	case 2:
		h.tracker.Leave(h.now, machine, h.now.Add(time.Duration(h.rng.IntN(20))*time.Second))
	case 3:
		h.tracker.Leave(h.now, machine, time.Time{})
	case 4:
		h.tracker.SetSlots(1 + h.rng.IntN(h.slots*len(h.slow)))
	case 5:
		h.tracker.SetSlots(h.slots * len(h.slow))
	case 6:
		h.tracker.SetEligible(task, h.rng.IntN(2) == 0, h.rng.IntN(2) == 0)
	case 7:
		h.carryOut(h.tracker.Decide(h.now, task))
	case 8: // an attempt that was taken for dead has a result
		if len(h.dead) > 0 {
			a := h.dead[h.rng.IntN(len(h.dead))]
			h.done[a.task] = true
			for _, number := range slices.Clone(h.tracker.Finish(h.now, a.task, a.number)) {
				if b := h.find(a.task, number); b != nil {
					h.kill(b)
				}
			}
		}
	case 9: // another process has seen slow attempts
		other := knowing(h.t, tracker.KnowledgeConfig{Machines: machines.Config{Origin: "other"}})
		record := other.Machines()
		record.SetName(0, fmt.Sprint("m", machine))
		for range 6 {
			record.End(h.now, 0, record.Join().Key(task, h.rng.IntN(100)), machines.Attempt{}, machines.Failed)
		}
		delta, err := other.AppendDelta(nil, nil)
		require.NoError(h.t, err)
		h.tracker.Merge(h.now, delta)
	}
}

// nonsense tells the tracker what makes no sense.
func (h *digestHost) nonsense() {
	task, attempt := h.rng.IntN(h.tasks+3)-1, h.rng.IntN(5)-1
	switch h.rng.IntN(9) {
	case 0:
		h.tracker.Report(h.now, task, attempt, tracker.Report{Done: []float64{math.NaN(), math.Inf(1), -1, 1e300}[h.rng.IntN(4)]})
	case 1:
		h.tracker.Begin(h.now, task, attempt, -1)
	case 2:
		if h.find(task, attempt) == nil && !h.done[task] {
			h.tracker.Fail(h.now, task, attempt)
		}
	case 3:
		h.tracker.Kill(h.now, h.tasks, attempt)
	case 4:
		h.tracker.Restart(h.now, -1, attempt)
	case 5:
		h.tracker.Next(h.now.Add(-time.Hour), -1)
	case 6:
		h.tracker.Start(h.now, h.tasks+1, 0)
	case 7:
		h.tracker.Merge(h.now, []byte("x"))
	case 8:
		h.tracker.LoseMachine(time.Time{}, 99)
	}
}

// restore replaces the phase by the phase of a snapshot. If no other phase runs, it also replaces what the phase shares.
func (h *digestHost) restore() {
	data, err := h.tracker.MarshalBinary()
	require.NoError(h.t, err)
	if len(h.hosts) == 1 {
		h.knowledge, h.budget = digesttest.Restored(h.t, h.knowledge), digesttest.Restored(h.t, h.budget)
		h.config.Knowledge = h.knowledge
		if h.budget != nil {
			h.config.Budget = h.budget
		}
	} else if h.knows() {
		return // the stakes of the lost phase would stay in it
	}
	h.tracker, err = tracker.Restore(h.config, data)
	require.NoError(h.t, err)
	h.text.Line("restored", true)
}

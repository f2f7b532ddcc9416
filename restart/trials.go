package restart

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Trials is the account of the trials of a phase. A trial is a copy or a restart that was made because a task was slow. A
// copy wins if it ends first. A restart wins if the new attempt takes less than half of what the old one would have
// taken; a copy for which the old attempt was killed is a restart from then on ([Trials.Kill]). Every other trial that
// comes out is lost. It counts by how much the two attempts have shown the task to be long by itself.
//
// [LeastCost] reads two things from it: how probable it is that a slow task is long by itself ([Trials.Long]), and how
// much more slot time may be lost. Package tracker keeps a Trials for its phase. A host that keeps its own calls Begin
// for each copy and restart of a slow task, and Finish, Kill, Fail or Drop for each end, with the [Trial] that it keeps
// of the task. The zero value has seen no trial. A host that keeps no Trials gets copies from LeastCost, and restarts
// only where t_rem is certain, where the machine is known to be bad ([Attempt].Location), where no slot will come free, or
// where no copy is allowed.
//
// # The bound
//
// A trial is a guess unless t_rem is certain, the machine is known to be bad, or it is a restart and no slot will come
// free. A copy puts at risk what it costs until it has shown whether it gains: two report periods where attempts
// report; where they are silent one and a half typical times, or a quarter of the age of the task if that is longer;
// and the lag. A restart puts at risk what the attempt has run.
//
// Theorem. A host tells its Trials of each trial, and begins none that [Hold] refuses. Then at every moment the slot
// time that trials have lost, less the slot time that they have saved, and the slot time that they still put at risk,
// Cost + AtRisk, is at most B + s + e:
//
//   - B is the bound when the latest guess began: LossShare of what the tasks of the phase typically take in all, and
//     FreeTrials times what a copy puts at risk; but where attempts report, no less than t_rem of the task.
//   - s is what that guess puts at risk.
//   - e is by how much the trials that came out since then have cost more than they had put at risk.
//
// Proof. Let w be the weight of the guess: twice the probability that the task is long, at most 1. Hold lets the guess begin only if Cost + AtRisk + w s <
// B. So Cost + AtRisk < B before it begins, and < B + s after. Until the next guess begins, a trial that is no guess
// adds nothing, for it puts nothing at risk; a trial that is won or says nothing takes its stake off AtRisk, and adds
// nothing to Cost; a trial that is lost takes its stake off AtRisk and adds its cost to Cost, which is at most its
// share of e. ∎
//
// The trials of e ran when that guess began, or are no guesses. LeastCost ends a silent copy once it has cost what it put
// at risk, and a copy that reports once the pair has shown that the task is long. A policy that lets its copies run on has
// a larger e, and begins the next trial later. Durations saturate, so the theorem holds for sums of less than 292 years.
// Copies that the host makes unasked come on top.
type Trials struct {
	// Won and Lost count the trials that came out. They are fractions where old trials fade, and Lost where copies were killed
	// that had shown little.
	Won, Lost float64
	// Cost is the slot time of the trials that were lost, less the slot time that the others have saved.
	Cost time.Duration
	// AtRisk is what the trials that still run will cost if all of them are lost.
	AtRisk time.Duration
	// Longest is the time of an attempt of the longest task that has lost a trial, as it was predicted. Lost trials say little
	// about tasks that take far longer. 0 means unknown: then lost trials say the same about all tasks.
	Longest time.Duration
}

const (
	// Before any trial has come out, one slow task in four is taken to be long by itself: half of a lost trial, and one and
	// a half that were won. Constants chosen on docs/worlds.md's first worlds, seeds of -set work.
	priorLost, priorWon = 0.5, 1.5
	// lostOdds is by what each lost trial of a task multiplies the odds that the task is long.
	lostOdds = 2.0
	// provenRatio is how many trials must have been won for each that was lost before attempts are killed without a copy.
	provenRatio = 2.0
	// provenTrials is how many trials must have been won before attempts are killed without a copy.
	provenTrials = 3
	// typicalPart is the quantile of t_new that counts as typical. The median may lie among slow attempts.
	typicalPart = 0.3
	// showPeriods is after how many report periods a copy has shown how fast it is.
	showPeriods = 2
	// typicalTimes is after how many typical times a copy that reports nothing is given up, and agePart after which part of
	// the age of the task, if that is longer.
	typicalTimes, agePart = 1.5, 0.25
	// wonBy is by what factor the new attempt of a restart must be shorter than the old one for the restart to win.
	wonBy = 2.0
	// surelyWon is how probable it must be that a copy wins to count as won before it has ended.
	surelyWon = 0.95
	// badPlace is how many times as long an attempt takes on a machine that is known to be bad for it as elsewhere.
	badPlace = 3.0
	// stuckTimes is after how many times the longest time of an attempt a phase is stuck in which nothing begins or ends. It is
	// far beyond what attempts take that are only slow.
	stuckTimes = 4
	// paidTimes is how many typical times a trial counts at most as saved: one task that hangs must not pay for all others.
	paidTimes = 4
)

// Trial is what is known of the trials of one task. A host keeps it in [Task].Trial, and tells the account of each
// event: the methods of [Trials] change it. The zero value is a task without a trial.
type Trial struct {
	// Lost is how many trials of the task were lost.
	Lost int
	// Action is what runs: Copy for copies on trial; Restart for a restart, and for a copy that took the place of the old
	// attempt; Kill for copies that have been overtaken; Keep for nothing.
	Action Action
	// Copies is how many copies are on trial; 1 for a restart.
	Copies int
	// Counted says that the account counts what runs as won: the old attempt was killed for its copy, which will surely win.
	Counted bool
	// Stake is the slot time that is at risk.
	Stake time.Duration
	// Left is how long the old attempt still needed when the trial began, and Whole how long it would have taken in all; both are
	// 0 if that was not known. Typical is how long a new attempt typically took then.
	Left, Whole, Typical time.Duration
}

// Begin notes that a task is about to be copied or restarted because it is slow. It reads the facts of before. A
// restart of the task that has not come out is lost. O(len(task.Attempts)).
func (t *Trials) Begin(x *Trial, task *Task, p *Phase, action Action) {
	if len(task.Attempts) == 0 {
		return
	}
	if x.Action == Restart {
		t.lose(x, x.Stake, 1)
	}
	s := stakesOf(task, p)
	stake := s.of(action)
	x.Action, x.Copies, x.Stake, x.Typical = action, x.Copies+1, num.Add(x.Stake, stake), s.typical
	if x.Left, x.Whole = 0, 0; s.fastest != nil {
		x.Left, x.Whole = s.fastest.Remaining, num.Add(s.fastest.Elapsed, s.fastest.Remaining)
	}
	t.AtRisk = num.Add(t.AtRisk, stake)
}

// Finish notes that an attempt of the task, which has run so long, has ended the task. An old attempt is one that ran before
// the trial began. Tell by Kill of each attempt that is overtaken.
func (t *Trials) Finish(x *Trial, ran time.Duration, old bool) {
	switch {
	case x.Action == Restart && (old || float64(ran)*wonBy >= float64(x.Whole)):
		t.lose(x, x.Stake, 1)
	case x.Action == Restart || x.Action == Copy && !old:
		if !x.Counted {
			t.Won++
		}
		t.Cost = num.Sub(t.Cost, max(min(num.Sub(x.Left, ran), num.Times(x.Typical, paidTimes)), 0))
		t.settle(x)
	}
	if x.Action == Copy {
		x.Action = Kill
	}
}

// Kill notes that the i-th of several attempts of the task is killed or overtaken. It reads the facts of before. If it was
// an old one, and the task goes on, the copy takes its place. The copy counts as won at once if it will surely win; if it
// ends late all the same, it counts as lost in the end. If it was a copy, the trial is lost. It counts by what the two attempts
// have shown: a copy that was ended because other trials were lost says nothing new of its task.
func (t *Trials) Kill(x *Trial, task *Task, p *Phase, i int, old bool) {
	switch {
	case i < 0 || i >= len(task.Attempts):
	case x.Action == Copy && old:
		if x.Action, x.Counted = Restart, wins(task, i); x.Counted {
			t.Won++
		}
	case (x.Action == Copy || x.Action == Kill) && !old:
		t.lose(x, task.Attempts[i].Elapsed, shows(task, p, i))
	}
}

// Fail notes that a copy on trial has failed, or was lost with its machine. That says nothing of its task.
func (t *Trials) Fail(x *Trial) {
	if x.Action != Restart {
		t.settle(x)
	}
}

// Drop forgets what runs of a task: the phase was closed, or the task given up.
func (t *Trials) Drop(x *Trial) {
	for x.Action != Keep {
		t.settle(x)
	}
}

// lose counts a lost trial by the share that it shows the task to be long, and the slot time that it has cost.
func (t *Trials) lose(x *Trial, cost time.Duration, shows float64) {
	if shows > num.Half {
		x.Lost++
	}
	t.Lost += shows
	if x.Counted {
		t.Won = max(t.Won-1, 0)
	}
	t.Cost = num.Add(t.Cost, max(cost, 0))
	t.Longest = max(t.Longest, x.Whole)
	t.settle(x)
}

// settle takes one of the copies on trial, or the restart, out of what is at risk.
func (t *Trials) settle(x *Trial) {
	stake, others := x.Stake, x.Copies-1
	if x.Action == Restart || others <= 0 {
		*x = Trial{Lost: x.Lost}
	} else {
		stake /= time.Duration(x.Copies)
		x.Copies, x.Stake = others, x.Stake-stake
	}
	t.AtRisk = max(num.Sub(t.AtRisk, stake), 0)
}

// Long returns the probability that a slow task is long by itself, so that a new attempt takes as long as the old one. It is
// the share of lost trials; each trial that the task itself has lost doubles the odds. Whole is the time in seconds that an
// attempt of the task takes in all, 0 if it is not known. If whole is k times [Trials.Longest], lost trials count 1/k^2 in
// that share. O(lost).
func (t *Trials) Long(lost int, whole float64) float64 {
	of, against := max(t.Lost, 0), max(t.Won, 0)+priorWon
	if longest := t.Longest.Seconds(); longest > 0 && whole > longest {
		near := longest / whole
		of *= float64(near * near)
	}
	odds := (of + priorLost) / against
	for range min(max(lost, 0), maxLost) {
		odds *= lostOdds
	}
	return odds / (1 + odds)
}

// maxLost bounds a loop; the odds are beyond all doubt by then.
const maxLost = 32

// Counts returns how many trials were won, of how many that came out, as a decision names them.
func (t *Trials) Counts() (won, tried int) { return whole(t.Won), whole(t.Won + t.Lost) }

// Typical returns what a new attempt typically takes, lag included: the quantile 0.3 of t_new.
func Typical(fresh *estimate.Fresh) time.Duration {
	d, _ := num.Duration(max(fresh.Quantile(typicalPart), 0))
	return d
}

// patience returns how long a copy may run before it has shown whether it gains: two report periods where attempts report;
// where they are silent one and a half typical times, or a quarter of the age of the task if that is longer.
func patience(interval, typical, age time.Duration, silent bool) time.Duration {
	if !silent {
		return num.Times(max(interval, 0), showPeriods)
	}
	return max(num.Times(typical, typicalTimes), num.Times(age, agePart))
}

// stakes are what trials of a task may lose.
type stakes struct {
	fastest, oldest *Attempt      // fastest is nil if t_rem of none is known
	typical         time.Duration // that a new attempt takes; that the oldest has taken, if nothing is known of t_new
	patience, shows time.Duration // for which a copy runs until it has shown whether it gains; what it costs if it does not
	silent          bool          // nothing is reported
	guess           bool          // the task may be long by itself
	stuck           bool          // no slot of the phase will come free
}

func stakesOf(t *Task, p *Phase) (s stakes) {
	s.oldest = &t.Attempts[0]
	for i := range t.Attempts {
		c := &t.Attempts[i]
		if c.Elapsed > s.oldest.Elapsed {
			s.oldest = c
		}
		if c.Remaining != estimate.Unknown && (s.fastest == nil || c.Remaining < s.fastest.Remaining) {
			s.fastest = c
		}
	}
	s.silent = s.fastest == nil || s.fastest.Basis == ByAge
	s.guess = s.fastest == nil || s.fastest.Left != nil && place(s.oldest.Location) < float64(badPlace*place(t.Fresh.Location))
	s.stuck = p.Stuck(t.Longest)
	if s.typical = Typical(&t.Fresh); t.Fresh.Expected() == estimate.Unknown {
		s.typical = max(s.oldest.Elapsed, p.Interval, 0)
	}
	s.patience = patience(p.Interval, s.typical, s.oldest.Elapsed, s.silent)
	s.shows = num.Add(s.patience, max(t.Fresh.Lag, 0))
	return s
}

// of returns what a trial of the task puts at risk: what a copy costs that shows nothing, or what a restart throws
// away. A trial that is no guess puts nothing at risk.
func (s *stakes) of(a Action) time.Duration {
	switch {
	case !s.guess, a == Restart && s.stuck:
		return 0
	case a == Restart:
		return max(s.oldest.Elapsed, 0)
	}
	return s.shows
}

// Stuck reports whether nothing of the phase has begun or ended for four times as long as the longest attempt of the
// task would have taken. If a new attempt would need a slot, none will come free.
func (p *Phase) Stuck(longest time.Duration) bool {
	return longest > 0 && p.Idle >= num.Times(longest, stuckTimes)
}

// mayLose returns how many seconds of slots one more trial might lose, weighed by twice the probability that the task is
// long, and how many trials may still lose.
func (s *stakes) mayLose(l *Limits, t *Task, p *Phase, a Action) (loses, most float64) {
	if !s.guess || l.LossShare == Off || a == Restart && s.stuck {
		return 0, math.Inf(1)
	}
	long := p.Trials.Long(stillLost(t, s.oldest.Elapsed), 0)
	loses = float64(min(1, 2*long) * s.of(a).Seconds())
	most = float64(l.LossShare * float64(max(p.Tasks, 0)) * s.typical.Seconds())
	most += float64(float64(max(l.FreeTrials, 0)) * s.shows.Seconds())
	if !s.silent {
		most = max(most, s.fastest.Remaining.Seconds())
	}
	return loses, most - num.Add(p.Trials.Cost, p.Trials.AtRisk).Seconds()
}

// stillLost returns how many of the lost trials of a task still count: none once it has run for twice as long as when its
// last copy was launched. So an attempt that hangs gets its next copy in the end, whatever the others showed.
func stillLost(t *Task, age time.Duration) int {
	if t.SinceCopy > age/2 {
		return 0
	}
	return t.Trial.Lost
}

// whole returns a count as a whole number, for a decision.
func whole(n float64) int {
	if !(n > 0) {
		return 0
	}
	return int(math.Round(min(n, math.MaxInt32)))
}

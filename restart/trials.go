package restart

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Trials is the account of the trials of a phase. A trial is a copy or a restart that was made because a task was slow.
//
// An example. A copy is made of a slow task: a trial begins. If the copy ends the task, the trial is won. If the old attempt
// ends the task, the trial is lost, and the task was long by itself.
//
// A restart is won if the new attempt takes less than half of the time that the old attempt would have taken. If the old
// attempt is killed while its copy runs, the trial goes on as a restart ([Trials.Kill]). Every other trial that comes out is
// lost. A copy that is killed counts as lost only as far as the two attempts show that the task is long.
//
// [LeastCost] reads two numbers from the account: the probability that a slow task is long ([Trials.Long]), and the slot time
// that trials may still lose.
//
// Package tracker keeps the account of its phase. A host that keeps its own account calls Begin for each copy or restart of a
// slow task, and Finish, Kill, Fail or Drop for each end, with the [Trial] of the task. The zero value has seen no trial. For
// a host without an account, LeastCost makes copies, and restarts a task in four cases only: t_rem is certain, the machine is
// known to be bad ([Attempt].Location), the phase is stuck, or the task may have no copy.
//
// # The bound
//
// A trial is a guess unless t_rem is certain, the machine is known to be bad, or the trial is a restart in a stuck phase. The
// stake of a trial is the slot time that it puts at risk:
//
//   - A restart stakes the age of the attempt.
//   - A copy stakes the time in which it shows whether it gains, and the lag. Where attempts report, that time is two report
//     periods. Where attempts are silent, it is one and a half typical times, or a quarter of the task's age if that is longer.
//   - A trial that is no guess stakes nothing.
//
// Theorem. Let a host tell its account of each trial, and begin no trial that [Hold] refuses. Then at every moment the slot time
// that trials have lost, less the slot time that trials have saved, and the stakes of the trials that still run, together
// Cost + AtRisk, are at most B + s + e:
//
//   - B is the bound when the latest guess began: LossShare of the typical time of all tasks of the phase, and FreeTrials
//     times the stake of a copy. Where attempts report, B is at least t_rem of the task.
//   - s is the stake of that guess.
//   - e is by how much the trials that came out since then have cost more than their stakes.
//
// Proof. Let w be the weight of the guess: twice the probability that the task is long, at most 1. Hold lets the guess begin
// only if Cost + AtRisk + w s < B. So Cost + AtRisk < B before the guess begins, and < B + s after. Until the next guess
// begins, four things may happen. A trial that is no guess begins: it stakes nothing. A trial is won: AtRisk falls by its
// stake, and Cost does not rise. A trial ends without a result: AtRisk falls by its stake. A trial is lost: AtRisk falls by
// its stake, and Cost rises by its cost, which is at most its stake and its share of e. ∎
//
// The trials of e are no guesses, or ran already when the latest guess began. LeastCost ends a silent copy once the copy has
// cost its stake, and a copy that reports once the two attempts have shown that the task is long. A policy that lets its copies
// run on has a larger e, and begins its next trial later. Copies that the host makes unasked come on top. Durations saturate,
// so the theorem holds for sums of less than 292 years.
type Trials struct {
	// Won and Lost count the trials that came out. They are fractions: old trials may fade, and a killed copy counts as lost
	// only in part.
	Won, Lost float64
	// Cost is the slot time of the lost trials, less the slot time that won trials saved.
	Cost time.Duration
	// AtRisk is the sum of the stakes of the trials that still run.
	AtRisk time.Duration
	// Longest is the longest time that was predicted for an attempt of a task that lost a trial. Lost trials are weaker evidence
	// about tasks that take longer than this. 0 means unknown: then lost trials are the same evidence about all tasks.
	Longest time.Duration
}

const (
	// priorLost and priorWon are the trials that the account assumes before any trial has come out: half a lost trial and one
	// and a half won trials. So one slow task in four is taken to be long by itself. Chosen on the first worlds of
	// docs/worlds.md, seeds of -set work.
	priorLost, priorWon = 0.5, 1.5
	// lostOdds multiplies the odds that a task is long, for each trial that the task has lost.
	lostOdds = 2.0
	// provenRatio is the number of won trials for each lost trial from which attempts are killed without a copy.
	provenRatio = 2.0
	// provenTrials is the least number of won trials from which attempts are killed without a copy.
	provenTrials = 3
	// typicalPart is the quantile of the time of a new attempt (t_new) that is called the typical time. The median would not do:
	// if many attempts are slow, the median is the time of a slow attempt.
	typicalPart = 0.3
	// showPeriods is the number of report periods after which a copy has shown how fast it is.
	showPeriods = 2
	// A copy that reports no progress is given up after typicalTimes typical times, or after the part agePart of the task's age
	// if that is longer.
	typicalTimes, agePart = 1.5, 0.25
	// wonBy is the factor by which a restart must shorten the attempt to be won: the new attempt takes less than half of the
	// time that the old attempt would have taken.
	wonBy = 2.0
	// surelyWon is the probability of winning from which a copy is counted as won before it has ended.
	surelyWon = 0.95
	// badPlace is the factor from which a machine is known to be bad for a task: an attempt there takes three times as long as a
	// new attempt elsewhere.
	badPlace = 3.0
	// A phase is stuck if no attempt has begun or ended for stuckTimes times the time of its longest attempt.
	stuckTimes = 4
	// paidTimes bounds the saving of one won trial, in typical times. Else one hung task would pay for all other trials.
	paidTimes = 4
)

// Trial is the state of the trials of one task. A host keeps it in [Task].Trial; the methods of [Trials] change it. The zero
// value is a task without a trial.
type Trial struct {
	// Lost is how many trials the task has lost.
	Lost int
	// Action is the kind of the trial that runs. Copy: copies are on trial. Restart: a restart is on trial, or a copy that
	// took the place of the old attempt. Kill: another attempt has ended the task, and copies wait to be killed. Keep: no trial
	// runs.
	Action Action
	// Copies is how many attempts are on trial: the copies that were made because the task was slow, or 1 after a restart.
	Copies int
	// Counted says that the trial already counts as won: the old attempt was killed for a copy that will surely win.
	Counted bool
	// Stake is the slot time that the trial puts at risk.
	Stake time.Duration
	// Left is t_rem of the old attempt when the trial began, and Whole the time that the old attempt would have taken in all;
	// both are 0 if t_rem was not known. Typical is the typical time of a new attempt at that moment.
	Left, Whole, Typical time.Duration
}

// Begin notes that the host is about to copy or restart a slow task. It reads the facts from before the action. If a restart of
// the task is still on trial, that trial is lost. O(len(task.Attempts)).
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

// Finish notes that an attempt has ended the task after running for the time ran. The attempt is old if it ran before the
// trial began. Call Kill for each other attempt of the task. O(1).
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

// Kill notes that the i-th of several attempts of the task is killed, or was overtaken. It reads the facts from before the kill.
//
// If the killed attempt is old and the task goes on, the copy takes its place. The copy counts as won at once if it will surely
// win; if the copy ends late all the same, the trial counts as lost in the end. If the killed attempt is a copy, the trial is
// lost. The trial counts by the likeness of the two attempts: a copy that is killed because other trials were lost says nothing
// new of its task. O(len(task.Attempts)), and a fixed number of quantiles.
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

// Fail notes that a copy on trial has failed, or was lost with its machine. The trial ends without a result. O(1).
func (t *Trials) Fail(x *Trial) {
	if x.Action != Restart {
		t.settle(x)
	}
}

// Drop ends the trials of a task without a result: the phase was closed, or the task given up. O(x.Copies).
func (t *Trials) Drop(x *Trial) {
	for x.Action != Keep {
		t.settle(x)
	}
}

// lose counts a lost trial, as the given part of a trial, and the slot time of its attempt.
func (t *Trials) lose(x *Trial, cost time.Duration, part float64) {
	if part > num.Half {
		x.Lost++
	}
	t.Lost += part
	if x.Counted {
		t.Won = max(t.Won-1, 0)
	}
	t.Cost = num.Add(t.Cost, max(cost, 0))
	t.Longest = max(t.Longest, x.Whole)
	t.settle(x)
}

// settle takes the stake of a restart, or of a copy on trial, out of AtRisk.
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

// Long returns the probability that a slow task is long by itself: then a new attempt takes as long as the old attempt. The
// probability is (1/2 + Lost) / (2 + Won + Lost); lost, the number of trials that the task itself has lost, doubles its odds
// each time. Whole is the time of an attempt of the task in seconds, 0 if not known. If whole is k times Longest, Lost is
// divided by k^2. O(lost).
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

// maxLost bounds the loop of Long; the odds are beyond doubt by then.
const maxLost = 32

// Counts returns the number of won trials, and of all trials that came out, rounded, as a decision prints them.
func (t *Trials) Counts() (won, tried int) { return whole(t.Won), whole(t.Won + t.Lost) }

// Typical returns the typical time of a new attempt: the quantile 0.3 of t_new, with its lag.
func Typical(fresh *estimate.Fresh) time.Duration {
	d, _ := num.Duration(max(fresh.Quantile(typicalPart), 0))
	return d
}

// patience returns for how long a copy may run before it has shown whether it gains: two report periods if attempts report. If
// attempts are silent, it is one and a half typical times, or a quarter of the task's age if that is longer.
func patience(interval, typical, age time.Duration, silent bool) time.Duration {
	if !silent {
		return num.Times(max(interval, 0), showPeriods)
	}
	return max(num.Times(typical, typicalTimes), num.Times(age, agePart))
}

// stakes are the facts of a task that determine how much slot time a trial of the task puts at risk.
type stakes struct {
	fastest, oldest *Attempt      // fastest is nil if no t_rem is known
	typical         time.Duration // time of a new attempt; the age of the oldest attempt, if t_new is not known
	patience, shows time.Duration // time after which a copy has shown whether it gains, without and with the lag
	silent          bool          // attempts report nothing
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

// of returns the stake of a trial: the time of a copy that shows nothing, or the age of the attempt that a restart throws away.
// A trial that is no guess stakes nothing.
func (s *stakes) of(a Action) time.Duration {
	switch {
	case !s.guess, a == Restart && s.stuck:
		return 0
	case a == Restart:
		return max(s.oldest.Elapsed, 0)
	}
	return s.shows
}

// Stuck reports whether nothing in the phase has begun or ended for four times the time of the longest attempt, which is scaled
// to the task's work. In a stuck phase no slot will come free.
func (p *Phase) Stuck(longest time.Duration) bool {
	return longest > 0 && p.Idle >= num.Times(longest, stuckTimes)
}

// mayLose returns the expected loss of one more trial, which is its stake times twice the probability that the task is long (at
// most its stake), and the loss that the bound still allows, both in seconds of slots.
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

// stillLost returns how many of the task's lost trials still count: none once the task is twice as old as when its last copy
// was started. So a hung attempt gets its next copy in the end, whatever earlier copies showed.
func stillLost(t *Task, age time.Duration) int {
	if t.SinceCopy > age/2 {
		return 0
	}
	return t.Trial.Lost
}

// whole rounds a count, for a decision.
func whole(n float64) int {
	if !(n > 0) {
		return 0
	}
	return int(math.Round(min(n, math.MaxInt32)))
}

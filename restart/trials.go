package restart

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Trials keeps the account of the trials of a phase: how many were won, how many were lost, and what they have cost.
// A trial is a copy or a restart that is made because a task is slow.
//
// An example. A task is slow, and a copy of it is made: a trial begins. If the copy finishes the task, the trial is
// won. If the old attempt finishes the task, the trial is lost, and the task was long by itself.
//
// A restart is won if the new attempt takes less than half of the time that the old attempt would have taken. If the
// old attempt is killed while its copy runs, the trial goes on as a restart ([Trials.Kill]). Every other trial that
// ends with a result is lost. A killed copy is counted as a part of a lost trial. The part is larger, the better the
// two attempts show that the task is long.
//
// Package tracker keeps the account of its phase. A host that keeps its own account calls Begin for each trial. It
// calls Finish, Kill, Fail or Drop for each end, with the [Trial] of the task. The zero value has seen no trial. For a
// host without an account, LeastCost makes copies, and restarts a task in four cases only: t_rem is certain, the
// machine is known to be bad ([Attempt].Location), the phase is stuck, or the task may have no copy.
//
// # The bound
//
// A trial is called a guess if its gain is uncertain. A trial is no guess in three cases: t_rem is certain, the
// machine is known to be bad, or the trial is a restart in a stuck phase. The stake of a trial is the slot time that
// the trial puts at risk:
//
//   - The stake of a restart is the age of the attempt that it kills.
//   - The stake of a copy is the time in which the copy shows whether it is faster, and the lag of its start. Where
//     attempts report, that time is two report periods. Where attempts are silent, it is one and a half typical
//     times, or a quarter of the task's age if that is longer.
//   - The stake of a trial that is no guess is 0.
//
// The account has two sums. Cost is the slot time that trials have lost, less the slot time that trials have saved.
// AtRisk is the sum of the stakes of the trials that still run.
//
// Theorem. Let a host report each trial to its account, and begin no trial that [Hold] refuses. Then Cost + AtRisk is
// at every moment at most B + s + e:
//
//   - B is the bound at the moment when the latest guess began. It is LossShare of the typical time of all tasks of
//     the phase, and FreeTrials times the stake of a copy. Where attempts report, B is at least t_rem of the task.
//   - s is the stake of the latest guess.
//   - e is the excess cost of the trials that ended with a result since then: the amount by which they have cost more
//     than their stakes.
//
// The page docs/numerics.md has the proof. Copies that the host makes without a decision are not included in the bound.
// Durations saturate, so the theorem is true for sums of less than 292 years.
type Trials struct {
	// Won and Lost are the numbers of trials that ended with success and without success. They are fractions: the
	// weight of old trials may shrink, and a killed copy adds only a part of a lost trial.
	Won, Lost float64
	// Cost is the slot time that lost trials used, less the slot time that won trials saved.
	Cost time.Duration
	// AtRisk is the sum of the stakes of the trials that still run.
	AtRisk time.Duration
	// Longest is the longest time in all that was predicted for the slow attempt of a lost trial. A lost trial is
	// weaker evidence about a longer task. 0 means unknown: then lost trials are the same evidence about all tasks.
	Longest time.Duration
}

const (
	// The account starts as if priorLost trials had been lost and priorWon trials had been won. So the first estimate
	// is that one slow task in four is long by itself. The two numbers were chosen by simulation: on the first
	// simulated clusters (worlds) of docs/worlds.md, with the seeds of the option -set work.
	priorLost, priorWon = 0.5, 1.5
	// An attempt may be killed without a copy only if at least provenTrials trials were won, and provenRatio for each
	// lost trial.
	provenRatio, provenTrials = 2.0, 3
	// typicalPart is the quantile of the time of a new attempt (t_new) that is called the typical time. The median is
	// not used: if many attempts are slow, the median is the time of a slow attempt.
	typicalPart = 0.3
	// showPeriods is the number of report periods after which a copy that reports progress has shown how fast it is.
	showPeriods = 2
	// A silent copy has shown how fast it is after typicalTimes typical times, or after the part agePart of the task's
	// age if that is longer.
	typicalTimes, agePart = 1.5, 0.25
	// wonBy is the factor by which a restart must shorten the attempt to be won.
	wonBy = 2.0
	// A copy is recorded as won before it has ended if the probability that it will win is at least surelyWon.
	surelyWon = 0.95
	// slowPlace is the factor between the machines of the old and the new attempt from which a won trial is no evidence
	// about other tasks: the machine was slow.
	slowPlace = 2.0
	// badPlace is the factor between the two machines from which the machine of the old attempt is bad for the task.
	badPlace = 3.0
	// stuckTimes is how many times the longest attempt's time must pass without an event until a phase is stuck.
	stuckTimes = 4
)

// Trial is the state of the trials of one task. A host keeps it beside the task, and the methods of [Trials] change it.
// The zero value is a task without a trial.
type Trial struct {
	// State says what is on trial.
	State TrialState
	// Copies is how many attempts are on trial. After a restart it is 1.
	Copies int
	// Counted says that Trials.Won already includes this trial, although the copy still runs: the old attempt was
	// killed, because the copy will almost surely win.
	Counted bool
	// SlowMachine says that the old attempt runs, or ran, on a machine on which attempts take at least twice as long.
	// Then the machine explains why the attempt was slow, and a won trial does not count in Trials.Won.
	SlowMachine bool
	// Stake is the sum of the stakes of the running trials.
	Stake time.Duration
	// Two predictions from the moment when the trial began; 0 if t_rem was not known. Left is how long the fastest
	// attempt of the task still needed (t_rem). Whole is how long this attempt would have taken in all.
	Left, Whole time.Duration
}

// TrialState says which attempt of a task is on trial.
type TrialState uint8

const (
	// NoTrial: no attempt of the task is on trial.
	NoTrial TrialState = iota
	// CopyOnTrial: one or more copies are on trial beside the old attempt.
	CopyOnTrial
	// RestartOnTrial: a new attempt is on trial in place of the old attempt. It is a restart, or a copy whose old
	// attempt was killed.
	RestartOnTrial
	// CopyOvertaken: another attempt has finished the task, and the copies on trial are about to be killed.
	CopyOvertaken
)

// trialEvent is what happens to an attempt on trial, or to the old attempt beside it.
type trialEvent uint8

const (
	copied    trialEvent = iota // a copy begins
	restarted                   // the old attempt is killed, and a new attempt begins
	replaced                    // the old attempt is killed, and its copy goes on
	overtaken                   // another attempt has finished the task
	settled                     // the last attempt on trial has ended
)

// after returns the next state of a trial. An event that can't come in a state changes nothing.
func (s TrialState) after(e trialEvent) TrialState {
	switch {
	case e == copied:
		return CopyOnTrial
	case e == restarted, e == replaced && s == CopyOnTrial:
		return RestartOnTrial
	case e == overtaken && s == CopyOnTrial:
		return CopyOvertaken
	case e == settled:
		return NoTrial
	}
	return s
}

// Begin records that the host is about to copy or restart a slow task. The facts in task and p must be the facts
// before the action. If an earlier restart of the task is still on trial, Begin records it as lost.
// O(len(task.Attempts)).
func (t *Trials) Begin(x *Trial, task *Task, p *Phase, action Action) {
	if len(task.Attempts) == 0 {
		return
	}
	if x.State == RestartOnTrial {
		t.lose(x, x.Stake, 1)
	}
	s, begins := stakesOf(task, p), copied
	if action == Restart {
		begins = restarted
	}
	stake := s.of(action)
	x.State, x.Copies, x.Stake = x.State.after(begins), x.Copies+1, num.Add(x.Stake, stake)
	if x.Left, x.Whole = 0, 0; s.fastest != nil {
		x.Left, x.Whole = s.fastest.Remaining, num.Add(s.fastest.Elapsed, s.fastest.Remaining)
	}
	x.SlowMachine = place(s.oldest.Location) >= float64(slowPlace*place(task.Fresh.Location))
	t.AtRisk = num.Add(t.AtRisk, stake)
}

// Finish records that an attempt of the task has ended with success after it has run for the time ran. The argument
// old says whether the attempt was already running when the trial began. Call Kill for each other attempt of the
// task. O(1).
func (t *Trials) Finish(x *Trial, ran time.Duration, old bool) {
	switch {
	case x.State == RestartOnTrial && (old || float64(ran)*wonBy >= float64(x.Whole)):
		t.lose(x, x.Stake, 1)
	case x.State == RestartOnTrial, x.State == CopyOnTrial && !old:
		if !x.Counted && !x.SlowMachine {
			t.Won++
		}
		t.Cost = num.Sub(t.Cost, max(num.Sub(x.Left, ran), 0))
		t.settle(x)
	}
	x.State = x.State.after(overtaken)
}

// Kill records that attempt i, one of several attempts of the task, is killed, also if it is killed because another
// attempt has finished. The facts in task and p must be the facts before the kill. The argument old says whether the
// attempt was already running when the trial began.
//
// If the killed attempt is old and the task goes on, its copy continues the trial as a restart. If the copy will
// almost surely win, the trial is recorded as won at once. If such a copy ends late all the same, the record is
// changed from won to lost.
//
// If the killed attempt is a copy, the trial is lost, as a whole or in part: a copy that is killed only because other
// trials were lost is no new evidence that its task is long. O(len(task.Attempts)), and a fixed number of quantiles.
func (t *Trials) Kill(x *Trial, task *Task, p *Phase, i int, old bool) {
	switch {
	case i < 0 || i >= len(task.Attempts):
	case x.State == CopyOnTrial && old:
		x.State = x.State.after(replaced)
		if x.Counted = !x.SlowMachine && wins(task, i); x.Counted {
			t.Won++
		}
	case x.State == CopyOnTrial:
		t.lose(x, task.Attempts[i].Elapsed, shows(task, p, i))
	case x.State == CopyOvertaken && !old: // another attempt has ended the task first
		t.lose(x, task.Attempts[i].Elapsed, 1)
	}
}

// Fail records that a copy on trial has failed, or was lost with its machine. The trial ends without a result. O(1).
func (t *Trials) Fail(x *Trial) {
	if x.State != RestartOnTrial {
		t.settle(x)
	}
}

// Drop ends the running trials of a task, without a result. It is for a closed phase, or a task that is given up.
// O(x.Copies).
func (t *Trials) Drop(x *Trial) {
	for x.State != NoTrial {
		t.settle(x)
	}
}

// lose adds a part of a lost trial whose attempt has used the slot time cost.
func (t *Trials) lose(x *Trial, cost time.Duration, part float64) {
	t.Lost += part
	if x.Counted {
		t.Won = max(t.Won-1, 0)
	}
	t.Cost = num.Add(t.Cost, max(cost, 0))
	t.Longest = max(t.Longest, x.Whole)
	t.settle(x)
}

// settle ends a restart or a copy on trial, and subtracts its stake from AtRisk.
func (t *Trials) settle(x *Trial) {
	stake, others := x.Stake, x.Copies-1
	if x.State == RestartOnTrial || others <= 0 {
		*x = Trial{State: x.State.after(settled)}
	} else {
		stake /= time.Duration(x.Copies)
		x.Copies, x.Stake = others, x.Stake-stake
	}
	t.AtRisk = max(num.Sub(t.AtRisk, stake), 0)
}

// Long returns the probability that a slow task is long by itself, so that a new attempt would take as long as the
// old attempt: (1/2 + Lost) / (2 + Won + Lost).
//
// The argument whole is the time that an attempt of the task takes in all, in seconds; 0 if not known. If whole is k
// times t.Longest and k is more than 1, Lost is divided by k^2 in the formula. O(1).
func (t *Trials) Long(whole float64) float64 {
	of, against := max(t.Lost, 0)+priorLost, max(t.Won, 0)+priorWon
	if longest := t.Longest.Seconds(); longest > 0 && whole > longest {
		near := longest / whole
		of = float64(max(t.Lost, 0)*float64(near*near)) + priorLost
	}
	return of / (of + against)
}

// Counts returns how many trials were won, and how many were won or lost, rounded to whole numbers.
func (t *Trials) Counts() (won, tried int) { return whole(t.Won), whole(t.Won + t.Lost) }

// Typical returns the typical time of a new attempt: the quantile 0.3 of its predicted time (t_new), including the
// lag of its start.
func Typical(fresh *estimate.Fresh) time.Duration {
	d, _ := num.Duration(max(fresh.Quantile(typicalPart), 0))
	return d
}

// patience returns how long a copy may run before it must have shown whether it is faster.
func patience(interval, typical, age time.Duration, silent bool) time.Duration {
	if !silent {
		return num.Times(max(interval, 0), showPeriods)
	}
	return max(num.Times(typical, typicalTimes), num.Times(age, agePart))
}

// stakes contains the facts of a task from which the stake of a trial is computed.
type stakes struct {
	ranks
	fastest  *Attempt      // needs the least remaining time (t_rem); nil if no t_rem is known
	oldest   *Attempt      // has run for the longest time
	expected time.Duration // expected time of a new attempt, E(t_new), or Unknown
	typical  time.Duration // typical time of a new attempt; the age of the oldest attempt if t_new is not known
	patience time.Duration // time for which a copy runs until it has shown whether it is faster
	shows    time.Duration // patience and the lag of the start
	silent   bool          // attempts report no progress
	guess    bool          // the gain of a trial is uncertain
	stuck    bool          // no slot of the phase will become free
}

// stakesOf computes the stakes of a task, which must have an attempt.
func stakesOf(t *Task, p *Phase) (s stakes) {
	s.ranks = rank(t.Attempts)
	s.oldest = &t.Attempts[s.ranks.oldest]
	if s.ranks.fastest >= 0 {
		s.fastest = &t.Attempts[s.ranks.fastest]
	}
	s.silent = s.fastest == nil || s.fastest.Basis == ByAge
	s.guess = s.fastest == nil || s.fastest.Left != nil && place(s.oldest.Location) < float64(badPlace*place(t.Fresh.Location))
	s.stuck = p.Stuck(t.Longest)
	if s.expected, s.typical = t.Fresh.Expected(), Typical(&t.Fresh); s.expected == estimate.Unknown {
		s.typical = max(s.oldest.Elapsed, p.Interval, 0)
	}
	s.patience = patience(p.Interval, s.typical, s.oldest.Elapsed, s.silent)
	s.shows = num.Add(s.patience, max(t.Fresh.Lag, 0))
	return s
}

// of returns the stake of a trial that begins with the action.
func (s *stakes) of(a Action) time.Duration {
	switch {
	case !s.guess, a == Restart && s.stuck:
		return 0
	case a == Restart:
		return max(s.oldest.Elapsed, 0)
	}
	return s.shows
}

// Stuck reports whether no attempt of the phase has begun or ended for four times longest. The argument longest is
// the time of the longest finished attempt of the phase, scaled to the work of the task. In a stuck phase no slot
// will become free.
func (p *Phase) Stuck(longest time.Duration) bool {
	return longest > 0 && p.Idle >= num.Times(longest, stuckTimes)
}

// mayLose returns the expected loss of one more trial, and the loss that the bound still allows, in seconds of slots.
func (s *stakes) mayLose(l *Limits, p *Phase, a Action) (loses, most float64) {
	if !s.guess || l.LossShare == Off || a == Restart && s.stuck {
		return 0, math.Inf(1)
	}
	long := p.Trials.Long(0)
	loses = float64(min(1, 2*long) * s.of(a).Seconds())
	most = float64(l.LossShare * float64(max(p.Tasks, 0)) * s.typical.Seconds())
	most += float64(float64(max(l.FreeTrials, 0)) * s.shows.Seconds())
	if !s.silent {
		most = max(most, s.fastest.Remaining.Seconds())
	}
	return loses, most - num.Add(p.Trials.Cost, p.Trials.AtRisk).Seconds()
}

// whole rounds a number of trials to a whole number, for a decision. A negative number becomes 0.
func whole(n float64) int {
	if !(n > 0) {
		return 0
	}
	return int(math.Round(min(n, math.MaxInt32)))
}

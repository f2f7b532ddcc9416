package tracker_test

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The facts of an attempt and of the phase, computed from the oracle's history by their definitions.

// age returns how long an attempt has run, up to its end or to now; 0 before it has begun.
func (o *oracle) age(c *oracleAttempt) time.Duration {
	switch {
	case !c.begun:
		return 0
	case c.fate == "":
		return o.now - c.start
	}
	return c.end - c.start
}

// done returns the work that an attempt has shown, which never falls. score returns the score of its last report.
func (o *oracle) done(c *oracleAttempt) float64 { return o.progress(c, len(c.reports)).Done() }

// progress replays the first n reports of an attempt.
func (o *oracle) progress(c *oracleAttempt, n int) *estimate.Progress {
	p := new(estimate.Progress)
	for i, r := range c.reports[:n] {
		if i > 0 && o.odd(c, c.reports[i-1]) && !o.odd(c, r) {
			p = new(estimate.Progress)
		}
		o.config.Model.Report(p, r.at-c.start, r.done)
	}
	return p
}

// odd reports whether a report claims more work than the task has.
func (o *oracle) odd(c *oracleAttempt, r oracleReport) bool {
	return max(r.p.Done, r.p.Saved) > 1.01*o.work[c.task]
}

// left returns the work that an attempt had to do when it began.
func (o *oracle) left(c *oracleAttempt) float64 { return o.work[c.task] - c.resumed }

// shows returns the share of the task that a report claims as done. doneIn returns the part of it that the attempt
// did.
func (o *oracle) shows(c *oracleAttempt, r oracleReport) float64 {
	if r.p.Done > 0 {
		return r.p.Done
	}
	return min(r.p.Score, 1) * o.work[c.task]
}

func (o *oracle) doneIn(c *oracleAttempt, r oracleReport) float64 {
	if o.odd(c, r) {
		return r.p.Done
	}
	return max(o.shows(c, r)-c.resumed, 0)
}

func (o *oracle) score(c *oracleAttempt) float64 {
	if c.fate == "finished" {
		return 1
	}
	score := 0.0
	for i, r := range c.reports {
		switch {
		case o.odd(c, r): // the report is not believed
		case r.p.Score > 0 && c.resumed == 0:
			score = min(r.p.Score, 1)
		case r.p.Score > 0 && o.left(c) > 0 && min(r.p.Score, 1)*o.work[c.task] > c.resumed:
			score = (min(r.p.Score, 1)*o.work[c.task] - c.resumed) / o.left(c)
		default:
			score = min(o.progress(c, i+1).Done()/o.left(c), 1)
		}
	}
	return score
}

// remaining returns t_rem: the host's value of the last report, or else the model's; unknown before the attempt has
// begun.
func (o *oracle) remaining(c *oracleAttempt) time.Duration {
	if !c.begun {
		return estimate.Unknown
	}
	if n := len(c.reports); n > 0 {
		last := c.reports[n-1]
		if o.odd(c, last) {
			return estimate.Unknown
		}
		if last.p.Remaining > 0 {
			return max(last.at+last.p.Remaining-o.now, 0)
		}
	}
	if !o.spoke {
		return estimate.Unknown
	}
	model := o.config.Model
	model.WrapUp = o.wrapUp()
	return model.Remaining(o.progress(c, len(c.reports)), o.age(c), o.left(c))
}

// lag returns the mean delay of the attempts that were submitted while a slot was free. The last 32 delays weigh most.
func (o *oracle) lag() time.Duration {
	sum, n := 0., 0.
	for _, delay := range o.delays {
		if n >= 32 {
			sum -= sum / 32
			n--
		}
		sum, n = sum+float64(delay), n+1
	}
	if n == 0 {
		return o.config.Lag
	}
	return time.Duration(sum / n)
}

func (o *oracle) wrapUp() time.Duration {
	var w estimate.WrapUp
	for _, c := range o.ended {
		if c.fate != "finished" {
			continue
		}
		for i, r := range c.reports {
			if !o.odd(c, r) && o.progress(c, i+1).Done() >= o.left(c) {
				w.Observe(r.at-c.start, c.end-c.start)
				break
			}
		}
	}
	return w.Mean()
}

// phase returns the counts and sums of the phase. The distributions are returned as sorted values.
func (o *oracle) phase() (p restart.Phase, durations, finishedRates, progressRates, totals []float64) {
	p = restart.Phase{
		Interval: o.config.Interval, Tasks: len(o.tasks), Slots: o.config.Slots, Machines: o.config.Machines,
		Limits: o.config.Limits,
	}
	p.Silent = !o.spoke && !o.tiny
	if p.Machines > 0 {
		p.Machines = max(p.Machines, len(o.machines))
	}
	running, scores, judged := 0, 0.0, 0
	totals = make([]float64, max(o.config.Machines, len(o.machines))) // the machines that appeared come first
	for i := range o.tasks {
		attempts := o.running(i)
		running += len(attempts)
		furthest := 0.0
		switch {
		case o.tasks[i].finished:
			p.Finished++
			judged++
			furthest = 1
		case len(attempts) > 0:
			p.Copies += len(attempts) - 1
			if o.runs(i) {
				judged++
			}
		default:
			p.Waiting++
		}
		for _, c := range attempts {
			furthest = max(furthest, o.score(c))
		}
		scores += furthest
		for _, c := range o.tasks[i].attempts {
			if c.fate == "" || c.fate == "finished" {
				if c.machine >= 0 {
					totals[slices.Index(o.machines, c.machine)] += math.Round(o.score(c)*(1<<24)) / (1 << 24)
				}
				if pace, ok := o.pace(c); ok {
					progressRates = append(progressRates, pace)
				}
			}
		}
	}
	p.FreeSlots = max(p.Slots-running, 0)
	if judged > 0 {
		p.Peers.MeanScore = scores / float64(judged)
	}
	work, ran := 0.0, 0.0
	for _, c := range o.ended {
		if c.fate == "finished" && c.begun {
			s := o.age(c).Seconds()
			durations = append(durations, s)
			finishedRates = append(finishedRates, s/o.left(c))
			units := o.left(c)
			if done := o.done(c); done > 1.01*units {
				units = done
			}
			work, ran = work+units, ran+s
		}
	}
	if ran > 0 {
		p.Peers.Throughput = work / ran
	}
	for _, values := range [][]float64{durations, finishedRates, progressRates} {
		slices.Sort(values)
	}
	return p, durations, finishedRates, progressRates, totals
}

// pace returns score/age at the last report, or at the end. There is no pace at age 0.
func (o *oracle) pace(c *oracleAttempt) (pace float64, ok bool) {
	if c.fate == "finished" && o.age(c) > 0 {
		return 1 / o.age(c).Seconds(), true
	}
	for n := len(c.reports); n > 0; n-- {
		if at := c.reports[n-1].at; at > c.start {
			past := *c
			past.fate, past.reports = "", c.reports[:n]
			return o.score(&past) / (at - c.start).Seconds(), true
		}
	}
	return 0, false
}

func (o *oracle) ledger() (l tracker.Ledger) {
	for i := range o.tasks {
		l.Started += len(o.tasks[i].attempts)
		for _, c := range o.tasks[i].attempts {
			if !c.original {
				l.Copies++
			}
			ran := o.age(c)
			switch c.fate {
			case "":
				continue
			case "finished":
				l.Finished++
				if !c.original {
					l.Won++
				}
			case "overtaken":
				// After a restart the old original no longer counts as original. Every attempt but the latest original
				// is a copy.
				if !c.original {
					l.Lost++
				}
			case "killed":
				l.Pruned++
			case "restarted":
				l.Restarts++
			case "failed":
				l.Failed++
			}
			l.Used += ran
			if c.fate != "finished" {
				l.Wasted += ran
			}
		}
	}
	l.Finished += o.late
	l.Ignored, l.Late, l.BadUnits, l.ClockSteps = o.bad, o.late, o.units, o.clock.Steps
	l.SmallUnits = o.small
	return l
}

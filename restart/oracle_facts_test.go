package restart_test

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// What the oracle's history amounts to: the facts of a copy and of the phase, each by the words of its definition.

// age is how long a copy has run, up to its end or to now; one that has not begun has not run.
func (o *oracle) age(c *oracleCopy) time.Duration {
	switch {
	case !c.begun:
		return 0
	case c.fate == "":
		return o.now - c.start
	}
	return c.end - c.start
}

// done is the work that a copy has shown, which never falls; score is the score of its last report.
func (o *oracle) done(c *oracleCopy) float64 { return o.progress(c, len(c.reports)).Done() }

// progress replays the first n reports of a copy.
func (o *oracle) progress(c *oracleCopy, n int) *estimate.Progress {
	p := new(estimate.Progress)
	for _, r := range c.reports[:n] {
		o.config.Model.Report(p, r.at-c.start, o.doneIn(c, r))
	}
	return p
}

func (o *oracle) doneIn(c *oracleCopy, r oracleReport) float64 {
	if r.p.Done > 0 {
		return r.p.Done
	}
	return min(r.p.Score, 1) * o.work[c.task]
}

func (o *oracle) score(c *oracleCopy) float64 {
	if c.fate == "finished" {
		return 1
	}
	if len(c.reports) == 0 {
		return 0
	}
	if last := c.reports[len(c.reports)-1]; last.p.Score > 0 {
		return min(last.p.Score, 1)
	}
	return min(o.done(c)/o.work[c.task], 1)
}

// remaining is t_rem: the host's of the last report, or else the model's; not known of a copy that has not begun.
func (o *oracle) remaining(c *oracleCopy) time.Duration {
	if !c.begun {
		return estimate.Unknown
	}
	if n := len(c.reports); n > 0 && c.reports[n-1].p.Remaining > 0 {
		return max(c.reports[n-1].at+c.reports[n-1].p.Remaining-o.now, 0)
	}
	anyone := false
	for i := range o.tasks {
		for _, other := range o.tasks[i].copies {
			anyone = anyone || o.done(other) > 0
		}
	}
	if !anyone {
		return estimate.Unknown
	}
	model := o.config.Model
	model.WrapUp = o.wrapUp()
	return model.Remaining(o.progress(c, len(c.reports)), o.age(c), o.work[c.task])
}

func (o *oracle) wrapUp() time.Duration {
	var w estimate.WrapUp
	for _, c := range o.ended {
		if c.fate != "finished" {
			continue
		}
		for i, r := range c.reports {
			if o.progress(c, i+1).Done() >= o.work[c.task] {
				w.Observe(r.at-c.start, c.end-c.start)
				break
			}
		}
	}
	return w.Mean()
}

// phase gives the counts and sums. The distributions come as sorted values.
func (o *oracle) phase() (p restart.Phase, durations, finishedRates, progressRates, totals []float64) {
	p = restart.Phase{
		Interval: o.config.Interval, Tasks: len(o.tasks), Slots: o.config.Slots, Machines: o.config.Machines,
	}
	running, scores, judged := 0, 0.0, 0
	totals = make([]float64, o.config.Machines)
	for i := range o.tasks {
		copies := o.running(i)
		running += len(copies)
		furthest := 0.0
		switch {
		case o.tasks[i].finished:
			p.Finished++
			judged++
			furthest = 1
		case len(copies) > 0:
			p.Speculative += len(copies) - 1
			if o.runs(i) {
				judged++
			}
		default:
			p.Waiting++
		}
		for _, c := range copies {
			furthest = max(furthest, o.score(c))
		}
		scores += furthest
		for _, c := range o.tasks[i].copies {
			if c.fate == "" || c.fate == "finished" {
				if c.machine >= 0 && c.machine < len(totals) {
					totals[c.machine] += math.Round(o.score(c)*(1<<24)) / (1 << 24)
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
			finishedRates = append(finishedRates, s/o.work[c.task])
			work, ran = work+o.work[c.task], ran+s
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

// pace is score/age at the last report, or at the end, that was not at the very start.
func (o *oracle) pace(c *oracleCopy) (pace float64, ok bool) {
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

// rates lists the samples of t_new: finished copies, less one of the first wave for each of a later one; and what
// running and killed copies have shown by their last report of progress, if they had run for an interval by then.
// work gives the work that counts, with the overhead that was learned; copies in without are left out.
func (o *oracle) rates(work func(float64) float64, without ...*oracleCopy) (samples []float64) {
	var first, later []float64
	for _, c := range o.ended {
		if c.fate != "finished" || !c.begun {
			continue
		}
		rate := o.age(c).Seconds() / work(o.work[c.task])
		if c.firstWave {
			first = append(first, rate)
			continue
		}
		later = append(later, rate)
		if len(first) > 0 {
			first = first[:len(first)-1]
		}
	}
	samples = append(first, later...)
	for i := range o.tasks {
		for _, c := range o.tasks[i].copies {
			if c.fate == "failed" || c.fate == "finished" || slices.Contains(without, c) {
				continue
			}
			if total, ok := o.total(c); ok {
				samples = append(samples, total/work(o.work[c.task]))
			}
		}
	}
	slices.Sort(samples)
	return samples
}

// total is the time that the copy will have taken in all, by its last report.
func (o *oracle) total(c *oracleCopy) (seconds float64, ok bool) {
	for i, r := range c.reports {
		if done, age := o.progress(c, i+1).Done(), r.at-c.start; done > 0 && age >= o.config.Interval {
			seconds, ok = age.Seconds()/min(done/o.work[c.task], 1), true
		}
	}
	return seconds, ok
}

// others is the distribution of the rates without those of the task's own running copies, the three newest that have
// shown one; of all if there are no others.
func (o *oracle) others(task int, rates *estimate.Rates) estimate.Distribution {
	var own []*oracleCopy
	for _, c := range o.running(task) {
		if _, ok := o.total(c); ok && len(own) < 3 {
			own = append(own, c)
		}
	}
	samples := o.rates(rates.Work, own...)
	if len(samples) == 0 {
		samples = o.rates(rates.Work)
	}
	others := &estimate.Empirical{}
	for _, s := range samples {
		others.Insert(s)
	}
	return others
}

func (o *oracle) ledger() (l restart.Ledger) {
	for i := range o.tasks {
		l.Started += len(o.tasks[i].copies)
		for _, c := range o.tasks[i].copies {
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
				// An original that a restart put in its place is gone from the books; any copy but the last original counts.
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
	l.Saved, l.Ignored = o.saved, o.bad
	return l
}

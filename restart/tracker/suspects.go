package tracker

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
)

// A machine is suspect if far more of its attempts are overdue than chance explains, given how many have ended there.
// If attempts report nothing, ages on suspect machines do not show how long an attempt takes elsewhere. So t_new of a
// task on suspect machines rests on the ages on other machines.

const (
	overdueTimes = survival.OutlierFrom // median times after which an attempt is overdue
	fewOverdue   = 2                    // least overdue attempts of a suspect machine; one alone may be the task's own
	hardlyChance = 1. / 50              // expected number of suspect machines by chance, at most: a choice
)

// findSuspects marks the suspect machines, and makes a curve without their attempts.
func (f *forecast) findSuspects() {
	list, m, found := f.fleet.machines, &f.ages, false
	for i := range list {
		list[i].overdue, list[i].suspect = 0, false
	}
	if len(list) < 2 || !f.rates.Known() {
		return
	}
	late := f.rates.Quantile(num.Half) * overdueTimes
	overdue, running := 0.0, 0.0
	f.eachRunning(func(a *attemptState) {
		running++
		if !(f.secondsPerUnit(a) > late) {
			return
		}
		overdue++
		if a.machine != none {
			list[a.machine].overdue++
		}
	})
	ended := float64(f.book.finished)
	share := (overdue + float64((1-f.rates.CDF(late))*ended)) / (running + ended)
	for i := range list {
		list[i].suspect = list[i].isSuspect(share, len(list))
		found = found || list[i].suspect
	}
	if !found || f.reported {
		return
	}
	if m.withoutSuspects == nil {
		m.withoutSuspects = &survival.Curve{Silent: true}
	}
	m.withoutSuspects.Reset()
	f.addEnded(m.withoutSuspects)
	f.addRunning(m.withoutSuspects, true)
	m.withoutSuspects.Fit()
}

// secondsPerUnit returns the predicted total time of an attempt, in seconds for each unit of work. If the attempt has
// no prediction, its age counts as the total.
func (f *forecast) secondsPerUnit(a *attemptState) float64 {
	age, w := f.book.age(a), f.book.tasks[a.task].stint(a.resumed)
	if left := f.remaining(w, a); left != estimate.Unknown {
		age = num.Add(age, left)
	}
	return age.Seconds() / f.rates.Work(float64(w))
}

// isSuspect reports whether so many overdue attempts on the machine are hardly chance. Share is the share of overdue
// attempts on all machines; machines is how many machines there are.
func (mc *machine) isSuspect(share float64, machines int) bool {
	if mc.overdue < fewOverdue {
		return false
	}
	chance := float64(machines)
	// An upper bound of the expected number: machines, times the ways to choose the overdue attempts, times the
	// probability that all chosen attempts are overdue.
	for i := range mc.overdue {
		chance *= share * float64(mc.ended+i+1) / float64(i+1)
	}
	return chance <= hardlyChance
}

// leavesSuspects reports whether all attempts of a task run on suspect machines, and a new attempt would run on
// another machine: on the machine that asks, or elsewhere.
func (fl *fleet) leavesSuspects(b *book, s *taskState, machine int) bool {
	if index := fl.find(machine); index != none && fl.machines[index].suspect {
		return false
	}
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if index := b.attempts.all[i].machine; index == none || !fl.machines[index].suspect {
			return false
		}
	}
	return true
}

package tracker

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
)

// A machine is suspect if far more of its attempts are overdue than chance explains, given how many attempts have
// ended there. An attempt is overdue if its predicted total time is more than 1.5 times the median. If attempts
// report no progress, the ages of attempts on suspect machines do not show how long an attempt takes elsewhere. So
// the blame for a slow attempt falls on its machine: see judge.blamedLocation.

const (
	// An attempt is overdue if its predicted total time is more than this number of median times.
	overdueTimes = survival.OutlierFrom
	// A suspect machine has at least this number of overdue attempts. A single one may belong to a long task.
	fewOverdue = 2
	// By chance alone, at most this number of machines would be expected to have as many overdue attempts as a suspect
	// machine. The number is a choice.
	hardlyChance = 1. / 50
)

// findSuspects finds the suspect machines.
func (f *forecast) findSuspects() {
	list := f.fleet.machines
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
	}
}

// secondsPerUnit returns the predicted total time of an attempt, divided by its work, in seconds for each unit of
// work. If nothing predicts the remaining time of the attempt, its age is used as the total time.
func (f *forecast) secondsPerUnit(a *attemptState) float64 {
	age, w := f.book.age(a), f.book.tasks[a.task].stint(a.resumed)
	if left := f.remaining(w, a); left != estimate.Unknown {
		age = num.Add(age, left)
	}
	return age.Seconds() / f.rates.Work(float64(w))
}

// isSuspect reports whether the machine has more overdue attempts than chance explains. An attempt is overdue if its
// predicted total time is more than 1.5 times the median. Share is the share of overdue attempts among all attempts
// of the phase. Machines is the number of machines.
func (mc *machine) isSuspect(share float64, machines int) bool {
	if mc.overdue < fewOverdue {
		return false
	}
	chance := float64(machines)
	// chance is an upper bound of the number of machines that are expected to have as many overdue attempts as this
	// machine, by chance alone. It is the number of machines, times the number of ways to choose the overdue attempts
	// among all attempts of a machine, times the probability that all chosen attempts are overdue.
	for i := range mc.overdue {
		chance *= share * float64(mc.ended+i+1) / float64(i+1)
	}
	return chance <= hardlyChance
}

// leavesSuspects reports whether all attempts of the task run on suspect machines, but a new attempt would not. Machine
// is the machine of the new attempt. If it is negative, the new attempt is taken to run on a machine that is not
// suspect.
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

package tracker

import (
	"github.com/straggler-go/straggler/estimate/survival"
)

// A machine is suspect if far more of its attempts are overdue than chance explains, given how many attempts have
// ended there. An attempt is overdue if its predicted total time is more than 1.5 times the median. If attempts
// report no progress, the ages of attempts on suspect machines do not show how long an attempt takes elsewhere. So
// the blame for a slow attempt falls on its machine: see blamedLocation.

const (
	// An attempt is overdue if its predicted total time is more than this number of median times.
	overdueTimes = survival.OutlierFrom
	// A suspect machine has at least this number of overdue attempts. A single one may belong to a long task.
	fewOverdue = 2
	// By chance alone, at most this number of machines would be expected to have as many overdue attempts as a suspect
	// machine. The number is a choice.
	hardlyChance = 1. / 50
)

// suspicion is the evidence that a machine is suspect.
type suspicion struct {
	ended   int32 // number of attempts that ended on the machine with success
	overdue int32 // number of running attempts on the machine that are overdue
	suspect bool
}

// addEnded counts an attempt that has ended on the machine with success.
func (sp *suspicion) addEnded() { sp.ended++ }

// forget forgets an attempt that has ended on the machine with success.
func (sp *suspicion) forget() { sp.ended-- }

// clearSuspects forgets which machines are suspect, before overdue attempts are counted again. It returns false if
// there are too few machines to compare.
func (fl *fleet) clearSuspects() (enough bool) {
	for i := range fl.machines {
		of := &fl.machines[i].suspicion
		of.overdue, of.suspect = 0, false
	}
	return len(fl.machines) >= 2
}

// addOverdue counts an overdue attempt on a machine.
func (fl *fleet) addOverdue(machine int32) {
	if machine != none {
		fl.machines[machine].suspicion.overdue++
	}
}

// findSuspects finds the suspect machines. Share is the share of overdue attempts among all attempts of the phase.
func (fl *fleet) findSuspects(share float64) {
	for i := range fl.machines {
		of := &fl.machines[i].suspicion
		of.suspect = of.isSuspect(share, len(fl.machines))
	}
}

// suspects reports whether the machine with the index is suspect. An unknown machine is not.
func (fl *fleet) suspects(machine int32) bool {
	return machine != none && fl.machines[machine].suspicion.suspect
}

// isSuspect reports whether the machine has more overdue attempts than chance explains. An attempt is overdue if its
// predicted total time is more than 1.5 times the median. Share is the share of overdue attempts among all attempts
// of the phase. Machines is the number of machines.
func (sp *suspicion) isSuspect(share float64, machines int) bool {
	if sp.overdue < fewOverdue {
		return false
	}
	chance := float64(machines)
	// chance is an upper bound of the number of machines that are expected to have as many overdue attempts as this
	// machine, by chance alone. It is the number of machines, times the number of ways to choose the overdue attempts
	// among all attempts of a machine, times the probability that all chosen attempts are overdue.
	for i := range sp.overdue {
		chance *= share * float64(sp.ended+i+1) / float64(i+1)
	}
	return chance <= hardlyChance
}

package tracker

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
)

// A machine is behind if so many of its copies run longer than usual, and so few have ended, that it is hardly chance.
// Where copies report nothing, their ages say nothing of what a copy takes elsewhere: t_new of a task on such a machine
// is by the ages of the others.

const (
	overdueTimes = survival.OutlierFrom // medians after which a copy is overdue
	fewOverdue   = 2                    // copies of one machine: one may be the task's own
	hardlyChance = 1. / 50              // that any machine would be so by chance: a choice
)

// separate marks the machines that are behind, and makes a curve without what runs there.
func (f *forecast) separate() {
	list, m, behind := f.fleet.list, &f.ages, false
	for i := range list {
		list[i].overdue, list[i].behind = 0, false
	}
	if len(list) < 2 || !f.rates.Known() {
		return
	}
	late := f.rates.Quantile(middle) * overdueTimes
	overdue, running := 0.0, 0.0
	f.running(func(c *copyState, w stint) {
		if running++; f.whole(c, w) > late {
			if overdue++; c.machine != none {
				list[c.machine].overdue++
			}
		}
	})
	ended := float64(f.book.finished)
	share := (overdue + float64((1-f.rates.CDF(late))*ended)) / (running + ended)
	for i := range list {
		list[i].behind = list[i].isBehind(share, len(list))
		behind = behind || list[i].behind
	}
	if !behind || f.reported {
		return
	}
	if m.elsewhere == nil {
		m.elsewhere = new(survival.Curve)
	}
	m.elsewhere.Reset()
	f.over(m.elsewhere)
	f.running(func(c *copyState, w stint) {
		if m.keeps(c.task) && (c.machine == none || !list[c.machine].behind) {
			m.elsewhere.Observe(f.book.age(c).Seconds()/f.scale(float64(w)), false)
		}
	})
	m.elsewhere.Fit()
}

// whole is how many seconds of a unit of work a copy takes in all, by its progress, or has taken at least.
func (f *forecast) whole(c *copyState, w stint) float64 {
	age := f.book.age(c)
	if left := f.remaining(w, c); left != estimate.Unknown {
		age = num.Add(age, left)
	}
	return age.Seconds() / f.rates.Work(float64(w))
}

// isBehind reports whether it is hardly chance that so many copies on the machine are overdue, if a share of all are,
// given how many have ended on it and that it is one of so many machines.
func (m *machine) isBehind(share float64, machines int) bool {
	if m.overdue < fewOverdue {
		return false
	}
	chance := float64(machines)
	for i := range m.overdue { // at most: the ways to choose them, and that all of these are
		chance *= share * float64(m.ended+i+1) / float64(i+1)
	}
	return chance <= hardlyChance
}

// leavesBehind reports whether all copies of a task run on machines that are behind, and one more would not, on the
// machine that asks or elsewhere.
func (f *fleet) leavesBehind(b *book, s *taskState, machine int) bool {
	if place := f.seen(machine); place != none && f.list[place].behind {
		return false
	}
	for i := s.copies; i != none; i = b.copies.all[i].next {
		if place := b.copies.all[i].machine; place == none || !f.list[place].behind {
			return false
		}
	}
	return true
}

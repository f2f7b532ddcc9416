package causes

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Member is the part of one worker in a step of a job with a barrier: all workers begin the step together, and the
// next step begins when the slowest has ended.
type Member struct {
	// Machine is the host's index of the machine; negative if it is not known.
	Machine int
	// Stage is the host's index of a group of members that should take equally long, such as a stage of a pipeline.
	// Stages run side by side.
	Stage int
	// Replica is the host's index of the position in the stage, such as the rank of a data-parallel worker. Members of
	// one replica in several stages work on the same data. Stage and Replica together are the position.
	Replica int
	// Took is the time of the member's own work in the step, without its waits for others.
	Took time.Duration
	// Size is the amount of work, such as bytes or tokens; 0 if it is not known.
	Size float64
}

// Lockstep counts who makes the others wait in a job of many steps. The zero value is ready for use. Not safe for
// concurrent use.
//
// Add takes O(n log n) for n members, and does not allocate once all workers are known. The memory is some 500 bytes
// for each machine and each position, whatever the number of steps.
type Lockstep struct {
	steps, leftOut int
	tied           int     // steps in which several members were last together
	total          float64 // seconds of the slowest member, over the steps
	wait, second   float64 // seconds of the slowest member beyond the median of its equals, and beyond the second
	machines       workers[int]
	positions      workers[[2]int]
	stages         workers[int]
	evened, level  share // saved if the members of each stage, or the stages, were even
	size           regression
	replicas       agreement
	order          []int
	members        []member
	groups         []stageOf
}

// member is a member of the step that is added.
type member struct {
	Member
	seconds float64
	excess  float64 // logarithm of the time by the centre of the stage
	equals  float64 // seconds: the median of the other members of the stage; of a member alone in its stage, its own time
	bulk    float64 // logarithm of the size by the median size of the stage; 0 if it is not known
}

// stageOf is a stage in the step that is added: the members from, to in order, and numbers about them.
type stageOf struct {
	stage, from, to int
	median, mean    float64
	// centre is the middle time, or the mean of the two middle times. What is compared with chance is compared with the
	// centre: a healthy member is as often below it as above, but more often above the lower of two middle times.
	centre float64
}

// medianWithout returns the median of the times of a stage without one member. own has the members in the order of their times,
// and at is the place of the member.
func (l *Lockstep) medianWithout(own []int, at int) float64 {
	if len(own) == 1 {
		return l.members[own[0]].seconds
	}
	middle := middleOf(len(own) - 1)
	if middle >= at {
		middle++
	}
	return l.members[own[middle]].seconds
}

// Add adds a step. Members without a positive time, or with a negative stage or replica, are left out, and so is a step
// of fewer than two members; [Waiting] counts both.
func (l *Lockstep) Add(step []Member) {
	if l.take(step) {
		l.count()
		l.steps++
	}
}

// take sorts the members of a step into their stages. It reports whether the step has at least two members with a time.
func (l *Lockstep) take(step []Member) bool {
	l.members, l.order, l.groups = l.members[:0], l.order[:0], l.groups[:0]
	for _, m := range step {
		if m.Took <= 0 || m.Stage < 0 || m.Replica < 0 {
			l.leftOut++
			continue
		}
		l.order = append(l.order, len(l.members))
		l.members = append(l.members, member{Member: m, seconds: m.Took.Seconds()})
	}
	if len(l.members) < 2 {
		l.leftOut += len(l.members)
		return false
	}
	slices.SortFunc(l.order, func(a, b int) int {
		x, y := &l.members[a], &l.members[b]
		return cmp.Or(cmp.Compare(x.Stage, y.Stage), cmp.Compare(x.seconds, y.seconds), cmp.Compare(a, b))
	})
	l.divide()
	return true
}

// divide finds the stages of the step, and compares each member with its stage.
func (l *Lockstep) divide() {
	for from := 0; from < len(l.order); {
		g := stageOf{stage: l.members[l.order[from]].Stage, from: from, to: from + 1}
		for g.to < len(l.order) && l.members[l.order[g.to]].Stage == g.stage {
			g.to++
		}
		own := l.order[from:g.to]
		g.median = l.members[own[middleOf(len(own))]].seconds
		g.centre = (g.median + l.members[own[len(own)/2]].seconds) / 2
		sized, bulk := true, 0.0
		for _, i := range own {
			g.mean += l.members[i].seconds / float64(len(own))
			if size := l.members[i].Size; size > 0 && size <= mostUnits {
				bulk += math.Log(size) / float64(len(own))
			} else {
				sized = false
			}
		}
		for at, i := range own {
			m := &l.members[i]
			m.equals = l.medianWithout(own, at)
			m.excess = math.Log(m.seconds / g.centre)
			if sized {
				m.bulk = math.Log(m.Size) - bulk
				l.size.add(m.bulk, m.excess)
			}
		}
		l.groups = append(l.groups, g)
		from = g.to
	}
}

// count adds the step to the counts of its members and stages. If several members are last together, none is the last.
func (l *Lockstep) count() {
	slowest, next := 0.0, 0.0
	for i := range l.members {
		switch s := l.members[i].seconds; {
		case s > slowest:
			slowest, next = s, slowest
		case s > next:
			next = s
		}
	}
	l.total += slowest
	l.second += slowest - next
	chance, wait := 1/float64(len(l.members)), slowest
	if next == slowest {
		chance = 0
		l.tied++
	}
	largest, second := 0.0, 0.0 // of the medians of the stages
	for _, g := range l.groups {
		largest, second = max(largest, g.median), max(second, min(largest, g.median))
	}
	for _, g := range l.groups {
		usual := largest // the largest median of another stage
		if g.median == largest {
			usual = second
		}
		for _, i := range l.order[g.from:g.to] {
			m := &l.members[i]
			o := observation{
				step: l.steps, excess: m.excess, times: math.Log(m.seconds / m.equals), bulk: m.bulk, slowest: slowest,
				beyond: m.seconds - max(usual, m.equals), chance: chance, equals: g.to - g.from,
			}
			if m.seconds == slowest {
				wait = min(wait, slowest-m.equals)
				if next < slowest {
					o.last, o.saved = true, slowest-max(next, m.equals)
				}
			}
			at := [2]int{m.Stage, m.Replica}
			p := l.positions.of(at)
			if m.Machine >= 0 {
				k := l.machines.of(m.Machine)
				l.machines.list[k].add(o, p)
				p, k = k, p
				l.positions.list[k].add(o, p)
			} else {
				l.positions.list[p].add(o, -1)
			}
		}
	}
	l.wait += wait
	l.compareStages(slowest, chance)
	l.replicas.add(l.members, l.order, l.groups)
}

// compareStages counts what is saved if the members of each stage are even, or the stages.
func (l *Lockstep) compareStages(slowest, chance float64) {
	even, mean, last := 0.0, 0.0, 0 // last is the number of stages with a member that is last, alone or with others
	for _, g := range l.groups {
		if l.longest(g) == slowest {
			last++
		}
		even = max(even, g.mean)
		mean += g.centre / float64(len(l.groups))
	}
	l.evened.add((slowest-even)/slowest, slowest)
	if len(l.groups) < 2 {
		return
	}
	level := 0.0
	for _, g := range l.groups {
		level = max(level, l.longest(g)*(mean/g.centre))
	}
	l.level.add((slowest-min(level, slowest))/slowest, slowest)
	for _, g := range l.groups {
		others := (float64(mean*float64(len(l.groups))) - g.centre) / float64(len(l.groups)-1)
		l.stages.list[l.stages.of(g.stage)].add(observation{
			step: l.steps, excess: math.Log(g.centre / others), slowest: slowest,
			last: last == 1 && l.longest(g) == slowest, chance: chance * float64(g.to-g.from), equals: len(l.groups), saved: slowest - min(level, slowest),
		}, -1)
	}
}

// longest returns the longest time in a stage of the step.
func (l *Lockstep) longest(g stageOf) float64 { return l.members[l.order[g.to-1]].seconds }

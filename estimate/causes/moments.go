package causes

import (
	"math"
	"time"
)

const (
	leastMoment = 8    // tasks in a moment, at least
	mostMoments = 4096 // equal parts of a phase's time, at most, before small parts are joined
)

// moments divides the tasks by their start into moments: neighbouring stretches of time, each with leastMoment
// tasks or more. The function returns the moment of each task, and the first and last start of each moment. A task
// that does not count has the moment -1.
func moments(tasks []Task, ratios []float64) (ids []int32, bounds [][2]time.Duration) {
	ids = make([]int32, len(tasks))
	first, last, n := time.Duration(math.MaxInt64), time.Duration(math.MinInt64), 0
	for i := range tasks {
		ids[i] = -1
		if ratios[i] >= 0 {
			first, last = min(first, tasks[i].Start), max(last, tasks[i].Start)
			n++
		}
	}
	span := uint64(last) - uint64(first)
	if n < 2*leastMoment || span == 0 {
		return ids, nil
	}
	width := span/uint64(min(n, mostMoments)) + 1
	counts := make([]int32, span/width+1)
	for i := range tasks {
		if ratios[i] >= 0 {
			ids[i] = int32((uint64(tasks[i].Start) - uint64(first)) / width)
			counts[ids[i]]++
		}
	}
	n = join(counts)
	bounds = make([][2]time.Duration, n)
	for i := range bounds {
		bounds[i] = [2]time.Duration{last, first}
	}
	for i := range tasks {
		if ids[i] >= 0 {
			ids[i] = counts[ids[i]]
			b, start := &bounds[ids[i]], tasks[i].Start
			b[0], b[1] = min(b[0], start), max(b[1], start)
		}
	}
	return ids, bounds
}

// join replaces the number of tasks in each part by the number of the part's moment, and returns the number of
// moments. Parts left over at the end join the last moment.
func join(counts []int32) int {
	moment, held, left := int32(0), int32(0), int32(0)
	for _, c := range counts {
		left += c
	}
	for i, c := range counts {
		counts[i] = moment
		held += c
		left -= c
		if held >= leastMoment && left >= leastMoment {
			moment++
			held = 0
		}
	}
	return int(moment) + 1
}

// mixed reports for each moment whether every machine has less than half of the moment's tasks. If a machine has
// half of the tasks, the machine may be slow and not the moment. If all machines are unknown, or all tasks have the
// same machine, every moment counts as mixed.
func mixed(moments, machines []int32, n, known int) []bool {
	ok := make([]bool, n)
	if known < 2 {
		for i := range ok {
			ok[i] = true
		}
		return ok
	}
	leader, votes := make([]int32, n), make([]int32, n) // Boyer and Moore's majority vote
	total, own := make([]int32, n), make([]int32, n)
	for i, m := range moments {
		if m < 0 || machines[i] < 0 {
			continue
		}
		switch {
		case votes[m] == 0:
			leader[m], votes[m] = machines[i], 1
		case leader[m] == machines[i]:
			votes[m]++
		default:
			votes[m]--
		}
	}
	for i, m := range moments {
		if m >= 0 {
			total[m]++
			if machines[i] >= 0 && machines[i] == leader[m] {
				own[m]++
			}
		}
	}
	for i := range ok {
		ok[i] = 2*own[i] < total[i]
	}
	return ok
}

package causes

import (
	"math"
	"time"
)

const (
	leastMoment = 8 // tasks in a moment, at least
	// The largest number of equal parts into which a phase's time is divided before small parts are joined.
	mostMoments = 4096
)

// moments divides the tasks by their start into moments. A moment is a range of time in which at least leastMoment
// tasks start. moments returns the moment of each task, and the first and the last start in each moment. A task
// with a negative ratio is no evidence, and its moment is -1.
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

// join puts neighbouring parts of the time together to moments, so that each moment has at least leastMoment tasks.
// Before the call, counts has the number of tasks in each part. After the call, counts has the number of the moment
// to which each part belongs. The parts that are left over at the end belong to the last moment. join returns the
// number of moments.
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

// mixed reports for each moment whether the moment can be judged: no machine may have more than half of the
// moment's tasks. If a machine has more than half, the machine may be slow and not the moment. If a machine has
// exactly half, the answer depends on the order of the tasks. If all machines are unknown, or all tasks have the
// same machine, every moment can be judged.
func mixed(moments, machines []int32, n, known int) []bool {
	ok := make([]bool, n)
	if known < 2 {
		for i := range ok {
			ok[i] = true
		}
		return ok
	}
	leader, votes := make([]int32, n), make([]int32, n) // majority vote of Boyer and Moore
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

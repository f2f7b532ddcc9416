package cluster

import "github.com/straggler-go/straggler/skew"

// largestFirst sorts tasks by how much they have to do, by package skew: the longest are begun first, so that none of
// them is left for the end [Mantri §5.4].
func largestFirst(tasks []int32, work func(int32) float64) {
	sizes := make([]int64, len(tasks))
	for i, t := range tasks {
		sizes[i] = int64(work(t) * 1e6) // sizes are whole numbers; a millionth is fine enough to compare by
	}
	sorted := make([]int32, 0, len(tasks))
	for _, i := range skew.LargestFirst(nil, sizes) {
		sorted = append(sorted, tasks[i])
	}
	copy(tasks, sorted)
}

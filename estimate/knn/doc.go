// Package knn predicts how long a task will run, and which resources it will need, from the most similar past runs.
// A scheduler uses knn for a phase without finished tasks, if parameters such as size, CPU and memory determine how
// long a task takes. The past runs may belong to any phase.
//
// For example, a run with three parameters took 8.4 s. A task with similar parameters gets a prediction of 8.4 s:
//
//	k, err := knn.New(knn.Config{})
//	err = k.Observe([]float64{100, 20, 30}, 8.4) // size, CPU, memory; seconds
//	var p knn.Prediction
//	err = k.Predict(&p, []float64{100, 25, 30})
//	p.Mean() // 8.4
//
// [Regressor] is the nearest-neighbour method of the DynamicShare paper: the prediction is the mean time of the
// nearest past runs, and nearer runs have more weight. The [Prediction] is a probability distribution. A Prediction
// can be the UnitTime of an [estimate.Fresh] with a Work of 1, and so a restart policy can use it. [Histogram]
// estimates the CPU and memory that a new task will take. The Regressor needs such an estimate before the task has
// run.
//
// # When it is wrong
//
// The parameters alone decide which runs are similar. If a task is slow for a reason that is no parameter, the
// Regressor predicts the time of fast tasks. If no past run is similar, the prediction uses the nearest runs all
// the same, and [Prediction.Radius] shows how far away they are. Without runs there is no prediction, and
// [Prediction.Known] reports false.
//
// Types that learn are not safe for concurrent use, except where their comment says so. No function here reads a
// clock.
//
// An example to copy from is examples/internal/cluster/estimate.go, where the simulated cluster asks this package.
//
// Source: DynamicShare, §3.1.
package knn

// Package knn predicts how long a task will run, and which resources it will need, from the most similar past runs.
// Use it if a phase has not yet shown anything of its own, and tasks have parameters that determine their time,
// such as size, CPU and memory. The past runs may belong to any phase.
//
// A task of 100 MB that resembles past runs of 8 s to 10 s gets a distribution of these times:
//
//	k, err := knn.New(knn.Config{})
//	err = k.Observe([]float64{100, 20, 30}, 8.4) // size, CPU, memory; seconds
//	var p knn.Prediction
//	err = k.Predict(&p, []float64{100, 25, 30})
//	p.Mean() // 8.4
//
// [Regressor] is DynamicShare's kernel-weighted nearest neighbours. Its [Prediction] is a distribution. A
// Prediction can be the UnitTime of an [estimate.Fresh] with a Work of 1, and so a restart policy can use it.
// [Histogram] estimates the CPU and memory that a new task will take, which the Regressor needs before the task has
// run.
//
// # When it is wrong
//
// The parameters alone decide which runs are similar. If a task is slow for a reason that is no parameter, its
// prediction is that of fast tasks. If no past run is similar, the prediction uses the nearest runs all the same,
// and [Prediction.Radius] shows how far away they are. Without runs there is no prediction, and [Prediction.Known]
// reports false.
//
// Types that learn are not safe for concurrent use, except where their comment says so. No function here reads a
// clock.
//
// An example to copy from is examples/internal/cluster/estimate.go, where the simulated cluster asks this package.
//
// Source: DynamicShare, §3.1.
package knn

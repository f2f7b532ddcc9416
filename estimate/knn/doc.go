// Package knn predicts how long a task will run, and what it will need, from past runs that were most like it, whatever
// the phase they were of.
//
// [Regressor] is DynamicShare's kernel-weighted nearest neighbours. Its [Prediction] is a distribution, so that it can
// stand as the UnitTime of an [estimate.Fresh] with a Work of 1, and a restart policy can act on it before a phase has
// shown anything of its own. [Histogram] estimates the CPU and memory that a new task will take, which the Regressor
// wants to know before the task has run.
//
// # When it is wrong
//
// Neighbours are as like as the parameters say: a task that is slow for a reason that is no parameter looks like the
// fast ones. A task unlike every past run gets the times of those that are least unlike; [Prediction.Radius] tells.
// Without runs there is no prediction, and [Prediction.Known] says so.
//
// What learns is not safe for concurrent use, except where it says so. Nothing here reads a clock.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/estimate.go.
//
// Source: DynamicShare, §3.1.
package knn

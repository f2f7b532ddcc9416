// Package delay says wait or go: how long a job should decline slots on machines that do not have its data (delay
// scheduling). How long a clone should wait for an upstream output of its own is package delay/assign.
//
// # Delay scheduling
//
// A job starts at level 0, at which it may launch only where its data is: on the node, say. Declined offers make it
// wait; once it has waited at least T_1 it is at level 1 and may also launch in the rack, after T_2 more at level 2,
// and so on [FAIR §4.2]. A small job so waits a little for a machine that has its data, instead of reading across the
// network. [Locality.Offer] answers one offer; [Reset] selects when the wait starts again.
//
// Whether to wait at all: if offers from nodes with the data arrive one in t on average, and a task takes D longer
// without it, then waiting up to w gains
//
//	E[gain] = (1 - e^(-w/t)) (D - t)
//
// ([Gain]), which is positive exactly if D > t. D is 0 for work that does not wait for its input, and such jobs are
// best sent off at once, so that the others find room at the hot spots: IO-rate biasing ([ByReadRate]).
//
// # Symbols
//
//	T_1, T_2 ...  Config.Waits          time that a job stays at a level
//	w, t, D       Gain                  wait, mean time between local offers, cost of running elsewhere
//
// # When it is wrong
//
// Delay scheduling assumes that slots free up often against the length of the waits: with long tasks and few slots it
// waits in vain ([LocalWithin]), though never longer than the sum of its waits before it may launch anywhere. The gain
// assumes that local offers come at random and independently.
//
// # Cost and concurrency
//
// An offer costs tens of nanoseconds and does not allocate. Functions, and a [Policy], are safe for concurrent use; a
// [Locality] is not, and belongs to one job. No clock is read: the host passes the time, and a clock that steps back
// adds nothing to a wait.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/delay.go.
//
// Source: Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UC Berkeley TR EECS-2009-55 (FAIR), §4.
package delay

// Package straggler is the root of a library of straggler-mitigation decisions.
//
// A job that is split into tasks waits for its slowest task. The packages below tell a scheduler what to do about
// that. The host owns the clock, the threads, the network and the tasks; the library owns the decisions. Every
// package is pure: it keeps no clock, starts no goroutine, takes no lock, does no I/O and draws no random number of
// its own, so the same inputs give the same decision, and a decision can be logged, replayed and unit-tested.
//
//   - estimate: how long a running copy still needs and how long a new one would take
//   - restart: keep, duplicate, kill and restart, or prune a running task
//   - placement: which rack for which reduce task
//   - replicate: which output to copy, which lost one to compute again before it is asked for
//   - clone: how many copies of a small job's tasks to launch, within a budget
//   - delay: wait or go, for a slot that is near the data or for an output of one's own
//   - fairshare: how much each pool should have, who is next for a slot, whose tasks to kill for a pool that starves
//   - laxity: which job runs next, which workers are overloaded, what to move off them
//   - skew: which reduce task gets which partition
//
// Import the package that answers your question; none but estimate is imported by another. This root package holds
// what they have in common: [FieldError], the error of a value that is out of range.
package straggler

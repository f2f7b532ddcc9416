// Package pool runs a function for each item of a slice on a bounded number of goroutines, as errgroup does, and does
// something about those that take long:
//
//	pages, err := pool.Map(ctx, urls, fetch, pool.Goroutines(32), pool.Copies())
//
// Results come in the items' order, each once. The first error ends the run: the contexts of what still runs end, Map
// waits for it, and returns the error.
//
// Without a word about the function nothing else happens, and each item is run once. [Copies] says that the function
// may run again for an item, also while it runs for the same one: what takes long for its age beside the others gets
// a copy on a goroutine that is idle, what hangs is started again, and the first result counts. [Restarts] says that
// it may run again for an item once the run before has returned: then what hangs, or takes far too long, is ended by
// its context and run again.
//
// The function should return an error soon after its context ends. A result that it returns without an error counts even
// then, unless the item has one: so the function must not return half a result without an error. A function that ignores
// its context holds its goroutine, and Map, until it returns. Once one run has gone on for longer than the mean time of a
// run, and for 10 ms, after the end of its context, Map restarts no run any more; it still makes copies if it may.
// Results that come too late are dropped: a function that opens a file should close it once its context has ended.
//
// A panic of the function ends the process, as in any goroutine: Map does not recover it, and its caller can't. A function
// that may panic recovers by itself, and returns an error. A function that calls runtime.Goexit gets an error in its place.
//
// The pool knows when a run begins and ends, and nothing in between. It looks at what runs every tenth of a run's mean
// time, and at most every millisecond or 10 µs for each goroutine. It asks a policy of package restart, LeastCost unless
// [Policy] names another, about the ages of what has run for longer than the mean, against the times of what has ended.
// What a look has found is done once the next finds it too, since what began together comes in together. Until three
// runs have ended it does nothing. Whether copies and restarts were won is counted: where it is the items that are
// long, and not their runs, a few show that, and there are no more.
//
// A run costs 0.4 µs more than a call, where errgroup's costs 0.9: see the benchmarks in examples/pool. Where one run in
// twenty takes 8 times as long, Copies took 0.58 of errgroup's time for 200 items on 40 goroutines, and 0.71 for 500 on
// 25 (go test -run - -bench SlowItems -benchtime 8x -count 3 ./examples/pool, medians, on 2 busy processors). An oracle
// that runs again what is slow as soon as its age shows that takes 0.50 and 0.68, and one that knows which run will be
// slow when it begins 0.42 and 0.62: for 500 items on 25 goroutines nobody can have 0.6 of the time.
package pool

// Package pool is for Go programs that call a function for each item of a slice on several goroutines, and lose time to a
// few slow calls. [Map] does this as errgroup does, and starts a second call for a slow item if the function allows that:
//
//	pages, err := pool.Map(ctx, urls, fetch, pool.Goroutines(32), pool.Copies())
//
// The results are in the order of the items. The first error ends Map: it cancels the contexts of all other calls, waits
// for these calls, and returns the error. Each call of the function is an attempt of its item.
//
// # What the function allows
//
// By default each item is run once, and Map does nothing about slow attempts.
//
// With [Copies] the function may be called again for an item while an earlier call for this item runs. A slow attempt
// gets a copy on an idle goroutine, a hung attempt is replaced by a new attempt, and the first result counts.
//
// With [Restarts] the function may be called again for an item after the earlier call has returned. An attempt that
// hangs, or takes far too long, is ended by its context, and the item is run again.
//
// The function should return an error soon after the end of its context. If the function returns a result without an
// error after that, the result still counts, unless the item has a result already. So the function must not return half
// of a result without an error. A result that comes too late is dropped. Therefore a function that opens a file should
// close the file when its context has ended.
//
// A function that ignores its context occupies its goroutine, and delays Map, until the function returns. Map notices
// this when an attempt runs on, after the end of its context, for longer than the mean time of an attempt and for more
// than 10 ms. From then on Map restarts no attempt. Map still starts copies if Copies is set.
//
// Map does not recover a panic of the function. The panic ends the process, as in any goroutine, and the caller of Map
// can't recover it. A function that may panic must recover by itself, and return an error. A call of runtime.Goexit in
// the function becomes an error.
//
// # How slow attempts are found
//
// The pool knows when an attempt begins and when it ends, and nothing in between. Every tenth of the mean time of an
// attempt it checks the running attempts. Two checks are at least 1 ms apart, and at least 10 µs for each goroutine. A
// check asks a policy of package restart about each attempt that is older than the mean. The policy compares the age of
// the attempt with the times of the attempts that have ended. The default policy is restart.LeastCost; see [Policy].
//
// A copy or a restart is made only if two checks in a row want it. The reason is that attempts which began together end
// shortly after each other, and the last attempt of such a group is not slow. Nothing is done before three attempts have
// ended. A copy or a restart of a slow attempt is a trial, and the pool counts which trials were won. If the items
// themselves are long, a few lost trials show this, and the pool makes no more.
//
// # Cost
//
// An attempt costs 0.4 µs more than a plain call; errgroup costs 0.9 µs more. See the benchmarks in examples/pool.
//
// Copies saves 42 % of errgroup's time in a benchmark of 200 items on 40 goroutines, where one call in twenty takes 8
// times as long as the other calls. The table shows the time of each rule as a share of errgroup's time. An oracle runs
// a slow item again at once. The first oracle sees that a call is slow when the call is older than a normal call; the
// second oracle knows it when the call begins.
//
//	                          200 items on 40 goroutines   500 items on 25 goroutines
//	Map with Copies                                 0.58                         0.71
//	oracle that sees the age                        0.50                         0.68
//	oracle that knows                               0.42                         0.62
//
// So no rule can reach 0.6 for 500 items on 25 goroutines. The figures are medians on 2 busy processors, by the command
//
//	go test -run - -bench SlowItems -benchtime 8x -count 3 ./examples/pool
package pool

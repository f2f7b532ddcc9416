// Package pool is for Go programs that call a function for each of many items on several goroutines, and lose time to
// a few slow calls. [Map] calls the function for each item, as a loop with errgroup does. If an item's call is
// slow, and the function may be called twice for an item, Map starts a second call for this item:
//
//	pages, err := pool.Map(ctx, urls, fetch, pool.Goroutines(32), pool.Copies())
//
// The results are in the order of the items. The first error ends Map: Map cancels the contexts of all other calls,
// waits until these calls have returned, and returns the error. [Each] goes on after an error, and yields the result
// or the error of each item as soon as the item has ended:
//
//	for i, r := range pool.Each(ctx, urls, fetch, pool.Goroutines(32), pool.Copies()) {
//		if r.Err != nil {
//			log.Print(urls[i], r.Err)
//		}
//	}
//
// [EachSeq] takes the items from an iterator, which may be endless. All three functions have the same options. Each
// and EachSeq make copies and restarts by the same rules as Map. So the text below says Map for all three. Below, a
// call of the function for an item is called an attempt of the item.
//
// # What the function allows
//
// By default Map calls the function once for each item, and does nothing about slow attempts.
//
// With [Copies], Map may call the function again for an item while an earlier call for this item runs. If an attempt
// is slow, Map starts a copy: a second attempt of the same item, on an idle goroutine. If an attempt hangs, Map ends
// its context and starts a new attempt of the item. The first attempt that returns a result gives the item's result.
//
// With [Restarts], Map may call the function again for an item, but only after the earlier call for this item has
// returned. If an attempt hangs, or takes far too long, Map ends its context, waits until the attempt has returned,
// and calls the function again for the item.
//
// The function should return an error soon after the end of its context. If the function returns a result without an
// error after the end of its context, this result still becomes the item's result, unless the item already has a
// result. So the function must not return an incomplete result without an error. If the item already has a result, a
// later result is discarded. Therefore a function whose result is an open file should close the file when its context
// has ended.
//
// A function that ignores its context occupies its goroutine, and delays Map, until the function returns. Map takes
// the function to ignore its context if an attempt keeps running too long after the end of its context: longer than
// the mean time of an attempt, and longer than 10 ms. From then on Map restarts no attempt, because a restart would
// wait for the old attempt. Map still starts copies if the option Copies is set.
//
// If the function panics, the attempt has failed with a [PanicError], which has the stack of the panic. If the
// function calls runtime.Goexit, the attempt has failed, too.
//
// [AttemptOf] reads the index of the item and the number of the attempt from the attempt's context. The index is the
// same in all attempts of an item, so the function can use it as a part of an idempotency key. [Timeout] sets the
// longest time of one attempt.
//
// # Errors
//
// An attempt that fails is not run again. If the first attempt of an item fails, the item fails with its error, also
// while a copy runs. So copies never delay an error. If another attempt fails, its error is ignored as long as an
// attempt of the item runs or is due to run. An attempt that fails with context.DeadlineExceeded was slow, and a copy
// may be faster. So this error is ignored in the same way, also if the first attempt returns it. An item that fails
// ends Map. Each goes on with the other items.
//
// # How slow attempts are found
//
// The pool knows when an attempt begins and when it ends, and nothing in between. The pool checks the running
// attempts at regular intervals: a tenth of the mean time of an attempt. The interval is never shorter than 1 ms, and
// never shorter than 10 µs times the number of goroutines. For example, with 1,000 goroutines it is at least 10 ms.
// While no attempt runs, the interval is at least the mean time of an attempt. Each check asks a policy of package
// restart about each attempt that has run for longer than the mean time of an attempt. The policy compares the age of
// the attempt with the times of the attempts that have ended. The default policy is restart.LeastCost; see [Policy].
//
// The pool starts a copy or a restart only if the policy wants one at two checks in a row. The reason: attempts that
// began together end shortly after each other, and the last attempt of such a group is not slow. The pool starts no
// copy and no restart before three attempts have returned a result. If Map has only two or three items, all items but
// one must have a result. A copy or a restart of a slow attempt is a trial. A trial is won if the new attempt was
// faster. The pool counts the trials that were won and lost. If an item itself takes long, every attempt of the item
// takes long, so a copy does not help. A few lost trials show this, and the pool then starts no more copies and
// restarts.
//
// # Look first
//
// With [Shadow] the pool decides about slow attempts, calls the function once for each item, and computes what copies
// would have saved. The bill is two shares, because one run of an item cannot show whether the attempt was slow or the
// item is large. In six worlds in virtual time, the share that fits the world was at most 7 points from the saving of
// copies (go test -v -run TheBill).
//
// # Cost
//
// A call of the function that does nothing takes this time for each item: 0.2 µs with Map, 0.25 µs with Each, 0.45 µs
// with EachSeq, and 0.4 µs with errgroup. The figures are medians of five runs on 2 busy processors, of this command:
//
//	go test -run - -bench Overhead -benchtime 500000x ./examples/pool
//
// Copies saves 42 % of errgroup's time in a benchmark of 200 items on 40 goroutines, where one call in twenty takes 8
// times as long as the other calls. The table shows the time that all items take, as a share of the time that
// errgroup takes. An oracle is a rule that knows which calls are slow, and runs the item of a slow call again at
// once. The first oracle learns that a call is slow when the call has run for longer than a normal call. The second
// oracle knows it when the call begins.
//
//	                          200 items on 40 goroutines   500 items on 25 goroutines
//	Map with Copies                                 0.58                         0.71
//	oracle that sees the age                        0.50                         0.68
//	oracle that knows                               0.42                         0.62
//
// So no rule can reach 0.6 for 500 items on 25 goroutines: even the second oracle takes 0.62 of errgroup's time. The
// figures are medians, measured on 2 busy processors by this command:
//
//	go test -run - -bench SlowItems -benchtime 8x -count 3 ./examples/pool
package pool

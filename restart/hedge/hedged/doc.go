// Package hedged runs a function, and runs it a second time beside the first if that is worth it. A rule of package
// hedge decides. The first answer is returned, and the other run is cancelled by its context.
//
//	rule, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.05})
//	route := hedged.NewRoute(rule) // one for each service, shared by all goroutines
//	user, err := hedged.Do(ctx, route, hedge.Request{Safe: true}, func(ctx context.Context) (*User, error) {
//		return fetch(ctx, id)
//	})
//
// Package hedgehttp and module hedgegrpc do the same for net/http and gRPC, and hedgefailsafe for failsafe-go.
//
// # Failures
//
// An error is no answer. If the second run runs by then, Do waits for it, and returns its answer. If no run has an
// answer, Do returns the last error. A run that fails before a second one was sent is not repeated: a second request is
// no retry.
//
// If the function panics on another goroutine, Do panics with a [PanicError] on the goroutine of the caller. A run that
// panics after Do has returned counts as failed.
//
// # Goroutines
//
// Where the rule sends no second request, such as for an unsafe request, the function runs on the goroutine of the
// caller. Else each run has a goroutine, which ends when the function returns. A function that ignores its context goes
// on after Do has returned. A Route is safe for concurrent use, and holds a lock for 0.1 to 0.2 µs for each event.
package hedged

// Package hedgefailsafe lets a rule of package hedge decide for the hedge policy of failsafe-go: after how long a
// second run starts, and whether it starts at all.
//
//	rule, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.05})
//	route := hedged.NewRoute(rule)
//	policy := hedgepolicy.NewWithDelayFunc(hedgefailsafe.Delay[*User])
//	executor := failsafe.With(retries, policy)
//
//	ctx = hedgefailsafe.With(ctx, route, hedge.Request{Safe: true}) // anew for each execution
//	user, err := executor.WithContext(ctx).GetWithExecution(hedgefailsafe.Func(fetch))
//
// [Delay] starts the operation of the rule, and [Func] tells the rule how the runs end. Func also asks the rule once
// more before a second run: failsafe-go starts it in any case, so a run that the rule refuses waits until the first run
// has ended. Use With, Delay and Func together. With WithMaxHedges(1), the default, there is at most one second run.
package hedgefailsafe

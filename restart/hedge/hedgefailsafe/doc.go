// Package hedgefailsafe is a hedge policy of failsafe-go for which a rule of package hedge decides: after how long a
// second run starts, and whether it starts at all.
//
//	rule, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.05})
//	route := hedged.NewRoute(rule) // one for each service
//	safe := func(context.Context) hedge.Request { return hedge.Request{Safe: true} }
//	policy := hedgefailsafe.New[*User](route, safe)
//
//	user, err := failsafe.With(retries, policy).WithContext(ctx).GetWithExecution(fetch)
//
// The policy is failsafe-go's own hedge policy, with its options. Policies outside, such as retries here, run the
// policy anew, and each time is one request for the rule. Policies inside, such as a timeout, are a part of each run.
//
// Do not put failsafe-go's retry policy inside of a hedge policy: it counts the failures of an execution, and two runs
// would change the counts at the same time. Give each run an executor with retries of its own:
//
//	failsafe.With(policy).GetWithExecution(func(exec failsafe.Execution[*User]) (*User, error) {
//		return failsafe.With(retries).WithContext(exec.Context()).Get(fetch)
//	})
//
// # Second runs
//
// failsafe-go starts a second run after the delay that the rule has named at first. By then the rule may refuse it. A
// refused second run does not call the function. It waits, and ends with the first run. OnHedge and a budget of
// failsafe-go count it all the same: count second requests by the ledger of the route.
//
// A run asks exec.IsHedge whether it is the second run. [hedged.Second] and [hedged.Chose] do not know these runs. A
// result without an error counts as an answer, also an HTTP response with the status 503: return an error for it.
//
// # Which result
//
// By failsafe-go's default the first run that ends gives the result, also if it ends with an error. So that an error
// of one run waits for the other run, set
//
//	hedgefailsafe.New(route, safe, func(b hedgepolicy.Builder[*User]) {
//		b.CancelIf(func(_ *User, err error) bool { return err == nil })
//	})
//
// An error of the first run then waits for the delay of the second run, because failsafe-go starts that run in any case.
//
// A run that panics counts as a run that ends with an error. If that error is the result, the policy panics with a
// [hedged.PanicError] on the goroutine that has called the policy, which is that of the caller of Get. failsafe-go alone
// would end the process, as it does for a panic in GetAsync. A run that calls runtime.Goexit ends with an error, too;
// failsafe-go alone would wait for it forever.
package hedgefailsafe

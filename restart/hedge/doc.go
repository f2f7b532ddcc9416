// Package hedge decides whether a second request is worth it. It is for the author of a client of several servers. A
// few answers are slow, so the client sends some requests twice.
//
//	h, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.05})
//	id, d := h.Start(now, hedge.Request{Safe: true, Size: 4096, Machine: "a"})
//	// the host sends the request; d is: wait not-late after=0.00570679s threshold=0.00570679
//	d = h.Late(now, id) // after 5.7 ms without an answer
//	// d is: send late value=0.00570679 threshold=0.00570679 avoid=a
//	h.Done(now, id, hedge.Second, hedge.Answered)
//	h.Done(now, id, hedge.First, hedge.Cancelled)
//
// The package has no clock, no timer and no network. A host is the program that embeds it. Packages hedgehttp,
// hedgegrpc and hedged are hosts for net/http, gRPC and plain functions. The page docs/hedge.md explains each refusal.
//
// # Is it the request, or the attempt?
//
// An answer is slow for two reasons. The request is heavy: then a second request takes as long, and only loads
// another server. Or the attempt had bad luck: a slow server, a lost packet, a pause. Then a second request helps. A
// [Hedger] tells the two apart in two ways:
//
//   - Where the host tells the size of each request, the Hedger learns the time for one unit of size. A heavy read is
//     expected to take long, and is late only when it takes longer than heavy reads do.
//   - Where no size is told, the Hedger counts how many second requests win. If they win less than half as often as
//     independent times would, it stops, and tries one again from time to time. The account is restart.Trials, the same
//     as that of the default policy for tasks.
//
// # A plan
//
// [Problem.Best] finds the delay and the probability with which the percentile is shortest, within a budget of second
// requests. [Problem.Least] finds the least load that reaches a given percentile. A Hedger makes such a plan from its
// latest requests, whenever a sixteenth of these requests has changed. A cancelled request is censored: it would have
// taken at least so long. If only the winners were observed, the observed times would shrink, and a rule would send
// more and more second requests.
//
// # Symbols
//
//	d   Plan.Delay          after how long the second request is sent
//	q   Plan.Probability    with which probability it is sent then
//	k   Problem.Percentile  share of the operations that must be answered in time
//	B   Problem.Budget      second requests for each first request
//
// # Cost and concurrency
//
// Start, Late and Done take O(1) amortised. A Hedger keeps the times of the latest 10,000 requests, which take 0.6 MB
// for each class. It has room for the operations from the oldest open one to the latest one, 136 bytes for each, and
// allocates when it needs more room than ever before. There is room for 65,536 operations at most, 9 MB: an operation
// that is open for longer is forgotten. A Hedger is not safe for concurrent use. Plans and problems are plain values.
//
// Sources: T. Kaler, Y. He, S. Elnikety, "Optimal Reissue Policies for Reducing Tail Latency", SPAA 2017. J. Dean, L.
// Barroso, "The Tail at Scale", CACM 56(2), 2013. E. Kaplan, P. Meier, "Nonparametric Estimation from Incomplete
// Observations", J. Am. Stat. Assoc. 53, 1958.
package hedge

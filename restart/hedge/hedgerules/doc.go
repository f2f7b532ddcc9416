// Package hedgerules has the rules of other systems for second requests, to compare them with a hedge.Hedger. Each is
// a hedge.Rule, so a host can run it in the place of a Hedger.
//
//	rule, err := hedgerules.New(hedgerules.Finagle(0.01))
//	id, d := rule.Start(now, hedge.Request{Safe: true})
//
// The rules know neither class nor size, and do not observe cancelled requests: they learn the times of answers only.
// So the times that they know become shorter, the more second requests they send.
//
//	Fixed(d)       after a fixed delay                       cristalhq/hedgedhttp, Grafana's dskit
//	Quantile(p)    after the p-quantile of recent answers    failsafe-go, without its budget
//	Finagle(x)     after the quantile 1-x of recent answers, within a budget of x
//	Cassandra(p)   after the p-quantile of the answers       Cassandra's speculative_retry = "99p"
//	GRPC(d)        after a fixed delay, while few calls fail  gRPC's hedging policy, proposal A6
//
// A [Rule] takes O(log n) for each answer, with n answers in its window of at most 4096. It knows the latest 16,384
// operations. It is not safe for concurrent use.
package hedgerules

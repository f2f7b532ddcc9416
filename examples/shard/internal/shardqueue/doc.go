// Package shardqueue shares the pieces of a test suite among machines while the tests run. A piece is a package, or some
// tests of a package. A machine draws a batch of pieces, runs them, reports them and draws the next batch.
//
// The package is a state machine without clock, lock and I/O. A host asks it with each request of a machine:
//
//	for {
//		answer, event := q.Decide(now, request)
//		if event == nil {
//			return answer
//		}
//		store(event) // on disk, before the answer
//		err := q.Apply(*event)
//	}
//
// Decide changes nothing. It returns either the answer or the event that has to happen before the answer. So a host
// that crashes at any point applies the stored events, and answers the repeated request as if it had never stopped. Two
// hosts may share the events as well: the host whose event comes second applies the other event first, and decides
// again.
//
// # Which pieces a machine gets
//
// Each draw plans the remaining pieces anew with package skew. The plan knows how long each machine still works on its
// pieces, and how fast each machine has been in this run ([machines.Record]). The machine then gets the first half of
// its own part of the plan, the longest pieces first. This is weighted factoring: batches shrink towards the end, and a
// slow or late machine gets less (Hummel, Schonberg and Flynn, "Factoring", 1992; Hummel et al., 1996). A machine waits
// if the other machines will end all remaining pieces sooner than this machine would.
//
// # Faults
//
//   - A machine vanishes. If the queue has not heard from it for Config.Lease, its pieces are given to others. If its
//     results come after all, they count.
//   - A machine is retried: it joins again under its name, with another session. It gets the pieces of its earlier
//     session again, because these pieces may be the reason for the retry. It does not get pieces that another machine
//     has run since.
//   - Two machines have one name: the second one is refused as long as the first one is heard.
//   - A request is repeated, since its answer was lost: the answer is the same.
package shardqueue

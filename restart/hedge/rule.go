package hedge

import "time"

// Rule decides about the second requests of a route. A [Hedger] is one. Package hedgerules has rules of other systems,
// for comparison. See the methods of Hedger for the contract.
type Rule interface {
	Start(now time.Time, r Request) (ID, Decision)
	Late(now time.Time, id ID) Decision
	Done(now time.Time, id ID, attempt Attempt, outcome Outcome)
	PushBack(now time.Time, wait time.Duration)
}

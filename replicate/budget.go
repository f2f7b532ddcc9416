package replicate

import (
	"fmt"
	"math"
	"math/bits"
)

// Off, as the share of a [Budget], is a budget without limit; as the number of losses of an [Onset], it is none ever.
const Off = -1

// Shares for [NewBudget].
const (
	// ReplicationShare is the part of the bytes processed that may be replicated [Mantri §5.3].
	ReplicationShare = 0.10
	// RecomputeShare is the part of the cluster time used that recomputing ahead of need may take. The paper has such a
	// budget but does not give it; it reports a few per cent [Mantri §6.5].
	RecomputeShare = 0.05
)

// Budget holds a job's tokens: a share of what the job has processed, granted as tasks finish, deducted as tokens are
// spent, never negative. T is the unit: int64 for bytes, time.Duration for cluster time. Tokens are counted exactly, in
// integers, with the share taken to the billionth; fractions of a token are not lost but wait for the next grant.
//
// Not safe for concurrent use; one per job.
type Budget[T ~int64] struct {
	billionths uint64 // the share
	unlimited  bool
	processed  T
	spent      T
}

// NewBudget returns a budget without tokens that grants a share of what is processed: ReplicationShare, RecomputeShare,
// or another in [0, 1]; or Off for a budget without limit. An error tells that the share is out of range.
func NewBudget[T ~int64](share float64) (*Budget[T], error) {
	if share == Off {
		return &Budget[T]{unlimited: true}, nil
	}
	if !(share >= 0 && share <= 1) {
		return nil, fmt.Errorf("replicate: the share of a budget is %v, want a share in [0, 1], or Off", share)
	}
	return &Budget[T]{billionths: uint64(math.Round(share * 1e9))}, nil
}

// Grant adds the tokens for what a finished task has processed. Nothing and less than nothing grant nothing. O(1), no
// allocation.
func (b *Budget[T]) Grant(processed T) {
	if processed > 0 {
		b.processed = T(saturatingSum(int64(b.processed), int64(processed)))
	}
}

// Left returns how many tokens there are; the largest number if the budget is without limit.
func (b *Budget[T]) Left() T {
	if b.unlimited {
		return math.MaxInt64
	}
	high, low := bits.Mul64(uint64(b.processed), b.billionths)
	granted, _ := bits.Div64(high, low, 1e9) // at most processed, so it fits
	return T(granted) - b.spent
}

// Spend takes the tokens for a copy or a recomputation that is made, and reports whether there were enough; if not, none
// are taken. A negative price is refused. O(1), no allocation.
func (b *Budget[T]) Spend(price T) bool {
	if price < 0 || price > b.Left() {
		return false
	}
	b.spent = T(saturatingSum(int64(b.spent), int64(price)))
	return true
}

// Spent returns how many tokens were spent.
func (b *Budget[T]) Spent() T { return b.spent }

// String returns the budget as one line.
func (b *Budget[T]) String() string {
	if b.unlimited {
		return fmt.Sprintf("%v spent, without limit", b.spent)
	}
	return fmt.Sprintf("%v spent, %v left", b.spent, b.Left())
}

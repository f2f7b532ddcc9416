package replicate

import (
	"math"
	"math/bits"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Off as the share of a budget means that the budget has no limit. Off as [LossBurstsConfig.Losses] means that no
// machine is ever said to be in a burst of losses.
const Off = -1

const (
	byteShare = 0.10 // the default share of the processed bytes [Mantri §5.3]
	timeShare = 0.05 // the default share of the cluster time used
)

// ByteBudget contains the tokens that one job may spend on copies of outputs. A token pays for one byte. The job
// receives tokens for a share of the bytes that its finished tasks have processed, and each copy spends tokens. The
// number of tokens is never negative [Mantri §5.3].
//
// Tokens are whole numbers and are computed without rounding errors. The share is rounded to billionths. A fraction
// of a token is kept for the next grant.
//
// The zero value grants a tenth of the processed bytes. A ByteBudget is not safe for concurrent use. Use a separate
// ByteBudget for each job.
type ByteBudget struct{ account }

// NewByteBudget returns a budget without tokens. Later the budget receives this share, in (0, 1], of the bytes that
// tasks process. 0 means 0.1, and [Off] means that the budget has no limit. Any other share is an error.
func NewByteBudget(share float64) (*ByteBudget, error) {
	a, err := newAccount("ByteBudget", share)
	return &ByteBudget{a}, err
}

// Grant adds the tokens for the bytes that a finished task has processed. If processed is below 1, Grant adds
// nothing. O(1), no allocation.
func (b *ByteBudget) Grant(processed int64) { b.grant(processed) }

// Left returns the number of tokens in the budget, in bytes. If the budget has no limit, Left returns the largest
// int64. O(1), no allocation.
func (b *ByteBudget) Left() int64 { return b.left(byteShare) }

// Spend removes the tokens for a copy of an output of this many bytes, and returns true. If there are too few
// tokens, or if bytes is negative, Spend removes none and returns false. O(1), no allocation.
func (b *ByteBudget) Spend(bytes int64) bool { return b.spend(bytes, b.Left()) }

// Spent returns the number of tokens that Spend has removed, in bytes. O(1), no allocation.
func (b *ByteBudget) Spent() int64 { return b.spent }

// TimeBudget contains the cluster time that one job may use to recompute outputs before a task asks for them. The
// job receives a share of the cluster time that its finished tasks have used. The unit is nanoseconds; in all else,
// TimeBudget works as [ByteBudget] does.
//
// The zero value grants a twentieth of the time used. The paper has such a budget and does not give its size; it
// reports a use of a few per cent [Mantri §6.5]. A TimeBudget is not safe for concurrent use. Use a separate
// TimeBudget for each job.
type TimeBudget struct{ account }

// NewTimeBudget returns a budget without time. Later the budget receives this share, in (0, 1], of the cluster time
// that tasks use. 0 means 0.05, and [Off] means that the budget has no limit. Any other share is an error.
func NewTimeBudget(share float64) (*TimeBudget, error) {
	a, err := newAccount("TimeBudget", share)
	return &TimeBudget{a}, err
}

// Grant adds the budget's share of the cluster time that a finished task has used. If used is below 1 ns, Grant
// adds nothing. O(1), no allocation.
func (b *TimeBudget) Grant(used time.Duration) { b.grant(int64(used)) }

// Left returns the cluster time in the budget. If the budget has no limit, Left returns the largest duration. O(1),
// no allocation.
func (b *TimeBudget) Left() time.Duration { return time.Duration(b.left(timeShare)) }

// Spend removes the cluster time of a recomputation from the budget, and returns true. If there is too little time,
// or if work is negative, Spend removes none and returns false. O(1), no allocation.
func (b *TimeBudget) Spend(work time.Duration) bool { return b.spend(int64(work), int64(b.Left())) }

// Spent returns the cluster time that Spend has removed. O(1), no allocation.
func (b *TimeBudget) Spent() time.Duration { return time.Duration(b.spent) }

// account is the common part of both budgets. Its unit is the token: one byte or one nanosecond.
type account struct {
	billionths uint64 // the share in billionths; 0 means the default share
	unlimited  bool   // the budget has no limit
	processed  int64  // sum of the bytes or nanoseconds passed to Grant, at most the largest int64
	spent      int64
}

func newAccount(kind string, share float64) (account, error) {
	if share == Off {
		return account{unlimited: true}, nil
	}
	if !(share >= 0 && share <= 1) {
		return account{}, check.Bad("replicate", "share of the "+kind, share, "a share in (0, 1], 0 for the default, or Off")
	}
	if share > 0 {
		return account{billionths: max(1, billionths(share))}, nil
	}
	return account{}, nil
}

func billionths(share float64) uint64 { return uint64(math.Round(share * 1e9)) }

func (a *account) grant(processed int64) {
	if processed > 0 {
		a.processed = exact.Add(a.processed, processed)
	}
}

// left returns the tokens that are granted and not spent. If no share was given to the account, left uses
// defaultShare.
func (a *account) left(defaultShare float64) int64 {
	if a.unlimited {
		return math.MaxInt64
	}
	share := a.billionths
	if share == 0 {
		share = billionths(defaultShare)
	}
	high, low := bits.Mul64(uint64(a.processed), share)
	granted, _ := bits.Div64(high, low, 1e9) // the share is at most 1, so granted fits in an int64
	return int64(granted) - a.spent
}

func (a *account) spend(price, left int64) bool {
	if price < 0 || price > left {
		return false
	}
	a.spent = exact.Add(a.spent, price)
	return true
}

package replicate

import (
	"math"
	"math/bits"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Off as the share of a budget means that the budget has no limit. Off as [LossBurstsConfig.Losses] means that no
// burst ever begins.
const Off = -1

const (
	byteShare = 0.10 // default share of the bytes processed [Mantri §5.3]
	timeShare = 0.05 // default share of the cluster time used
)

// ByteBudget holds the tokens of one job for copies. A token pays for one byte. The job gets tokens for a share of
// the bytes that its finished tasks have processed, and each copy spends tokens. The number of tokens is never
// negative [Mantri §5.3].
//
// Tokens are exact integers. The share is rounded to billionths. A fraction of a token is kept for the next grant.
//
// The zero value grants a tenth of the processed bytes. A ByteBudget is not safe for concurrent use. Use one for each
// job.
type ByteBudget struct{ account }

// NewByteBudget returns a budget without tokens. It grants a share, in (0, 1], of the processed bytes. 0 means 0.1,
// and [Off] means no limit. Any other share is an error.
func NewByteBudget(share float64) (*ByteBudget, error) {
	a, err := newAccount("ByteBudget", share)
	return &ByteBudget{a}, err
}

// Grant adds the tokens for the bytes that a finished task has processed. A number below 1 adds no token. O(1), no
// allocation.
func (b *ByteBudget) Grant(processed int64) { b.grant(processed) }

// Left returns the number of tokens, in bytes. Without a limit it returns the largest int64. O(1), no allocation.
func (b *ByteBudget) Left() int64 { return b.left(byteShare) }

// Spend takes the tokens for a copy of an output of this many bytes, and returns true. If there are too few tokens,
// or if bytes is negative, Spend takes none and returns false. O(1), no allocation.
func (b *ByteBudget) Spend(bytes int64) bool { return b.spend(bytes, b.Left()) }

// Spent returns the number of tokens that were spent, in bytes. O(1), no allocation.
func (b *ByteBudget) Spent() int64 { return b.spent }

// TimeBudget holds the cluster time that one job may use to recompute outputs ahead of need. The job gets a share of
// the cluster time that its finished tasks have used. TimeBudget counts nanoseconds as [ByteBudget] counts tokens.
//
// The zero value grants a twentieth. The paper has such a budget and does not give its size; it reports a use of a
// few per cent [Mantri §6.5]. A TimeBudget is not safe for concurrent use. Use one for each job.
type TimeBudget struct{ account }

// NewTimeBudget returns a budget without time. It grants a share, in (0, 1], of the cluster time used. 0 means 0.05,
// and [Off] means no limit. Any other share is an error.
func NewTimeBudget(share float64) (*TimeBudget, error) {
	a, err := newAccount("TimeBudget", share)
	return &TimeBudget{a}, err
}

// Grant adds time for the cluster time that a finished task has used. A duration below 1 ns adds no time. O(1), no
// allocation.
func (b *TimeBudget) Grant(used time.Duration) { b.grant(int64(used)) }

// Left returns the time in the budget. Without a limit it returns the largest duration. O(1), no allocation.
func (b *TimeBudget) Left() time.Duration { return time.Duration(b.left(timeShare)) }

// Spend takes the cluster time of a recomputation, and returns true. If there is too little time, or if work is
// negative, Spend takes none and returns false. O(1), no allocation.
func (b *TimeBudget) Spend(work time.Duration) bool { return b.spend(int64(work), int64(b.Left())) }

// Spent returns the time that was spent. O(1), no allocation.
func (b *TimeBudget) Spent() time.Duration { return time.Duration(b.spent) }

// account is the common part of both budgets. It counts whole tokens: bytes or nanoseconds.
type account struct {
	billionths uint64 // the share in billionths; 0 means the default
	unlimited  bool   // the budget has no limit
	processed  int64  // bytes or nanoseconds that were granted for; saturates
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

// left returns the tokens that are granted and not spent. defaultShare is the share if none was given.
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

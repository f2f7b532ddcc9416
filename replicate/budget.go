package replicate

import (
	"math"
	"math/bits"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Off, as the share of a budget, means that there is no limit; as the number of losses of a [LossBursts], that no burst
// is ever declared.
const Off = -1

const (
	byteShare = 0.10 // of the bytes processed [Mantri §5.3]
	timeShare = 0.05 // of the cluster time used
)

// ByteBudget holds a job's tokens for copies, one a byte: a share of what the job has processed, granted as tasks
// finish, deducted as copies are made, never negative [Mantri §5.3]. Tokens are counted exactly, in integers, with the
// share taken to the billionth; fractions of a token are not lost and wait for the next grant. The zero value grants
// a tenth of the bytes that were processed. Not safe for concurrent use; one per job.
type ByteBudget struct{ account }

// NewByteBudget returns a budget without tokens that grants a share of what is processed, in (0, 1]; 0 means 0.1, [Off]
// no limit. It is an error if the share is anything else.
func NewByteBudget(share float64) (*ByteBudget, error) {
	a, err := newAccount("ByteBudget", share)
	return &ByteBudget{a}, err
}

// Grant adds the tokens for the bytes that a finished task has processed. A number that is not positive grants none.
// O(1), no allocation.
func (b *ByteBudget) Grant(processed int64) { b.grant(processed) }

// Left returns how many tokens there are; the largest number if there is no limit.
func (b *ByteBudget) Left() int64 { return b.left(byteShare) }

// Spend takes the tokens for a copy that is made, and reports whether there were enough; if not, none are taken. A
// negative number is refused. O(1), no allocation.
func (b *ByteBudget) Spend(bytes int64) bool { return b.spend(bytes, b.Left()) }

// Spent returns how many tokens were spent.
func (b *ByteBudget) Spent() int64 { return b.spent }

// TimeBudget holds the cluster time that a job may use to recompute ahead of need: a share of what its tasks have used,
// kept as a [ByteBudget] keeps its tokens. The zero value grants a twentieth: the paper has such a budget and does not
// give its size; it reports a few per cent [Mantri §6.5]. Not safe for concurrent use; one per job.
type TimeBudget struct{ account }

// NewTimeBudget returns a budget without time that grants a share of what is used, in (0, 1]; 0 means 0.05, [Off] no
// limit. It is an error if the share is anything else.
func NewTimeBudget(share float64) (*TimeBudget, error) {
	a, err := newAccount("TimeBudget", share)
	return &TimeBudget{a}, err
}

// Grant adds time for the cluster time that a finished task has used. One that is not positive grants none. O(1), no
// allocation.
func (b *TimeBudget) Grant(used time.Duration) { b.grant(int64(used)) }

// Left returns how much time there is; the largest duration if there is no limit.
func (b *TimeBudget) Left() time.Duration { return time.Duration(b.left(timeShare)) }

// Spend takes the time for a recomputation that is made, and reports whether there was enough; if not, none is taken. A
// negative time is refused. O(1), no allocation.
func (b *TimeBudget) Spend(work time.Duration) bool { return b.spend(int64(work), int64(b.Left())) }

// Spent returns how much time was spent.
func (b *TimeBudget) Spent() time.Duration { return time.Duration(b.spent) }

// account is what both budgets are: whole numbers of something.
type account struct {
	billionths uint64 // the share; 0 means the default
	unlimited  bool
	processed  int64
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

func (a *account) left(usual float64) int64 {
	if a.unlimited {
		return math.MaxInt64
	}
	share := a.billionths
	if share == 0 {
		share = billionths(usual)
	}
	high, low := bits.Mul64(uint64(a.processed), share)
	granted, _ := bits.Div64(high, low, 1e9) // at most processed, so it fits
	return int64(granted) - a.spent
}

func (a *account) spend(price, left int64) bool {
	if price < 0 || price > left {
		return false
	}
	a.spent = exact.Add(a.spent, price)
	return true
}
